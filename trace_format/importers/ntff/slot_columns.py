"""What all runs of one instruction share, as columns of slices: interned once for each place in the program."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.importers.ntff.compiled import Compiled
from trace_format.importers.ntff.opcodes import DMA_DIRECT2D, EVENT_SEMAPHORE, MATMUL, opcode_name
from trace_format.importers.ntff.operands import Label, operands, waits_for
from trace_format.importers.ntff.programs import KNOWN_TRANSPOSES, Program
from trace_format.tables import CATEGORIES

Array = np.ndarray

_OUTSIDE = "boot code"  # what runs outside any program that the file has
_UNKNOWN = "instruction"  # one whose program the file does not have
_COMPUTE, _SEMAPHORE = CATEGORIES.index("compute"), CATEGORIES.index("semaphore")


class SlotColumns:
    """The columns of slices by place in a program.

    `family` and `core` tell what addresses mean; `label` names a semaphore.
    """

    def __init__(
        self, builder: TraceBuilder, program: Program, compiled: Compiled | None, label: Label, *, family: str,
        core: int,
    ) -> None:  # fmt: skip
        self._builder, self._program, self._compiled, self._label = builder, program, compiled, label
        self._family, self._core = family, core
        # Filled as instructions are met. One more place for what lies outside the program, where -1 points to.
        places = len(program) + 1
        self._met = np.zeros(places, bool)
        self._met[-1] = True
        self._names, self._args = np.zeros((2, places), np.uint32)
        self._names[-1] = builder.string(_OUTSIDE if len(program) else _UNKNOWN)
        self._flops = np.full(places, np.nan)
        self.is_wait = np.append(program.opcodes == EVENT_SEMAPHORE, False)
        self.is_transfer = np.append(program.opcodes == DMA_DIRECT2D, False)
        # Whether every DMA_DIRECT2D that ran has one side in HBM and the other elsewhere.
        self.moves_one_side_in_hbm = True

    def place(self, tag: Array) -> Array:
        """`(n,) int64` places in the program of instructions as records name them; -1 for what is not in it."""
        return self._program.pc(tag)

    def at(self, place: Array) -> dict[str, Array]:
        """The columns of slices that ran what is at these places."""
        new = np.unique(place[~self._met[place]])
        if len(new):
            self._meet(new)
        return {
            "pc": place,
            "name": self._names[place],
            "category": np.where(self.is_wait[place], _SEMAPHORE, _COMPUTE),
            "flops": self._flops[place],
            "args": self._args[place],
        }

    @property
    def knows_transposes(self) -> bool:
        """Whether it is known of every MATMUL if it transposes."""
        from_debug = self._compiled is not None and self._compiled.knows_transposes
        return from_debug or self._family in KNOWN_TRANSPOSES or not (self._program.opcodes == MATMUL).any()

    def _meet(self, places: Array) -> None:
        """Fill in what is at places that ran for the first time."""
        program = self._program.at(places)
        elements, transposes = program.elements, program.transposes(self._family)
        read, written = self._hbm_bytes(program, places)
        moves = self.is_transfer[places]
        one_side = (np.minimum(read, written) == 0) & (np.maximum(read, written) > 0)
        self.moves_one_side_in_hbm &= bool(one_side[moves].all())
        self._flops[places] = np.where(program.opcodes == MATMUL, 2.0 * elements, np.nan)
        self._met[places] = True
        for row, pc in enumerate(places.tolist()):
            opcode, code = int(program.opcodes[row]), program.code[row].tobytes()
            facts: dict[str, Any] = {"opcode": opcode_name(opcode)}
            said = {"operands": operands(code, self._label), "waits_for": waits_for(code, self._label)}
            facts |= {name: text for name, text in said.items() if text}
            if opcode == MATMUL:
                facts["elements"] = int(elements[row])
                if transposes is not None:
                    facts["instruction_type"] = "TRANSPOSE" if transposes[row] else "REGULAR"
            if moves[row]:
                sizes = {"hbm_read_bytes": int(read[row]), "hbm_write_bytes": int(written[row])}
                facts |= {name: size for name, size in sizes.items() if size >= 0}
            facts |= self._compiled.facts(pc) if self._compiled else {}
            self._names[pc] = self._builder.string(opcode_name(opcode))
            self._args[pc] = self._builder.pool.arg_sets.id(msgspec.json.encode(facts))

    def _hbm_bytes(self, program: Program, places: Array) -> tuple[Array, Array]:
        """Bytes that instructions read from HBM and write to it, `(n,) int64`; -1 where it cannot be told."""
        by_address = program.hbm_sides(self._family, self._core)
        by_variable = self._compiled.hbm_sides(places) if self._compiled else by_address
        read, written = (
            np.where(variable >= 0, variable, address)
            for variable, address in zip(by_variable, by_address, strict=True)
        )
        known = (read >= 0) & (written >= 0)
        bytes_read, bytes_written = program.transfers()
        return np.where(known, read * bytes_read, -1), np.where(known, written * bytes_written, -1)
