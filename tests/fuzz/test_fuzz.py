"""Damaged and lying files open or are refused, within bounds; `make fuzz` runs more of them.

NPROF_FUZZ_EXAMPLES: how many files of each kind are tried (100). Beyond the default, every run tries other files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).with_name("campaign.py")
ASKED = os.environ.get("NPROF_FUZZ_EXAMPLES")
EXAMPLES = ASKED or "100"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by RLIMIT_AS")
@pytest.mark.parametrize("kind", ["json", "log", "pb"])
def test_every_file_opens_or_is_refused(kind: str) -> None:
    seed = [] if ASKED else ["1"]
    run = subprocess.run(
        [sys.executable, str(CAMPAIGN), kind, EXAMPLES, *seed], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-10_000:]
    print(run.stdout)
