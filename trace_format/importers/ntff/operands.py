"""What an instruction waits for, signals and works on, as AWS's profiler writes it, as far as it can be read."""

from __future__ import annotations

import struct
from collections.abc import Callable

from trace_format.importers.ntff.opcodes import DMA_DIRECT2D, MATMUL

# Worked out from AWS's JSON and the instructions of the same runs.
_DTYPES = {0x06: "bfloat16", 0x07: "fp16", 0x0A: "fp32"}
_FP32_MODES = {0: "", 3: "fp32_mode=LOW_HIGH "}
_NONE, _AT_LEAST, _INCREMENT = 0x00, 0x05, 0x13  # kinds of waits and updates
_MATMUL = struct.Struct("<I3h3H")  # address, steps, counts
_TRANSFER = struct.Struct("<Q2I2HH")  # address, steps, counts, bytes of an element
_TABLE = 0x20  # in the highest byte of an address: an entry of a table

Label = Callable[[int], str]


def operands(code: bytes, label: Label) -> str:
    """The operands of an instruction (64 bytes); "" where they cannot be told. `label` names a semaphore."""
    conditions = _conditions(code, label)
    work = {MATMUL: _matmul, DMA_DIRECT2D: _transfer}.get(code[0])
    body = work(code) if work and conditions is not None else ""
    return f"{' '.join(conditions)} {body} " if body and conditions is not None else ""


def waits_for(code: bytes, label: Label) -> str:
    """The condition that an instruction waits for: "S[5] (Tensor)>=8"; "" for none, or for one that is not known."""
    return f"{label(code[5])}>={int.from_bytes(code[8:12], 'little')}" if code[4] == _AT_LEAST else ""


def _conditions(code: bytes, label: Label) -> list[str] | None:
    """What it waits for and what it signals; None for a kind that is not known."""
    if code[4] not in (_NONE, _AT_LEAST) or code[6] not in (_NONE, _INCREMENT):
        return None
    signals = f"{label(code[7])}++@complete" if code[6] == _INCREMENT else ""
    return [text for text in (waits_for(code, label), signals) if text]


def _matmul(code: bytes) -> str:
    dtype, mode = _DTYPES.get(code[32]), _FP32_MODES.get(code[33])
    if dtype is None or mode is None:
        return ""
    source, target = (_pattern(*_MATMUL.unpack_from(code, at)) for at in (16, 48))
    return f"acc_flags={code[43]} {mode}src={dtype}@{source} dst={target} {code[38]}*{code[39]}"


def _pattern(address: int, *numbers: int) -> str:
    steps, counts = (",".join(map(str, part)) for part in (numbers[:3], numbers[3:]))
    return f"{address:#x}[{steps}][{counts}]"


def _transfer(code: bytes) -> str:
    sides = [_TRANSFER.unpack_from(code, at) for at in (16, 40)]
    sizes = " ".join(f"{side}_elem_size={told[-1]}" for side, told in zip(("src", "dst"), sides, strict=True))
    patterns = " ".join(
        f"{side}_pattern=[{told[1]},{told[2]}][{told[3]},{told[4]}]"
        for side, told in zip(("src", "dst"), sides, strict=True)
    )
    places = " ".join(_place(side, told[0]) for side, told in zip(("src", "dst"), sides, strict=True))
    return f"semaphore={code[13]} sem_increment={code[14]} {sizes} {patterns} {places}"


def _place(side: str, address: int) -> str:
    if address >> 56 & _TABLE:
        return f"{side}_table_offset_imm={address & 0xFFFFFFFF:#x} {side}_table_index={address >> 32 & 0xFFFF}"
    return f"{side}_addr_imm={address:#x}"
