"""Steps that nobody marked: what is taken for steps, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from script import Script, untimed

from neuron_profile.analysis import WHOLE_WINDOW, records, steps
from trace_format import Trace

STEP = ("aten::embedding", "aten::linear", "aten::relu", "aten::nll_loss", "aten::mul_")


def loop(
    starts: Sequence[int], script: Script | None = None, *, layers: int = 1, dur: int = 80, **track: int
) -> Script:
    """Steps that begin at these times and last `dur` ns: embedding, so many linears, relu, a loss, an update."""
    script = script or Script()
    host = script.track(**track)
    names = [STEP[0], *[STEP[1]] * layers, *STEP[2:]]
    each = dur // len(names)
    for start in starts:
        for place, name in enumerate(names):
            script.add(host, name, "host_op", start + place * each, each - 1)
    return script


def spans(trace: Trace) -> list[tuple[int, int]]:
    frame = steps(trace)
    return list(zip(frame["start_ns"].tolist(), frame["end_ns"].tolist(), strict=True))


def found_by(script: Script) -> str:
    return str(steps(script.trace()).attrs["found_by"])


def test_a_sequence_of_operators_that_repeats_is_a_step() -> None:
    trace = loop([0, 100, 200, 300]).trace()
    # each lasts to the beginning of the next; the last as long as there is work: 16 ns for each operator, less 1
    assert [tuple(row.values()) for row in records(steps(trace))] == [
        (0, "period 0", 0, 100, 100, -1),
        (1, "period 1", 100, 200, 100, -1),
        (2, "period 2", 200, 300, 100, -1),
        (3, "period 3", 300, 379, 79, -1),
    ]
    assert steps(trace).attrs == {"found_by": "periodicity", "unfinished": 0, "marks": ["aten::embedding"]}


def test_steps_may_differ_somewhat_in_length() -> None:
    starts = [0, 100, 185, 300, 390, 505]  # 100, 85, 115, 90, 115
    assert [start for start, _ in spans(loop(starts).trace())] == starts


def test_layers_that_repeat_within_a_step_are_not_the_steps() -> None:
    starts = [0, 1000, 2000, 3000, 4000]
    assert [start for start, _ in spans(loop(starts, layers=12, dur=900).trace())] == starts


def test_a_trace_may_begin_and_end_in_the_midst_of_a_step() -> None:
    script = loop([100, 200, 300, 400])
    script.add(0, "aten::mul_", "host_op", 60, 19)  # the end of the step before
    script.add(0, "aten::embedding", "host_op", 500, 19)  # the beginning of one more
    # of what occurs once in each of the four the linear, at 16 of a step, comes first: steps are from one to the next
    assert spans(script.trace()) == [(116, 216), (216, 316), (316, 416), (416, 516)]


def test_a_last_step_that_was_cut_short_is_left_out() -> None:
    script = loop([0, 100, 200, 300])
    for place, name in enumerate(STEP[:3]):
        script.add(0, name, "host_op", 400 + 16 * place, 15)
    # three operations of five: 2 missing of 3 + 5 is less than 80 % alike
    assert spans(script.trace()) == [(0, 100), (100, 200), (200, 300), (300, 400)]


def test_each_rank_has_steps_of_its_own() -> None:
    script = loop([0, 100, 200], rank=1, pid=5)
    loop([10, 110, 210, 310], script, rank=0, pid=5)
    frame = steps(script.trace())
    assert frame["rank"].tolist() == [0] * 4 + [1] * 3
    assert frame["step"].tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert frame["start_ns"].tolist() == [10, 110, 210, 310, 0, 100, 200]


def test_kernels_that_repeat_are_steps_where_the_host_has_no_operators() -> None:
    script = Script()
    stream = script.stream(rank=2)
    for start in (0, 100, 200):
        for place, name in enumerate(("gemm", "relu", "adam")):
            script.add(stream, name, "compute", start + 20 * place, 15)
    assert spans(script.trace()) == [(0, 100), (100, 200), (200, 255)]
    assert steps(script.trace())["rank"].tolist() == [2] * 3


def test_a_step_ends_with_that_of_the_optimizer_however_long_it_takes() -> None:
    script = Script()
    host = script.track()
    for start, dur in ((0, 900), (1000, 100), (1100, 300)):
        for place, name in enumerate(STEP[:4]):
            script.add(host, name, "host_op", start + place * dur // 5, dur // 5)
        script.add(host, "Optimizer.step#SGD.step", "annotation", start + 4 * dur // 5, dur // 5)
    assert spans(script.trace()) == [(0, 900), (900, 1100), (1100, 1400)]
    assert steps(script.trace()).attrs["marks"] == ["Optimizer.step#SGD.step"]


def test_what_came_before_the_first_step_is_not_its_part() -> None:
    script = Script()
    host = script.track()
    for number in range(40):
        script.add(host, "aten::uniform_", "host_op", number, 1)
    for start in (1000, 1100, 1200):
        for place, name in enumerate(STEP[:4]):
            script.add(host, name, "host_op", start + 20 * place, 20)
        script.add(host, "Optimizer.step#SGD.step", "annotation", start + 80, 10)
    assert spans(script.trace()) == [(1090, 1190), (1190, 1290)]


def test_marks_come_before_what_repeats() -> None:
    script = loop([0, 100, 200, 300])
    script.add(0, "train_step", "annotation", 0, 190)
    assert found_by(script) == "annotation"


def test_layers_of_one_pass_are_no_steps() -> None:
    """The layers are alike; what only the whole pass has is more than a fifth of the operators."""
    script = Script()
    host = script.track()
    names = ["aten::embedding", "aten::arange", *["aten::layer_norm", "aten::linear", "aten::gelu", "aten::add"] * 12,
             "aten::lm_head"]  # fmt: skip
    for place, name in enumerate(names):
        script.add(host, name, "host_op", 10 * place, 9)
    assert found_by(script) == "window"


def test_what_repeats_inside_of_one_module_is_no_step() -> None:
    script = loop([0, 100, 200, 300])
    script.add(0, "nn.Module: Encoder", "python", 0, 400)
    assert found_by(script) == "window"


def test_a_module_for_each_step_is_no_reason_against_it() -> None:
    script = loop([0, 100, 200, 300])
    for start in (0, 100, 200, 300):
        script.add(0, "nn.Module: Net", "python", start, 80)
    assert found_by(script) == "periodicity"


@pytest.mark.parametrize(
    "starts", [[0, 100], [0, 100, 300, 700, 1500], [0, 10, 20, 1000, 1010, 3000]],
    ids=["two", "ever longer", "at odd times"],
)  # fmt: skip
def test_few_or_irregular_repetitions_are_no_steps(starts: list[int]) -> None:
    assert found_by(loop(starts, dur=10)) == "window"


def test_one_operator_in_a_loop_is_no_step() -> None:
    script = Script()
    host = script.track()
    for start in range(0, 1000, 10):
        script.add(host, "aten::mm", "host_op", start, 9)
    assert found_by(script) == "window"


def test_a_short_loop_in_a_long_trace_is_no_step() -> None:
    script = loop([0, 100, 200, 300])
    for place, name in enumerate(STEP):
        script.add(0, name, "host_op", 100_000 + 7_000 * place, 20)
    assert found_by(script) == "window"


@pytest.mark.parametrize("seed", range(20))
def test_operators_in_no_order_are_no_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    script = Script()
    host = script.track()
    start = 0
    for name, gap in zip(rng.zipf(1.5, 400) % 40, rng.exponential(100, 400).astype(int), strict=True):
        script.add(host, f"aten::op_{name}", "host_op", start, 10)
        start += 10 + int(gap)
    assert [row["name"] for row in records(steps(script.trace()))] == [WHOLE_WINDOW]


@untimed
@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.integers(0, 60), st.integers(-1, 20), st.integers(0, 1)), max_size=40
    )
)
def test_steps_of_a_rank_are_in_order_and_do_not_overlap(events: list[tuple[str, int, int, int]]) -> None:
    script = Script()
    tracks = [script.track(f"thread {rank}", rank=rank) for rank in (0, 1)]
    for name, start, dur, rank in events:
        script.add(tracks[rank], name, "host_op", start, dur)
    for _, frame in steps(script.trace()).groupby("rank"):
        start, end = frame["start_ns"].to_numpy(), frame["end_ns"].to_numpy()
        assert (end > start).all() or len(frame) == 1
        assert (start[1:] >= end[:-1]).all()
