"""Whatever a file says an operator was called with, there is a finite time or none."""

from __future__ import annotations

import math
from typing import Any

from calls import BF16, FP32, INT64, arguments
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_profile.hardware.core import GENERATIONS, core_model
from neuron_profile.simulation.fusion import fused
from neuron_profile.simulation.layout import layout
from neuron_profile.simulation.lowering import _LOWERING, Target, generic, lower
from neuron_profile.simulation.neffs import Neff, Part
from neuron_profile.simulation.op_time import op_time

SIZES = st.one_of(st.integers(0, 5), st.sampled_from([64, 128, 129, 4096, 2**31, 2**62]))
TENSOR = st.builds(
    lambda shape, dtype, strides: {
        "Input Dims": shape, "Input type": dtype, "Input Strides": strides, "Concrete Inputs": ""
    },
    st.lists(SIZES, max_size=5), st.sampled_from([BF16, FP32, INT64, "bool", "double", "nonsense"]),
    st.one_of(st.none(), st.lists(SIZES, max_size=5)),
)  # fmt: skip
LIST = st.builds(
    lambda shapes: {"Input Dims": shapes, "Input type": "TensorList", "Input Strides": [], "Concrete Inputs": ""},
    st.lists(st.lists(SIZES, max_size=3), max_size=3),
)
NUMBER = st.builds(
    lambda text: {"Input Dims": [], "Input type": "Scalar", "Input Strides": [], "Concrete Inputs": text},
    st.one_of(
        st.sampled_from(
            ["", "True", "False", "-1", "0", "7", "1.5", "inf", "[0]", "[]", "[0, 0]", "[2, 2]", "[-9]", "x"]
        ),
        st.lists(st.integers(-3, 3), max_size=4).map(str),
    ),
)
NAMES = st.sampled_from(sorted({*_LOWERING, "add_", "unknown_operator"}))
CALLS = st.lists(st.one_of(TENSOR, TENSOR, NUMBER, LIST), max_size=8)


@settings(max_examples=1500)
@given(NAMES, CALLS, st.sampled_from(GENERATIONS), st.booleans())
def test_an_odd_call_has_a_finite_time_or_none(name: str, call: list[Any], device: str, compiled: bool) -> None:
    args, core = arguments(*call), core_model(device)
    target = Target(core, compiled=compiled)
    works = [work for work in (lower(f"aten::{name}", args, target), generic(f"aten::{name}", args, target)) if work]
    for work in works:
        time = op_time(work, core)
        assert math.isfinite(time.ns)
        assert time.ns >= max((stage.ns for stage in time.stages), default=0.0)
        neff = Neff("key", name, (Part(name, work, time, (0,)),))
        for interval in layout(neff, core, 10_000):
            assert interval.start_ns >= 0
            assert 0 < interval.dur_ns < 2**62
    if works:
        joined = fused(works + works, core.sbuf_bytes)
        assert [at for one in joined for at in one.members] == list(range(2 * len(works)))
