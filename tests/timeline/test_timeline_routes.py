"""The routes under /_trace answer with what the canvas needs, and refuse what cannot be meant."""

from __future__ import annotations

from typing import Any

import flask
import numpy as np
import pytest
from one_step import HOSTILE_NAMES, MS, START_NS, hostile, one_step, row_of

from explorer_app.web.library import Library
from explorer_app.web.timeline.routes import register_routes
from trace_format import CATEGORIES, Trace, TraceBuilder


class OfTrace:
    """A client whose "/_trace/…" is that of one open trace."""

    def __init__(self, client: Any, key: str) -> None:
        self._client, self._key = client, key

    def get(self, path: str, **options: Any) -> Any:
        return self._client.get(path.replace("/_trace/", f"/_trace/{self._key}/", 1), **options)


def client_of(trace: Trace) -> Any:
    server = flask.Flask("test")
    library = Library.holding(trace, title="test")
    register_routes(server, library)
    return OfTrace(server.test_client(), library.first.key)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return one_step()


@pytest.fixture(scope="module")
def client(trace: Trace) -> Any:
    return client_of(trace)


class Wire:
    """Reads columns off a body, as the format's description has them."""

    def __init__(self, body: bytes) -> None:
        self.body, self.at = body, 0

    def take(self, dtype: str, count: int) -> list[Any]:
        values = np.frombuffer(self.body, dtype, count, self.at)
        self.at += values.nbytes
        return values.tolist()


def track(meta: dict[str, Any], name: str) -> dict[str, Any]:
    return next(track for process in meta["processes"] for track in process["tracks"] if track["name"] == name)


def test_meta_lists_processes_tracks_and_lanes(client: Any) -> None:
    meta = client.get("/_trace/meta").json
    assert meta["start_ns"] == str(START_NS)
    assert meta["span_ns"] == 10 * MS
    assert [process["name"] for process in meta["processes"]] == ["GPU 0", "trainer"]  # devices first
    main = track(meta, "main thread")
    assert (main["lane"], main["depths"], main["slices"]) == (0, 3, 4)
    assert track(meta, "stream 7")["kind"] == "stream"
    assert track(meta, "warnings")["instants"] == 1
    assert track(meta, "allocated")["counter"] == {"unit": "bytes", "low": 1e6, "high": 3e6}
    assert meta["categories"] == list(CATEGORIES)


def test_tracks_without_a_process_are_put_together_by_process_id() -> None:
    builder = TraceBuilder()
    tracks = [builder.track(name, pid=pid) for name, pid in (("a", 7), ("b", -1), ("c", 7))]
    builder["slices"].append(3, track=tracks, ts_ns=[0, 0, 0], dur_ns=[1, 1, 1])
    processes = client_of(builder.finish()).get("/_trace/meta").json["processes"]
    assert [(p["name"], [t["name"] for t in p["tracks"]]) for p in processes] == [
        ("process 7", ["a", "c"]),
        ("tracks", ["b"]),
    ]


def test_meta_has_the_steps_and_how_busy_the_device_is(client: Any) -> None:
    meta = client.get("/_trace/meta").json
    assert meta["steps"] == [{"name": "train_step#0", "start": 0, "end": 10 * MS}]
    assert (meta["steps_label"], meta["slice_count"]) == ("Steps", 7)
    # 4 of 10 ms: gemm and the copy
    assert sum(meta["busy"]["ratio"]) / len(meta["busy"]["ratio"]) == pytest.approx(0.4, abs=1e-3)


def test_slices_come_in_the_documented_bytes(client: Any, trace: Trace) -> None:
    meta = client.get("/_trace/meta").json
    lanes = [
        track(meta, "main thread")["lane"] + 2,
        track(meta, "loader thread")["lane"],
        track(meta, "stream 7")["lane"],
    ]
    response = client.get("/_trace/slices?t0=0&t1=10000000&w=1000&lanes=" + ",".join(map(str, lanes)))
    wire = Wire(response.data)
    (n,) = wire.take("<u4", 1)
    assert n == 4  # the launch, the unfinished wait, gemm and the copy
    assert len(response.data) == 4 + 24 * n
    assert wire.take("<f4", n) == pytest.approx([0.2, 0.8, 0.3, 0.7])
    assert wire.take("<f4", n) == pytest.approx([0.25, 1.0, 0.6, 0.8])
    names = [trace.pool.strings[name] for name in wire.take("<u4", n)]
    assert names == ["cudaLaunchKernel", "waiting", "gemm", "Memcpy HtoD"]
    assert wire.take("<u4", n) == [1, 1, 1, 1]
    assert wire.take("<u4", n) == [row_of(trace, name) for name in names]
    assert wire.take("<u2", n) == [0, 1, 2, 2]
    assert wire.take("u1", n) == [255, 255, 255, 255]
    categories = [CATEGORIES.index(name) for name in ("runtime", "host_op", "compute", "memcpy")]
    assert wire.take("u1", n) == [categories[0], categories[1] + 128, categories[2], categories[3]]


def test_instants_come_in_the_documented_bytes(client: Any, trace: Trace) -> None:
    warnings = track(client.get("/_trace/meta").json, "warnings")["id"]
    wire = Wire(client.get(f"/_trace/instants?t0=0&t1=10000000&w=1000&tracks={warnings}").data)
    assert wire.take("<u4", 1) == [1]
    assert wire.take("<f4", 1) == pytest.approx([0.9])
    assert trace.pool.strings[wire.take("<u4", 1)[0]] == "out of memory soon"
    assert wire.take("<u4", 2) == [1, 0]
    assert wire.take("<u2", 1) == [0]
    assert wire.take("u1", 1) == [CATEGORIES.index("other")]


def test_counters_come_in_the_documented_bytes(client: Any) -> None:
    allocated = track(client.get("/_trace/meta").json, "allocated")["id"]
    # four pixels of 2.5 ms: 3 MB from the third on
    wire = Wire(client.get(f"/_trace/counters?t0=0&t1=10000000&w=4&tracks={allocated}").data)
    assert wire.take("<u4", 2) == [1, 4]
    assert wire.take("<f4", 4) == [1e6, 1e6, 3e6, 3e6]
    assert wire.take("<f4", 4) == [1e6, 1e6, 3e6, 3e6]


def test_details_of_a_slice_name_everything_around_it(client: Any, trace: Trace) -> None:
    details = client.get(f"/_trace/slice/{row_of(trace, 'aten::linear')}").json
    assert (details["start"], details["dur"], details["self"]) == (1 * MS, 3 * MS, 2_500_000)
    assert details["start_ns"] == str(START_NS + MS)
    assert [parent["name"] for parent in details["parents"]] == ["train_step#0"]
    assert details["child"] == row_of(trace, "cudaLaunchKernel")
    assert (details["previous"], details["next"]) == (None, row_of(trace, "aten::relu"))
    assert details["args"] == {"Input Dims": [[8, 16], [16, 4]], "note": "<b>bold</b>"}
    assert details["stack"] == ["train.py(3)", "model.py(7)"]
    assert details["track"]["process"] == "trainer"


def test_details_follow_flows_both_ways(client: Any, trace: Trace) -> None:
    launch, gemm = row_of(trace, "cudaLaunchKernel"), row_of(trace, "gemm")
    (effect,) = client.get(f"/_trace/slice/{launch}").json["flows_out"]
    (cause,) = client.get(f"/_trace/slice/{gemm}").json["flows_in"]
    assert (effect["id"], effect["kind"], effect["start"], effect["dur"]) == (gemm, "ac2g", 3 * MS, 3 * MS)
    assert (cause["id"], cause["lane"]) == (launch, 2)


def test_an_unfinished_slice_has_no_duration_and_is_drawn_to_the_end(client: Any, trace: Trace) -> None:
    details = client.get(f"/_trace/slice/{row_of(trace, 'waiting')}").json
    assert (details["dur"], details["self"], details["drawn_dur"]) == (None, None, 2 * MS)


def test_search_counts_names_and_slices_whatever_the_case(client: Any, trace: Trace) -> None:
    found = client.get("/_trace/search?q=ATEN").json
    assert (found["name_count"], found["slice_count"]) == (2, 2)
    nothing = client.get("/_trace/search?q=nothing+here").json
    assert (nothing["slice_count"], nothing["name_count"], nothing["strip"]) == (0, 0, [])


def test_finding_goes_in_order_of_time_and_round(client: Any, trace: Trace) -> None:
    linear, relu = row_of(trace, "aten::linear"), row_of(trace, "aten::relu")

    def find(after: int, direction: int) -> int | None:
        return client.get(f"/_trace/find?q=aten&after={after}&direction={direction}").json["slice"]

    assert find(-1, 1) == linear
    assert find(linear, 1) == relu
    assert find(relu, 1) == linear
    assert find(linear, -1) == relu
    assert client.get("/_trace/find?q=zzz&after=-1&direction=1").json == {"slice": None, "number": None}


def test_names_are_texts_by_id_cut_to_a_label() -> None:
    trace = hostile()
    ids = ",".join(str(trace.pool.strings.find(name)) for name in HOSTILE_NAMES)
    names = client_of(trace).get(f"/_trace/names?ids={ids}").json
    assert names[str(trace.pool.strings.find(HOSTILE_NAMES[0]))] == HOSTILE_NAMES[0]
    assert max(map(len, names.values())) == 400


@pytest.mark.parametrize(
    "path",
    [
        "slices",
        "slices?t0=0&t1=10&w=100",
        "slices?t0=10&t1=10&w=100&lanes=0",
        "slices?t0=a&t1=10&w=100&lanes=0",
        "slices?t0=0&t1=1e3&w=100&lanes=0",
        "slices?t0=0&t1=99999999999999999999&w=100&lanes=0",
        "slices?t0=0&t1=10&w=0&lanes=0",
        "slices?t0=0&t1=10&w=1000000&lanes=0",
        "slices?t0=0&t1=10&w=100&lanes=",
        "slices?t0=0&t1=10&w=100&lanes=-1",
        "slices?t0=0&t1=10&w=100&lanes=0,99",
        "slices?t0=0&t1=10&w=100&lanes=3-1",
        "slices?t0=0&t1=10&w=100&lanes=" + ",".join(["0"] * 5000),
        "slices?t0=0&t1=10&w=100&lanes=0;DROP",
        "slices?t0=٣&t1=10&w=100&lanes=0",
        "instants?t0=0&t1=10&w=100&tracks=77",
        "counters?t0=0&t1=10&w=100&tracks=" + ",".join(["0"] * 300),
        "names?ids=100000",
        "search",
        "search?q=" + "x" * 2000,
        "find?q=x&after=-2&direction=1",
        "find?q=x&after=0",
        "near?track=99&at=0",
        "slices?t0=0&t1=10&w=100&lanes=0&find=",
        "slices?t0=0&t1=10&w=100&lanes=0&find=%3E5",
        "slices?t0=0&t1=10&w=100&lanes=0&color=category",
        "csv?t0=0&t1=10",
        "csv?t0=10&t1=0&tracks=0",
        "csv/size?t0=0&t1=10&tracks=99",
    ],
)
def test_a_request_that_cannot_be_meant_gets_one_line(client: Any, path: str) -> None:
    response = client.get("/_trace/" + path)
    assert response.status_code == 400
    assert response.mimetype == "text/plain"
    assert response.text.strip()
    assert response.text.count("\n") == 1


@pytest.mark.parametrize("window", [(-(1 << 60), -(1 << 59)), (1 << 58, 1 << 59), (-5, 1 << 59), (0, 1)])
def test_windows_far_outside_the_trace_are_answered(client: Any, window: tuple[int, int]) -> None:
    for kind, which in (("slices", "lanes"), ("instants", "tracks"), ("counters", "tracks")):
        where = f"t0={window[0]}&t1={window[1]}&w=700&{which}=0-3"
        assert client.get(f"/_trace/{kind}?{where}").status_code == 200


def test_a_trace_of_one_moment_without_slices_has_a_timeline() -> None:
    builder = TraceBuilder()
    builder["instants"].append(1, ts_ns=5, track=builder.track("marks"), name=builder.string("here"))
    meta = client_of(builder.finish()).get("/_trace/meta").json
    assert (meta["span_ns"], meta["steps"]) == (1, [])
    assert meta["processes"][0]["tracks"][0]["instants"] == 1


def test_numbers_that_javascript_would_round_travel_as_text() -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    args = builder.pool.arg_sets.id(b'{"address":9223372036854775807,"small":7}')
    builder["slices"].append(1, track=track, ts_ns=1, dur_ns=1, correlation=(1 << 62) + 1, args=args)
    details = client_of(builder.finish()).get("/_trace/slice/0").json
    assert details["ids"]["correlation"] == str((1 << 62) + 1)
    assert details["args"] == {"address": "9223372036854775807", "small": 7}


def test_the_steps_of_several_ranks_are_those_of_the_first_and_say_so() -> None:
    builder = TraceBuilder()
    for rank in (2, 5):
        track = builder.track("main", kind="host_thread", rank=rank)
        builder["slices"].append(
            1, track=track, ts_ns=rank, dur_ns=1, name=builder.string("ProfilerStep#0"),
            category=CATEGORIES.index("annotation"),
        )  # fmt: skip
    meta = client_of(builder.finish()).get("/_trace/meta").json
    assert (meta["steps_label"], len(meta["steps"])) == ("Steps (rank 2)", 1)
    # the trace begins with rank 2's step
    assert meta["step_starts"] == [{"rank": 2, "starts": [0]}, {"rank": 5, "starts": [3]}]
    assert sorted(process["rank"] for process in meta["processes"] if process["within"] is None) == [2, 5]


def test_the_slice_of_a_track_nearest_to_a_moment_is_told() -> None:
    builder = TraceBuilder()
    track, empty = builder.track("main", kind="host_thread"), builder.track("none", kind="host_thread")
    builder["slices"].append(3, track=[track] * 3, ts_ns=[0, 40, 100], dur_ns=[5, 5, 5])
    client = client_of(builder.finish())
    found = [client.get(f"/_trace/near?track={track}&at={at}").json["slice"] for at in (-9, 19, 20, 21, 71, 999)]
    assert found == [0, 0, 0, 1, 2, 2]  # at 20 both are as near: the earlier one
    assert client.get(f"/_trace/near?track={empty}&at=0").json == {"slice": None}


@pytest.mark.parametrize("dur_ns", [0, -1])
def test_a_slice_at_the_very_end_lies_inside_of_what_is_shown(dur_ns: int) -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    builder["slices"].append(2, track=[track] * 2, ts_ns=[0, 100], dur_ns=[100, dur_ns])
    assert client_of(builder.finish()).get("/_trace/meta").json["span_ns"] == 101


def test_a_slice_without_a_name_and_one_with_hidden_characters_are_shown_for_what_they_are() -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    for name in ("", "a\u202eb"):
        builder["slices"].append(1, track=track, ts_ns=1, dur_ns=1, name=builder.string(name))
    trace = builder.finish()
    client = client_of(trace)
    ids = [int(trace.slices.name[row]) for row in (0, 1)]
    assert set(client.get(f"/_trace/names?ids={ids[0]},{ids[1]}").json.values()) == {"(no name)", "a\\u202eb"}


@pytest.mark.parametrize(
    "times",
    [
        [(-(1 << 62), 5), ((1 << 62), 5)],
        [(-(1 << 63), 5), ((1 << 63) - 10, 5)],
        [(0, (1 << 63) - 1), (0, (1 << 63) - 1), (0, (1 << 63) - 1)],
        [((1 << 63) - 2, 1), ((1 << 63) - 2, -1)],
        [(-(1 << 63), 1), (-(1 << 63), -1)],
    ],
)
def test_times_at_the_ends_of_64_bits_can_be_drawn(times: list[tuple[int, int]]) -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    for start, dur in times:
        builder["slices"].append(1, track=track, ts_ns=start, dur_ns=dur, name=builder.string("far"))
    client = client_of(builder.finish())
    meta = client.get("/_trace/meta")
    assert meta.status_code == 200
    assert all(0 <= share <= 1 for share in meta.json["busy"]["ratio"])
    assert client.get("/_trace/slice/0").status_code == 200
    assert client.get("/_trace/slices?t0=0&t1=1000&w=100&lanes=0").status_code in (200, 400)
