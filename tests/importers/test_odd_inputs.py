"""Every fault of the list of odd inputs seen in public bug reports, one test for each, by its number in that list.

A test states the file and, worked out by hand, what the trace holds and what the report says.
Row 43 (NEFF and NTFF files) is not about trace events.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trace_event_files import complete, event, load_events, load_text

from neuron_profile import analysis
from trace_format import Trace, write_trace
from trace_format.exporters import export_file
from trace_format.importers import load_file
from trace_format.merge import merge_ranks
from trace_format.without_python import without_python

A = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}'
B = '{"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":3}'
UNKNOWN = "NaN or infinity in place of a value: shown as unknown"
BASE_NS = 1_735_632_360_000_000_000
HOUR_US = 3_600_000_000


def around(middle: str | bytes, *, head: str = '{"traceEvents":[', tail: str = "]}") -> bytes:
    """A file with this text, as it is, between two good events."""
    text = middle.encode() if isinstance(middle, str) else middle
    return b"%b%b,%b,%b%b" % (head.encode(), A.encode(), text, B.encode(), tail.encode())


def odd(args: str) -> str:
    """An event with this text in its arguments."""
    return '{"ph":"X","name":"odd","pid":1,"tid":1,"ts":3,"dur":1,"args":{' + args + "}}"


@dataclass(frozen=True)
class Row:
    """One fault: the file, the names and times (ns) that come out of it, and the report. `args`: those of "odd"."""

    number: int
    text: bytes
    slices: dict[str, tuple[int, int]]
    args: dict[str, Any] | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    repaired: dict[str, int] = field(default_factory=dict)


BOTH = {"a": (1000, 2000), "b": (5000, 3000)}
THREE = BOTH | {"odd": (3000, 1000)}
CUT = around(odd(""))[:-40]

ROWS = [
    Row(1, CUT, {"a": (1000, 2000), "odd": (3000, 1000)},
        left_out={f"event cut off by the end of the file (byte {CUT.rfind(b'{')})": 1}),
    Row(2, around(odd('"x":1,')), THREE, {"x": 1}, repaired={"comma too many": 1}),
    Row(2, around(odd('"x":1'), tail=",]}"), THREE, {"x": 1}, repaired={"comma too many": 1}),
    Row(2, around(odd('"x":1')).replace(b"},", b"},,,", 1), THREE, {"x": 1}, repaired={"comma too many": 2}),
    Row(3, around('{"ph":"X","name":"odd","pid":1,tid": 0,"ts":3,"dur":1}'), BOTH,
        left_out={"event that is no valid JSON": 1}),
    Row(4, around(odd('"x":NaN')), THREE, {"x": None}, repaired={UNKNOWN: 1}),
    Row(5, around(odd('"memory bandwidth (GB/s)": inf,"bytes":512')), THREE, {"memory bandwidth (GB/s)": None},
        repaired={UNKNOWN: 1}),
    Row(6, around(odd('"Process Group Name": N/A')), THREE, {"Process Group Name": "N/A"},
        repaired={"N/A without quotes": 1}),
    Row(7, around(odd('"Process Group Description": , "y":2')), THREE, {"Process Group Description": None, "y": 2},
        repaired={"value missing: shown as unknown": 1}),
    Row(9, around(odd('"file":"C:\\Users\\me"')), THREE, {"file": "C:\\Users\\me"},
        repaired={"backslash not doubled": 1}),
    Row(10, around('{"ph":"X","name":"say "no" here","pid":1,"tid":1,"ts":3,"dur":1}'), BOTH,
        left_out={"event that is no valid JSON": 1}),
    Row(13, around(odd('"Comms Id":18446744073709551615,"correlation":18446744073709551616')), THREE,
        {"Comms Id": 2**64 - 1, "correlation": 2**64}),
    Row(15, b"\xef\xbb\xbf" + around(odd('"x":1')), THREE, {"x": 1}),
    Row(16, around(odd('"x":1'), head="[", tail="]"), THREE, {"x": 1}),
    Row(20, around(odd('"x":1'), head='{"displayTimeUnit":"ns","traceEvents":['), THREE, {"x": 1}),
    Row(20, around(odd('"x":1'), head='{"displayTimeUnit":"ms","traceEvents":['), THREE, {"x": 1}),
    Row(24, around('{"ph":"X","name":"odd","pid":1,"tid":1,"ts":3}'), BOTH | {"odd": (3000, -1)},
        repaired={"no duration: shown as unfinished": 1}),
    Row(25, around(odd("").replace('"dur":1', '"dur":9.2e15')), BOTH | {"odd": (3000, -1)},
        repaired={"duration of more than 11 days: shown as unfinished": 1}),
    Row(28, around(odd("").replace('"ts":3', '"ts":18446744073709551.615')), BOTH, left_out={"time out of range": 1}),
    Row(39, around(odd('"x":1'), tail='],"baseTimeNanoseconds":1000}'),
        {name: (ts + 1000, dur) for name, (ts, dur) in THREE.items()}, {"x": 1}),
]  # fmt: skip


def slices_of(trace: Trace) -> dict[str, tuple[int, int]]:
    rows = zip(trace.slices.text("name"), trace.slices.ts_ns.tolist(), trace.slices.dur_ns.tolist(), strict=True)
    return {name: (ts, dur) for name, ts, dur in rows}


def args_of(trace: Trace, name: str) -> dict[str, Any]:
    return trace.pool.args(int(trace.slices.args[trace.slices.text("name").index(name)]))


def repaired(trace: Trace) -> dict[str, int]:
    return dict(trace.report.to_dict()["repaired"])


def left_out(trace: Trace) -> dict[str, int]:
    return dict(trace.report.to_dict()["left_out"])


def launches(trace: Trace) -> dict[str, int]:
    return dict(trace.metadata["sources"][0]["launches"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"row_{row.number:02}")
def test_one_fault_in_the_text(row: Row, tmp_path: Path) -> None:
    trace = load_text(tmp_path, row.text)
    assert slices_of(trace) == row.slices
    assert (left_out(trace), repaired(trace)) == (row.left_out, row.repaired)
    if row.args is not None:
        assert args_of(trace, "odd") == row.args


def test_row_03_a_missing_comma_between_events_costs_no_event(tmp_path: Path) -> None:
    trace = load_text(tmp_path, '{"traceEvents":[' + A + B + "]}")
    assert slices_of(trace) == BOTH
    assert (left_out(trace), repaired(trace)) == ({}, {"comma missing between events": 1})


def test_row_05_an_infinite_bandwidth_counts_no_bytes_per_second(tmp_path: Path) -> None:
    trace = load_text(tmp_path, around(odd('"memory bandwidth (GB/s)": inf,"bytes":512').replace('"dur":1', '"dur":0')))
    assert trace.slices.bytes[trace.slices.text("name").index("odd")] == 512
    assert repaired(trace) == {UNKNOWN: 1}


def test_row_08_a_raw_control_character_is_kept(tmp_path: Path) -> None:
    trace = load_text(tmp_path, around('{"ph":"X","name":"o\x01d\nd","pid":1,"tid":1,"ts":3,"dur":1}'))
    assert slices_of(trace) == BOTH | {"o\x01d\nd": (3000, 1000)}
    assert repaired(trace) == {"control character not escaped": 1}


def test_row_11_bytes_that_are_not_utf8_are_replaced(tmp_path: Path) -> None:
    trace = load_text(tmp_path, around(b'{"ph":"X","name":"o\xffd","pid":1,"tid":1,"ts":3,"dur":1}'))
    assert slices_of(trace) == BOTH | {"o\ufffdd": (3000, 1000)}
    assert repaired(trace) == {"bytes that are not UTF-8 replaced": 1}


def test_row_12_a_lone_surrogate_is_kept_through_every_export(tmp_path: Path) -> None:
    trace = load_text(tmp_path, around(r'{"ph":"X","name":"o\ud800d","pid":1,"tid":1,"ts":3,"dur":1}'))
    write_trace(trace, tmp_path / "t.pb")
    export_file(trace, tmp_path / "t.json.gz")
    for back in (trace, load_file(tmp_path / "t.pb"), load_file(tmp_path / "t.json.gz")):
        assert slices_of(back) == BOTH | {"o\ud800d": (3000, 1000)}


def document(rank: int, names: list[str], base_ns: int = BASE_NS) -> str:
    events = [complete(name, 10 * i, 5) for i, name in enumerate(names)]
    head = {"distributedInfo": {"rank": rank, "world_size": 2}, "baseTimeNanoseconds": base_ns}
    return json.dumps({**head, "traceEvents": events})


def test_row_14_two_documents_in_one_file_are_two_sets_of_tracks(tmp_path: Path) -> None:
    one, two = document(0, ["a1", "a2"]), document(1, ["b1"], BASE_NS + 7)
    trace = load_text(tmp_path, one + "\n" + two)
    assert slices_of(trace) == {"a1": (BASE_NS, 5000), "a2": (BASE_NS + 10_000, 5000), "b1": (BASE_NS + 7, 5000)}
    ranks = dict(zip(trace.slices.text("name"), trace.tracks.rank[trace.slices.track].tolist(), strict=True))
    assert ranks == {"a1": 0, "a2": 0, "b1": 1}
    assert repaired(trace) == {f"a further document in the same file (byte {len(one) + 1})": 1}
    assert [source["document"] for source in trace.metadata["sources"]] == [0, 1]


def test_row_14_a_document_written_between_two_events_of_another_is_read_and_said(tmp_path: Path) -> None:
    one, two = document(0, ["a1", "a2"]), document(1, ["b1", "b2"])
    cut = one.index(', {"ph": "X", "name": "a2"')
    trace = load_text(tmp_path, one[:cut] + two + one[cut:])
    assert sorted(slices_of(trace)) == ["a1", "a2", "b1", "b2"]
    assert repaired(trace) == {"documents written into each other: read as one list of events": 1}


def test_row_14_a_document_written_into_an_event_of_another_costs_that_event(tmp_path: Path) -> None:
    one, two = document(0, ["a1", "a2", "a3"]), document(1, ["b1", "b2"])
    cut = one.index('"a2"') + 2
    trace = load_text(tmp_path, one[:cut] + two + one[cut:])
    assert slices_of(trace) == {
        "a1": (BASE_NS, 5000), "b1": (BASE_NS, 5000), "b2": (BASE_NS + 10_000, 5000), "a3": (BASE_NS + 20_000, 5000),
    }  # fmt: skip
    assert left_out(trace) == {"event that is no valid JSON": 1}
    assert any("written into each other" in cause for cause in repaired(trace))


def test_row_17_times_in_quotes_keep_their_nanoseconds(tmp_path: Path) -> None:
    middle = odd("").replace('"ts":3', '"ts":"1683564901540885.1234567"').replace('"dur":1', '"dur":"0.0019"')
    trace = load_text(tmp_path, "[" + middle + "]")
    assert slices_of(trace) == {"odd": (1683564901540885123, 2)}


def test_row_18_epoch_microseconds_with_a_fraction_are_exact(tmp_path: Path) -> None:
    trace = load_text(tmp_path, "[" + odd("").replace('"ts":3', '"ts":1683564901540885.677') + "]")
    assert slices_of(trace) == {"odd": (1683564901540885677, 1000)}
    assert trace.metadata["sources"][0]["clock"] == "unix"


def test_row_19_the_base_time_is_added(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [complete("a", 1.5, 1)], baseTimeNanoseconds=BASE_NS)
    assert slices_of(trace) == {"a": (BASE_NS + 1500, 1000)}


def test_row_20_events_nearer_than_the_unit_of_display_do_not_nest(tmp_path: Path) -> None:
    near = [complete("a", 1.000, 0.250), complete("b", 1.250, 0.250), complete("c", 1.500, 0.001)]
    trace = load_events(tmp_path, near, displayTimeUnit="ms")
    assert slices_of(trace) == {"a": (1000, 250), "b": (1250, 250), "c": (1500, 1)}
    assert trace.slices.depth.tolist() == [0, 0, 0]


def test_row_21_slices_that_overlap_in_part_get_lines_of_their_own(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [complete("a", 0, 10), complete("b", 5, 10), complete("c", 8, 20)])
    assert slices_of(trace) == {"a": (0, 10_000), "b": (5000, 10_000), "c": (8000, 20_000)}
    assert sorted(trace.slices.depth.tolist()) == [0, 1, 2]
    assert trace.slices.self_ns.tolist() == [10_000, 10_000, 20_000]
    assert trace.report.clean


def test_row_22_device_work_that_runs_past_the_next_of_its_stream_is_flagged_and_kept(tmp_path: Path) -> None:
    stream = {"cat": "kernel", "pid": 0, "tid": 7}
    trace = load_events(tmp_path, [complete("k1", 0, 12, **stream), complete("k2", 10, 5, **stream)])
    assert slices_of(trace) == {"k1": (0, 12_000), "k2": (10_000, 5000)}
    assert repaired(trace) == {"runs past the start of the next on its stream: both kept as they are": 1}
    # 12 + 5 us as they are; 10 + 5 us when the first ends where the second begins
    assert (launches(trace)["device_work_ns"], launches(trace)["device_work_clipped_ns"]) == (17_000, 15_000)


def test_row_23_a_negative_duration_is_left_out_and_an_end_at_zero_means_unfinished(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [complete("a", 1, 2), complete("negative", 5, -3), complete("no end", 4, -4)])
    assert slices_of(trace) == {"a": (1000, 2000), "no end": (4000, -1)}
    assert left_out(trace) == {"negative duration": 1}
    assert repaired(trace) == {"no duration: shown as unfinished": 1}


def test_row_26_events_at_time_zero_without_length_are_left_out_where_the_trace_is_elsewhere(tmp_path: Path) -> None:
    lost = [complete(f"lost{i}", 0, 0) for i in range(3)]
    trace = load_events(tmp_path, [complete("a", 2 * HOUR_US, 1), *lost])
    assert slices_of(trace) == {"a": (2 * HOUR_US * 1000, 1000)}
    assert left_out(trace) == {"event without length at time zero, far from the others: never recorded": 3}
    assert len(load_events(tmp_path, [complete("a", 5, 1), *lost]).slices) == 4
    assert len(load_events(tmp_path, lost).slices) == 3


def test_row_27_time_since_boot_and_unix_time_are_kept_apart(tmp_path: Path) -> None:
    unix_us, boot_us = BASE_NS // 1000, 5 * HOUR_US
    host = [complete(f"op{i}", unix_us + 10 * i, 5, pid=1) for i in range(3)]
    device = [complete(f"k{i}", boot_us + 7 * i, 3, pid=2) for i in range(2)]
    trace = load_events(tmp_path, host + device)
    assert slices_of(trace) == {
        "op0": (BASE_NS, 5000), "op1": (BASE_NS + 10_000, 5000), "op2": (BASE_NS + 20_000, 5000),
        "k0": (BASE_NS, 3000), "k1": (BASE_NS + 7000, 3000),
    }  # fmt: skip
    assert repaired(trace) == {"on a clock that cannot be related to the others: shown from the start of the trace": 2}
    clocks = trace.metadata["sources"][0]["clocks"]
    assert [(c["clock"], c["moved_by_ns"]) for c in clocks] == [("unix", 0), ("unknown", BASE_NS - boot_us * 1000)]
    assert [trace.tracks.pid[c["tracks"]].tolist() for c in clocks] == [[1], [2]]


def test_row_27_two_clocks_on_one_thread_become_two_tracks(tmp_path: Path) -> None:
    unix_us = BASE_NS // 1000
    trace = load_events(tmp_path, [complete("u1", unix_us, 5), complete("u2", unix_us + 9, 5), complete("boot", 40, 3)])
    assert slices_of(trace) == {"u1": (BASE_NS, 5000), "u2": (BASE_NS + 9000, 5000), "boot": (BASE_NS, 3000)}
    assert len(set(trace.slices.track.tolist())) == 2


def test_row_27_a_long_pause_on_one_clock_is_no_second_clock(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [complete("a", 0, 5), complete("b", 3 * HOUR_US, 5)])
    assert slices_of(trace) == {"a": (0, 5000), "b": (3 * HOUR_US * 1000, 5000)}
    assert trace.report.clean


def test_row_27_allocations_hours_apart_and_nothing_else_are_left_as_they_are(tmp_path: Path) -> None:
    said = {"Bytes": 8, "Addr": 1, "Device Type": 0, "Device Id": -1}
    events = [event("i", "[memory]", ts, s="t", args=said) for ts in (0, 5 * HOUR_US)]
    assert load_events(tmp_path, events).memory.ts_ns.tolist() == [0, 5 * HOUR_US * 1000]


def kernel(name: str, ts: float, **args: int) -> dict[str, Any]:
    return complete(name, ts, 5, cat="kernel", pid=0, tid=7, args=args)


def launch(ts: float, correlation: int) -> dict[str, Any]:
    return complete("cudaLaunchKernel", ts, 1, cat="cuda_runtime", args={"correlation": correlation})


def test_row_29_launches_without_device_work_are_counted(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [launch(1, 1), launch(3, 2), launch(5, 3), kernel("k", 10, correlation=3)])
    assert (launches(trace)["launches"], launches(trace)["launches_without_work"]) == (3, 2)


def test_row_30_device_work_before_its_launch_is_counted_and_not_moved(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [launch(20, 1), launch(40, 2), kernel("k1", 15, correlation=1),
                                   kernel("k2", 50, correlation=2)])  # fmt: skip
    assert launches(trace)["device_work_before_launch"] == 1
    assert launches(trace)["device_clock_behind_ns"] == 5000  # at 15 us, launched at 20 us
    assert slices_of(trace)["k1"] == (15_000, 5000)


def ranks(folder: Path, *, base_ns: tuple[int, int] = (BASE_NS, BASE_NS)) -> list[Trace]:
    gpu = {"pid": 0, "tid": 7}
    events = [
        launch(1, 9), kernel("k", 10, correlation=9),
        event("s", "ac2g", 1, id=9, cat="ac2g"), event("f", "ac2g", 10, id=9, cat="ac2g", bp="e", **gpu),
    ]  # fmt: skip
    return [
        load_events(folder, events, distributedInfo={"rank": rank, "world_size": 2}, baseTimeNanoseconds=base)
        for rank, base in enumerate(base_ns)
    ]


def test_row_31_each_rank_says_which_clock_it_is_on(tmp_path: Path) -> None:
    traces = ranks(tmp_path, base_ns=(BASE_NS, BASE_NS + 2000))
    assert [trace.metadata["sources"][0]["clock"] for trace in traces] == ["unix", "unix"]
    merged = merge_ranks(traces, ["r0", "r1"])
    starts = {
        int(merged.tracks.rank[t]): int(ts) for t, ts in zip(merged.slices.track, merged.slices.ts_ns, strict=True)
    }
    assert starts[1] - starts[0] == 2000


def test_row_32_the_same_process_and_thread_of_two_ranks_are_two_tracks(tmp_path: Path) -> None:
    merged = merge_ranks(ranks(tmp_path), ["r0", "r1"])
    keys = zip(merged.tracks.rank.tolist(), merged.tracks.pid.tolist(), merged.tracks.tid.tolist(), strict=True)
    assert sorted(keys) == sorted(
        (rank, pid, tid) for rank in (0, 1) for pid, tid in [(1, -1), (1, 1), (0, -1), (0, 7)]
    )


def test_row_33_flow_ids_reused_across_ranks_join_nothing_between_them(tmp_path: Path) -> None:
    merged = merge_ranks(ranks(tmp_path), ["r0", "r1"])
    rank_of = merged.tracks.rank[merged.slices.track]
    assert len(merged.flows) == 2
    assert rank_of[merged.flows.from_slice].tolist() == rank_of[merged.flows.to_slice].tolist()


def test_row_34_a_kernel_without_correlation_is_kept_and_counted_as_without_launch(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [launch(1, 1), kernel("k1", 10, correlation=1), kernel("k2", 20)])
    assert slices_of(trace)["k2"] == (20_000, 5000)
    assert (launches(trace)["device_work"], launches(trace)["device_work_without_launch"]) == (2, 1)


def test_row_35_where_external_ids_repeat_the_correlation_decides(tmp_path: Path) -> None:
    gpu = {"pid": 0, "tid": 7}
    events = [
        complete("op", 0, 9, cat="cpu_op", args={"External id": 4}),
        complete("call1", 1, 2, cat="cuda_runtime", args={"External id": 4, "correlation": 11}),
        complete("call2", 1, 1, cat="cuda_runtime", args={"External id": 4, "correlation": 12}),
        complete("k", 20, 1, cat="kernel", args={"External id": 4, "correlation": 11}, **gpu),
        event("s", "ac2g", 1, id=11, cat="ac2g"), event("f", "ac2g", 20, id=11, cat="ac2g", bp="e", **gpu),
    ]  # fmt: skip
    trace = load_events(tmp_path, events)
    names = trace.slices.text("name")
    assert [names[row] for row in trace.flows.from_slice] == ["call1"]
    assert launches(trace)["device_work_without_launch"] == 0


@pytest.mark.parametrize(
    ("name", "rank"),
    [("trace_rank_3.json", 3), ("rank-12.pt.trace.json", 12), ("bs_32_rank0.json", 0), ("frank2.json", None),
     ("trace.json", None)],
)  # fmt: skip
def test_row_36_a_rank_the_file_does_not_state_is_taken_from_its_name(
    name: str, rank: int | None, tmp_path: Path
) -> None:
    trace = load_text(tmp_path, f"[{A}]", name)
    assert trace.metadata.get("rank") == rank
    assert set(trace.tracks.rank.tolist()) == {-1 if rank is None else rank}
    assert trace.metadata["sources"][0].get("rank_from") == (None if rank is None else "file name")


def test_row_37_without_step_annotations_the_whole_window_is_one_step(tmp_path: Path) -> None:
    steps = analysis.steps(load_text(tmp_path, f"[{A},{B}]"))
    assert list(zip(steps.start_ns, steps.end_ns, strict=True)) == [(1000, 8000)]


@pytest.mark.parametrize(
    "text", ["[]", '{"traceEvents":[]}', '[{"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}}]']
)
def test_row_38_no_events_or_metadata_alone_is_an_empty_trace(text: str, tmp_path: Path) -> None:
    trace = load_text(tmp_path, text)
    assert (len(trace.slices), trace.time_range_ns, trace.report.clean) == (0, None, True)


def test_row_40_process_and_thread_keys_of_any_kind_are_kept(tmp_path: Path) -> None:
    keys: list[tuple[Any, Any]] = [("Spans", "PyTorch Profiler"), ("stream 7", 0), (0, -3), (2**70, 1), (0, 0)]
    trace = load_events(tmp_path, [complete("x", i, 1, pid=p, tid=t) for i, (p, t) in enumerate(keys)])
    assert len(set(trace.slices.track.tolist())) == 5
    tracks, on = trace.tracks, trace.slices.track[np.argsort(trace.slices.ts_ns)]
    shown = [
        (tracks.text("source_pid")[t] or int(tracks.pid[t]), tracks.text("source_tid")[t] or int(tracks.tid[t]))
        for t in on.tolist()
    ]
    assert shown == [("Spans", "PyTorch Profiler"), ("stream 7", 0), (0, "-3"), (str(2**70), 1), (0, 0)]


def test_row_41_begins_and_ends_out_of_order_unmatched_or_at_one_time(tmp_path: Path) -> None:
    events = [
        event("E", "outer", 9), event("B", "outer", 1), event("E", "stray", 0), event("B", "open", 20),
        event("B", "flat", 5), event("E", "flat", 5),
    ]  # fmt: skip
    trace = load_events(tmp_path, events)
    assert slices_of(trace) == {"outer": (1000, 8000), "flat": (5000, 0), "open": (20_000, -1)}
    assert left_out(trace) == {"end without a begin": 1}
    assert repaired(trace) == {"begin without an end: shown as unfinished": 1}


def test_row_42_a_name_of_200_kb_and_a_gzip_file_cut_off(tmp_path: Path) -> None:
    name = "n" * 200_000
    assert slices_of(load_events(tmp_path, [complete(name, 1, 1)])) == {name: (1000, 1000)}
    rng = np.random.default_rng(0)
    names = [f"op{i}_{rng.integers(1 << 60)}" for i in range(4000)]
    data = gzip.compress(json.dumps([complete(name, i, 1) for i, name in enumerate(names)]).encode())
    path = tmp_path / "cut.json.gz"
    path.write_bytes(data[: len(data) // 2])
    trace = load_file(path)
    assert 0 < len(trace.slices) < 4000
    assert trace.slices.text("name") == names[: len(trace.slices)]
    assert repaired(trace)[f"the gzip stream ends early (byte {len(data) // 2})"] == 1


def test_row_42_python_frames_can_be_left_out(tmp_path: Path) -> None:
    frames = [complete(f"train.py({i}): f", 0, 100 - i, cat="python_function") for i in range(20)]
    work = [complete("aten::mm", 30, 5, cat="cpu_op"), launch(31, 1), kernel("k", 60, correlation=1)]
    trace = load_events(tmp_path, [*frames, *work])
    lighter = without_python(trace)
    assert lighter.slices.text("name") == [n for n in trace.slices.text("name") if not n.startswith("train.py")]
    assert lighter.report.to_dict() == {
        "source_events": 23, "kept": 3, "left_out": {"Python frame left out as asked": 20}, "repaired": {},
    }  # fmt: skip
    assert lighter.slices.parent[lighter.slices.text("name").index("aten::mm")] == -1
    assert slices_of(lighter).items() <= slices_of(trace).items()


def test_row_44_device_annotations_are_not_work(tmp_path: Path) -> None:
    gpu = {"pid": 0, "tid": 7}
    trace = load_events(
        tmp_path,
        [complete("step", 0, 100, cat="gpu_user_annotation", **gpu), complete("k", 10, 5, cat="kernel", **gpu)],
    )
    device = analysis.hotspots(trace)
    assert list(zip(device.name, device.self_ns, strict=True)) == [("k", 5000)]
    kinds = dict(zip(trace.slices.text("name"), trace.tracks.kind[trace.slices.track].tolist(), strict=True))
    assert kinds["step"] != kinds["k"]


def test_row_45_stream_syncs_have_a_lane_of_their_own_and_are_no_compute(tmp_path: Path) -> None:
    gpu = {"pid": 0, "tid": 7}
    trace = load_events(
        tmp_path, [complete("Stream Sync", 0, 100, cat="cuda_sync", **gpu), complete("k", 10, 5, cat="kernel", **gpu)]
    )
    assert dict(zip(trace.slices.text("name"), trace.slices.text("category"), strict=True)) == {
        "Stream Sync": "sync", "k": "compute",
    }  # fmt: skip
    assert len(set(trace.slices.track.tolist())) == 2
    assert trace.slices.self_ns.tolist() == trace.slices.dur_ns.tolist()
