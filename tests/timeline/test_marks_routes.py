"""What the server tells of regions, warnings, chains and sources of slices."""

from __future__ import annotations

from typing import Any

import pytest
from one_step import MS, hostile, one_step, row_of
from test_timeline_routes import client_of
from two_ranks import ACQUIRE, row_at, two_ranks

from explorer_app.web.numbers import once
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.source_lines import file_and_line, source_lines
from trace_format import CATEGORIES, Trace, TraceBuilder


@pytest.fixture(scope="module")
def trace() -> Trace:
    return two_ranks()


@pytest.fixture(scope="module")
def client(trace: Trace) -> Any:
    return client_of(trace)


def test_the_kinds_of_regions_are_told_with_how_deep_they_go(client: Any) -> None:
    assert client.get("/_trace/regions").json == [
        {"kind": "steps", "deepest": 0, "why": ""},
        {"kind": "modules", "deepest": 1, "why": ""},
        {"kind": "between collectives", "deepest": 0, "why": ""},
    ]


def test_regions_are_those_of_the_first_rank_that_has_any(client: Any) -> None:
    found = client.get("/_trace/regions?kind=modules&depth=1").json
    assert found == {
        "label": "rank 0", "count": 1, "names": ["Linear_0"], "start": [1.5 * MS], "end": [3 * MS],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("kind=layers&depth=0", "kind must be one of steps, modules, between collectives"),
        ("kind=steps&depth=-1", "depth must lie between 0 and 64"),
        ("kind=steps", "depth must be an integer"),
    ],
)
def test_regions_that_cannot_be_meant_are_refused(client: Any, asked: str, why: str) -> None:
    response = client.get(f"/_trace/regions?{asked}")
    assert (response.status_code, response.text.strip()) == (400, why)


def test_warnings_say_their_numbers_and_their_rank(client: Any) -> None:
    (idle,) = client.get("/_trace/warnings").json
    assert (idle["kind"], idle["name"], idle["count"]) == ("idle gap", "idle gaps", 2)
    assert idle["what"] == [
        "rank 0: device 0 idle for 1.80 ms, 18.0 % of a step",  # no launch of what ends it is known
        "rank 1: device 1 idle for 2.30 ms, 23.0 % of a step",
    ]
    assert (idle["start"], idle["end"]) == ([6.2 * MS, 6.2 * MS], [8 * MS, 8.5 * MS])
    assert idle["note"] == "A device does nothing for at least 200 µs: 2.00 % of the median step"


def test_an_idle_gap_says_why_where_the_launch_that_ends_it_is_known() -> None:
    builder = TraceBuilder()
    main, stream = builder.track("main", kind="host_thread"), builder.track("stream 7", kind="stream", device=0)
    runtime, compute = CATEGORIES.index("runtime"), CATEGORIES.index("compute")
    # launched at 8, when the device had been idle for 6 of 7 ms; the window is 10 ms long
    builder["slices"].append(1, track=main, ts_ns=8 * MS, dur_ns=1, category=runtime, correlation=1)
    builder["slices"].append(
        2, track=stream, ts_ns=[0, 9 * MS], dur_ns=[2 * MS, MS], category=compute, correlation=[-1, 1]
    )  # fmt: skip
    (idle,) = client_of(builder.finish()).get("/_trace/warnings").json
    assert idle["what"] == ["device 0 idle for 7.00 ms, 70.0 % of a window: the host had launched nothing"]


def test_a_slice_comes_with_its_chain(client: Any, trace: Trace) -> None:
    details = client.get(f"/_trace/slice/{row_at(trace, 'gemm', 3, 1)}").json
    (link,) = details["chain"]["upstream"]
    assert (link["kind"], link["distance"], link["from"]["name"]) == ("launch", 1, "cudaLaunchKernel")
    assert link["from"]["id"] == row_at(trace, "cudaLaunchKernel", 2, 1)
    assert details["chain"]["left_out"] == {"upstream": 0, "downstream": 0}


def test_each_rank_has_a_group_of_its_own_with_its_devices_first(client: Any) -> None:
    meta = client.get("/_trace/meta").json
    by_id = {process["id"]: process["name"] for process in meta["processes"]}
    assert [(p["name"], p["level"], by_id.get(p["within"])) for p in meta["processes"]] == [
        ("Rank 0", 0, None),
        ("GPU 0", 1, "Rank 0"),
        ("trainer 0", 1, "Rank 0"),
        ("Rank 1", 0, None),
        ("GPU 1", 1, "Rank 1"),
        ("trainer 1", 1, "Rank 1"),
    ]


def test_a_thread_that_only_waits_begins_folded_and_one_that_works_does_not(client: Any) -> None:
    tracks = [track for process in client.get("/_trace/meta").json["processes"] for track in process["tracks"]]
    assert {track["name"]: track["folded"] for track in tracks} == {
        "stream 7": False,
        "main thread": False,
        "waiting thread": True,
    }


def test_compiles_in_compiles_begin_folded() -> None:
    builder = TraceBuilder()
    track = builder.track("torch.compile", kind="compile")
    builder["slices"].append(3, track=track, ts_ns=[0, 0, 0], dur_ns=[9, 6, 3])
    (process,) = client_of(builder.finish()).get("/_trace/meta").json["processes"]
    assert [track["folded"] for track in process["tracks"]] == [True]


def test_names_that_break_things_come_as_text() -> None:
    client = client_of(hostile())
    assert client.get("/_trace/warnings").json == []
    assert [kind["deepest"] for kind in client.get("/_trace/regions").json] == [-1, -1, -1]


@pytest.mark.parametrize(
    ("name", "start_ms", "frames", "how", "of"),
    [
        ("aten::linear", 1.6, ["train.py(3): step", "model.py(7): forward"], "own", None),
        ("cudaLaunchKernel", 2, ["train.py(3): step", "model.py(7): forward"], "around", "aten::linear"),
        ("gemm", 3, ["train.py(3): step", "model.py(7): forward"], "launch", "aten::linear"),
        (ACQUIRE, 0, ["threading.py(973): _bootstrap", "threading.py(312): wait", ACQUIRE], "calls", None),
        ("gemm", 6.1, [], "", None),
    ],
)
def test_the_source_of_a_slice_is_its_stack_or_that_of_what_lies_around_it_or_launched_it(
    trace: Trace, name: str, start_ms: float, frames: list[str], how: str, of: str | None
) -> None:
    found = source_lines(once(TimelineData, trace), row_at(trace, name, start_ms, 0))
    assert (found["frames"], found["how"]) == (frames, how)
    assert (found["of"]["name"] if found["of"] else None) == of


def test_a_slice_without_source_says_why(trace: Trace) -> None:
    data = once(TimelineData, trace)
    assert source_lines(data, row_at(trace, "gemm", 6.1, 0))["why"] == (
        "What launched this slice was not recorded, so that no line of code is known."
    )
    assert source_lines(data, row_at(trace, "ProfilerStep#0", 0, 0))["why"] == (
        "This slice was recorded without a stack; others of this trace have one."
    )
    builder = TraceBuilder()
    builder["slices"].append(1, track=builder.track("t", kind="host_thread"), ts_ns=0, dur_ns=1)
    why = source_lines(once(TimelineData, builder.finish()), 0)["why"]
    assert why.startswith("No stacks were recorded: profile with with_stack=True")


def test_a_frame_names_its_file_and_line_where_it_has_some() -> None:
    assert file_and_line("model.py(7): forward") == ("model.py", 7)
    assert file_and_line("/a (b)/c.py(12)") == ("/a (b)/c.py", 12)
    assert file_and_line("nn.Module: Linear_0") is None
    assert file_and_line("(3): x") is None


def test_the_flow_of_one_step_is_a_link() -> None:
    trace = one_step()
    details = client_of(trace).get(f"/_trace/slice/{row_of(trace, 'aten::linear')}").json
    assert [(link["kind"], link["to"]["name"]) for link in details["chain"]["downstream"]] == [("ac2g", "gemm")]
