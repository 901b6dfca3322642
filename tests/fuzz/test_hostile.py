"""Files made to be too much open whole or are refused, in bounded time and memory.

NPROF_FUZZ_SCALE multiplies the sizes (1); `make fuzz` takes 10.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HOSTILE = Path(__file__).with_name("hostile.py")
SCALE = int(os.environ.get("NPROF_FUZZ_SCALE", "1"))
SECONDS = 60 * SCALE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by RLIMIT_AS")


def outcome(name: str, size: int) -> dict[str, Any]:
    run = subprocess.run(
        [sys.executable, str(HOSTILE), name, str(size * SCALE), str(SECONDS)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-5_000:]
    return dict(json.loads(run.stdout))


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("long_names", 20), ("distinct_names", 100_000), ("distinct_arguments", 30_000), ("many_tracks", 10_000),
        ("many_processes", 2_000), ("all_overlap", 10_000), ("never_ended", 10_000),
    ],
)  # fmt: skip
def test_what_is_much_but_right_opens_and_is_written_whole(name: str, size: int) -> None:
    found = outcome(name, size)
    assert (found["slices"], found["again"]) == (size * SCALE, size * SCALE)
    assert found["report"]["left_out"] == {}


@pytest.mark.parametrize(
    ("name", "size", "kind"),
    [
        ("zstandard_of_brackets", 100_000_000, "UnsupportedFormatError"),
        ("nested_arrays", 1_000_000, "UnsupportedFormatError"),
        ("one_huge_string", 50_000_000, "DamagedFileError"),
        ("timeline_of_many_rows", 20_000_000, "LimitExceededError"),
        ("blocks_out_of_nothing", 1_000, "LimitExceededError"),
        ("values_out_of_nothing", 5, "LimitExceededError"),
    ],
)
def test_a_bomb_is_refused_in_one_line(name: str, size: int, kind: str) -> None:
    found = outcome(name, size)
    assert found["kind"] == kind
    assert "\n" not in found["error"]


def test_a_file_of_nothing_but_space_is_a_trace_of_nothing() -> None:
    assert outcome("gzip_of_spaces", 50_000_000)["report"]["source_events"] == 0


@pytest.mark.parametrize(
    ("name", "size", "events"),
    [("log_of_one_payload", 200_000_000, 1), ("log_of_many_lines", 2_000_000, 1), ("log_of_many_ranks", 5_000, 5_000)],
)
def test_a_log_is_read_whatever_its_payloads_and_ranks(name: str, size: int, events: int) -> None:
    report = outcome(name, size)["report"]
    assert report["source_events"] == report["kept"] == (events * SCALE if events > 1 else 1)


def test_brackets_in_a_memory_timeline_cost_themselves() -> None:
    report = outcome("timeline_of_brackets", 50_000_000)["report"]
    assert report["kept"] == 1


def test_only_the_event_that_nests_too_deep_is_left_out() -> None:
    found = outcome("nested_arguments", 100_000)
    assert found["slices"] == 1
    assert (found["report"]["source_events"], sum(found["report"]["left_out"].values())) == (2, 1)


def test_tables_beyond_any_reason_are_not_looked_through() -> None:
    assert outcome("many_tables", 2_000)["slices"] == 0
