"""The names of opcodes. Learned from AWS's JSON of the same runs; one that was never seen there is shown as op_0x41."""

from __future__ import annotations

MATMUL, NOTIFY, EVENT_SEMAPHORE, DMA_DIRECT2D = 0x02, 0xA6, 0xA0, 0xB8

_NAMES = {
    0x01: "LDWEIGHTS", 0x02: "MATMUL", 0x21: "ACTIVATE", 0x23: "ACT_TABLE_LOAD", 0x42: "TENSOR_REDUCE",
    0x43: "TENSOR_SCALAR", 0x46: "COPY", 0x47: "CAST", 0x48: "RECIPROCAL", 0xA0: "EVENT_SEMAPHORE", 0xA2: "DRAIN",
    0xA4: "NOP", 0xA5: "WRITE", 0xA6: "NOTIFY", 0xA9: "COMPARE_BRANCH", 0xAA: "TENSOR_LOAD", 0xAB: "TENSOR_STORE",
    0xB0: "EVENT_SEMAPHORE_RANGE_CLEAR", 0xB1: "SET_ORDERING_MODE", 0xB8: "DMA_DIRECT2D",
    # only in what the compiler wrote: the runtime puts 0xB8 and 0xA5 in their place
    0xC1: "PSEUDO_DMA_TRIGGER", 0xD4: "PSEUDO_DMA_DIRECT2D",
}  # fmt: skip


def opcode_name(opcode: int) -> str:
    """The name of an opcode, "op_0x41" where none is known."""
    return _NAMES.get(opcode, f"op_{opcode:#04x}")
