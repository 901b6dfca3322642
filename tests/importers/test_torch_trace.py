"""PyTorch's structured compile logs and raw memory timelines. Expected values are worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trace_event_files import load_text

from trace_format.errors import DamagedFileError
from trace_format.importers import load_file

# 2025-07-28 16:17:28 in a zone two hours before UTC: 1753719448 s in UTC
HEADER = "V0728 16:17:{:02}.{:03}000 4321 torch/_dynamo/utils.py:10] "
TS_US = 1753719448000000


def line(second: int, millis: int, said: dict[str, Any], payload: Any = None) -> str:
    text = HEADER.format(second, millis) + json.dumps(said) + "\n"
    if payload is not None:
        text += "".join(f"\t{part}\n" for part in json.dumps(payload, indent=0).split("\n"))
    return text


def about(**said: Any) -> dict[str, Any]:
    return {**said, "rank": 3, "frame_id": 0, "frame_compile_id": 1, "attempt": 0}


def phase(second: int, millis: int, ph: str, name: str) -> str:
    ts = TS_US + (second - 28) * 1_000_000 + millis * 1000
    event = {"name": name, "ts": float(ts), "args": {"compile_id": "0/1"}, "ph": ph, "cat": "dynamo_timed", "tid": 0,
             "pid": 0}  # fmt: skip
    return line(second, millis, about(chromium_event={}, has_payload="x"), event)


LOG = "".join(
    [
        line(28, 0, {"str": ["model.py", 5]}),
        phase(28, 10, "B", "entire_frame_compile"),
        line(28, 20, about(dynamo_start={"stack": [{"line": 7, "name": "main", "filename": 1},
                                                   {"line": 9, "name": "forward", "filename": 5}]})),
        phase(28, 30, "B", "backend_compile"),
        phase(28, 35, "i", "fx_graph_cache_miss"),
        line(28, 36, about(artifact={"name": "fx_graph_runnable", "encoding": "string"}, has_payload="y"), ["graph"]),
        phase(29, 30, "E", "backend_compile"),
        phase(29, 50, "E", "entire_frame_compile"),
        line(29, 51, about(compilation_metrics={
            "co_name": "forward", "compile_id": "0/1", "fail_type": None, "entire_frame_compile_time_s": 1.04,
            "inductor_compile_time_s": 0.5, "structured_logging_overhead_s": 0.1, "backend_compile_time_s": None,
        })),
    ]
)  # fmt: skip


def test_phases_are_slices_compiles_are_rows_and_every_entry_is_counted(tmp_path: Path) -> None:
    trace = load_text(tmp_path, LOG)
    assert trace.report.to_dict() == {"source_events": 9, "kept": 9, "left_out": {}, "repaired": {}}
    rows = zip(trace.slices.text("name"), trace.slices.ts_ns.tolist(), trace.slices.dur_ns.tolist(), strict=True)
    start = TS_US * 1000
    assert list(rows) == [
        ("entire_frame_compile", start + 10_000_000, 1_040_000_000),
        ("backend_compile", start + 30_000_000, 1_000_000_000),
    ]
    assert trace.slices.text("category") == ["compile", "compile"]
    assert trace.tracks.text("kind")[trace.slices.track[0]] == "compile"
    row = trace.compiles.to_pandas().iloc[0]
    assert (row["slice"], row.what, row.backend, row.cache, row.trigger, row.exit_status) == (
        0, "forward", "inductor", "miss", "model.py:9 forward", 0,
    )  # fmt: skip
    assert json.loads(row.phases) == {"entire_frame_compile": 1_040_000_000, "inductor_compile": 500_000_000}
    assert (trace.metadata["rank"], trace.metadata["sources"][0]["clock"]) == (3, "unix")


def test_other_entries_are_moments_at_the_time_of_their_line_whatever_its_time_zone(tmp_path: Path) -> None:
    trace = load_text(tmp_path, LOG)
    when = dict(zip(trace.instants.text("name"), trace.instants.ts_ns.tolist(), strict=True))
    assert when["dynamo_start"] == (TS_US + 20_000) * 1000
    assert when["artifact fx_graph_runnable"] == (TS_US + 36_000) * 1000


def test_a_failed_compile_has_another_exit_status(tmp_path: Path) -> None:
    trace = load_text(tmp_path, LOG.replace('"fail_type": null', '"fail_type": "Unsupported"'))
    assert trace.compiles.exit_status.tolist() == [1]


def test_damaged_entries_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    broken = LOG.replace('"name": "backend_compile",', '"name": backend_compile,', 1).replace('{"str": [', '{"str: [')
    trace = load_text(tmp_path, broken + "Traceback (most recent call last):\n")
    assert trace.report.to_dict() == {
        "source_events": 9, "kept": 6,
        "left_out": {
            "entry that is no valid JSON": 1, "chromium event whose payload is no valid JSON": 1,
            "end without a begin": 1,
        },
        "repaired": {"line that belongs to no entry: not read": 1},
    }  # fmt: skip


def test_a_memory_timeline_keeps_what_was_there_before_at_the_first_time(tmp_path: Path) -> None:
    rows = [[-1, 1, 100, 0], [5000, 2, 30, 4], [7000, 4, -30, 4], [8000, 3, -100, 7], [8000, 3, 100, 5]]
    memory = load_text(tmp_path, json.dumps(rows)).memory
    assert memory.ts_ns.tolist() == [5000, 5000, 7000, 8000, 8000]
    assert memory.total_bytes.tolist() == [100, 130, 100, 0, 100]
    assert memory.text("category") == ["parameter", "activation", "activation", "", "gradient"]


def test_entries_of_a_memory_timeline_that_are_none_are_left_out(tmp_path: Path) -> None:
    report = load_text(tmp_path, '[[1, 2, 3, 4], [5, "x"], [1, 2, 18446744073709551616, 4]]').report.to_dict()
    assert report["left_out"] == {"entry that is not [time, action, bytes, category]": 2}
    assert report["source_events"] == 3


def test_a_memory_timeline_that_is_cut_off_gives_its_whole_entries(tmp_path: Path) -> None:
    trace = load_text(tmp_path, "[[1, 2, 3, 4], [5, 2, 7, 4], [5, 2, ")
    assert trace.memory.delta_bytes.tolist() == [3, 7]
    assert trace.report.to_dict()["repaired"] == {"the file ends before its list of entries does (byte 36)": 1}


def test_a_memory_timeline_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("[[1, 2, 3, 4], [5, 2, 7 4]]")
    with pytest.raises(DamagedFileError, match="no valid JSON"):
        load_file(path)
