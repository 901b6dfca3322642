"""The commands that look at a trace keep a large import; --no-cache and convert do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [("summary", "--json"), ("hotspots", "--json"), ("check", "--json")]


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace-event file of more than 2 MiB in which one event has no time."""
    operator = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "dur": 5}
    events = [operator, *({**operator, "ts": 10 * i, "args": {"filler": "x" * 500}} for i in range(4500))]
    path = tmp_path_factory.mktemp("large") / "large.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def run(folder: Path, *args: str) -> str:
    """What `neuron-explorer` prints with its cache in this folder."""
    environment = {**os.environ, "NPROF_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "explorer_app.cli.main", *args]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=300, check=True).stdout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_command_says_the_same_with_and_without_the_cache(
    command: tuple[str, ...], large_file: Path, tmp_path: Path
) -> None:
    name, *options = command
    without = run(tmp_path, name, str(large_file), *options, "--no-cache")
    assert list(tmp_path.iterdir()) == []
    first = run(tmp_path, name, str(large_file), *options)
    (entry,) = tmp_path.iterdir()
    assert entry.suffix == ".pb"
    assert run(tmp_path, name, str(large_file), *options) == first == without
    assert list(tmp_path.iterdir()) == [entry]


def test_check_reports_what_the_import_left_out_from_the_cache(large_file: Path, tmp_path: Path) -> None:
    for _ in range(2):
        report = json.loads(run(tmp_path, "check", str(large_file), "--json"))
        assert (report["source_events"], report["kept"]) == (4501, 4500)
        assert report["left_out"] == {"event without a time": 1}


def test_converting_keeps_nothing(large_file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(cache, "convert", str(large_file), str(tmp_path / "trace.pb"))
    assert not cache.exists()
