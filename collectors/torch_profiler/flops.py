"""The FLOPs that torch.profiler counts, from an op's recorded shapes.

torch has them only on an object per event (`KinetoEvent.flops`) that costs more to make than everything else we
read. They depend on an op's name and inputs alone, so torch's formulas are applied once to each distinct op here.
Source: `computeFlops` and `saveExtraArgs` in torch/csrc/profiler/util.cpp; a test compares every formula with
what the installed torch counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

Shape = list[int]


def flops_column(names: Sequence[str], args: Sequence[bytes], args_row: np.ndarray) -> np.ndarray:
    """The FLOPs torch counts for each op, `(n,) float64`, NaN where it counts none.

    `args` are argument sets as JSON objects; `args_row` `(n,)` says which of them each op has.
    """
    known: dict[tuple[str, int], float] = {}
    column = np.full(len(names), np.nan)
    for i, name in enumerate(names):
        if name in FORMULAS:
            key = (name, int(args_row[i]))
            if key not in known:
                known[key] = flops_of(name, args[key[1]])
            column[i] = known[key]
    return column


def flops_of(name: str, args: bytes) -> float:
    """The FLOPs torch counts for one op with these arguments; NaN where it counts none."""
    formula = FORMULAS.get(name)
    if formula is None:
        return float("nan")
    try:
        recorded = json.loads(args)
        flops = formula(recorded.get("Input Dims", []), recorded.get("Concrete Inputs", []))
    except (ValueError, TypeError, IndexError, ZeroDivisionError):  # not the inputs this formula is for
        return float("nan")
    return float(flops) if flops > 0 else float("nan")


def _matrix_product(left: Shape, right: Shape) -> int:
    if not left or left[-1] == 0:
        return 0
    return 2 * (prod(left) // left[-1]) * prod(right)


def _batched_product(left: Shape, right: Shape) -> int:
    if not left or left[0] == 0 or left[-1] == 0:
        return 0
    return 2 * (prod(left) // left[-1] // left[0]) * prod(right)


def _conv2d(shapes: list[Shape], values: list[str]) -> int:
    (batch, channels, height, width), (out_channels, _, kernel_height, kernel_width) = shapes[0], shapes[1]
    stride, padding, dilation = (json.loads(values[i]) for i in (3, 4, 5))
    groups = int(values[6])
    out_height = (height + 2 * padding[0] - dilation[0] * (kernel_height - 1) - 1) // stride[0] + 1
    out_width = (width + 2 * padding[1] - dilation[1] * (kernel_width - 1) - 1) // stride[1] + 1
    kernel = kernel_height * kernel_width * channels * out_channels // groups
    return 2 * batch * out_height * out_width * kernel


FORMULAS: dict[str, Callable[[list[Any], list[str]], int]] = {
    "aten::conv2d": _conv2d,
    "aten::mm": lambda shapes, _: _matrix_product(shapes[0], shapes[1]),
    "aten::addmm": lambda shapes, _: _matrix_product(shapes[1], shapes[2]),
    "aten::bmm": lambda shapes, _: _batched_product(shapes[0], shapes[1]),
    "aten::baddbmm": lambda shapes, _: _batched_product(shapes[1], shapes[2]),
    "aten::add": lambda shapes, _: prod(shapes[0]),
    "aten::mul": lambda shapes, _: prod(shapes[0]),
}
