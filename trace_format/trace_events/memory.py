"""Kineto's `[memory]` instants become rows of the memory table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated

import msgspec
import numpy as np

Array = np.ndarray

NAME = "[memory]"
# c10::DeviceType (c10/core/DeviceType.h), by number; PrivateUse1 bears the name its backend gave itself.
DEVICE_TYPES = (
    "cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan", "metal",
    "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone",
)  # fmt: skip


_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_DeviceType = Annotated[int, msgspec.Meta(ge=0, le=len(DEVICE_TYPES) - 1)]


class _Record(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    delta: _Int64 = msgspec.field(name="Bytes")
    device_type: _DeviceType = msgspec.field(name="Device Type")
    device_id: _Int64 = msgspec.field(name="Device Id", default=-1)
    address: int = msgspec.field(name="Addr", default=0)
    allocated: _Int64 = msgspec.field(name="Total Allocated", default=-1)
    reserved: _Int64 = msgspec.field(name="Total Reserved", default=-1)
    event_index: _Int64 = msgspec.field(name="Ev Idx", default=-1)
    finished: bool = False  # Kineto gives it to everything without an end, moments too


_ONE = msgspec.json.Decoder(_Record)
_MANY = msgspec.json.Decoder(list[_Record])
_KIND = attrgetter("device_type", "device_id")


@dataclass(slots=True)
class MemoryRecords:
    """The records among some instants. `understood` `(n,) bool` over all of them; the rest `(m,)` over the records."""

    understood: Array
    device: list[str]
    delta_bytes: Array
    total_bytes: Array
    reserved_bytes: Array
    event_index: Array
    address: Array


def read_records(args: Sequence[bytes], *, private_use_name: str) -> MemoryRecords:
    """The memory records among the arguments of `n` instants; one that says more or less than a record is none."""
    found = _decoded(args)
    records = [record for record in found if record is not None]
    kinds = list(map(_KIND, records))
    names = {kind: _device(*kind, private_use_name) for kind in dict.fromkeys(kinds)}
    return MemoryRecords(
        understood=np.array([record is not None for record in found], bool),
        device=list(map(names.__getitem__, kinds)),
        delta_bytes=_numbers("delta", records),
        total_bytes=_numbers("allocated", records),
        reserved_bytes=_numbers("reserved", records),
        event_index=_numbers("event_index", records),
        address=np.array([record.address % 2**64 for record in records], np.uint64),
    )


def _numbers(field: str, records: Sequence[_Record]) -> Array:
    return np.fromiter(map(attrgetter(field), records), np.int64, len(records))


def _decoded(args: Sequence[bytes]) -> Sequence[_Record | None]:
    """The record in each text, None where there is none."""
    try:
        records = _MANY.decode(b"[%b]" % b",".join(args))
        if len(records) == len(args) and max(map(abs, map(attrgetter("address"), records)), default=0) < 2**64:
            return records
    except msgspec.MsgspecError:
        pass
    return [_record(text) for text in args]


def _record(text: bytes) -> _Record | None:
    try:
        record = _ONE.decode(text)
    except msgspec.MsgspecError:
        return None
    return record if abs(record.address) < 2**64 else None


def _device(kind: int, index: int, private_use_name: str) -> str:
    name = private_use_name if kind == len(DEVICE_TYPES) - 1 else DEVICE_TYPES[kind]
    return name if index < 0 else f"{name}:{index}"
