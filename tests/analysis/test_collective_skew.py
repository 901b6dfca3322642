"""Who waits for whom in collectives, worked out by hand, and on real jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from collective_script import Ranks

from neuron_profile import analysis, load
from trace_format import Trace, TraceBuilder

MS = 1_000_000


def of_rank(trace: Trace, column: str) -> dict[int, int]:
    frame = analysis.collective_skew(trace).ranks
    return dict(zip(frame["rank"].tolist(), frame[column].tolist(), strict=True))


def two_ranks() -> Ranks:
    """Three all_reduces: rank 1 comes 40 and 60 later to the first two, rank 0 10 later to the third."""
    script = Ranks(2)
    for seq, (zero, one, end) in enumerate([(100, 140, 200), (300, 360, 400), (510, 500, 600)]):
        script.collective(0, zero, end, seq=seq)
        script.collective(1, one, end, seq=seq)
    return script


def test_each_waits_from_its_own_start_until_the_last_has_come() -> None:
    skew = analysis.collective_skew(two_ranks().job())
    frame = skew.collectives
    assert frame["skew_ns"].tolist() == [40, 60, 10]
    assert frame["last_rank"].tolist() == [1, 1, 0]
    assert frame["start_ns"].tolist() == [100, 300, 500]
    assert frame["latency_ns"].tolist() == [60, 40, 90]
    ranks = skew.ranks
    assert ranks["wait_ns"].tolist() == [40 + 60, 10]
    assert ranks["caused_wait_ns"].tolist() == [10, 40 + 60]
    assert ranks["times_last"].tolist() == [1, 2]


def test_a_rank_that_is_often_last_by_little_is_not_the_straggler() -> None:
    script = Ranks(2)
    # rank 1 is late once by 500, rank 0 three times by 1
    for seq, (zero, one) in enumerate([(0, 500), (1001, 1000), (2001, 2000), (3001, 3000)]):
        script.collective(0, zero, max(zero, one) + 100, seq=seq)
        script.collective(1, one, max(zero, one) + 100, seq=seq)
    late = analysis.collective_skew(script.job()).straggler
    assert late is not None
    assert (late.rank, late.wait_ns, late.times_last) == (1, 500, 1)


def test_the_straggler_waits_least_and_comes_last_most_often() -> None:
    late = analysis.collective_skew(two_ranks().job()).straggler
    assert late is not None
    assert (late.rank, late.wait_ns, late.times_last, late.collectives) == (1, 100, 2, 3)


def test_of_four_ranks_the_late_one_is_named_with_what_the_others_waited_on_average() -> None:
    script = Ranks(4)
    for number in range(3):
        base = number * 1000
        for rank, start in enumerate([base, base + 30, base + 600, base + 10]):
            script.collective(rank, start, base + 700)
    skew = analysis.collective_skew(script.job())
    # of each: 600 + 570 + 590 waited by three
    assert skew.ranks["wait_ns"].tolist() == [3 * 600, 3 * 570, 0, 3 * 590]
    assert skew.straggler is not None
    assert (skew.straggler.rank, skew.straggler.wait_ns) == (2, round(3 * (600 + 570 + 590) / 3))


def test_what_kept_the_straggler_is_what_took_it_longer_than_the_others() -> None:
    script = Ranks(4)
    for number in range(3):
        base = number * 100 * MS
        for rank in range(4):
            late = 30 * MS if rank == 2 else 0
            script.host(rank, "aten::mm", base, base + 10 * MS)
            script.host(rank, "load_batch", base + 10 * MS, base + 15 * MS + late, "annotation")
            script.collective(rank, base + 20 * MS + late, base + 60 * MS)
    late = analysis.collective_skew(script.job()).straggler
    assert late is not None
    assert (late.rank, late.after) == (2, "load_batch")
    # in each of the three collectives that were looked at
    assert late.after_ns == 3 * 30 * MS


def test_a_slow_kernel_is_the_cause_where_the_device_was_busy_meanwhile() -> None:
    script = Ranks(2)
    for number in range(3):
        base = number * 100 * MS
        for rank in range(2):
            late = 25 * MS if rank == 0 else 0
            script.host(rank, "aten::mm", base, base + 2 * MS)
            script.host(rank, "cudaStreamSynchronize", base + 2 * MS, base + 20 * MS + late, "runtime")
            script.work(rank, base + 5 * MS, base + 20 * MS + late, "slow_gemm")
            script.collective(rank, base + 20 * MS + late, base + 60 * MS)
    late = analysis.collective_skew(script.job()).straggler
    assert late is not None
    assert (late.rank, late.after) == (0, "slow_gemm")


def test_time_in_which_nothing_was_recorded_is_a_cause_too() -> None:
    script = Ranks(2)
    for number in range(3):
        base = number * 100 * MS
        for rank in range(2):
            late = 25 * MS if rank == 1 else 0
            script.host(rank, f"ProfilerStep#{number}", base, base + 90 * MS, "annotation")
            script.host(rank, "aten::mm", base, base + 2 * MS)
            script.collective(rank, base + 20 * MS + late, base + 60 * MS)
    late = analysis.collective_skew(script.job()).straggler
    assert late is not None
    assert (late.rank, late.after) == (1, "(no operator running)")


def test_sequence_numbers_match_where_one_rank_recorded_more() -> None:
    script = Ranks(2)
    script.collective(0, 0, 90, seq=6)  # before rank 1 was recorded
    for rank, start in ((0, 100), (1, 150)):
        script.collective(rank, start, 200, seq=7)
    skew = analysis.collective_skew(script.job())
    assert skew.collectives[["seq", "skew_ns"]].to_numpy().tolist() == [[7, 50]]


def test_without_numbers_ranks_that_made_more_are_not_matched() -> None:
    script = Ranks(2)
    script.collective(0, 0, 90)
    for rank, start in ((0, 100), (1, 150)):
        script.collective(rank, start, 200)
    trace = script.job()
    assert len(analysis.collective_skew(trace).collectives) == 0
    assert analysis.collectives(trace).attrs["unmatched"] == 3


def test_nobody_is_blamed_for_what_was_waited_before_it_was_recorded() -> None:
    script = Ranks(2)
    for number, late in enumerate([900, 50]):
        script.collective(0, number * 2000, number * 2000 + 1000)
        script.collective(1, number * 2000 + late, number * 2000 + 1000)
    script.host(0, "aten::mm", -100, -50)
    script.host(1, "aten::mm", 700, 850)  # rank 1's profiler came up at 700
    skew = analysis.collective_skew(script.trace(world_size=2))
    assert skew.collectives["skew_ns"].tolist() == [900, 50]
    assert skew.straggler is not None
    assert skew.straggler.wait_ns == 200 + 50


def test_groups_are_told_apart_by_their_ranks() -> None:
    script = Ranks(4)
    for rank, start in enumerate([0, 10, 50, 20]):
        pair = [0, 1] if rank < 2 else [2, 3]
        script.collective(rank, start, 100, members=pair, group="pair", seq=1)
    frame = analysis.collective_skew(script.job()).collectives
    assert sorted(zip(frame["last_rank"], frame["skew_ns"], strict=True)) == [(1, 10), (2, 30)]


def test_a_collective_whose_other_ranks_are_missing_says_nothing_about_waiting() -> None:
    script = Ranks(2)
    for rank, start in ((0, 0), (1, 40)):
        script.collective(rank, start, 100, members=[0, 1, 2], seq=1)
    assert len(analysis.collective_skew(script.job()).ranks) == 0


def test_who_waits_for_a_broadcast_is_not_told() -> None:
    script = Ranks(2)
    for rank, start in ((0, 0), (1, 40)):
        script.collective(rank, start, 100, op="broadcast", seq=1)
    assert len(analysis.collective_skew(script.job()).collectives) == 0


AHEAD = 5 * MS


def test_clocks_are_aligned_on_the_ends_of_collectives() -> None:
    script = Ranks(2)
    # on the clock of rank 0 both end at once but for 2, 0 and 4 ns, and rank 1 comes 40 later, 60 later, 10 earlier
    for seq, (zero, one, end, apart) in enumerate([(100, 140, 200, 2), (300, 360, 400, 0), (510, 500, 600, 4)]):
        script.collective(0, zero, end, seq=seq)
        script.collective(1, AHEAD + one, AHEAD + end + apart, seq=seq)
    trace = script.job(hosts=["a", "b"])
    # the median distance of the ends is 5 ms + 2 ns
    assert of_rank(trace, "clock_offset_ns") == {0: 0, 1: AHEAD + 2}
    assert analysis.collective_skew(trace).collectives["skew_ns"].tolist() == [38, 58, 12]
    # of two the lower end is the middle: distances 0, 0, 2 for rank 0 less 0, 2, 0; for rank 1 0, -2, 2 from it
    residual = of_rank(trace, "clock_residual_ns")
    assert 0 <= residual[0] <= 2
    assert 0 <= residual[1] <= 2


def test_ranks_on_one_host_share_its_clock() -> None:
    trace = two_ranks().job(hosts=["a", "a"])
    assert of_rank(trace, "clock_offset_ns") == {0: 0, 1: 0}


def test_clocks_are_carried_from_group_to_group() -> None:
    script = Ranks(3)
    for rank, members, start in ((0, [0, 1], 0), (1, [0, 1], AHEAD), (1, [1, 2], AHEAD + 500), (2, [1, 2], 3 * AHEAD)):
        end = {0: 100, AHEAD: AHEAD + 100, AHEAD + 500: AHEAD + 600, 3 * AHEAD: 3 * AHEAD + 100}[start]
        script.collective(rank, start, end, members=members, group=str(members), seq=1)
    # rank 1 is 5 ms ahead of 0; rank 2 ended at 15 ms + 100, when rank 1 had 5 ms + 600
    assert of_rank(script.job(), "clock_offset_ns") == {0: 0, 1: AHEAD, 2: 3 * AHEAD + 100 - 600}


def test_the_summary_has_the_straggler_and_the_residuals() -> None:
    assert analysis.collective_skew(two_ranks().job()).to_dict() == {
        "straggler": {"rank": 1, "wait_ns": 100, "after": "(no operator running)"},
        "clock_residual_ns": {"0": 0, "1": 0},
    }


def test_a_trace_of_one_rank_has_no_skew() -> None:
    for trace in (TraceBuilder().finish(), Ranks(1).job()):
        skew = analysis.collective_skew(trace)
        assert (len(skew.collectives), len(skew.ranks), skew.straggler) == (0, 0, None)
        assert skew.to_dict() == {"straggler": None, "clock_residual_ns": {}}


def test_in_a_real_job_rank_7_is_late(corpus: Path) -> None:
    """Its first four all_to_all kernels last 10, 8, 7 and 7 us, those of the others up to 7.6 ms (see the files)."""
    skew = analysis.collective_skew(load(corpus / "kineto_multirank"))
    frame = skew.collectives
    assert frame["last_rank"].tolist()[:4] == [7, 7, 7, 7]
    assert frame["latency_ns"].tolist()[:4] == [10_000, 8_000, 7_000, 7_000]
    # rank 1 was first to the first, at ...424306 us, rank 7 at ...431930; ends show its clock 1 us apart at most
    assert frame["skew_ns"].tolist()[0] == pytest.approx(7_624_000, abs=2000)
    assert skew.straggler is not None
    assert skew.straggler.rank == 7
    assert skew.ranks["clock_residual_ns"].max() <= 2000
