"""Recorded calls of operators, as torch's profiler writes their arguments."""

from __future__ import annotations

import json
from typing import Any

from neuron_profile.hardware.core import core_model
from neuron_profile.simulation.lowering import Target, lower
from neuron_profile.simulation.op_time import OpTime, op_time
from neuron_profile.simulation.work import Work

BF16, FP16, FP32, INT64 = "c10::BFloat16", "c10::Half", "float", "long int"


def tensor(shape: tuple[int, ...], dtype: str = FP32, strides: tuple[int, ...] | None = None) -> dict[str, Any]:
    """A tensor argument; without strides it lies together."""
    if strides is None:
        steps, step = [], 1
        for size in reversed(shape):
            steps.append(step)
            step *= size
        strides = tuple(reversed(steps))
    return {"Input Dims": list(shape), "Input type": dtype, "Input Strides": list(strides), "Concrete Inputs": ""}


def number(value: str) -> dict[str, Any]:
    """An argument that is no tensor, as the profiler spells it."""
    return {"Input Dims": [], "Input type": "Scalar", "Input Strides": [], "Concrete Inputs": value}


def arguments(*given: dict[str, Any]) -> bytes:
    """The argument set of a call."""
    fields = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
    return json.dumps({field: [one[field] for one in given] for field in fields}).encode()


def work_of(name: str, *given: dict[str, Any], device: str = "trn2", compiled: bool = False) -> Work:
    """The work of a call by the rule of its operator, which it must have."""
    found = lower(f"aten::{name}", arguments(*given), Target(core_model(device), compiled=compiled))
    if found is None:
        raise ValueError(f"{name} has no rule for these arguments")
    return found


def time_of(name: str, *given: dict[str, Any], device: str = "trn2", lnc: int = 1) -> OpTime:
    return op_time(work_of(name, *given, device=device), core_model(device), lnc=lnc)
