"""What a compiler is taken to make of a graph."""

from __future__ import annotations

import pytest
from calls import BF16, number, tensor, work_of

from neuron_profile.hardware.core import core_model
from neuron_profile.simulation.fusion import fused, with_table_loads

CORE = core_model("trn2")
SBUF = CORE.sbuf_bytes
ROW = tensor((512, 512))


def test_a_chain_reads_its_inputs_and_writes_its_result() -> None:
    """relu(x) + y: x and y come in, one result goes out, and both engines do their part."""
    relu, add = work_of("relu", ROW), work_of("add", ROW, ROW, number("1"))
    (chain,) = fused([relu, add], SBUF)
    assert chain.members == (0, 1)
    assert (chain.work.read_bytes, chain.work.written_bytes) == (2 * 512 * 512 * 4, 512 * 512 * 4)
    assert dict(chain.work.stages[0].busy_ns) == {
        "Scalar": relu.stages[0].busy_ns["Scalar"], "Vector": add.stages[0].busy_ns["Vector"]
    }  # fmt: skip


def test_a_product_takes_what_follows_it_and_not_what_comes_before() -> None:
    factor = tensor((512, 512), BF16)
    relu, product = work_of("relu", factor), work_of("mm", factor, factor)
    assert [one.members for one in fused([relu, product, relu, relu, product], SBUF)] == [(0,), (1, 2, 3), (4,)]


def test_what_does_not_fit_into_sbuf_is_spilled() -> None:
    """64 MiB are handed on; 0.75 of 28 MiB stay."""
    large = tensor((4096, 4096))
    (chain,) = fused([work_of("relu", large), work_of("neg", large)], SBUF)
    spilled = 64 * 2**20 - 0.75 * 28 * 2**20
    assert chain.work.read_bytes == pytest.approx(64 * 2**20 + spilled, rel=0.001)
    assert chain.work.written_bytes == pytest.approx(64 * 2**20 + spilled, rel=0.001)


def test_a_function_other_than_the_last_one_has_its_table_loaded() -> None:
    exp, sigmoid, product = work_of("exp", ROW), work_of("sigmoid", ROW), work_of("mm", ROW, ROW)
    timed = with_table_loads([exp, product, exp, sigmoid], CORE.table_load_ns)
    added = [
        after.stages[0].busy_ns["Scalar"] - before.stages[0].busy_ns["Scalar"]
        for before, after in zip([exp, product, exp, sigmoid], timed, strict=True)
    ]
    assert added == pytest.approx([0, 0, 0, 1283])
