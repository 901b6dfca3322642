"""Every collective on every rank, and what they cost a step, worked out by hand."""

from __future__ import annotations

import pytest
from collective_script import Ranks
from hypothesis import given
from script import Script, untimed
from trace_strategies import traces

from neuron_profile import analysis
from trace_format import Trace


def two_steps() -> Trace:
    """Two ranks, two steps of 1000 ns; an all_reduce in each step, and one after the last.

    Step 0: rank 0 comes at 100, rank 1 at 150; both leave at 300. Rank 0 computes from 250 on: it is exposed for 150 of
    its 200, rank 1, which computes nothing, for all its 150. Step 1: both from 1200 to 1300, nothing computed: 100.
    After the steps: both from 2500 to 2600.
    """
    script = Ranks(2)
    for rank in range(2):
        for step in range(2):
            script.host(rank, f"ProfilerStep#{step}", step * 1000, (step + 1) * 1000, "annotation")
    script.collective(0, 100, 300, seq=1)
    script.collective(1, 150, 300, seq=1)
    script.work(0, 250, 400)
    for rank in range(2):
        script.collective(rank, 1200, 1300, seq=2)
        script.collective(rank, 2500, 2600, seq=3)
    return script.job(hosts=["a", "a"])


def test_each_rank_of_a_collective_tells_how_late_it_came_and_how_long_it_waited() -> None:
    frame = analysis.collective_spans(two_steps())
    assert len(frame) == 6
    first = frame[frame["seq"] == 1].set_index("rank")
    assert first["collective"].nunique() == 1
    assert first["start_ns"].to_dict() == {0: 100, 1: 150}
    assert first["late_ns"].to_dict() == {0: 0, 1: 50}
    assert first["wait_ns"].to_dict() == {0: 50, 1: 0}
    assert first["dur_ns"].to_dict() == {0: 200, 1: 150}
    assert first["exposed_ns"].to_dict() == {0: 150, 1: 150}
    assert frame.sort_values("seq")["step"].tolist() == [0, 0, 1, 1, -1, -1]


def test_the_exposed_time_is_the_mean_of_the_steps_of_all_ranks() -> None:
    frame = analysis.exposed_collectives(two_steps())
    assert len(frame) == 1
    row = frame.iloc[0]
    assert (row["op"], row["message_bytes"]) == ("all_reduce", 1000)
    assert frame.attrs["steps"] == 4  # two of each rank
    assert row["count"] == 1  # in each of them
    assert row["exposed_ns"] == (150 + 150 + 100 + 100) / 4
    assert row["total_ns"] == (200 + 150 + 100 + 100) / 4
    assert row["overlap_ratio"] == pytest.approx(1 - 500 / 550)


def test_without_steps_the_window_of_each_rank_is_one() -> None:
    script = Ranks(2)
    for rank in range(2):
        script.collective(rank, 0, 100, seq=1)
        script.collective(rank, 200, 500, seq=2)
    frame = analysis.exposed_collectives(script.job())
    assert frame.attrs["found_by"] == "window"
    assert frame.attrs["steps"] == 2
    assert frame["exposed_ns"].tolist() == [400]


def test_arrivals_are_unknown_where_a_rank_is_missing() -> None:
    script = Ranks(1)
    script.collective(0, 0, 100, members=[0, 1])
    row = analysis.collective_spans(script.trace()).iloc[0]
    assert (row["late_ns"], row["wait_ns"], row["dur_ns"]) == (-1, -1, 100)


def test_a_trace_without_collectives_gives_empty_frames() -> None:
    trace = Script().trace()
    assert analysis.collective_spans(trace).empty
    assert analysis.exposed_collectives(trace).empty


@untimed
@given(traces())
def test_spans_sum_up_to_the_table_of_collectives(trace: Trace) -> None:
    spans, table = analysis.collective_spans(trace), analysis.collectives(trace)
    assert len(spans) == table["spans"].sum()
    assert spans.loc[spans["dur_ns"] >= 0, "dur_ns"].sum() == table["total_ns"].sum()
    analysis.exposed_collectives(trace)
