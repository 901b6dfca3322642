"""Findings about ranks that wait for one another; sizes worked out by hand."""

from __future__ import annotations

from training import MS, Training

from neuron_profile.analysis import Finding, findings
from trace_format import Trace


def job(own: dict[int, float], transfer: float, *, steps: int = 4, load: dict[int, float] | None = None) -> Trace:
    """Ranks that compute for `own` ms, then reduce: all are done `transfer` ms after the last has come.

    A rank loads data for `load` ms before it computes.
    """
    load = load or {}
    last = max(own[rank] + load.get(rank, 0) for rank in own)
    script = Training(steps, last + transfer, ranks=tuple(own))
    for rank, computing in own.items():
        gloo = script.builder.track("gloo", kind="host_thread", pid=1, tid=2, rank=rank)
        for at in script.starts:
            begin = at + load.get(rank, 0)
            script.host("enumerate(DataLoader)#x.__next__", at, begin - at, "annotation", rank=rank)
            script.host("aten::mm", begin, computing, rank=rank)
            dur = last + transfer - load.get(rank, 0) - computing
            script.collective(script.add(gloo, "gloo:all_reduce", begin + computing, dur, "annotation"), rank=rank)
    return script.trace()


def only(trace: Trace) -> Finding:
    (found,) = findings(trace)
    return found


def test_the_rank_for_which_the_others_wait_is_named() -> None:
    found = only(job({0: 50, 1: 90, 2: 60}, 2))
    # 30 ms later than the next, of a step of 92
    assert (found.rule, found.rank, found.recoverable_ns) == ("slow-rank", 1, 30 * MS)
    assert "without its waiting rank 1 takes 90.0 ms per step, the others 55.0 ms" in found.evidence[0]
    assert found.evidence[2] == "most of the difference is its compute: 35.0 ms more"


def test_what_makes_it_slow_is_said() -> None:
    found = only(job({0: 50, 1: 50}, 2, load={1: 40}))
    assert (found.rule, found.rank, found.recoverable_ns) == ("slow-rank", 1, 40 * MS)
    assert found.evidence[2] == "most of the difference is its data loading: 40.0 ms more"


def test_ranks_that_are_alike_are_not() -> None:
    assert findings(job({0: 90, 1: 93}, 2)) == ()


def test_ranks_that_take_turns_are_not() -> None:
    script = Training(4, 100, ranks=(0, 1))
    for number, at in enumerate(script.starts):
        for rank in (0, 1):
            computing = 96 if number % 2 == rank else 60
            script.host("aten::mm", at, computing, rank=rank)
            script.collective(
                script.host("gloo:all_reduce", at + computing, 100 - computing, "annotation", rank=rank), rank=rank
            )
    assert "slow-rank" not in {found.rule for found in findings(script.trace())}


def test_a_transfer_is_what_the_last_rank_sees_of_the_collective() -> None:
    found = findings(job({0: 80, 1: 77}, 20))[0]
    assert (found.rule, found.recoverable_ns) == ("exposed-collectives", 20 * MS)
    assert "the least of 2 ranks" in found.evidence[0]


def test_waiting_alone_is_no_transfer() -> None:
    assert {found.rule for found in findings(job({0: 50, 1: 95}, 1))} == {"slow-rank"}


def test_a_rank_that_is_a_little_late_every_time_is_named_where_that_is_no_chance() -> None:
    found = only(job(dict.fromkeys(range(7), 90.0) | {7: 94.5}, 1.5))
    # the others wait 4.5 ms of a step of 96; of 8 that are alike one is last 4 times in 8 ** 3 = 512
    assert (found.rule, found.rank, found.recoverable_ns) == ("slow-rank", 7, 9 * MS // 2)
    assert found.title.endswith("the others wait for it: 4.50 ms (4.69 %)")
    assert found.evidence[1] == "it comes last to 4 of 4 collectives"
    # of two it is the same one of them once in 2 ** 3 = 8 jobs
    assert findings(job({0: 90, 1: 94.5}, 1.5)) == ()


def test_a_rank_that_waits_as_long_as_the_others_is_not_late() -> None:
    # 60 ms is what the last has taken of each step, which is another one each time
    assert "slow-rank" not in {found.rule for found in findings(job({0: 90, 1: 90, 2: 90}, 2))}
