"""A .pftrace says all that the trace says, in an order that nests, and Perfetto's own engine loads all of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from perfetto_engine import in_perfetto
from perfetto_packets import PerfettoFile, read
from test_export_chrome import awkward_trace
from trace_strategies import traces

from trace_format import Trace, TraceBuilder, TraceFileError
from trace_format.exporters import export_file, not_written
from trace_format.exporters.plain_text import plain
from trace_format.importers import load_file

once_per_example = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# One start of Perfetto takes seconds, so these stand for the rest: ROCm, flows at equal times and back in time, memory,
# deep Python stacks, the most flows, slices that overlap in part, counters, unfinished slices.
FILES = (
    "kineto/T001_mi250_minitoy_train_ROCm6_2_kineto.json.gz",
    "kineto/T004_benchmark_result_2869224_1695835535_trace.json.gz",
    "kineto/T032_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "kineto/T047_graph_capture_rank_0.1773709679453551615.pt.trace.json.gz",
    "kineto/T066_resnet_kineto.json.gz",
    "chrome_trace/T219_x_event_trace.json",
    "accel_other/T017_mtia_rank_0.json.gz",
    "chrome_trace/T276_simple-timeline.json",
)


def exported(trace: Trace, path: Path) -> PerfettoFile:
    export_file(trace, path, force=True)
    return read(path)


def shown(name: str) -> str:
    """A name as Perfetto can hold it, which ends a string at a zero byte."""
    return plain(name).replace("\0", "\u2400")


def test_names_categories_and_arguments_are_those_of_the_trace(tmp_path: Path) -> None:
    events = exported(awkward_trace(), tmp_path / "t.pftrace").events
    begins = {e["name"]: e for e in events if e["type"] == "begin"}
    assert set(begins) == {"a", "crosses a", 'naïve � "q" \n', "open", "MATMUL", ""}
    assert begins["a"]["category"] == "cpu_op"
    assert "category" not in begins["open"]
    assert begins["a"]["args"] == {"correlation": 0}
    # the innermost frame first, as torch.profiler writes call stacks
    assert begins["crosses a"]["args"] == {
        "correlation": 5, "bytes": 0, "flops": 0.0, "Call stack": "inner;outer", "x": '{"correlation": 1}',
    }  # fmt: skip
    assert begins["open"]["args"] == {"External id": 1, "y": "[1]", "Call stack": ""}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("false", False), ("-5", -5), ("18446744073709551615", 2**64 - 1), ("1e300", 1e300),
        ("99999999999999999999", "99999999999999999999"), ("null", "null"),
        ('"a\\nb"', "a\nb"), ("[[1, 2], []]", "[[1, 2], []]"),
        ('"\\ud800"', "�"), ('"a\\u0000b"', "a\u2400b"),
    ],
)  # fmt: skip
def test_an_argument_keeps_its_type(text: str, value: object, tmp_path: Path) -> None:
    builder = TraceBuilder()
    args = builder.pool.arg_sets.id(b'{"x": %b}' % text.encode())
    builder["slices"].append(ts_ns=1, dur_ns=1, track=builder.track("t"), args=args)
    (begin, _) = exported(builder.finish(), tmp_path / "t.pftrace").events
    assert begin["args"] == {"x": value}
    assert type(begin["args"]["x"]) is type(value)


def test_processes_threads_devices_counters_and_lanes_are_told_apart(tmp_path: Path) -> None:
    builder = TraceBuilder()
    process = builder.track("python", pid=5)
    thread = builder.track("main", kind="host_thread", parent=process, pid=5, tid=9)
    device = builder.track("Neuron 0", pid=0, device=0)
    stream = builder.track("Tensor", kind="engine", parent=device, pid=0, tid=0, device=0)
    power = builder.track("power", kind="counter", parent=device, unit="W")
    builder["slices"].append(ts_ns=[0, 1, 0], dur_ns=[2, 2, 1], track=[thread, thread, stream])
    builder["counters"].append(ts_ns=0, track=power, value=1.5)
    tracks = exported(builder.finish(), tmp_path / "t.pftrace").tracks
    named = {track[2].decode(): track for track in tracks.values()}
    assert list(named) == ["python", "main", "Neuron 0", "Tensor", "power", "main (lane 2)"]
    process_field, thread_field, counter_field, parent_field = 3, 4, 8, 5
    assert {name for name, t in named.items() if process_field in t} == {"python"}
    assert {name for name, t in named.items() if thread_field in t} == {"main"}
    assert {name for name, t in named.items() if counter_field in t} == {"power"}
    parents = {name: tracks[t[parent_field]][2].decode() for name, t in named.items() if parent_field in t}
    assert parents == {
        "main": "python", "Tensor": "Neuron 0", "power": "Neuron 0", "main (lane 2)": "main",
    }  # fmt: skip


def test_values_on_a_track_of_any_kind_are_counters(tmp_path: Path) -> None:
    builder = TraceBuilder()
    alone = builder.track("alone", kind="counter", unit="W")
    process = builder.track("python", pid=5)
    thread = builder.track("main", kind="host_thread", parent=process, pid=5, tid=9)
    builder["slices"].append(ts_ns=1, dur_ns=2, track=thread)
    builder["counters"].append(ts_ns=[1, 2, 3], track=[alone, process, thread], value=[1.0, 2.0, 3.0])
    trace = builder.finish()
    file = exported(trace, tmp_path / "t.pftrace")
    parent_field, counter_field = 5, 8
    told = {
        e["value"]: (file.tracks[e["track"]][2].decode(), file.tracks[e["track"]].get(parent_field))
        for e in file.events if e["type"] == "counter"
    }  # fmt: skip
    assert all(counter_field in file.tracks[e["track"]] for e in file.events if e["type"] == "counter")
    assert {value: name for value, (name, _) in told.items()} == {1.0: "alone", 2.0: "python", 3.0: "main"}
    assert [told[value][1] for value in (1.0, 2.0, 3.0)] == [None, process + 1, thread + 1]
    assert_perfetto_keeps_all(trace, tmp_path / "again.pftrace")


def test_memory_becomes_counters_of_what_is_known(tmp_path: Path) -> None:
    builder = TraceBuilder()
    cpu, device = builder.string("cpu"), builder.string("neuron:0")
    builder["memory"].append(
        ts_ns=[1, 2, 3], device=[cpu, device, device], delta_bytes=[10, 20, -20],
        total_bytes=[10, 20, -1], reserved_bytes=[-1, 64, -1],
    )  # fmt: skip
    file = exported(builder.finish(), tmp_path / "t.pftrace")
    found = [(file.tracks[e["track"]][2].decode(), e["ts_ns"], e["value"]) for e in file.events]
    assert sorted(found) == [
        ("cpu memory allocated", 1, 10.0), ("neuron:0 memory allocated", 2, 20.0),
        ("neuron:0 memory change", 3, -20.0), ("neuron:0 memory reserved", 2, 64.0),
    ]  # fmt: skip


def test_at_one_moment_ends_come_first_and_outer_slices_begin_first(tmp_path: Path) -> None:
    builder = TraceBuilder()
    track = builder.track("t")
    name = builder.string
    builder["slices"].append(
        ts_ns=[0, 0, 5, 5, 5, 9], dur_ns=[5, 2, 4, 4, 0, -1], track=track,
        name=[name("A"), name("a"), name("B"), name("b"), name("."), name("open")],
    )  # fmt: skip
    events = exported(builder.finish(), tmp_path / "t.pftrace").events
    assert [(e["type"], e["ts_ns"], e.get("name")) for e in events] == [
        ("begin", 0, "A"), ("begin", 0, "a"), ("end", 2, None), ("end", 5, None),
        ("begin", 5, "B"), ("begin", 5, "b"), ("begin", 5, "."), ("end", 5, None), ("end", 9, None), ("end", 9, None),
        ("begin", 9, "open"),
    ]  # fmt: skip


def test_times_before_zero_are_moved_to_begin_there(tmp_path: Path) -> None:
    builder = TraceBuilder()
    builder["slices"].append(ts_ns=[-7, 3], dur_ns=[2, 2], track=builder.track("t"))
    events = exported(builder.finish(), tmp_path / "t.pftrace").events
    assert [e["ts_ns"] for e in events] == [0, 2, 10, 12]


rows = st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 12), st.integers(0, 2)), min_size=1, max_size=40)


@pytest.mark.parametrize("chunk_rows", [1, 3, 65_536])
@given(rows=rows)
@once_per_example
def test_every_end_ends_the_slice_that_began_last(
    chunk_rows: int, rows: list[tuple[int, int, int]], tmp_path: Path
) -> None:
    builder = TraceBuilder()
    tracks = [builder.track(f"t{i}", pid=1, tid=i) for i in range(3)]
    ts, dur, on = zip(*rows, strict=True)
    builder["slices"].append(len(rows), ts_ns=list(ts), dur_ns=list(dur), track=[tracks[i] for i in on])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trace_format.exporters.perfetto.order._CHUNK_ROWS", chunk_rows)
        file = exported(builder.finish(), tmp_path / "t.pftrace")
    assert Counter((ts, dur) for ts, dur, _ in rows) == Counter((s[1], s[2]) for s in nested_slices(file.events))


@given(trace=traces())
@once_per_example
def test_any_trace_is_written_whole(trace: Trace, tmp_path: Path) -> None:
    file = exported(trace, tmp_path / "t.pftrace")
    events, counter_field = file.events, 8
    assert all((counter_field in file.tracks[e["track"]]) == (e["type"] == "counter") for e in events)
    shift = max(0, -(trace.time_range_ns or (0, 0))[0])
    slices, instants, counters = trace.slices, trace.instants, trace.counters
    expected = Counter(
        (shown(name), ts + shift, dur)
        for name, ts, dur in zip(slices.text("name"), slices.ts_ns.tolist(), slices.dur_ns.tolist(), strict=True)
    )
    assert Counter(nested_slices(events)) == expected
    assert sum(e["type"] == "instant" for e in events) == len(instants)
    told = (trace.memory.total_bytes >= 0).astype(int) + (trace.memory.reserved_bytes >= 0)
    assert sum(e["type"] == "counter" for e in events) == (
        int(np.isfinite(counters.value).sum()) + int(np.maximum(told, 1).sum())
    )
    begun, ended = Counter(), Counter()
    for event in events:
        begun.update(event["out"])
        ended.update(event["in"])
    joined = (trace.flows.from_slice >= 0) & (trace.flows.to_slice >= 0)
    assert set((begun + ended).values()) <= {2}
    assert len(begun) == int(joined.sum())


def nested_slices(events: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    """(name, start, duration) of the slices, each end taken as that of the last begin of its track."""
    out = []
    still_open: dict[int, list[tuple[str, int]]] = {}
    latest: dict[int, int] = {}
    for event in events:
        if event["type"] not in ("begin", "end"):
            continue
        stack = still_open.setdefault(event["track"], [])
        assert event["ts_ns"] >= latest.get(event["track"], 0)
        latest[event["track"]] = event["ts_ns"]
        if event["type"] == "begin":
            stack.append((event["name"], event["ts_ns"]))
        else:
            name, start = stack.pop()
            out.append((name, start, event["ts_ns"] - start))
    return out + [(name, start, -1) for stack in still_open.values() for name, start in stack]


def test_what_has_no_place_in_the_file_is_told(tmp_path: Path) -> None:
    # one sample, one collective, one NEFF, and two counter values that are no number
    assert not_written(awkward_trace(), "t.pftrace") == {
        "samples": 1, "collectives": 1, "neffs": 1, "counter values that are no number": 2,
    }  # fmt: skip
    assert not_written(awkward_trace(), "t.json.gz") == {}
    assert not_written(TraceBuilder().finish(), "t.pftrace") == {}


def test_nothing_is_overwritten_and_nothing_left_behind(tmp_path: Path) -> None:
    (tmp_path / "t.pftrace").write_text("mine")
    with pytest.raises(TraceFileError, match="exists already"):
        export_file(awkward_trace(), tmp_path / "t.pftrace")
    with pytest.raises(TraceFileError, match="cannot be written"):
        export_file(awkward_trace(), tmp_path / "no folder" / "t.pftrace")
    assert [p.name for p in tmp_path.iterdir()] == ["t.pftrace"]
    assert (tmp_path / "t.pftrace").read_text() == "mine"


TOTAL = "select sum(dur) from slice where dur > 0"
OPEN = "select count(*) from slice where dur = -1"
FLOWS = "select count(*) from flow"
COUNTERS = "select count(*) from counter"
ERRORS = "select sum(value) from stats where name glob '*error*' or name glob '*fail*' or name glob '*drop*'"
NAMES = (
    "select group_concat(h, ',') from (select hex(name)||'='||count(*) h from slice group by name "
    "order by count(*) desc, name limit 20)"
)


def assert_perfetto_keeps_all(trace: Trace, path: Path, *, force: bool = False) -> None:
    export_file(trace, path, force=force)
    found = in_perfetto(path, TOTAL, OPEN, FLOWS, COUNTERS, ERRORS, NAMES)
    assert (found["error"], found["problems"]) == (None, {})
    assert found["slices"] == len(trace.slices) + len(trace.instants)
    answers, dur_ns, starts = found["queries"], trace.slices.dur_ns, trace.slices.ts_ns
    assert int(answers[TOTAL] or 0) == int(dur_ns[dur_ns > 0].sum())
    assert int(answers[OPEN]) == int((dur_ns < 0).sum())
    # Perfetto draws no arrow back in time
    cause, effect = trace.flows.from_slice, trace.flows.to_slice
    joined = (cause >= 0) & (effect >= 0)
    assert int(answers[FLOWS]) == int((starts[cause[joined]] <= starts[effect[joined]]).sum())
    memory = (trace.memory.total_bytes >= 0).astype(int) + (trace.memory.reserved_bytes >= 0)
    counters = int(np.isfinite(trace.counters.value).sum()) + int(np.maximum(memory, 1).sum())
    assert int(answers[COUNTERS]) == counters
    assert int(answers[ERRORS] or 0) == 0
    names = Counter(shown(name).encode() for name in trace.slices.text("name") + trace.instants.text("name"))
    most = sorted(names.items(), key=lambda item: (-item[1], item[0]))[:20]
    assert answers[NAMES] == ",".join(f"{name.hex().upper()}={count}" for name, count in most)


@pytest.mark.parametrize("name", FILES)
def test_perfetto_keeps_all_of_a_real_trace(name: str, corpus: Path, tmp_path: Path) -> None:
    assert_perfetto_keeps_all(load_file(corpus / name), tmp_path / "t.pftrace")


def test_perfetto_keeps_all_of_what_is_awkward(tmp_path: Path) -> None:
    assert_perfetto_keeps_all(awkward_trace(), tmp_path / "t.pftrace")


def test_perfetto_keeps_slices_inside_more_than_512_others(tmp_path: Path) -> None:
    builder = TraceBuilder()
    process = builder.track("p", pid=3)
    track = builder.track("t", kind="host_thread", parent=process, pid=3, tid=4)
    number = np.arange(1200)
    builder["slices"].append(ts_ns=1000 + number, dur_ns=10_000 - 2 * number, track=track)
    builder["instants"].append(ts_ns=2200, track=track)
    assert_perfetto_keeps_all(builder.finish(), tmp_path / "t.pftrace")


# One start of Perfetto takes seconds.
@given(trace=traces())
@settings(once_per_example, max_examples=10, derandomize=True, phases=[Phase.generate])
def test_perfetto_keeps_all_of_any_trace(trace: Trace, tmp_path: Path) -> None:
    assert_perfetto_keeps_all(trace, tmp_path / "t.pftrace", force=True)
