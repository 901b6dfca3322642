"""Joins the program that ran with the one the compiler wrote, which the runtime has put its own instructions into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trace_format.importers.neff.contents import EngineProgram, NeffContents, Subgraph
from trace_format.importers.neuron_device.engines import queue_name
from trace_format.importers.ntff.container import Container, CoreTrace, Patch
from trace_format.importers.ntff.opcodes import opcode_name
from trace_format.importers.ntff.programs import SLOT_BYTES, TABLE_BIT, Program

Array = np.ndarray

_INSERT, _DELETE = 0, 2
_ADDRESSES, _VARIABLE_BIT = (16, 40), 0x10  # of a PSEUDO_DMA_DIRECT2D: source and destination
_PSEUDO = 0xC0  # the compiler's opcodes from here on become others when the program is loaded


@dataclass(frozen=True)
class Compiled:
    """What the compiler says about a program that ran.

    `pc`: its own places, `(n,) int64`, -1 for the runtime's code.

    `hbm_variables`: the numbers of its variables that lie in HBM.
    """

    pc: Array
    code: Array  # `(m, 64) uint8`
    program: EngineProgram
    subgraph: str
    hbm_variables: frozenset[int] = field(default_factory=frozenset)

    @property
    def knows_transposes(self) -> bool:
        return self.program.debug is not None

    def hbm_sides(self, places: Array) -> tuple[Array, Array]:
        """As `Program.hbm_sides` for some places of it, by the variables that the compiler names."""
        pc = self.pc[places]
        read, written = (self._hbm_side(pc, self.code[np.maximum(pc, 0), at : at + 8]) for at in _ADDRESSES)
        return read, written

    def _hbm_side(self, pc: Array, address: Array) -> Array:
        """Byte 7 of an address tells its kind; bytes 4 and 5 have the number of the variable."""
        number = address[:, 4].astype(np.int64) | address[:, 5].astype(np.int64) << 8
        in_hbm = np.isin(number, np.array(sorted(self.hbm_variables), np.int64))
        told = np.where(address[:, 7] & _VARIABLE_BIT != 0, in_hbm, -1)
        told = np.where(address[:, 7] & TABLE_BIT != 0, 1, told)
        return np.where(pc >= 0, told, -1).astype(np.int8)

    def facts(self, place: int) -> dict[str, Any]:
        """What the compiler says of the instruction at a place of the program that ran, by the names of AWS's JSON."""
        pc = int(self.pc[place])
        if pc < 0:
            return {}
        facts: dict[str, Any] = {"compiler_pc": pc}
        opcode = int(self.code[pc, 0])
        if opcode >= _PSEUDO:
            facts["compiler_opcode"] = opcode_name(opcode)
        origin = self.program.origin(pc)
        if origin is None:
            return facts
        said = {
            "bir_id": f"{self.subgraph}00:{origin.bir_id}",
            "bir_instruction_name": origin.bir_name,
            "instruction_type": origin.instruction_type,
            "penguin_id": "" if origin.penguin_id is None else f"{self.subgraph}00:{origin.penguin_id}",
            "penguin_name": origin.penguin_name,
            "hlo_name": origin.hlo_name,
            "hlo_attrs": dict(origin.hlo_attrs),
            "layer": origin.layer,
        }
        return facts | {name: value for name, value in said.items() if value}


@dataclass(frozen=True)
class Join:
    """A NEFF and an NTFF file of the same program; `problems` says where they do not fit."""

    neff: NeffContents
    problems: list[str]

    @property
    def queue_types(self) -> dict[str, str]:
        """The type of each DMA queue, by the name that the compiler gives it."""
        return {queue.name: queue.type for graph in self.neff.subgraphs for queue in graph.queues}

    def semaphores(self, core: CoreTrace, container: Container) -> dict[int, str]:
        """Which queue raises a semaphore. Of the first core alone, as AWS's tool has it."""
        graph = self._subgraph(core)
        if graph is None or core is not container.cores[0]:
            return {}
        return {number: queue_name(queue.name) for queue in graph.queues for number in queue.semaphores}

    def compiled(self, core: CoreTrace, program: Program) -> Compiled | None:
        """What the compiler says about a program of a core; None where it does not fit."""
        graph = self._subgraph(core)
        if graph is None or program.engine not in graph.programs or not len(program):
            return None
        engine = graph.programs[program.engine]
        code = np.frombuffer(engine.code, np.uint8, engine.slots * SLOT_BYTES).reshape(engine.slots, SLOT_BYTES)
        what = f"the {program.engine} program of {core.name}"
        pc = compiler_places(core.patches.get(program.engine, ()), len(program), len(code))
        if pc is None:
            self.problems.append(f"{what} does not fit the NEFF's; its instructions have no names")
            return None
        ran, wrote = program.code[pc >= 0], code[pc[pc >= 0]]
        differs = (ran != wrote).any(axis=1) & (wrote[:, 0] < _PSEUDO)
        if differs.any():
            self.problems.append(f"{what} has {int(differs.sum())} instructions that differ from the NEFF's")
            return None
        variables = frozenset(tensor.var_id for tensor in self.neff.tensors if tensor.var_id is not None)
        return Compiled(pc, code, engine, graph.name, variables)

    def _subgraph(self, core: CoreTrace) -> Subgraph | None:
        return next((graph for graph in self.neff.subgraphs if graph.name == core.name), None)


def compiler_places(patches: Iterable[Patch], slots: int, compiled: int) -> Array | None:
    """Where each of `slots` instructions stands in a compiled program of `compiled`; -1 for those put in.

    None where the patches do not turn the one into the other.
    """
    places = np.full(slots, -1, np.int64)
    at = taken = 0
    for patch in sorted(patches, key=lambda patch: patch.slot):
        kept = max(patch.slot - at, 0)
        if at + kept > slots or taken + kept > compiled or patch.kind not in (_INSERT, _DELETE):
            return None
        places[at : at + kept] = np.arange(taken, taken + kept)
        at, taken = at + kept, taken + kept
        if patch.kind == _INSERT:
            at += patch.slots
        else:
            taken += patch.slots
    rest = slots - at
    if rest < 0 or taken + rest != compiled:
        return None
    places[at:] = np.arange(taken, compiled)
    return places
