"""The part of a breakdown that is waiting for other ranks, and what of it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from collective_script import Ranks
from hypothesis import given
from hypothesis import strategies as st

from neuron_profile import analysis, load
from neuron_profile.analysis.breakdown import PARTS
from neuron_profile.analysis.collectives.arrivals import arrivals
from trace_format import Trace


def parts(frame: pd.DataFrame, rank: int) -> dict[str, int]:
    """The parts of the one step of a rank that are not 0."""
    row = frame[frame["rank"] == rank].iloc[0]
    assert row["total_ns"] == sum(row[name] for name in PARTS)
    return {name: int(row[name]) for name in PARTS if row[name]}


def stepping(ranks: int, end: int) -> Ranks:
    script = Ranks(ranks)
    for rank in range(ranks):
        script.host(rank, "ProfilerStep#0", 0, end, "annotation")
    return script


def test_waiting_for_the_last_rank_is_not_transfer() -> None:
    script = stepping(2, 100)
    script.collective(0, 10, 90)
    script.collective(1, 60, 90)
    frame = analysis.breakdown(script.job())
    assert parts(frame, 0) == {"idle_peer_ns": 50, "exposed_collective_ns": 30, "idle_other_ns": 20}
    assert parts(frame, 1) == {"exposed_collective_ns": 30, "idle_other_ns": 70}


def test_waiting_under_compute_or_under_another_transfer_costs_nothing() -> None:
    script = stepping(2, 100)
    script.work(0, 10, 30)
    script.collective(0, 10, 90, seq=1)
    script.collective(1, 60, 90, seq=1)
    other = script.stream("nccl 0 b", rank=0, device=0)
    script.collective(0, 40, 50, members=[0], group="alone", track=other)
    # of the 50 that rank 0 waits 20 are under compute and 10 under a transfer of another group
    assert parts(analysis.breakdown(script.job()), 0) == {
        "compute_ns": 20, "idle_peer_ns": 20, "exposed_collective_ns": 10 + 30, "idle_other_ns": 20,
    }  # fmt: skip


def test_without_the_other_ranks_all_of_it_is_an_exposed_collective() -> None:
    script = stepping(1, 100)
    script.collective(0, 10, 90, members=[0, 1])
    assert parts(analysis.breakdown(script.trace()), 0) == {"exposed_collective_ns": 80, "idle_other_ns": 20}


def test_a_rank_on_another_clock_waits_by_its_own() -> None:
    script = Ranks(2)
    for rank, ahead in ((0, 0), (1, 7_000)):
        script.host(rank, "ProfilerStep#0", ahead, ahead + 100, "annotation")
    script.collective(0, 10, 90)
    script.collective(1, 7_060, 7_090)
    frame = analysis.breakdown(script.job(hosts=["a", "b"]))
    assert parts(frame, 0)["idle_peer_ns"] == 50
    assert "idle_peer_ns" not in parts(frame, 1)


def test_on_hosts_that_compute_themselves_spans_of_gloo_are_waited_in() -> None:
    script = stepping(2, 100)
    for rank, start in ((0, 20), (1, 70)):
        worker = script.track("gloo", rank=rank)
        span = script.add(worker, "gloo:all_reduce", "annotation", start, 90 - start)
        string = script.builder.string
        script.builder["collectives"].append(
            1, slice=span, op=string("all_reduce"), source=string("gloo"), in_bytes=8, out_bytes=8, rank=rank
        )
        script.host(rank, "aten::mm", 0, 30)
        script.host(rank, "_c10d_functional::wait_tensor", 30, 95)  # waits for it, computes nothing
    frame = analysis.breakdown(script.job())
    # rank 0: operators to 30, alone until rank 1 comes at 70, together to 90; then 5 in wait_tensor
    assert parts(frame, 0) == {
        "compute_ns": 30, "idle_peer_ns": 40, "exposed_collective_ns": 25, "idle_host_ns": 5,
    }  # fmt: skip
    assert parts(frame, 1) == {"compute_ns": 30, "exposed_collective_ns": 65, "idle_host_ns": 5}


def test_ranks_without_steps_of_their_own_have_a_row_each() -> None:
    script = Ranks(2)
    script.work(0, 0, 60)
    script.work(1, 20, 100)
    frame = analysis.breakdown(script.job())
    assert frame[["rank", "device", "compute_ns", "total_ns"]].to_numpy().tolist() == [[0, 0, 60, 100], [1, 1, 80, 100]]


EVENT = st.tuples(
    st.integers(0, 1), st.integers(0, 200), st.integers(1, 60), st.sampled_from(["collective", "compute", "memcpy"])
)


@given(st.lists(EVENT, max_size=14), st.integers(0, 50), st.booleans())
def test_parts_sum_and_waiting_is_no_more_than_the_waiting_in_spans(
    events: list[Any], ahead: int, one_host: bool
) -> None:
    script = Ranks(2)
    for rank in range(2):
        script.host(rank, "ProfilerStep#0", 0, 300, "annotation")
    for rank, start, length, kind in events:
        at = start + ahead * rank
        if kind == "collective":
            script.collective(rank, at, at + length)
        else:
            script.add(script.streams[rank], kind, kind, at, length)
    trace = script.job(hosts=["a", "a" if one_host else "b"])
    frame = analysis.breakdown(trace)
    assert (frame[list(PARTS)].to_numpy() >= 0).all()
    assert np.array_equal(frame[list(PARTS)].sum(axis=1).to_numpy(), frame["total_ns"].to_numpy())
    waits = np.maximum(arrivals(trace).wait_ns, 0).sum()
    assert frame["idle_peer_ns"].sum() <= waits


def test_in_a_real_job_collectives_are_mostly_waiting_and_the_late_rank_hardly_waits(corpus: Path) -> None:
    trace: Trace = load(corpus / "kineto_multirank")
    frame = analysis.breakdown(trace).set_index("rank")
    exposed = analysis.collective_overlap(trace).set_index("rank")["exposed_ns"]
    both = frame["idle_peer_ns"] + frame["exposed_collective_ns"]
    # its one step holds all collectives but the parts before ProfilerStep#10
    assert (both <= exposed).all()
    assert frame["idle_peer_ns"].idxmin() == 7
    assert (frame["idle_peer_ns"] > frame["exposed_collective_ns"])[frame.index != 7].all()
