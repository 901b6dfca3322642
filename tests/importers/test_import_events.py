"""What each kind of trace event becomes. Expected values are worked out by hand from the events in the test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trace_differences import differences
from trace_event_files import complete, event, load_events, load_text

from trace_format.exporters import export_file
from trace_format.importers import load_file


def test_a_complete_event_becomes_a_slice_with_its_ids_in_columns(tmp_path: Path) -> None:
    args = {
        "External id": 7, "Record function id": 0, "Ev Idx": 3, "Sequence number": 11, "correlation": 9,
        "Python id": 5, "Python parent id": 4, "bytes": 4096, "flops": 128, "Call stack": "a.py(1): f;b.py(2): g",
        "Input Dims": [[2, 3]],
    }  # fmt: skip
    trace = load_events(tmp_path, [complete("aten::mm", 1.5, 2.25, cat="cpu_op", args=args)])
    row = trace.slices.to_pandas().iloc[0]
    assert (row.ts_ns, row.dur_ns, row["name"], row.category, row.source_category) == (
        1500, 2250, "aten::mm", "host_op", "cpu_op",
    )  # fmt: skip
    assert (row.external_id, row.record_function_id, row.event_index, row.sequence_number) == (7, 0, 3, 11)
    assert (row.correlation, row.python_id, row.python_parent_id, row.bytes, row.flops) == (9, 5, 4, 4096, 128.0)
    assert row.stack == "b.py(2): g;a.py(1): f"
    assert row.args == '{"Input Dims": [[2, 3]]}'


def test_events_that_differ_in_their_ids_share_one_argument_set(tmp_path: Path) -> None:
    events = [complete("op", i, 1, args={"External id": i, "device": 0, "Ev Idx": i}) for i in range(5)]
    trace = load_events(tmp_path, events)
    assert trace.slices.external_id.tolist() == [0, 1, 2, 3, 4]
    assert len(set(trace.slices.args.tolist())) == 1
    assert trace.pool.args(int(trace.slices.args[0])) == {"device": 0}


def test_an_id_that_is_nested_negative_quoted_or_too_large_stays_among_the_arguments(tmp_path: Path) -> None:
    args = {
        "inner": {"correlation": 1}, "correlation": -5, "External id": "8", "bytes": 2**80, "Ev Idx": 1.5,
        'say "Ev Idx': 3, "text": '"correlation": 4', "Call stack": "", "flops": None,
    }  # fmt: skip
    trace = load_events(tmp_path, [complete("op", 0, 1, args=args)])
    assert trace.pool.args(int(trace.slices.args[0])) == args
    assert trace.slices.correlation.tolist() == [-1]
    assert trace.slices.external_id.tolist() == [-1]


def test_process_and_thread_rows_are_named_by_metadata_wherever_it_stands(tmp_path: Path) -> None:
    events = [
        complete("op", 0, 1, pid=10, tid=11),
        event("M", "process_name", 0, pid=10, args={"name": "python3"}),
        event("M", "process_labels", 0, pid=10, args={"labels": "CPU"}),
        event("M", "process_sort_index", 0, pid=10, args={"sort_index": 4}),
        event("M", "thread_name", 0, pid=10, tid=11, args={"name": "worker "}),
        event("M", "thread_sort_index", 0, pid=10, tid=11, args={"sort_index": 6}),
    ]
    tracks = load_events(tmp_path, events).tracks
    assert tracks.text("name") == ["python3 (CPU)", "worker"]
    assert tracks.parent.tolist() == [-1, 0]
    assert tracks.sort_index.tolist() == [4, 6]
    assert tracks.text("kind") == ["other", "host_thread"]
    assert (tracks.pid.tolist(), tracks.tid.tolist()) == ([10, 10], [-1, 11])


def test_a_stream_holds_work_only_annotations_and_syncs_have_tracks_of_their_own(tmp_path: Path) -> None:
    place = {"pid": 2, "tid": 7}
    events = [
        complete("gemm", 10, 5, cat="kernel", **place),
        complete("ncclDevKernel_AllReduce", 20, 5, cat="kernel", **place),
        complete("Memcpy HtoD", 30, 5, cat="gpu_memcpy", **place),
        complete("step", 5, 40, cat="gpu_user_annotation", **place),
        complete("Stream Sync", 12, 20, cat="cuda_sync", **place),
        event("M", "process_labels", 0, pid=2, args={"labels": "GPU 2"}),
    ]
    trace = load_events(tmp_path, events)
    tracks = trace.tracks
    names = dict(zip(tracks.text("name"), zip(tracks.text("kind"), tracks.device.tolist(), strict=True), strict=True))
    assert names == {
        "GPU 2": ("other", 2),
        "stream 7": ("stream", 2),
        "stream 7 annotations": ("device_annotation", 2),
        "stream 7 sync": ("other", 2),
    }
    on = [tracks.text("name")[t] for t in trace.slices.track.tolist()]
    assert dict(zip(trace.slices.text("name"), zip(on, trace.slices.text("category"), strict=True), strict=True)) == {
        "gemm": ("stream 7", "compute"),
        "ncclDevKernel_AllReduce": ("stream 7", "collective"),
        "Memcpy HtoD": ("stream 7", "memcpy"),
        "step": ("stream 7 annotations", "annotation"),
        "Stream Sync": ("stream 7 sync", "sync"),
    }


def test_text_process_and_thread_keys_are_kept_and_numbers_in_quotes_are_numbers(tmp_path: Path) -> None:
    events = [
        complete("span", 0, 1, pid="Spans", tid="PyTorch Profiler"),
        complete("a", 0, 1, pid="12", tid="3"),
        complete("b", 2, 1, pid=12, tid=3),
        complete("c", 0, 1, pid=12, tid=-4),
    ]
    trace = load_events(tmp_path, events)
    tracks = trace.tracks
    assert tracks.text("source_pid") == ["Spans", "Spans", "", "", ""]
    assert tracks.text("source_tid") == ["", "PyTorch Profiler", "", "", "-4"]
    assert trace.slices.track.tolist() == [1, 3, 3, 4]


def test_begin_and_end_make_a_slice_and_count_as_two_events(tmp_path: Path) -> None:
    events = [
        event("B", "outer", 1, args={"a": 1}),
        event("B", "inner", 2),
        event("E", "inner", 3),
        event("E", "", 5, args={"b": 2}),
        event("E", "stray", 6),
        event("B", "open", 7),
    ]
    trace = load_events(tmp_path, events)
    slices = trace.slices
    assert slices.text("name") == ["outer", "inner", "open"]
    assert slices.ts_ns.tolist() == [1000, 2000, 7000]
    assert slices.dur_ns.tolist() == [4000, 1000, -1]
    assert slices.depth.tolist() == [0, 1, 0]
    assert trace.pool.args(int(slices.args[0])) == {"a": 1, "b": 2}
    assert trace.report.to_dict() == {
        "source_events": 6,
        "kept": 5,
        "left_out": {"end without a begin": 1},
        "repaired": {"begin without an end: shown as unfinished": 1},
    }


def test_begins_and_ends_out_of_order_are_sorted_by_time_and_equal_times_keep_their_order(tmp_path: Path) -> None:
    events = [event("E", "a", 9), event("B", "a", 1), event("B", "b", 3), event("E", "b", 3), event("B", "c", 3)]
    trace = load_events(tmp_path, [*events, event("E", "c", 4)])
    assert dict(zip(trace.slices.text("name"), trace.slices.dur_ns.tolist(), strict=True)) == {
        "a": 8000, "b": 0, "c": 1000,
    }  # fmt: skip
    assert trace.report.clean


def test_instants_keep_their_scope_and_arguments(tmp_path: Path) -> None:
    events = [
        event("i", "here", 1, s="t", args={"Ev Idx": 4, "k": 1}),
        event("I", "process", 2, s="p"),
        event("R", "everywhere", 3, s="g"),
    ]
    instants = load_events(tmp_path, events).instants
    assert instants.text("name") == ["here", "process", "everywhere"]
    assert instants.text("scope") == ["thread", "process", "global"]
    assert instants.event_index.tolist() == [4, -1, -1]
    assert instants.pool.args(int(instants.args[0])) == {"k": 1}


def test_each_series_of_a_counter_is_a_track(tmp_path: Path) -> None:
    events = [
        event("C", "mem", 1, args={"used": 1, "free": 9.5}),
        event("C", "mem", 2, args={"used": "2", "free": None}),
        event("C", "load", 2, args={"value": 7}),
        event("C", "empty", 3),
    ]
    trace = load_events(tmp_path, events)
    names = trace.tracks.text("name")
    values = [(names[t], v) for t, v in zip(trace.counters.track.tolist(), trace.counters.value.tolist(), strict=True)]
    assert values[0:3:2] + values[4:] == [("mem used", 1.0), ("mem free", 9.5), ("load", 7.0)]
    assert values[1] == ("mem used", 2.0)
    assert values[3][0] == "mem free"
    assert np.isnan(values[3][1])
    assert trace.report.to_dict()["left_out"] == {"counter without a value": 1}
    assert sum(trace.report.repaired.values()) == 1


def test_async_events_become_slices_on_a_track_for_each_operation(tmp_path: Path) -> None:
    events = [
        event("b", "req", 1, id="0x1", cat="net"),
        event("b", "req", 2, id="0x2", cat="net"),
        event("n", "req", 3, id="0x1", cat="net"),
        event("e", "req", 6, id="0x1", cat="net"),
        event("e", "req", 8, id="0x2", cat="net"),
        event("S", "old", 1, id=4, cat="x"),
        event("F", "old", 5, id=4, cat="x"),
    ]
    trace = load_events(tmp_path, events)
    tracks = trace.tracks
    rows = zip(trace.slices.text("name"), trace.slices.dur_ns.tolist(), trace.slices.track.tolist(), strict=True)
    assert {(name, dur, tracks.text("source_tid")[track]) for name, dur, track in rows} == {
        ("req", 5000, "0x1"), ("req", 6000, "0x2"), ("old", 4000, "4"),
    }  # fmt: skip
    assert [tracks.text("kind")[t] for t in trace.slices.track.tolist()] == ["async"] * 3
    assert trace.instants.ts_ns.tolist() == [3000]
    assert trace.report.to_dict()["kept"] == 7


def test_flows_join_the_slices_at_their_ends(tmp_path: Path) -> None:
    gpu = {"pid": 0, "tid": 7}
    events = [
        complete("op", 0, 20, cat="cpu_op"),
        complete("launch", 10, 5, cat="cuda_runtime", args={"correlation": 42}),
        complete("kernel", 30, 5, cat="kernel", args={"correlation": 42}, **gpu),
        event("s", "ac2g", 10, id=42, cat="ac2g"),
        event("f", "ac2g", 30, id=42, cat="ac2g", bp="e", **gpu),
        event("s", "fwdbwd", 3, id=42, cat="fwdbwd"),
        event("f", "fwdbwd", 29, id=42, cat="fwdbwd", **gpu),
    ]
    trace = load_events(tmp_path, events)
    names = trace.slices.text("name")
    rows = zip(trace.flows.from_slice.tolist(), trace.flows.to_slice.tolist(), trace.flows.text("kind"), strict=True)
    assert {(names[a], names[b], kind) for a, b, kind in rows} == {
        ("launch", "kernel", "ac2g"),  # binds to what starts right there
        ("op", "kernel", "fwdbwd"),  # binds to what is around, and without "bp" to what starts next
    }
    assert trace.flows.flow_id.tolist() == [42, 42]


def test_one_start_with_many_ends_and_a_chain_of_steps(tmp_path: Path) -> None:
    slices = [complete(name, at, 1) for name, at in [("launch", 0), ("k1", 10), ("k2", 20), ("k3", 30)]]
    graph = [event("s", "g", 0, id=1), *(event("f", "g", at, id=1, bp="e") for at in (10, 20))]
    chain = [event("s", "c", 0, id=2), event("t", "c", 10, id=2), event("f", "c", 30, id=2, bp="e")]
    trace = load_events(tmp_path, slices + graph + chain)
    names = trace.slices.text("name")
    rows = zip(trace.flows.from_slice.tolist(), trace.flows.to_slice.tolist(), trace.flows.text("name"), strict=True)
    assert {(names[a], names[b], name) for a, b, name in rows} == {
        ("launch", "k1", "g"), ("launch", "k2", "g"), ("launch", "k1", "c"), ("k1", "k3", "c"),
    }  # fmt: skip


def test_a_flow_end_before_its_start_is_joined_all_the_same(tmp_path: Path) -> None:
    events = [
        complete("launch", 10, 5),
        complete("kernel", 8, 1, tid=2),
        event("s", "ac2g", 10, id=1),
        event("f", "ac2g", 8, id=1, bp="e", tid=2),
    ]
    trace = load_events(tmp_path, events)
    names = trace.slices.text("name")
    assert [(names[a], names[b]) for a, b in zip(trace.flows.from_slice, trace.flows.to_slice, strict=True)] == [
        ("launch", "kernel")
    ]


def test_a_lone_flow_event_is_kept_only_if_its_slice_says_the_same(tmp_path: Path) -> None:
    events = [
        complete("cudaMalloc", 0, 5, args={"correlation": 3}),
        event("f", "ac2g", 0, id=3, bp="e"),
        event("f", "ac2g", 0, id=4, bp="e"),
        event("s", "ac2g", 0, id=5),
        event("s", "ac2g", 100, id=6),
    ]
    assert load_events(tmp_path, events).report.to_dict()["left_out"] == {
        "flow end without a start": 1,
        "flow start without an end": 1,
        "flow event without a slice": 1,
    }


def test_memory_instants_become_rows_of_the_memory_table(tmp_path: Path) -> None:
    said = {"Total Reserved": 100, "Total Allocated": 60, "Bytes": -4, "Addr": 2**63 + 1, "Device Id": 0}
    events = [
        event("i", "[memory]", 5, s="t", args={**said, "Device Type": 1, "Ev Idx": 8}),
        event("i", "[memory]", 4, s="t", args={"Bytes": 8, "Addr": 1, "Device Type": 0, "Device Id": -1}),
        event("i", "[memory]", 6, s="t", args={**said, "Device Type": 1, "something": "else"}),
    ]
    trace = load_events(tmp_path, events)
    rows = trace.memory.to_pandas()
    assert rows.device.tolist() == ["cpu", "cuda:0"]
    assert rows.ts_ns.tolist() == [4000, 5000]
    assert rows.delta_bytes.tolist() == [8, -4]
    assert rows.total_bytes.tolist() == [-1, 60]
    assert rows.reserved_bytes.tolist() == [-1, 100]
    assert rows.address.tolist() == [1, 2**63 + 1]
    assert rows.event_index.tolist() == [-1, 8]
    assert trace.instants.text("name") == ["[memory]"]


def test_collectives_are_read_from_kernels_and_host_calls_are_not_counted_twice(tmp_path: Path) -> None:
    args = {
        "Collective name": "_allgather_base", "In msg nelems": 10, "Out msg nelems": 80, "dtype": "BFloat16",
        "Group size": 8, "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": 5,
    }  # fmt: skip
    events = [
        complete("record_param_comms", 0, 5, cat="cpu_op", args=args),
        complete("ncclDevKernel_AllGather", 10, 5, pid=0, tid=7, cat="kernel", args=args),
    ]
    trace = load_events(tmp_path, events, distributedInfo={"rank": 3, "world_size": 8})
    rows = trace.collectives.to_pandas()
    assert trace.slices.text("name")[rows.slice[0]] == "ncclDevKernel_AllGather"
    assert rows.loc[0, ["op", "in_bytes", "out_bytes", "group", "group_ranks", "rank", "seq"]].tolist() == [
        "all_gather", 20, 160, "0", "[0, 1]", 3, 5,
    ]  # fmt: skip
    assert len(load_events(tmp_path, events[:1]).collectives) == 1


def test_job_and_source_are_described_in_the_metadata(tmp_path: Path) -> None:
    keys = {
        "schemaVersion": 1, "deviceProperties": [{"name": "A100"}], "baseTimeNanoseconds": 1735632360000000000,
        "distributedInfo": {"rank": 2, "world_size": 4}, "host_name": "node7", "record_shapes": 1,
    }  # fmt: skip
    trace = load_events(tmp_path, [complete("op", 1, 1)], **keys)
    assert trace.slices.ts_ns.tolist() == [1735632360000001000]
    assert (trace.metadata["rank"], trace.metadata["world_size"], trace.metadata["host"]) == (2, 4, "node7")
    assert trace.tracks.rank.tolist() == [2, 2]
    assert trace.tracks.text("host") == ["node7", "node7"]
    assert trace.metadata["sources"] == [
        {
            "format": "trace-event-json", "path": "trace.json", "producer": "torch.profiler (Kineto)",
            "clock": "unix", "base_time_ns": 1735632360000000000, "schema_version": 1,
        }
    ]  # fmt: skip
    assert trace.metadata["source_metadata"]["deviceProperties"] == [{"name": "A100"}]


def test_keys_after_the_events_count_like_those_before(tmp_path: Path) -> None:
    text = '{"traceEvents": [{"ph":"X","name":"a","ts":1,"dur":1}], "baseTimeNanoseconds": 500, "note": [{"x": 1}]}'
    trace = load_text(tmp_path, text)
    assert trace.slices.ts_ns.tolist() == [1500]
    assert trace.metadata["source_metadata"]["note"] == [{"x": 1}]


def test_a_trace_without_events_is_an_empty_trace(tmp_path: Path) -> None:
    for text in ("[]", '{"traceEvents": []}', '{"traceEvents":[],"schemaVersion":1}'):
        trace = load_text(tmp_path, text)
        assert len(trace.slices) == 0
        assert trace.report.to_dict()["source_events"] == 0


def test_what_was_running_when_torchs_profiler_stopped_is_unfinished(tmp_path: Path) -> None:
    said = {"External id": 1, "finished": False}
    events = [
        complete("open", 1, 50, cat="user_annotation", args=said),
        complete("nested", 2, 40, cat="cpu_op", args={"data": {"finished": False}}),
        complete("done", 3, 30, cat="cpu_op", args={"finished": True}),
        complete("a request", 4, 20, cat="fetch", args={"finished": False}),
    ]
    trace = load_events(tmp_path, events)
    durations = dict(zip(trace.slices.text("name"), trace.slices.dur_ns.tolist(), strict=True))
    assert durations == {"open": -1, "nested": 40_000, "done": 30_000, "a request": 20_000}
    assert trace.report.to_dict()["repaired"] == {"still running when the profiler stopped: shown as unfinished": 1}
    export_file(trace, tmp_path / "back.json")
    assert not differences(load_file(tmp_path / "back.json"), trace)


@pytest.mark.parametrize(
    ("devices", "model"),
    [
        ([{"id": 0, "name": "A100"}, {"id": 1, "name": "A100"}], "A100"),
        ([{"id": 0, "name": "A100"}, {"id": 1, "name": "H100"}], "A100, H100"),
        ([], None),
        ([{"id": 0}, 5, {"name": 7}, {"name": ""}], None),
        ("A100", None),
    ],
)
def test_the_model_is_that_of_the_devices_torch_describes(devices: object, model: str | None, tmp_path: Path) -> None:
    trace = load_events(tmp_path, [complete("a", 1, 1)], deviceProperties=devices)
    assert trace.metadata.get("device_model") == model
