"""What a query finds: the slices, where they are, and how many each block on the canvas holds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_step import one_step, row_of
from test_timeline_routes import Wire, client_of

from explorer_app.lod import Lanes, Pyramid, Window, blocks_in_window, chosen_in_blocks
from explorer_app.web.timeline.query import QueryError, parse
from explorer_app.web.timeline.regex import matching
from trace_format import Trace, TraceBuilder


@pytest.fixture(scope="module")
def trace() -> Trace:
    return one_step()


@pytest.fixture(scope="module")
def client(trace: Trace) -> Any:
    return client_of(trace)


def found(client: Any, trace: Trace, query: str) -> set[str]:
    """The names of what `find` steps through."""
    names, after = set(), -1
    for _ in range(20):
        step = client.get("/_trace/find", query_string={"q": query, "after": after, "direction": 1}).json
        if step["slice"] is None:
            break
        after = step["slice"]
        names.add(trace.slices.text("name")[after])
    return names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("ATEN", {"aten::linear", "aten::relu"}),
        ("=aten::relu", {"aten::relu"}),
        ("=aten", set()),
        ("/^(aten|memcpy)/", {"aten::linear", "aten::relu", "Memcpy HtoD"}),
        ('="Memcpy HtoD"', {"Memcpy HtoD"}),
        (">1ms", {"train_step#0", "aten::linear", "gemm"}),
        (">=1ms <3ms", {"aten::relu", "Memcpy HtoD"}),
        ("500us..1ms", {"cudaLaunchKernel", "aten::relu", "Memcpy HtoD"}),
        ("cat:compute,memcpy", {"gemm", "Memcpy HtoD"}),
        ('track:"stream 7"', {"gemm", "Memcpy HtoD"}),
        ("track:trainer cat:host_op", {"aten::linear", "aten::relu", "waiting"}),
        ("track:/^GPU/ >2ms", {"gemm"}),
        ("track:=stream", set()),
        # how long "waiting" would have taken is not known
        ("waiting >0ns", set()),
        ("waiting", {"waiting"}),
    ],
)
def test_every_way_of_looking_finds_what_it_says(client: Any, trace: Trace, query: str, names: set[str]) -> None:
    summary = client.get("/_trace/search", query_string={"q": query}).json
    assert (summary["slice_count"], summary["name_count"]) == (len(names), len(names))
    assert found(client, trace, query) == names


def test_a_summary_says_where_in_the_trace_the_finds_are(client: Any, trace: Trace) -> None:
    summary = client.get("/_trace/search", query_string={"q": "aten"}).json
    # linear [1, 4) and relu [6, 7) of 10 ms on 1200 pixels
    assert (summary["strip"], summary["strip_pixels"]) == ([[120, 480], [720, 840]], 1200)
    assert summary["instants"] == []
    warned = client.get("/_trace/search?q=memory").json
    assert [trace.pool.strings[name] for name in warned["instants"]] == ["out of memory soon"]
    assert client.get("/_trace/search", query_string={"q": "cat:compute"}).json["instants"] is None


def test_finding_says_which_of_them_it_is(client: Any, trace: Trace) -> None:
    after_linear = {"q": "aten", "after": row_of(trace, "aten::linear"), "direction": 1}
    assert client.get("/_trace/find", query_string=after_linear).json == {
        "slice": row_of(trace, "aten::relu"), "number": 2,
    }  # fmt: skip


def test_blocks_say_how_many_finds_they_hold(client: Any) -> None:
    # on two pixels of 5 ms (a grid of 4.2 ms): linear and relu are blocks of their own on the lane of depth 1
    wire = Wire(client.get("/_trace/slices?t0=0&t1=10000000&w=1000&lanes=0-2&find=aten+%3E2ms&color=name").data)
    (n,) = wire.take("<u4", 1)
    assert n == 4  # the step, linear, relu, the launch
    wire.at = 4 + 24 * n
    assert wire.take("<u4", n) == [0, 1, 0, 0]
    assert len(set(wire.take("u1", n))) == 4
    assert wire.at == len(wire.body)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 400), st.integers(0, 60), st.booleans()), max_size=60),
    st.integers(0, 300), st.integers(1, 200), st.sampled_from([1, 3, 10, 50]),
)  # fmt: skip
def test_finds_in_blocks_are_those_that_a_count_one_by_one_gives(
    slices: list[tuple[int, int, int, bool]], start: int, length: int, width: int
) -> None:
    builder = TraceBuilder()
    tracks = [builder.track(f"t{number}", kind="host_thread") for number in range(3)]
    for track, ts, dur, wanted in slices:
        builder["slices"].append(
            1, track=tracks[track], ts_ns=ts, dur_ns=dur, name=builder.string("wanted" if wanted else "other")
        )
    trace = builder.finish()
    lanes = Lanes(trace)
    window, which = Window(start, start + length, width), list(range(lanes.count))
    wanted_rows = np.array([name == "wanted" for name in trace.slices.text("name")], bool)
    chosen = np.flatnonzero(wanted_rows[lanes.row]) if len(lanes) else np.zeros(0, np.int64)
    blocks = blocks_in_window(Pyramid(lanes), window, which)
    counted = chosen_in_blocks(lanes, blocks, window, which, chosen.astype(np.uint32))
    for index in range(len(blocks)):
        low, high = lanes.offset[which[blocks.lane[index]]], lanes.offset[which[blocks.lane[index]] + 1]
        # a block is `count` slices of its lane in a row, among them its longest, that begin and end with it
        begins = [
            first for first in range(int(low), int(high) - int(blocks.count[index]) + 1)
            if lanes.start_ns[first] == blocks.start_ns[index]
            and first <= np.flatnonzero(lanes.row == blocks.row[index])[0] < first + blocks.count[index]
        ]  # fmt: skip
        sums = {int(wanted_rows[lanes.row[first : first + blocks.count[index]]].sum()) for first in begins}
        assert int(counted[index]) in sums


def test_an_expression_that_never_ends_is_ended() -> None:
    began = time.monotonic()
    with pytest.raises(QueryError, match=r"takes longer than 0\.5 s"):
        matching("(a+)+$", ["a" * 40 + "b"], longest_s=0.5)
    assert time.monotonic() - began < 20  # not for ever


@pytest.mark.parametrize("expression", ["(", "[z-a]", "a{5,2}", "(?P<", "*", "(\n"])
def test_what_is_no_expression_is_told(client: Any, expression: str) -> None:
    response = client.get("/_trace/search", query_string={"q": f"/{expression}/"})
    assert response.status_code == 200  # the reader is still typing: no failure of a request
    assert response.json["problem"].count("\n") == 0
    assert "is no regular expression" in response.json["problem"]


@pytest.mark.parametrize(
    ("text", "right"),
    [("category:compute", "write cat:compute"), ("dur>1ms", "write >1ms"), ("duration:<=2s", "write <=2s")],
)
def test_the_words_of_other_tools_get_the_right_ones(text: str, right: str) -> None:
    with pytest.raises(QueryError, match=right):
        parse(text)
    assert parse(f'"{text}"').names[0].text == text  # in quotes it is a name


def test_expressions_see_any_text() -> None:
    assert matching("x$", ["x", "y", "half a pair \ud800 X", ""]).tolist() == [True, False, True, False]
    assert matching("x", []).tolist() == []
