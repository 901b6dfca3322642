"""What is exported as trace events comes back unchanged, and other programs can read it."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_differences import differences
from trace_strategies import traces

from trace_format import Trace, TraceBuilder, TraceFileError, UnsupportedFormatError
from trace_format.exporters import export_file
from trace_format.importers import load_file
from trace_format.tables import CATEGORIES

once_per_example = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def awkward_trace() -> Trace:
    """A trace with everything that plain trace events cannot say."""
    builder = TraceBuilder()
    text = builder.string
    process = builder.track("python", pid=5, rank=1)
    thread = builder.track("main", kind="host_thread", parent=process, pid=5, tid=9, rank=1)
    device = builder.track("Neuron 0", pid=5)
    engine = builder.track("Tensor", kind="engine", parent=device, engine="Tensor", device=0, core=1, simulated=True)
    spans = builder.track("Spans", source_pid="Spans", source_tid="x", kind="async", parent=device)
    counter = builder.track("power", kind="counter", parent=device)
    first = builder["slices"].append(
        ts_ns=[1000, 1500, 1500, 4000, 4000, 10],
        dur_ns=[1000, 1000, 0, -1, 7, 2**40 + 1],
        track=[thread, thread, thread, thread, engine, spans],
        name=[text("a"), text("crosses a"), text("naïve \ud800 \"q\" \n"), text("open"), text("MATMUL"), text("")],
        category=[1, 1, 3, 3, CATEGORIES.index("compute"), 0],
        source_category=[text("cpu_op"), text("cpu_op"), text("user_annotation"), text(""), text(""), text("x")],
        correlation=[0, 5, -1, -1, -7, 2**62],
        bytes=[-1, 0, 17, -1, -1, -1],
        flops=[np.nan, 0.0, 1.5, np.inf, 2.0**60, -1.0],
        stack=[
            0, builder.pool.stack_id(["outer", "inner"]), builder.pool.stack_id(["a;b"]),
            builder.pool.stack_id([""]), 0, 0,
        ],
        args=[
            builder.pool.arg_sets.id(text_)
            for text_ in (
                b"", b'{"x": {"correlation": 1}}', b'{"correlation": 4}', b'{"External id":1,"y":[1]}', b"{ }",
                b'{"z":1}',
            )
        ],
    )  # fmt: skip
    builder["instants"].append(
        ts_ns=[5, 6], track=[spans, thread], name=[text("[memory]"), text("mark")], scope=[2, 0], category=[6, 0],
        args=builder.pool.arg_sets.id(b'{"Bytes":1,"Device Type":0}'), event_index=[-1, 3],
    )  # fmt: skip
    builder["counters"].append(ts_ns=[1, 2, 3], track=counter, value=[0.1, np.nan, np.inf])
    builder["samples"].append(ts_ns=[7], track=thread, stack=builder.pool.stack_id(["f", "g"]))
    builder["flows"].append(from_slice=[first, -1], to_slice=[first + 1, first], kind=text("ac2g"), flow_id=[7, 7])
    builder["memory"].append(
        ts_ns=[3, 4], device=[text("neuron:0"), text("cpu")], delta_bytes=[5, -5], address=[2**64 - 1, 0],
        track=[thread, -1], category=text("activation"),
    )  # fmt: skip
    builder["collectives"].append(slice=[first + 4], op=text("all_reduce"), in_bytes=8, is_async=True)
    builder["neffs"].append(name=[text("graph")], sizes=builder.pool.arg_sets.id(b'{"code": 5}'))
    builder.report.source_events = 13
    builder.report.left_out["something"] = 2
    return builder.finish(metadata={"host": "here \ud800", "nested": {"a": [1, None, 2.5]}, "sources": []})


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_everything_comes_back(name: str, tmp_path: Path) -> None:
    trace = awkward_trace()
    export_file(trace, tmp_path / name)
    assert differences(trace, load_file(tmp_path / name)) == []


def test_an_empty_trace_comes_back(tmp_path: Path) -> None:
    trace = TraceBuilder().finish()
    export_file(trace, tmp_path / "t.json")
    assert differences(trace, load_file(tmp_path / "t.json")) == []


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    path = tmp_path_factory.mktemp("export") / "t.json"
    export_file(awkward_trace(), path)
    return list(json.loads(path.read_text(encoding="ascii"), parse_float=Decimal)["traceEvents"])


def test_times_are_relative_and_exact(events: list[dict[str, Any]]) -> None:
    named = {e["name"]: e for e in events if e["ph"] in "XB"}
    # the first thing in the trace is the counter at 1 ns
    assert (named["a"]["ts"], named["a"]["dur"]) == (Decimal("0.999"), Decimal("1.000"))
    assert (named[""]["ts"], named[""]["dur"]) == (Decimal("0.009"), Decimal("1099511627.777"))
    assert named["open"]["ph"] == "B"
    assert "dur" not in named["open"]


def test_slices_that_overlap_in_part_are_on_threads_of_their_own(events: list[dict[str, Any]]) -> None:
    place = {e["name"]: (e["pid"], e["tid"]) for e in events if e["ph"] in "XB"}
    assert place["a"] == (5, 9)
    assert place["crosses a"] != place["a"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names[place["a"]] == "main"
    assert names[place["crosses a"]] == "main (lane 2)"


def test_process_and_thread_numbers_are_unique_integers(events: list[dict[str, Any]]) -> None:
    processes = [e["pid"] for e in events if e["name"] == "process_name"]
    assert len(processes) == len(set(processes)) == 2  # both said they were process 5
    threads = [(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"]
    assert len(threads) == len(set(threads))
    assert all(isinstance(number, int) for place in threads for number in place)


def test_a_flow_directly_follows_the_slice_it_binds_to(events: list[dict[str, Any]]) -> None:
    at = {(e["ph"], e["name"]): i for i, e in enumerate(events)}
    start, end = at["s", ""], at["f", ""]
    assert events[start - 1]["name"] == "a"
    assert events[end - 1]["name"] == "crosses a"
    assert events[start]["ts"] == events[start - 1]["ts"]
    assert events[end]["bp"] == "e"


def test_another_programs_edit_of_the_events_counts_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    export_file(awkward_trace(), path)
    data = json.loads(path.read_text())
    removed = next(i for i, e in enumerate(data["traceEvents"]) if e["name"] == "MATMUL")
    del data["traceEvents"][removed]
    path.write_text(json.dumps(data))
    trace = load_file(path)
    assert "MATMUL" not in trace.slices.text("name")
    assert len(trace.slices) == 5
    assert trace.report.repaired["neuronProfile section that does not match the events: not used"] == 1


@pytest.mark.parametrize(
    "section", ["null", "5", "[]", '{"version": 99}', '{"version": 1}', '{"version":1,"lanes":[[1]]}']
)
def test_a_section_that_makes_no_sense_is_not_used(section: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('{"neuronProfile":' + section + ',"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]}')
    trace = load_file(path)
    assert trace.slices.text("name") == ["a"]
    assert sum(trace.report.repaired.values()) == 1


def test_a_file_cut_short_is_read_without_its_section(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    export_file(awkward_trace(), path)
    path.write_bytes(path.read_bytes()[:-400])
    assert 0 < len(load_file(path).slices) <= 6


def test_nothing_is_overwritten_and_nothing_left_behind(tmp_path: Path) -> None:
    trace = awkward_trace()
    for name in ("t.pb", "t.json", "t.json.gz"):
        path = tmp_path / name
        path.write_text("mine")
        with pytest.raises(TraceFileError, match="exists already"):
            export_file(trace, path)
        assert path.read_text() == "mine"
    export_file(trace, tmp_path / "t.json", force=True)
    with pytest.raises(TraceFileError, match="cannot be written"):
        export_file(trace, tmp_path / "no folder" / "t.json")
    with pytest.raises(UnsupportedFormatError, match=r"\.json\.gz"):
        export_file(trace, tmp_path / "t.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.json", "t.json.gz", "t.pb"]


def test_a_gzipped_export_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("a.json.gz", "b.json.gz"):
        export_file(awkward_trace(), tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert json.loads(gzip.decompress((tmp_path / "a.json.gz").read_bytes()))["displayTimeUnit"] == "ns"


slices = st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 12), st.integers(0, 2)), min_size=1, max_size=40)


@given(rows=slices)
@once_per_example
def test_every_exported_thread_nests(rows: list[tuple[int, int, int]], tmp_path: Path) -> None:
    builder = TraceBuilder()
    tracks = [builder.track(f"t{i}", pid=1, tid=i) for i in range(3)]
    ts, dur, on = zip(*rows, strict=True)
    builder["slices"].append(len(rows), ts_ns=list(ts), dur_ns=list(dur), track=[tracks[i] for i in on])
    export_file(builder.finish(), tmp_path / "t.json", force=True)
    found = json.loads((tmp_path / "t.json").read_text(), parse_float=Decimal)["traceEvents"]
    open_ends: dict[tuple[int, int], list[Decimal]] = {}
    for e in (e for e in found if e["ph"] in "XB"):
        stack = open_ends.setdefault((e["pid"], e["tid"]), [])
        end = e["ts"] + e["dur"] if "dur" in e else Decimal("Infinity")
        while stack and stack[-1] <= e["ts"]:
            stack.pop()
        assert not stack or stack[-1] >= end
        stack.append(end)


@given(trace=traces(), chunk_rows=st.integers(1, 5))
@once_per_example
def test_how_many_rows_are_written_at_once_changes_nothing(trace: Trace, chunk_rows: int, tmp_path: Path) -> None:
    export_file(trace, tmp_path / "whole.json", force=True)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("event_text", "memory_text", "chrome"):
            patch.setattr(f"trace_format.exporters.{module}.CHUNK_ROWS", chunk_rows)
        export_file(trace, tmp_path / "chunks.json", force=True)
    assert (tmp_path / "chunks.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


@pytest.mark.parametrize("device", ["neuron:²", "neuron:" + "9" * 5000, "neuron:-1", ":", "", "\ud800"])
def test_a_device_of_any_name_is_written(device: str, tmp_path: Path) -> None:
    builder = TraceBuilder()
    builder["memory"].append(ts_ns=[1], device=builder.string(device), delta_bytes=[5], address=[2**64 - 1])
    trace = builder.finish()
    export_file(trace, tmp_path / "t.json")
    assert differences(trace, load_file(tmp_path / "t.json")) == []
    (event,) = (e for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if e["ph"] == "i")
    assert event["args"] == {"Bytes": 5, "Addr": 2**64 - 1, "Device Id": -1, "Device Type": 20}


@given(trace=traces())
@once_per_example
def test_any_trace_comes_back(trace: Trace, tmp_path: Path) -> None:
    export_file(trace, tmp_path / "t.json", force=True)
    assert differences(trace, load_file(tmp_path / "t.json")) == []
    found = json.loads((tmp_path / "t.json").read_text(encoding="ascii"))
    json.dumps(found, ensure_ascii=False).encode()  # a lone surrogate anywhere would raise
