"""The call tree, with its numbers worked out beside the traces."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed
from test_analysis_attribution import network

from neuron_profile.analysis import CALL_TREES, OTHER_CALLS, call_tree, hotspots, records
from neuron_profile.analysis.operations.attribution import NO_LAUNCH
from trace_format import Trace, TraceBuilder

COLUMNS = [
    "name", "category", "side", "parent", "depth", "count", "total_ns", "self_ns", "device_total_ns", "device_self_ns",
    "folded",
]  # fmt: skip
Numbers = tuple[int, int, int, int, int]


def paths(frame: pd.DataFrame) -> dict[str, Numbers]:
    """Count, total, self, device total and device self of each node by its path."""
    found: list[str] = []
    for row in records(frame):
        found.append(row["name"] if row["parent"] < 0 else f"{found[row['parent']]} > {row['name']}")
        assert row["depth"] == found[-1].count(" > ")
    numbers = frame[["count", "total_ns", "self_ns", "device_total_ns", "device_self_ns"]].to_numpy().tolist()
    return {path: tuple(row) for path, row in zip(found, numbers, strict=True)}


def test_by_module_a_path_is_modules_then_operators_then_what_they_launched() -> None:
    # see `network`: Block [10, 90) holds Linear [20, 60), which holds mm [30, 50), and relu [70, 80); the calls of
    # Python and of the runtime between them are time of what is around them
    assert paths(call_tree(network().trace())) == {
        "Block_0": (1, 80, 80 - 40 - 10, 40, 0),
        "Block_0 > Linear_3": (1, 40, 40 - 20, 30, 0),
        "Block_0 > Linear_3 > aten::mm": (1, 20, 20, 30, 0),
        "Block_0 > Linear_3 > aten::mm > gemm": (1, 0, 0, 30, 30),
        "Block_0 > aten::relu": (1, 10, 10, 10, 0),
        "Block_0 > aten::relu > relu_kernel": (1, 0, 0, 10, 10),
        NO_LAUNCH: (0, 0, 0, 5, 0),
        f"{NO_LAUNCH} > stray": (1, 0, 0, 5, 5),
    }


def test_by_call_every_call_of_the_host_is_on_the_path() -> None:
    found = paths(call_tree(network().trace(), by="call"))
    assert found["train.py(7): main"] == (1, 100, 20, 40, 0)
    mm = "train.py(7): main > nn.Module: Block_0 > nn.Module: Linear_3 > torch/nn/functional.py(9): linear > aten::mm"
    assert found[mm] == (1, 20, 15, 30, 0)
    assert found[f"{mm} > cudaLaunchKernel"] == (1, 5, 5, 30, 0)
    assert found[f"{mm} > cudaLaunchKernel > gemm"] == (1, 0, 0, 30, 30)


def test_what_the_tree_holds_and_leaves_out_is_told() -> None:
    # by module, main [0, 100) outside of Block has 20 of its own that no node shows; the device has 30 + 10 + 5
    assert call_tree(network().trace()).attrs == {
        "host_ns": 80, "device_ns": 45, "outside_ns": 20, "unattributed_ns": 5, "nodes": 8,
    }  # fmt: skip


def calls() -> Script:
    """f [0, 100) calls g [10, 30) and g [40, 70); f [200, 250) calls g [210, 220). On a thread of rank 1, g [0, 9)."""
    script = Script()
    one, two = script.track("thread 1", rank=0), script.track("thread 2", rank=1)
    script.add(one, "f", "host_op", 0, 100)
    script.add(one, "g", "host_op", 10, 20, external_id=1)
    script.add(one, "step 1", "annotation", 35, 40)
    script.add(one, "g", "host_op", 40, 30)
    script.add(one, "f", "host_op", 200, 50)
    script.add(one, "g", "host_op", 210, 10)
    script.add(two, "g", "host_op", 0, 9)
    script.add(script.stream("stream", rank=0), "kernel", "compute", 20, 7, external_id=1)
    script.add(script.stream("other stream", rank=1), "stray", "compute", 20, 3, external_id=99)
    return script


@pytest.mark.parametrize("by", CALL_TREES)
def test_calls_by_the_same_path_are_one_node_and_annotations_are_none(by: str) -> None:
    assert paths(call_tree(calls().trace(), by=by)) == {
        "f": (2, 150, 150 - 60, 7, 0),  # the 10 of the step outside of g too
        "f > g": (3, 60, 60, 7, 0),
        "f > g > kernel": (1, 0, 0, 7, 7),
        "g": (1, 9, 9, 0, 0),
        NO_LAUNCH: (0, 0, 0, 3, 0),
        f"{NO_LAUNCH} > stray": (1, 0, 0, 3, 3),
    }


def test_the_tree_of_one_rank_or_of_one_thread() -> None:
    trace = calls().trace()
    of_rank = {"g": (1, 9, 9, 0, 0), NO_LAUNCH: (0, 0, 0, 3, 0), f"{NO_LAUNCH} > stray": (1, 0, 0, 3, 3)}
    assert paths(call_tree(trace, rank=1)) == of_rank
    assert paths(call_tree(trace, track=1)) == {"g": (1, 9, 9, 0, 0)}  # work of unknown launch is of no thread
    assert "f > g > kernel" in paths(call_tree(trace, track=0))
    assert len(call_tree(trace, rank=7)) == 0


def test_larger_nodes_come_first_and_a_parent_before_its_children() -> None:
    frame = call_tree(network().trace())
    parents = frame["parent"].tolist()
    assert all(parent < row for row, parent in enumerate(parents))
    assert frame["name"].tolist()[:2] == ["Block_0", "Linear_3"]


def many_children() -> Script:
    """root [0, 1000) calls a [0, 500), b [500, 700) with b1 [500, 510) in it, c [700, 750), d [750, 760)."""
    script = Script()
    host = script.track()
    for name, start, dur in (
        ("root", 0, 1000), ("a", 0, 500), ("b", 500, 200), ("b1", 500, 10), ("c", 700, 50), ("d", 750, 10),
    ):  # fmt: skip
        script.add(host, name, "host_op", start, dur)
    return script


def test_what_does_not_fit_is_added_up_under_its_parent_and_counted() -> None:
    # of at most 4 rows: root and a, and one for b, c and d, which are 3 calls and with b1 4 nodes; b as a row of its
    # own would need one for b1 too
    frame = call_tree(many_children().trace(), most_nodes=4)
    assert paths(frame) == {
        "root": (1, 1000, 240, 0, 0), "root > a": (1, 500, 500, 0, 0), f"root > {OTHER_CALLS}": (3, 260, 260, 0, 0),
    }  # fmt: skip
    assert frame["folded"].tolist() == [0, 0, 4]
    assert frame.attrs["nodes"] == 6


@pytest.mark.parametrize(("most", "rows"), [(1, 1), (2, 2), (3, 3), (4, 3), (5, 5), (6, 6), (7, 6)])
def test_there_are_never_more_rows_than_allowed(most: int, rows: int) -> None:
    assert len(call_tree(many_children().trace(), most_nodes=most)) == rows


def test_where_only_one_row_is_allowed_it_is_everything() -> None:
    assert paths(call_tree(many_children().trace(), most_nodes=1)) == {OTHER_CALLS: (1, 1000, 1000, 0, 0)}


def test_a_recursion_deeper_than_any_chart_is_cut_off_and_keeps_its_time() -> None:
    script = Script()
    host = script.track()
    for level in range(1000):
        script.add(host, "f", "host_op", level, 3000 - 2 * level)
    frame = call_tree(script.trace(), by="call")
    assert frame["depth"].max() == 255
    assert frame["total_ns"].max() == 3000
    assert frame["self_ns"].sum() == 3000
    assert frame["count"].sum() == 256


def test_very_many_calls_side_by_side_in_time_are_not_taken_for_a_recursion() -> None:
    script = Script()
    host = script.track()
    for number in range(400):  # each overlaps the next in part
        script.add(host, f"f{number}", "host_op", number, 500)
    frame = call_tree(script.trace(), by="call")
    assert frame["depth"].max() == 0
    assert len(frame) == 400


def test_an_unfinished_call_counts_and_what_it_calls_has_its_time() -> None:
    script = Script()
    host = script.track()
    script.add(host, "f", "host_op", 0, -1)
    script.add(host, "g", "host_op", 5, 10)
    assert paths(call_tree(script.trace())) == {"f": (1, 10, 0, 0, 0), "f > g": (1, 10, 10, 0, 0)}


def test_a_trace_without_slices_gives_an_empty_frame_with_the_same_columns() -> None:
    empty, full = call_tree(TraceBuilder().finish()), call_tree(calls().trace())
    assert list(empty.columns) == list(full.columns) == COLUMNS
    assert len(empty) == 0
    assert empty.dtypes.to_dict() == full.dtypes.to_dict()


def test_what_cannot_be_asked_is_refused_by_name() -> None:
    trace = TraceBuilder().finish()
    with pytest.raises(ValueError, match="cannot make a call tree by 'colour': choose one of module, call"):
        call_tree(trace, by="colour")
    with pytest.raises(ValueError, match="at most 0 nodes shows nothing: allow 1 or more"):
        call_tree(trace, most_nodes=0)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Slices of few names on two threads and a stream, nested, overlapping in part, without duration or end."""
    script = Script()
    tracks = [script.track("one", rank=0), script.track("two", rank=1), script.stream("device", rank=0)]
    names = [("nn.Module: A", "python"), ("t.py(3): f", "python"), ("aten::mm", "host_op"), ("mark", "annotation"),
             ("launch", "runtime")]  # fmt: skip
    event = st.tuples(st.sampled_from(tracks), st.sampled_from(names), st.integers(0, 30), st.integers(-1, 20),
                      st.integers(-1, 4), st.integers(-1, 4))  # fmt: skip
    for track, (name, category), start, dur, correlation, external_id in draw(st.lists(event, max_size=25)):
        columns: dict[str, Any] = {"correlation": correlation, "external_id": external_id}
        script.add(track, name, "compute" if track == 2 else category, start, dur, **columns)
    return script.trace()


@untimed
@given(traces(), st.sampled_from(CALL_TREES), st.integers(1, 12))
def test_the_rows_below_a_row_add_up_to_its_total(trace: Trace, by: str, most: int) -> None:
    whole, frame = call_tree(trace, by=by), call_tree(trace, by=by, most_nodes=most)
    assert len(frame) <= most
    for one in (whole, frame):
        below: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for row in one.to_dict("records"):
            below[row["parent"]][0] += row["total_ns"]
            below[row["parent"]][1] += row["device_total_ns"]
        for number, row in enumerate(one.to_dict("records")):
            assert row["parent"] < number
            assert row["total_ns"] == row["self_ns"] + below[number][0]
            assert row["device_total_ns"] == row["device_self_ns"] + below[number][1]
        assert below[-1] == [one.attrs["host_ns"], one.attrs["device_ns"]]
    assert len(whole) == whole.attrs["nodes"] == len(frame) - (frame["folded"] > 0).sum() + frame["folded"].sum()
    assert whole.attrs["device_ns"] == hotspots(trace).attrs["device_self_ns"]


@untimed
@given(traces())
def test_the_tree_has_all_the_time_of_the_host(trace: Trace) -> None:
    frame = call_tree(trace, by="call")
    slices = trace.slices
    work = sum(
        max(own, 0)
        for own, category, track in zip(
            slices.self_ns.tolist(), slices.text("category"), slices.track.tolist(), strict=True
        )
        if track < 2 and category != "annotation"
    )
    assert work <= frame.attrs["host_ns"]  # and annotations inside calls
    assert frame.attrs["outside_ns"] == 0


@untimed
@given(traces())
def test_the_paths_are_those_of_following_each_slice_to_its_root(trace: Trace) -> None:
    slices = trace.slices
    names, parents, categories = slices.text("name"), slices.parent.tolist(), slices.text("category")
    counts: dict[str, int] = defaultdict(int)
    for row, track in enumerate(slices.track.tolist()):
        if track < 2 and categories[row] != "annotation":
            path, around = names[row], parents[row]
            while around >= 0:
                if categories[around] != "annotation":
                    path = f"{names[around]} > {path}"
                around = parents[around]
            counts[path] += 1
    frame = call_tree(trace, by="call")
    found: list[str] = []
    for row in frame.to_dict("records"):
        found.append(row["name"] if row["parent"] < 0 else f"{found[row['parent']]} > {row['name']}")
    on_host = frame["side"] == "host"
    assert {path: n for path, n, host in zip(found, frame["count"].tolist(), on_host, strict=True) if host} == counts
