"""Makes NTFF files of versions 4, 5 and 6 from records given by hand, to the layout that is worked out from data."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

HEADER_BYTES = 0x80
ENGINES = ("Tensor", "Scalar", "GpSimd", "Vector", "Sync")  # as programs are numbered; records add 1
LEFTOVER = b"\xa5\x5a\xc3\x3c\x96" * 24  # what a writer's memory leaves in the header
INSTANCE_ID = b"i-0123456789abcdef0"
INSTRUCTIONS, EVENTS, PACKETS, THROTTLE = 0, 1, 4, 5


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field_number: int, value: int) -> bytes:
    """A field of numbers; 0 is not written, as proto3 has it."""
    return varint(field_number << 3) + varint(value) if value else b""


def data(field_number: int, value: bytes) -> bytes:
    return varint(field_number << 3 | 2) + varint(len(value)) + value


def record(head: int, value: int, ts: int) -> bytes:
    return struct.pack("<IIQ", head, value, ts)


def started(engine: str, tag: int, ts: int, *, wait_cycles: int = 0) -> bytes:
    return record(tag | (0x80 | ENGINES.index(engine) + 1 << 2) << 24, wait_cycles << 16, ts)


def ended(engine: str, tag: int, ts: int) -> bytes:
    return record(tag | (0x80 | ENGINES.index(engine) + 1 << 2 | 1) << 24, 0xFFFFFFFF, ts)


def packet(engine: int, queue: int, size: int, start: int, end: int) -> bytes:
    """The three records of a packet: its start, its end with the size, its completion."""
    head = (0x80 | engine) << 24
    return b"".join((
        record(head, queue << 4 | 1, start),
        record(head | size, 0xBEEF << 16 | queue << 4 | 5, end),
        record(head, queue << 4 | 6, end + 5),
    ))  # fmt: skip


def semaphore(number_: int, value: int, ts: int) -> bytes:
    return record(number_ | 0x100 | 0xF3 << 16 | 0x87 << 24, value, ts)


def event(number_: int, action: int, ts: int) -> bytes:
    return record(number_ | action << 16 | 0x87 << 24, 0, ts)


def throttle(k: int, n: int, kind: int, ts: int) -> bytes:
    return record(n << 16 | 0x9E << 24, k | kind << 8, ts)


def slot(opcode: int, **fields: int) -> bytes:
    """64 bytes of an instruction; `fields`: byte_36=2 is one byte, word_16=... eight bytes, short_26=... two."""
    code = bytearray(64)
    code[0] = opcode
    for name, value in fields.items():
        kind, at = name.split("_")
        size = {"byte": 1, "short": 2, "word": 8}[kind]
        code[int(at) : int(at) + size] = value.to_bytes(size, "little")
    return bytes(code)


@dataclass
class Core:
    """One physical core: its programs by engine and address, records by kind, and what is said of it."""

    core: int = 0
    name: str = "sg00"
    device: int = 0
    programs: dict[str, tuple[int, Sequence[bytes]]] = field(default_factory=dict)
    records: dict[int, Iterable[bytes]] = field(default_factory=dict)
    patches: dict[str, Sequence[tuple[int, int, int]]] = field(default_factory=dict)  # slot, slots, kind
    queues: Sequence[tuple[int, int, int, str]] = ()  # DMA engine, index, type, name
    clocks: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # by field: init, actual, expected
    dma_clocks: Sequence[tuple[int, int, int]] = ()
    memory: Sequence[tuple[str, int]] = ()
    duration_ps: int = 0


@dataclass
class Ntff:
    """A whole file. Executions (start, end) are written in version 6 alone, as real files have it."""

    version: int
    cores: Sequence[Core]
    executions: Sequence[tuple[int, int]] = ()
    instance_type: str = "trn2.48xlarge"
    neff_name: str = "model.neff"
    uuid: bytes = bytes(range(1, 17))

    def to_bytes(self) -> bytes:
        raw = bytearray()
        shared = bytearray()  # what version 6 has on the top level
        cores = b"".join(data(1, self._core(core, raw, shared)) for core in self.cores)
        model = data(4, cores) + (data(5, self.uuid) if self.version >= 6 else b"")
        # a C string: it ends at a zero byte, and what lies behind one without any belongs to it too
        c_string = (self.uuid + b"\x24\x1a").split(b"\0")[0]
        top = data(1, self.neff_name.encode()) + data(2, c_string) + number(3, 10001)
        top += data(4, model) + number(5, len(self.cores))
        top += data(8, number(1, 2) + number(2, 30) + number(3, 51) + data(5, b"faafe26f04"))
        top += data(9, self.instance_type.encode()) + data(11, number(1, 2) + number(2, 26))
        for start, end in self.executions if self.version >= 6 else ():
            top += data(15, data(1, self.uuid) + number(2, start) + number(3, end))
        top += bytes(shared)
        if self.version >= 6:
            top += data(17, INSTANCE_ID)
        header = bytes([self.version]) + len(top).to_bytes(8, "little") + LEFTOVER[: HEADER_BYTES - 9]
        return header + top + bytes(raw)

    def _core(self, core: Core, raw: bytearray, shared: bytearray) -> bytes:
        out = data(1, core.name.encode()) + number(2, core.device) + number(3, core.core)
        for engine, (address, slots) in core.programs.items():
            code = b"".join(slots)
            image = number(1, ENGINES.index(engine)) + number(2, address)
            if self.version >= 6:
                image += number(7, len(raw)) + number(8, len(code))
                raw += code
            else:
                image += data(3, code)
            out += data(4, image)
        for engine, patches in core.patches.items():
            lists = (data(2, number(1, at * 64) + number(2, slots) + number(3, kind)) for at, slots, kind in patches)
            out += data(5, number(1, ENGINES.index(engine)) + b"".join(lists))
        for kind, records in core.records.items():
            content = b"".join(records)
            segment = number(1, kind) + number(5, len(raw)) + number(6, len(content))
            raw += content
            if self.version >= 6:
                shared += data(16, segment + number(7, core.core))
            else:
                out += data(6, segment)
        for engine, index, kind, name in core.queues:
            out += data(7, number(1, engine) + number(2, index) + number(3, kind) + data(4, name.encode())
                        + number(5, -1) + number(7, 2))  # fmt: skip
        clocks = b"".join(data(place, clock(core.clocks.get(place, (0, 1, 1)))) for place in range(1, 8))
        clocks += b"".join(data(8, clock(told)) for told in core.dma_clocks or [(0, 1, 1)] * 16)
        out += data(10, clocks)
        out += b"".join(data(11, number(2, size) + data(3, use.encode())) for use, size in core.memory)
        return out + number(14, core.duration_ps)


def clock(told: tuple[int, int, int]) -> bytes:
    return b"".join(number(place, value) for place, value in zip((1, 2, 3), told, strict=True))
