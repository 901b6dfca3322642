"""Products of matrices: the Tensor engine multiplies, Scalar and Vector each take half of the results out of PSUM."""

from __future__ import annotations

import math

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.ops.matmul import Product, product_of
from neuron_profile.simulation.instructions import PARTITIONS, PSUM_BANK, tiled
from neuron_profile.simulation.lowering.target import Lower, Target, flat_transfers, row_major
from neuron_profile.simulation.work import Stage, Transfer, Work, stage

# AWS's best published figure, 90 % of the peak for a convolution in fp16, where formulas alone give 95 to 99 %
EFFICIENCY_RATIO = 0.9
# Inferred: from here on the moving side does not stay in SBUF and is read again for each part of the other
_RESIDENT_BYTES, _STATIONARY_BYTES = 16 << 20, 8 << 20


def product_stage(
    m: int, k: int, n: int, itemsize: int, target: Target, *, transposes: int = 0, batch: int = 1
) -> Stage:
    """The stage of `batch` products m x k x n with `transposes` 128 x 128 transposes of operands each."""
    unit = target.unit

    def arranged(still: int, moving: int) -> tuple[float, int]:
        """ns of the Tensor engine with one side as its weights, and the columns that come out."""
        weights = math.ceil(still / PARTITIONS) * math.ceil(k / PARTITIONS)
        columns = tiled(moving, PSUM_BANK, lambda width: unit.matmul(width, itemsize))
        return weights * columns, math.ceil(still / PARTITIONS) * moving

    # the short side moves where that is quicker: an instruction has at least 64 cycles
    tensor, columns = min(arranged(m, n), arranged(n, m))
    scalar, vector = evictions(columns, target)
    turned_scalar, turned_vector = evictions(transposes * PARTITIONS, target)
    return stage(
        Tensor=batch * (tensor + transposes * unit.transpose(itemsize)),
        Scalar=batch * (scalar + turned_scalar),
        Vector=batch * (vector + turned_vector),
    )


def evictions(columns: int, target: Target) -> tuple[float, float]:
    """ns of Scalar and of Vector to copy this many columns out of PSUM, a bank at a time, half each."""
    unit = target.unit
    return tiled(columns, PSUM_BANK, unit.scalar_copy) / 2, tiled(columns, PSUM_BANK, unit.copy) / 2


def transposes(left: Tensor, right: Tensor, m: int, product: Product, target: Target) -> int:
    """How many 128 x 128 transposes one product needs: each operand is wanted with its k along the partitions."""
    k = math.ceil(product.k / PARTITIONS)
    count = k * math.ceil(m / PARTITIONS) if row_major(left) else 0
    if not row_major(right) and not target.compiled:  # a compiler lays weights out beforehand
        count += k * math.ceil(product.n / PARTITIONS)
    return count


def _lower(call: Call, target: Target) -> Work | None:
    product = product_of(call)
    if product is None or not product.flops():
        return None
    left, right = product.left, product.right
    itemsize = max(left.itemsize, right.itemsize)
    batch, m = math.prod(product.batch), product.m
    if right.numel == product.k * product.n:  # one factor for all: its rows are one long matrix
        batch, m = 1, batch * m
    one = product_stage(
        m, product.k, product.n, itemsize, target, batch=batch, transposes=transposes(left, right, m, product, target),
    )  # fmt: skip
    again = 1
    if product.k * product.n * itemsize > _RESIDENT_BYTES:
        again = max(math.ceil(m * product.k * itemsize / _STATIONARY_BYTES), 1)
    moving = _matrix(right)
    loads = [_matrix(left), Transfer(moving.rows * again, moving.row_bytes)]
    if product.addend is not None:
        loads += flat_transfers([product.addend])
    out_itemsize = product.out_itemsize or itemsize
    return Work(
        rule="matmul", stages=(one,), loads=tuple(loads),
        stores=(Transfer(batch * m, product.n * out_itemsize),),
        tiles=batch * math.ceil(m / PARTITIONS) * math.ceil(product.n / PSUM_BANK),
        rows=batch * m, efficiency_ratio=EFFICIENCY_RATIO, takes_epilogue=True,
    )  # fmt: skip


def _matrix(tensor: Tensor) -> Transfer:
    """A matrix as it lies in memory."""
    width = tensor.shape[-1] if row_major(tensor) or len(tensor.shape) < 2 else tensor.shape[-2]
    return Transfer(max(tensor.numel // max(width, 1), 1), width * tensor.itemsize)


LOWERING: dict[str, Lower] = dict.fromkeys(
    (
        "mm", "bmm", "mv", "dot", "vdot", "addmm", "baddbmm", "addmv", "_addmm_activation", "matmul", "linear", "ger",
        "outer", "_scaled_mm", "_int_mm",
    ),
    _lower,
)  # fmt: skip
