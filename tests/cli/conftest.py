"""Traces on disk for the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import small_trace

from trace_format.trace_pb.writer import write_trace


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    """A trace.pb of the small trace, all of whose events were kept."""
    path = tmp_path / "run" / "trace.pb"
    path.parent.mkdir()
    write_trace(small_trace(), path)
    return path


@pytest.fixture
def lossy_file(tmp_path: Path) -> Path:
    """A trace-event file with one good event and one that has no time."""
    path = tmp_path / "lossy.json"
    good = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}
    path.write_text(json.dumps({"traceEvents": [good, {**good, "ts": "soon"}]}))
    return path
