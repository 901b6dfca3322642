"""Asks Perfetto's own engine what it makes of a file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = Path(os.environ.get("NPROF_PERFETTO_CHECK", ROOT.parent / "shared" / "tools" / "perfetto_check.py"))


def in_perfetto(path: Path, *queries: str) -> dict[str, Any]:
    """The slices and problems the file has there, and the answers to queries; skips where there is no Perfetto."""
    if not CHECK.is_file():
        pytest.skip(f"PERFETTO WAS NOT ASKED: no {CHECK}; set NPROF_PERFETTO_CHECK")
    if shutil.which("node") is None:
        pytest.skip("PERFETTO WAS NOT ASKED: Node.js is not installed")
    run = subprocess.run(
        [sys.executable, str(CHECK), str(path), *queries],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "INITMS": os.environ.get("INITMS", "2500")},
    )  # fmt: skip
    return dict(json.loads(run.stdout))
