"""What an instruction waits for, signals and works on, as AWS's profiler writes it, as far as it can be read."""

from __future__ import annotations

import struct
from collections.abc import Callable

from trace_format.importers.ntff.opcodes import DMA_DIRECT2D, EVENT_SEMAPHORE, MATMUL

# Worked out from AWS's JSON and the instructions of the same runs.
_DTYPES = {0x06: "bfloat16", 0x07: "fp16", 0x0A: "fp32"}
_FP32_MODES = {0: "", 3: "fp32_mode=LOW_HIGH "}
# What is compared with a semaphore, and what becomes of it, by kind; 0 is nothing.
_COMPARED = {0x01: "==", 0x05: ">="}
_UPDATED = {0x13: "++", 0x14: "--", 0x15: "+={}", 0x19: "={}"}
_SECOND = struct.Struct("<4BII")  # of an EVENT_SEMAPHORE: kind and semaphore waited for and updated; their values
_SECOND_AT = 32
_MATMUL = struct.Struct("<I3h3H")  # address, steps, counts
_TRANSFER = struct.Struct("<Q2I2HH")  # address, steps, counts, bytes of an element
_TABLE = 0x20  # in the highest byte of an address: an entry of a table

Label = Callable[[int], str]


def operands(code: bytes, label: Label) -> str:
    """The operands of an instruction (64 bytes); "" where they cannot be told. `label` names a semaphore."""
    if code[0] == EVENT_SEMAPHORE:
        return _semaphore(code, label)
    waits, signals = _waits(code, label), _updates(code[6], code[7], None, label)
    work = {MATMUL: _matmul, DMA_DIRECT2D: _transfer}.get(code[0])
    body = work(code) if work and waits is not None and signals is not None else ""
    return f"{' '.join(filter(None, (waits, signals)))} {body} " if body else ""


def waits_for(code: bytes, label: Label) -> str:
    """The condition that an instruction waits for: "S[5] (Tensor)>=8"; "" for none, or for one that is not known."""
    first = _waits(code, label)
    if first == "" and code[0] == EVENT_SEMAPHORE:
        kind, number, _, _, value, _ = _SECOND.unpack_from(code, _SECOND_AT)
        return _compares(kind, number, value, label) or ""
    return first or ""


def _waits(code: bytes, label: Label) -> str | None:
    """The condition that every instruction has a place for; None for a kind that is not known."""
    return _compares(code[4], code[5], int.from_bytes(code[8:12], "little"), label)


def _compares(kind: int, number: int, value: int, label: Label) -> str | None:
    compared = _COMPARED.get(kind)
    return f"{label(number)}{compared}{value}" if compared else None if kind else ""


def _updates(kind: int, number: int, value: int | None, label: Label) -> str | None:
    """What becomes of a semaphore; None for a kind that is not known, or one whose value is not."""
    updated = _UPDATED.get(kind, "")
    if not updated or (value is None and "{}" in updated):
        return None if kind else ""
    return f"{label(number)}{updated.format(value)}@complete"


def _semaphore(code: bytes, label: Label) -> str:
    """An EVENT_SEMAPHORE has a second condition; the setter is 0 where the bytes between are, as in all files seen."""
    kind, number, update, updated, value, becomes = _SECOND.unpack_from(code, _SECOND_AT)
    first, second = _waits(code, label), _compares(kind, number, value, label)
    signals = _updates(update, updated, becomes, label)
    if first is None or second is None or signals is None or code[6] or any(code[12:_SECOND_AT]):
        return ""
    return f"{first} setter=0 {second} {signals} " if first or second or signals else ""


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
