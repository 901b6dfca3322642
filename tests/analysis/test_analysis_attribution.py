"""Time by module, source line and operator."""

from __future__ import annotations

import pytest
from script import Script

from neuron_profile.analysis import hotspots, records
from neuron_profile.analysis.attribution import NO_OPERATOR, OUTSIDE_MODULES, OUTSIDE_SOURCE, own_frame
from trace_format import TraceBuilder


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
        (OUTSIDE_MODULES, 1, 5),
        ("Block_0", 3, 40),
        ("Linear_3", 4, 40),
        (OUTSIDE_MODULES, 1, 20),
    ]


def test_time_counts_for_the_innermost_line_of_ones_own() -> None:
    assert by(network(), "source") == [
        ("train.py(7): main", 2, 40),
        (OUTSIDE_SOURCE, 1, 5),
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
