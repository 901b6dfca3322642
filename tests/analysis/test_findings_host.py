"""Findings about a host without a device; sizes worked out by hand."""

from __future__ import annotations

import pytest
from training import MS, Training

from neuron_profile.analysis import Finding, findings, operations
from trace_format import Trace

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def only(trace: Trace) -> Finding:
    (found,) = findings(trace)
    return found


def test_a_loader_that_holds_up_every_step_is_named_with_its_time() -> None:
    script = Training(4, 100)
    for at in script.starts:
        script.host(LOADER, at, 30, "annotation")
        script.host("aten::mm", at + 30, 70)
    found = only(script.trace())
    assert found.rule == "slow-data-loading"
    assert found.recoverable_ns == 30 * MS
    assert found.share_ratio == pytest.approx(0.3)
    assert (found.steps_seen, found.steps) == (3, 3)  # the first is not counted
    assert found.title == "Loading data holds up the step for 30.0 ms (30.0 %)"


def test_a_loader_that_is_ready_is_not() -> None:
    script = Training(4, 100)
    for at in script.starts:
        script.host(LOADER, at, 3, "annotation")  # 3 % of the step
        script.host("aten::mm", at + 3, 97)
    assert findings(script.trace()) == ()


def test_a_loader_whose_workers_start_in_the_first_step_is_not() -> None:
    script = Training(4, 100)
    script.host(LOADER, 0, 90, "annotation")
    for at in script.starts:
        script.host("aten::mm", at + 90 if at == 0 else at, 10 if at == 0 else 100)
    assert findings(script.trace()) == ()


def items(calls: int, *, between: float) -> Trace:
    """Steps of 60 ms that begin with calls of .item() of 2 µs, `between` ms from one to the next."""
    script = Training(3, 60)
    for at in script.starts:
        for number in range(calls):
            script.host("aten::item", at + number * between, 0.002)
        script.host("aten::mm", at + 4, 56)
    return script.trace()


def test_numbers_fetched_one_by_one_are_a_loop_from_the_first_to_the_last() -> None:
    found = findings(items(200, between=0.02))[0]
    assert found.rule == "item-in-loop"
    # 199 times 20 µs from the first to the last, and its 2 µs
    assert found.recoverable_ns == 199 * 20_000 + 2_000
    assert "200 times per step" in found.title


def test_a_few_numbers_are_not() -> None:
    assert [found.rule for found in findings(items(10, between=0.02)) if found.rule == "item-in-loop"] == []


def test_operators_that_take_their_time_are_not_part_of_the_loop() -> None:
    script = Training(3, 60)
    for at in script.starts:
        script.host("aten::mm", at + 10, 50)
        for number in range(100):
            script.host("aten::item", at + number * 0.1, 0.005)
            script.host("aten::mm", at + number * 0.1 + 0.01, 0.06)  # 6 of 10 ms
    found = findings(script.trace())[0]
    # from the first to the last 99 * 100 + 5 µs, less 99 products of 60 µs
    assert (found.rule, found.recoverable_ns) == ("item-in-loop", 99 * 40_000 + 5_000)


def tiny(dur: float, count: int = 600) -> Trace:
    script = Training(3, 60)
    for at in script.starts:
        for number in range(count):
            script.host("aten::add", at + number * 0.02, dur)
        script.host("aten::mm", at + 12, 48)
    return script.trace()


def test_a_loop_of_tiny_operators_is_named_with_what_lies_between_them() -> None:
    found = only(tiny(0.005))
    assert found.rule == "tiny-operators"
    assert found.recoverable_ns == 599 * 20_000 + 5_000
    assert found.evidence[1] == "per step: aten::add 600"


def test_operators_that_compute_something_are_not_tiny() -> None:
    # 20 µs each, one after the other
    assert findings(tiny(0.02)) == ()


def test_time_without_any_operator_is_python() -> None:
    script = Training(3, 100)
    for at in script.starts:
        script.host("aten::mm", at, 60)
    found = only(script.trace())
    assert (found.rule, found.recoverable_ns) == ("python-between-operators", 40 * MS)


def test_a_little_python_is_nothing() -> None:
    script = Training(3, 100)
    for at in script.starts:
        script.host("aten::mm", at, 80)
    assert findings(script.trace()) == ()


def test_copies_to_another_layout_are_named_and_conversions_are_not() -> None:
    script = Training(3, 100)
    for at in script.starts:
        script.host("aten::contiguous", at, 20)
        script.host("aten::clone", at, 20)
        script.host("aten::copy_", at, 20)
        script.host("aten::to", at + 20, 30)
        script.host("aten::_to_copy", at + 20, 30)
        script.host("aten::copy_", at + 20, 30)
        script.host("aten::mm", at + 50, 50)
    found = only(script.trace())
    assert (found.rule, found.recoverable_ns) == ("layout-copies", 20 * MS)


def test_few_copies_are_nothing() -> None:
    script = Training(3, 100)
    for at in script.starts:
        script.host("aten::copy_", at, 10)
        script.host("aten::mm", at + 10, 90)
    assert findings(script.trace()) == ()


def optimizer(operator: str) -> Trace:
    """Steps of 10 ms of which the optimizer takes 5: 200 operators of 5 µs, one in 25."""
    script = Training(3, 10)
    for at in script.starts:
        script.host("aten::mm", at, 5)
        script.host("Optimizer.step#AdamW.step", at + 5, 5, "annotation")
        for number in range(200):
            script.host(operator, at + 5 + number * 0.025, 0.005)
    return script.trace()


def test_an_optimizer_that_goes_through_parameters_one_by_one_is_named() -> None:
    found = only(optimizer("aten::addcdiv_"))
    assert (found.rule, found.recoverable_ns) == ("unfused-optimizer", 5 * MS)
    assert "200 operators per step" in found.title


def test_a_foreach_optimizer_is_not() -> None:
    assert "unfused-optimizer" not in {found.rule for found in findings(optimizer("aten::_foreach_addcdiv_"))}


def compiling(steps: set[int]) -> Trace:
    """Five steps of 100 ms, some with a compile of 40."""
    script = Training(5, 100)
    track = script.builder.track("compiler", kind="compile", pid=1, tid=1)
    for number, at in enumerate(script.starts):
        script.host("aten::mm", at, 60)
        if number in steps:
            row = script.add(track, "forward", at + 60, 40, "compile")
            script.builder["compiles"].append(1, slice=row, what=script.builder.string("forward"), cache=2)
        else:
            script.host("aten::mm", at + 60, 40)
    return script.trace()


def test_compiling_in_every_step_costs_its_mean_after_the_first() -> None:
    found = only(compiling({0, 1, 2, 3, 4}))
    assert (found.rule, found.recoverable_ns) == ("recompile", 40 * MS)
    assert found.evidence[1] == "5 compiles, most often forward (5 times); 5 of them in no cache"
    # in two of the four after the first
    assert only(compiling({0, 1, 3})).recoverable_ns == 20 * MS


def test_what_the_first_step_compiles_is_not_compiled_again() -> None:
    assert findings(compiling({0})) == ()


def test_one_later_step_that_compiles_is_told_where_it_costs_much() -> None:
    # 40 ms in one of the four steps after the first, of 100 each
    found = only(compiling({0, 2}))
    assert (found.rule, found.recoverable_ns, found.steps_seen) == ("recompile", 10 * MS, 1)
    assert found.title == "Compiling in 1 of 4 steps after the first: 10.0 ms (10.0 %) per step"


def test_steps_that_are_not_like_the_others_add_to_the_average() -> None:
    # steps 2, 6, 10 last 300 ms: three times what the median does
    script = Training(0, 100)
    at = 0.0
    for number in range(12):
        dur = 300 if number in (2, 6, 10) else 100
        script.host(f"ProfilerStep#{number}", at, dur, "annotation")
        script.host("aten::mm", at, dur)
        at += dur
    found = only(script.trace())
    # of the eleven after the first: 8 * 100 + 3 * 300 is 1700, 154.5 on average, 54.5 above the median
    assert found.rule == "outlier-steps"
    assert found.recoverable_ns == round(1700 / 11 * MS) - 100 * MS
    assert (found.steps_seen, found.steps) == (3, 11)


def test_few_steps_tell_no_outlier() -> None:
    script = Training(0, 100)
    for number, (at, dur) in enumerate([(0, 100), (100, 100), (200, 300), (500, 100)]):
        script.host(f"ProfilerStep#{number}", at, dur, "annotation")
        script.host("aten::mm", at, dur)
    assert findings(script.trace()) == ()


def growing(kept: int, steps: int = 8) -> Trace:
    """Each step allocates 4 MB and frees all but `kept` bytes of them."""
    script = Training(steps, 100)
    device, total, events = script.builder.string("cpu"), 100_000_000, []
    for number, at in enumerate(script.starts):
        script.host("aten::mm", at, 100)
        for offset, delta, address in ((10, kept, 2 * number + 1000), (20, 4_000_000, 7), (30, -4_000_000, 7)):
            if delta:
                total += delta
                events.append((round((at + offset) * MS), delta, total, address))
    ts, delta_bytes, totals, addresses = zip(*events, strict=True)
    script.builder["memory"].append(
        ts_ns=ts, device=device, delta_bytes=delta_bytes, total_bytes=totals, address=addresses,
        track=script.threads[-1],
    )  # fmt: skip
    return script.trace()


def test_memory_that_every_step_keeps_is_named_with_who_made_it() -> None:
    found = only(growing(2_000_000))
    assert found.rule == "memory-growth"
    assert found.title == "Memory grows by 2.00 MB with every step on cpu"
    assert found.recoverable_ns == -1
    assert found.to_dict()["recoverable_ns"] is None
    assert "aten::mm" in found.evidence[1]


@pytest.mark.parametrize("kept", [0, 1000])
def test_memory_that_is_freed_is_not(kept: int) -> None:
    assert findings(growing(kept)) == ()


def test_python_that_waits_is_no_operation_where_operators_are() -> None:
    script = Training(1, 100)
    script.host("<built-in method acquire of _thread.lock>", 0, 90, "python")
    script.host("aten::mm", 90, 6)
    script.host("aten::add", 96, 2)
    frame = operations(script.trace())
    assert frame["name"].tolist() == ["aten::mm", "aten::add"]
    assert frame["share_ratio"].tolist() == pytest.approx([0.75, 0.25])  # of the 8 ms of operators
    assert frame.attrs["host_self_ns"] == 8 * MS


def test_frames_are_operations_where_nothing_else_is() -> None:
    script = Training(1, 100)
    script.host("train.py(3): step", 0, 90, "python")
    assert operations(script.trace())["name"].tolist() == ["train.py(3): step"]
