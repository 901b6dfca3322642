"""Time by module, source line and operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from script import Script

from neuron_profile.analysis import hotspots, records
from neuron_profile.analysis.operations.attribution import (
    NO_LAUNCH,
    NO_OPERATOR,
    OUTSIDE_MODULES,
    by_module,
    by_source,
    own_frame,
)
from trace_format import CATEGORIES, TraceBuilder


def by(script: Script, grouping: str) -> list[tuple[str, int, int]]:
    """Name, count and self time of each row."""
    return [(row["name"], row["count"], row["self_ns"]) for row in records(hotspots(script.trace(), by=grouping))]


def network() -> Script:
    """Two modules called from a user's line, one inside the other, each with an operator that launches a kernel.

    train.py [0, 100) > Block [10, 90) > Linear [20, 60) > mm [30, 50) > launch; relu [70, 80) > launch in Block.
    """
    script = Script()
    host, device = script.track(), script.stream()
    script.add(host, "train.py(7): main", "python", 0, 100)
    script.add(host, "nn.Module: Block_0", "python", 10, 80)
    script.add(host, "nn.Module: Linear_3", "python", 20, 40)
    script.add(host, "torch/nn/functional.py(9): linear", "python", 22, 36)
    script.op(host, "aten::mm", 30, 20, [2, 3], [3, 5])
    script.add(host, "cudaLaunchKernel", "runtime", 35, 5, correlation=1)
    script.op(host, "aten::relu", 70, 10, [4])
    script.add(host, "cudaLaunchKernel", "runtime", 72, 2, correlation=2)
    script.add(device, "gemm", "compute", 100, 30, correlation=1)
    script.add(device, "relu_kernel", "compute", 130, 10, correlation=2)
    script.add(device, "stray", "compute", 150, 5, correlation=99)
    return script


def test_time_counts_for_the_innermost_module_on_both_sides() -> None:
    # host: Linear [20, 60) whole is 40; Block's own 80 - 40 = 40; main's own 100 - 80 = 20. Of the two 40 the
    # larger total is first: Block lasts 80, Linear 40
    assert by(network(), "module") == [
        ("Linear_3", 1, 30),
        ("Block_0", 1, 10),
        (NO_LAUNCH, 1, 5),
        ("Block_0", 3, 40),
        ("Linear_3", 4, 40),
        (OUTSIDE_MODULES, 1, 20),
    ]


def test_time_counts_for_the_innermost_line_of_ones_own() -> None:
    assert by(network(), "source") == [
        ("train.py(7): main", 2, 40),
        (NO_LAUNCH, 1, 5),
        ("train.py(7): main", 8, 100),
    ]


def test_a_recorded_stack_tells_the_line_before_frames_do() -> None:
    script = Script()
    host = script.track()
    script.add(host, "train.py(7): main", "python", 0, 100)
    script.op(host, "aten::mm", 10, 20, [2, 3], stack=["train.py(7): main", "model.py(3): forward", "torch/x.py(1): y"])
    assert by(script, "source") == [("train.py(7): main", 1, 80), ("model.py(3): forward", 1, 20)]


def test_operators_count_with_their_shapes_and_for_what_they_launched() -> None:
    assert by(network(), "op") == [
        ("aten::mm [2, 3] [3, 5]", 1, 30),
        ("aten::relu [4]", 1, 10),
        (NO_OPERATOR, 1, 5),
        ("aten::mm [2, 3] [3, 5]", 1, 15),
        ("aten::relu [4]", 1, 8),
    ]


@pytest.mark.parametrize("grouping", ["module", "source", "op"])
def test_device_time_of_unknown_origin_is_told_with_its_share(grouping: str) -> None:
    attrs = hotspots(network().trace(), by=grouping, top=1).attrs
    # "stray" lasts 5 of 30 + 10 + 5
    assert (attrs["unattributed_ns"], attrs["unattributed_ratio"], attrs["by_time_ns"]) == (5, 5 / 45, 0)


def two_operators(**kernel: int) -> Script:
    """mm [0, 50) with its launch [5, 10), relu [50, 100) with its launch [60, 65), and one kernel [80, 90)."""
    script = Script()
    host = script.track()
    script.op(host, "aten::mm", 0, 50, external_id=11)
    script.add(host, "cudaLaunchKernel", "runtime", 5, 5, correlation=1, external_id=11)
    script.op(host, "aten::relu", 50, 50, external_id=12)
    script.add(host, "cudaLaunchKernel", "runtime", 60, 5, correlation=2, external_id=12)
    script.add(script.stream(), "kernel", "compute", 80, 10, **kernel)
    return script


def test_correlation_tells_the_operator_before_the_external_id_does() -> None:
    assert by(two_operators(correlation=1, external_id=12), "op")[0] == ("aten::mm", 1, 10)


@pytest.mark.parametrize("correlation", [-1, 0, 99])
def test_the_external_id_tells_the_operator_where_no_correlation_does(correlation: int) -> None:
    # by time it would be relu, which is under way
    assert by(two_operators(correlation=correlation, external_id=11), "op")[0] == ("aten::mm", 1, 10)


def test_time_tells_the_operator_where_the_device_work_has_no_ids() -> None:
    assert by(two_operators(), "op")[0] == ("aten::relu", 1, 10)
    assert hotspots(two_operators().trace(), by="op").attrs["by_time_ns"] == 10


def test_time_tells_nothing_of_work_whose_ids_match_nothing() -> None:
    assert by(two_operators(correlation=99), "op")[0] == (NO_OPERATOR, 1, 10)


def test_of_the_calls_under_way_the_one_that_began_last_counts_and_none_that_waits() -> None:
    script = two_operators()
    early, waiting = script.track("thread 2"), script.track("thread 3")
    script.op(early, "aten::add", 40, 60)
    script.add(waiting, "cudaDeviceSynchronize", "runtime", 70, 30)
    script.op(script.track("another rank", rank=3), "aten::mul", 79, 20)
    assert by(script, "op")[0] == ("aten::relu", 1, 10)


def test_work_that_begins_while_nothing_is_under_way_is_not_attributed() -> None:
    script = Script()
    script.op(script.track(), "aten::mm", 0, 50)
    script.add(script.stream(), "kernel", "compute", 50, 10)
    assert by(script, "op")[0] == (NO_OPERATOR, 1, 10)


def test_an_operator_without_recorded_shapes_counts_by_its_name() -> None:
    script = Script()
    host = script.track()
    script.add(host, "aten::mm", "host_op", 0, 5)
    script.add(host, "aten::mm", "host_op", 10, 5, args={"Fwd thread id": 1})
    assert by(script, "op") == [("aten::mm", 2, 10)]


def test_lists_of_tensors_are_shown_in_parentheses() -> None:
    script = Script()
    script.op(script.track(), "aten::cat", 0, 5, [[2, 3], [4, 3]], [], types=["TensorList", "Scalar"])
    assert by(script, "op") == [("aten::cat ([2, 3] [4, 3])", 1, 5)]


@pytest.mark.parametrize(("grouping", "wanted"), [("module", "with_modules=True"), ("source", "with_stack=True")])
def test_where_the_trace_cannot_tell_the_result_says_why(grouping: str, wanted: str) -> None:
    script = Script()
    script.add(script.track(), "aten::mm", "host_op", 0, 5)
    for trace in (script.trace(), TraceBuilder().finish()):
        frame = hotspots(trace, by=grouping)
        assert len(frame) == 0
        assert wanted in frame.attrs["why"]


@pytest.mark.parametrize("frame", ["train.py(12): main", "/home/me/train.py(12): main", "my_pkg/model.py(1): f",
                                   r"C:\work\train.py(3): <module>", "transformers/bert.py(4): forward"])  # fmt: skip
def test_frames_of_ones_own_code(frame: str) -> None:
    assert own_frame(frame)


@pytest.mark.parametrize("frame", ["torch/nn/modules/module.py(1773): _call_impl", "threading.py(982): run",
                                   "/usr/lib/python3.11/contextlib.py(76): inner", "<built-in method mm>", "aten::mm",
                                   "/x/site-packages/torch/optim/adam.py(1): step", "<string>(1): f",
                                   "nn.Module: Linear_0", "<frozen importlib._bootstrap>(1): f",
                                   "neuron_profile/hook.py(155): _prepare", "collectors/boundary.py(24): around",
                                   "trace_format/builder.py(190): string"])  # fmt: skip
def test_frames_of_torch_python_and_installed_packages(frame: str) -> None:
    assert not own_frame(frame)


@pytest.mark.parametrize("attribute", [by_module, by_source])
@pytest.mark.parametrize("chosen", ["host_op", "compute"])
def test_some_slices_alone_belong_to_what_they_belong_to_among_all(attribute: Any, chosen: str) -> None:
    trace = network().trace()
    rows = np.flatnonzero(trace.slices.category == CATEGORIES.index(chosen))
    whole, part = attribute(trace), attribute(trace, rows)
    of_all = [whole.texts[number] for number in whole.of_slice[rows]]
    assert len(set(of_all)) > 1 or attribute is by_source
    assert [part.texts[number] for number in part.of_slice] == of_all
