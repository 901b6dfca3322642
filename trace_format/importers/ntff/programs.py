"""The program of an engine, as it lay in device memory: 64 bytes for each instruction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trace_format.importers.ntff.container import Container
from trace_format.importers.ntff.opcodes import DMA_DIRECT2D, MATMUL, NOTIFY
from trace_format.importers.source import Source

Array = np.ndarray

SLOT_BYTES = 64
# Records name an instruction by its address in units of 64 bytes, modulo this.
TAG_MASK = 0x1FFFFF
_LARGEST_BYTES = (TAG_MASK + 1) * SLOT_BYTES
_MOST_TOGETHER_BYTES = 256 << 20  # of all programs in a file: four million instructions
_HINT_BYTE, STARTS = 36, 2  # a NOTIFY with this hint marks the start of a run
_TRANSPOSE_BYTE, KNOWN_TRANSPOSES = 34, ("trn2",)  # on inf2 it means something else
TABLE_BIT = 0x20  # in the highest byte of an address: it is an entry of a table of addresses, all of HBM
# The high half of addresses in the SBUF, where it is known: trn2 core 4, inf2. Worked out from data.
_SBUF_HIGH = {("trn2", 4): 0x8020, ("inf2", 0): 0xFFF, ("inf2", 1): 0xFFF}
_SLOT = np.dtype({
    "names": ["opcode", "count", "rows", "cols", "src", "src_count", "src_element", "dst", "dst_count", "dst_element"],
    "formats": ["u1", ("<u2", 3), "u1", "u1", "<u8", ("<u2", 2), "<u2", "<u8", ("<u2", 2), "<u2"],
    "offsets": [0, 26, 38, 39, 16, 32, 36, 40, 56, 60],
    "itemsize": SLOT_BYTES,
})  # fmt: skip


@dataclass(frozen=True)
class Program:
    """The instructions of one engine, `code` as `(n, 64) uint8`, and where in memory the first lay."""

    engine: str
    base: int  # address in units of 64 bytes
    code: Array

    @classmethod
    def empty(cls, engine: str) -> Program:
        """The program of an engine of which the file has none."""
        return cls(engine, 0, np.zeros((0, SLOT_BYTES), np.uint8))

    def __len__(self) -> int:
        return len(self.code)

    def at(self, places: Array) -> Program:
        """The instructions at some places, as a program of their own."""
        return Program(self.engine, 0, self.code[places])

    def pc(self, tag: Array) -> Array:
        """`(n,) int64` places in the program of instructions as records name them; -1 for what is not in it."""
        place = (tag.astype(np.int64) - self.base) & TAG_MASK
        return np.where(place < len(self), place, -1)

    @property
    def opcodes(self) -> Array:
        return self.code[:, 0]

    @property
    def elements(self) -> Array:
        """`(n,) uint64` multiplications of a MATMUL, 0 for other instructions."""
        slots = self._slots()
        product = slots["count"].astype(np.uint64).prod(axis=1) * slots["rows"] * slots["cols"]
        return np.where(self.opcodes == MATMUL, product, np.uint64(0))

    @property
    def starts(self) -> Array:
        """Which instructions tell the host that the run starts."""
        return (self.opcodes == NOTIFY) & (self.code[:, _HINT_BYTE] == STARTS)

    def transposes(self, family: str) -> Array | None:
        """Which MATMULs transpose; None where the program does not tell."""
        return (self.opcodes == MATMUL) & (self.code[:, _TRANSPOSE_BYTE] == 1) if family in KNOWN_TRANSPOSES else None

    def transfers(self) -> tuple[Array, Array]:
        """Bytes that a DMA_DIRECT2D reads and writes, `(n,) int64` each; 0 for other instructions."""
        slots, is_transfer = self._slots(), self.opcodes == DMA_DIRECT2D
        read, written = (
            np.where(is_transfer, slots[f"{side}_count"].astype(np.int64).prod(axis=1) * slots[f"{side}_element"], 0)
            for side in ("src", "dst")
        )
        return read, written

    def hbm_sides(self, family: str, core: int) -> tuple[Array, Array]:
        """Whether a DMA_DIRECT2D reads from HBM and whether it writes to it, `(n,) int8`: 1, 0, or -1 if unknown."""
        slots, sbuf = self._slots(), _SBUF_HIGH.get((family, core))
        read, written = (_hbm_side(slots[side], sbuf) for side in ("src", "dst"))
        return read, written

    def _slots(self) -> Array:
        return self.code.view(_SLOT)[:, 0]


def _hbm_side(address: Array, sbuf: int | None) -> Array:
    """1 where addresses lie in HBM, 0 where they do not, -1 where it cannot be told."""
    from_table = (address >> np.uint64(56)) & np.uint64(TABLE_BIT) != 0
    direct = -1 if sbuf is None else (address >> np.uint64(32) != sbuf).astype(np.int8)
    return np.where(from_table, 1, direct).astype(np.int8)


def programs_of(container: Container, source: Source, problems: list[str]) -> dict[int, dict[str, Program]]:
    """The programs by core and engine, as far as the file has them; `problems` says what it lacks."""
    unread_bytes = min(container.raw_size, _MOST_TOGETHER_BYTES)  # in the raw area they do not overlap
    found: dict[int, dict[str, Program]] = {}
    for core in container.cores:
        programs = found.setdefault(core.core, {})
        for image in {image.engine: image for image in core.images}.values():
            code = image.code[:_LARGEST_BYTES]
            if image.size:
                there = max(min(image.size, container.raw_size - image.offset, _LARGEST_BYTES, unread_bytes), 0)
                code = source.read_at(container.raw_offset + image.offset, there)
                unread_bytes -= len(code)
            if len(code) < max(image.size, len(image.code)):
                problems.append(f"{len(code)} of {max(image.size, len(image.code))} bytes of a program are read")
            whole = len(code) // SLOT_BYTES
            slots = np.frombuffer(code, np.uint8, whole * SLOT_BYTES).reshape(whole, SLOT_BYTES)
            programs[image.engine] = Program(image.engine, (image.address >> 6) & TAG_MASK, slots)
    return found
