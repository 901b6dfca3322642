"""PyTorch's structured compile logs and raw memory timelines. Expected values are worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trace_event_files import load_text

from trace_format.importers import load_file
from trace_format.importers.recognition import Format

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


def test_ranks_whose_entries_alternate_are_told_apart(tmp_path: Path) -> None:
    def said(rank: int, text: str) -> str:
        return text.replace('"rank": 3', f'"rank": {rank}')

    lines = [
        said(0, phase(28, 10, "B", "dynamo")), said(1, phase(28, 20, "B", "dynamo")),
        said(0, line(28, 30, {"str": ["zero.py", 5], "rank": 3})),
        said(1, line(28, 30, {"str": ["one.py", 5], "rank": 3})),
        *(said(rank, line(28, 40, about(dynamo_start={"stack": [{"line": 7, "name": "f", "filename": 5}]})))
          for rank in (0, 1)),
        said(0, phase(28, 50, "E", "dynamo")), said(1, phase(28, 90, "E", "dynamo")),
        *(said(rank, line(28, 95, about(compilation_metrics={"co_name": f"of{rank}", "compile_id": "0/1"})))
          for rank in (1, 0)),
    ]  # fmt: skip
    trace = load_text(tmp_path, "".join(lines))
    assert trace.report.to_dict() == {"source_events": 10, "kept": 10, "left_out": {}, "repaired": {}}
    rank_of = trace.tracks.rank[trace.slices.track].tolist()
    found = dict(zip(rank_of, zip(trace.slices.ts_ns.tolist(), trace.slices.dur_ns.tolist(), strict=True), strict=True))
    start = TS_US * 1000
    assert found == {0: (start + 10_000_000, 40_000_000), 1: (start + 20_000_000, 70_000_000)}
    compiles = trace.compiles
    told = zip(compiles.text("what"), compiles.text("trigger"), [rank_of[row] for row in compiles.slice], strict=True)
    assert sorted(told) == [("of0", "zero.py:7 f", 0), ("of1", "one.py:7 f", 1)]
    assert trace.metadata["sources"][0]["ranks"] == [0, 1]
    assert "rank" not in trace.metadata


def test_more_ranks_than_any_file_has_share_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trace_format.importers.torch_trace.importer._MOST_RANKS", 2)
    trace = load_text(tmp_path, "".join(line(28, rank, {"artifact": {}, "rank": rank}) for rank in range(5)))
    assert sorted(trace.tracks.rank[trace.instants.track].tolist()) == [-1, -1, -1, 0, 1]


def test_a_time_no_clock_shows_moves_no_other_entry(tmp_path: Path) -> None:
    for ts in ("1e30", "null", "-9.2e15", '"x"', "5"):
        damaged = phase(28, 5, "i", "damaged").replace(f'"ts": {float(TS_US + 5000)}', f'"ts": {ts}')
        trace = load_text(tmp_path, damaged + LOG)
        when = dict(zip(trace.instants.text("name"), trace.instants.ts_ns.tolist(), strict=True))
        assert when["dynamo_start"] == (TS_US + 20_000) * 1000
        assert trace.report.source_events == 10


def test_a_log_that_goes_on_in_the_new_year_is_on_one_clock(tmp_path: Path) -> None:
    new_year_us = 1_767_225_600_000_000  # 2026-01-01 00:00:00 UTC, which is the zone of these headers

    def at(header: str, ts_us: int, name: str) -> str:
        event = {"name": name, "ts": ts_us, "args": {}, "ph": "i", "cat": "dynamo_timed", "tid": 0, "pid": 0}
        note = header + json.dumps(about(artifact={"name": name})) + "\n"
        return header + json.dumps(about(chromium_event={})) + "\n\t" + json.dumps(event) + "\n" + note

    old = at("V1231 23:59:59.000000 1 a.py:1] ", new_year_us - 1_000_000, "old")
    new = at("V0101 00:00:01.000000 1 a.py:1] ", new_year_us + 1_000_000, "new")
    trace = load_text(tmp_path, old + new)
    when = dict(zip(trace.instants.text("name"), trace.instants.ts_ns.tolist(), strict=True))
    assert (when["artifact old"], when["artifact new"]) == (
        (new_year_us - 1_000_000) * 1000, (new_year_us + 1_000_000) * 1000,
    )  # fmt: skip


@pytest.mark.parametrize(
    "cut_off",
    ['V0728 16:17:28.000000 4321 torch/a.py:10] {"artifact": {"na', 'V0728 16:17:28.000000 4321 a.py:1] {}\n\t{"na'],
)
def test_an_entry_that_begins_where_another_was_cut_off_is_read(cut_off: str, tmp_path: Path) -> None:
    trace = load_text(tmp_path, cut_off + LOG)
    assert trace.report.source_events == 10
    assert len(trace.slices) == 2
    assert "str" in trace.instants.text("name")


def test_text_that_quotes_a_log_is_part_of_a_payload(tmp_path: Path) -> None:
    quoting = line(28, 0, about(artifact={"name": "q"}), HEADER.format(1, 2) + "{not an entry") + LOG
    assert load_text(tmp_path, quoting).report.to_dict() == {
        "source_events": 10, "kept": 10, "left_out": {}, "repaired": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        '{"str": ["a", [1]]}', '{"str": {"a": 1}}', '{"dynamo_start": {"stack": [{"filename": [1], "line": {}}]}}',
        '{"compilation_metrics": {"compile_id": [1], "co_name": 5, "a_time_s": -1, "b_us": 1e300}}', "{}",
        '{"rank": true, "artifact": []}', '{"rank": 1180591620717411303424}', '{"chromium_event": {}}',
    ],
)  # fmt: skip
def test_values_of_any_type_cost_no_more_than_their_entry(said: str, tmp_path: Path) -> None:
    trace = load_text(tmp_path, HEADER.format(28, 0) + said + "\n" + LOG)
    report = trace.report.to_dict()
    assert report["source_events"] == 10
    assert report["kept"] >= 9
    assert len(trace.slices) == 2
    assert len(trace.compiles) >= 1


def test_a_metric_that_is_no_number_costs_itself(tmp_path: Path) -> None:
    trace = load_text(tmp_path, LOG.replace('"inductor_compile_time_s": 0.5', '"inductor_compile_time_s": NaN'))
    assert trace.pool.args(int(trace.compiles.phases[0])) == {"entire_frame_compile": 1_040_000_000}
    assert trace.report.to_dict()["repaired"] == {"NaN or infinity in place of a value: shown as unknown": 1}


def test_a_lone_surrogate_in_an_entry_is_kept(tmp_path: Path) -> None:
    trace = load_text(tmp_path, LOG.replace("fx_graph_runnable", "\\ud800"))
    assert "artifact \ud800" in trace.instants.text("name")
    assert trace.report.clean


def test_a_log_with_a_byte_order_mark_and_windows_line_ends_is_the_same_log(tmp_path: Path) -> None:
    trace = load_text(tmp_path, "\ufeff" + LOG.replace("\n", "\r\n"))
    assert trace.report.to_dict() == {"source_events": 9, "kept": 9, "left_out": {}, "repaired": {}}


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
    assert trace.report.to_dict() == {
        "source_events": 3, "kept": 2, "left_out": {"entry cut off by the end of the file": 1},
        "repaired": {"the file ends before its list of entries does (byte 36)": 1},
    }  # fmt: skip


NO_ENTRY = "entry that is not [time, action, bytes, category]"


@pytest.mark.parametrize(
    ("middle", "left_out", "repaired"),
    [
        ("[5, 2, 7 4], ", 1, {}),
        ("[5, 2, NaN, 4], ", 1, {}),
        ("[], ", 1, {}),
        ("5, 2, 7, 4], ", 1, {}),
        ("[" * 100_000, 0, {"bracket too many": 1}),
        (", ", 0, {"comma too many": 1}),
        ("[18446744073709551616, 2, 3, 4], ", 1, {}),
        ("], [", 0, {"comma too many": 1, "a further list in the same file": 1}),
    ],
)  # fmt: skip
def test_a_fault_in_a_memory_timeline_costs_one_entry_at_most(
    middle: str, left_out: int, repaired: dict[str, int], tmp_path: Path
) -> None:
    trace = load_text(tmp_path, f"[[1, 2, 30, 4], {middle}[9, 2, 70, 4]]")
    assert (trace.memory.delta_bytes.tolist(), trace.memory.total_bytes.tolist()) == ([30, 70], [30, 100])
    assert trace.report.to_dict() == {
        "source_events": 2 + left_out, "kept": 2, "left_out": {NO_ENTRY: left_out} if left_out else {},
        "repaired": repaired,
    }  # fmt: skip


def test_a_missing_comma_between_entries_of_a_memory_timeline_is_repaired(tmp_path: Path) -> None:
    trace = load_text(tmp_path, "[[1, 2, 30, 4] [9, 2, 70, 4]]")
    assert trace.memory.total_bytes.tolist() == [30, 100]
    assert trace.report.to_dict()["repaired"] == {"comma missing between entries": 1}


def test_where_allocations_add_up_to_more_than_an_integer_holds_no_total_is_told(tmp_path: Path) -> None:
    trace = load_text(tmp_path, json.dumps([[1, 2, 2**61, 4]] * 9))
    assert trace.memory.delta_bytes.tolist() == [2**61] * 9
    assert trace.memory.total_bytes.tolist() == [-1] * 9


def test_where_a_memory_timeline_is_cut_into_pieces_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [[1000 + i, 2, i * i, i % 8] for i in range(300)]
    path = tmp_path / "m.json"
    path.write_text(json.dumps(rows))
    for piece_bytes in (1, 7, 100):
        monkeypatch.setattr("trace_format.importers.source._PIECE_BYTES", piece_bytes)
        # what the file is, is told from its first piece
        monkeypatch.setattr("trace_format.importers.recognise", lambda head, path: Format.MEMORY_TIMELINE)
        trace = load_file(path)
        assert trace.memory.delta_bytes.tolist() == [i * i for i in range(300)]
        assert trace.report.clean
