"""The formulas against torch itself: its FLOP counter, and the sizes of the tensors that really went in and out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from neuron_profile.hardware import op_cost

torch = pytest.importorskip("torch")


def _ranks(*shape: int, dtype: Any = None) -> Any:
    return torch.ones(*shape, dtype=dtype or torch.float32)


CALLS: dict[str, Callable[[], Any]] = {
    "mm": lambda: torch.mm(_ranks(4, 5), _ranks(5, 6)),
    "addmm": lambda: torch.addmm(_ranks(6), _ranks(4, 5), _ranks(5, 6)),
    "bmm": lambda: torch.bmm(_ranks(3, 4, 5), _ranks(3, 5, 6)),
    "baddbmm": lambda: torch.baddbmm(_ranks(3, 4, 6), _ranks(3, 4, 5), _ranks(3, 5, 6)),
    "convolution": lambda: torch.conv2d(_ranks(2, 4, 9, 9), _ranks(6, 2, 3, 3), _ranks(6), 2, 1, 1, 2),
    "transposed": lambda: torch.conv_transpose2d(_ranks(2, 4, 5, 5), _ranks(4, 3, 3, 3), _ranks(3), 2, 1, 1),
    "conv1d": lambda: torch.conv1d(_ranks(2, 4, 20), _ranks(6, 4, 5), dilation=2),
    "attention": lambda: torch.nn.functional.scaled_dot_product_attention(
        _ranks(2, 4, 8, 16), _ranks(2, 4, 8, 16), _ranks(2, 4, 8, 16)
    ),
    "add": lambda: _ranks(4, 1) + _ranks(5),
    "mul_scalar": lambda: _ranks(4, 5) * 2.5,
    "compare": lambda: _ranks(4, 5) > _ranks(5),
    "gelu": lambda: torch.nn.functional.gelu(_ranks(4, 5)),
    "sum": lambda: torch.sum(_ranks(4, 5), dim=1),
    "softmax": lambda: torch.softmax(_ranks(4, 5), -1),
    "layer_norm": lambda: torch.nn.functional.layer_norm(_ranks(4, 5), (5,), _ranks(5), _ranks(5)),
    "embedding": lambda: torch.nn.functional.embedding(_ranks(3, dtype=torch.int64), _ranks(10, 5)),
    "topk": lambda: torch.topk(_ranks(4, 9), 3),
    "to": lambda: _ranks(4, 5).to(torch.float64),
}


def _recorded(call: Callable[[], Any]) -> list[tuple[str, bytes]]:
    """Every operator of the call with its arguments, as torch's profiler records them."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        call()
    return [
        (
            event.name(),
            json.dumps(
                {
                    "Input Dims": event.shapes(),
                    "Input type": list(event.dtypes()),
                    "Concrete Inputs": [_text(value) for value in event.concrete_inputs()],
                }
            ).encode(),
        )
        for event in profiler.profiler.kineto_results.events()
    ]


def _text(value: Any) -> str:
    return "" if value is None else str(value)


@pytest.mark.parametrize("name", ["mm", "addmm", "bmm", "baddbmm", "convolution", "transposed", "conv1d"])
def test_operations_are_those_of_torchs_flop_counter(name: str) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        CALLS[name]()
    found = [cost for call in _recorded(CALLS[name]) if (cost := op_cost(*call)) and cost.flops > 0]
    # the first is the outermost: those inside it do the same work
    assert found[0].flops == counter.get_total_flops()


def test_operations_of_attention_are_those_of_torchs_formula() -> None:
    from torch.utils.flop_counter import sdpa_flop_count

    costs = [cost for call in _recorded(CALLS["attention"]) if (cost := op_cost(*call)) and cost.rule == "attention"]
    assert {cost.flops for cost in costs} == {sdpa_flop_count((2, 4, 8, 16), (2, 4, 8, 16), (2, 4, 8, 16))}


def test_operations_of_the_gradient_of_attention_are_those_of_torchs_formula() -> None:
    from torch.utils.flop_counter import sdpa_backward_flop_count

    head = (2, 4, 8, 16)
    query, key, value = (torch.rand(head, requires_grad=True) for _ in range(3))

    def step() -> None:
        torch.nn.functional.scaled_dot_product_attention(query, key, value).sum().backward()

    costs = [cost for call in _recorded(step) if (cost := op_cost(*call)) and cost.rule == "attention_backward"]
    assert {cost.flops for cost in costs} == {sdpa_backward_flop_count(head, head, head, head)}


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"to", "embedding"}))
def test_bytes_are_the_sizes_of_what_goes_in_and_out(name: str) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    sizes: list[int] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            ins = [t for t in tree_leaves((args, kwargs or {})) if isinstance(t, torch.Tensor)]
            outs = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
            if ins:
                sizes.append(sum(t.numel() * t.element_size() for t in ins + outs))
            return out

    with Watch():
        CALLS[name]()
    whole = [cost for call in _recorded(CALLS[name]) if (cost := op_cost(*call)) and not cost.calls_others]
    whole = [cost for cost in whole if cost.rule != "fill"]  # torch.ones
    # a number beside a tensor is recorded as a tensor of one double
    wrapped = 8 if name == "mul_scalar" else 0
    assert whole[0].nbytes == max(sizes) + wrapped


def test_a_conversion_reads_one_type_and_writes_the_other() -> None:
    costs = {call[0]: cost for call in _recorded(CALLS["to"]) if (cost := op_cost(*call))}
    assert costs.keys() - {"aten::fill_"} == {"aten::copy_"}
    assert costs["aten::copy_"].nbytes == 20 * 4 + 20 * 8


def test_an_embedding_reads_only_the_rows_it_picks() -> None:
    costs = {call[0]: cost for call in _recorded(CALLS["embedding"]) if (cost := op_cost(*call))}
    assert costs["aten::embedding"].nbytes == 3 * 8 + 2 * 3 * 5 * 4


def test_operations_without_a_formula_are_unknown_not_zero() -> None:
    found = op_cost("custom::op", b'{"Input Dims": [[5]], "Input type": ["float"]}')
    assert found is not None
    assert math.isnan(found.flops)
