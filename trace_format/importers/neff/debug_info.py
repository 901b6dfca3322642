"""Where each compiled instruction comes from: the chain of debug files from an engine's program back to the model.

Each file is a protobuf message: 1 a description, 2 the name of the next file, 3 its nodes, one for each instruction,
operation or layer (worked out from data; the fields of a node are beside each reader below).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from trace_format.importers.protobuf_fields import fields, places, varint, varints

_NODES = 3
_MOST_NODES = 1 << 23  # of one file; compilers refuse programs of more than some millions of instructions
_ID_KEY = 0x08  # field 1, a number: what a node begins with, if it has an id
_TYPES = {1: "REGULAR", 3: "TRANSPOSE"}


@dataclass(frozen=True, slots=True)
class InstructionOrigin:
    """Where a compiled instruction comes from: the chain instruction -> BIR -> Penguin -> HLO -> framework.

    None, "" and empty: not told.
    """

    bir_id: int
    bir_name: str = ""
    instruction_type: str = ""  # REGULAR or TRANSPOSE
    penguin_id: int | None = None
    penguin_name: str = ""
    hlo_id: int | None = None
    hlo_name: str = ""
    hlo_attrs: Mapping[str, str] = field(default_factory=dict)
    framework_ids: tuple[int, ...] = ()
    layer: str = ""
    predecessors: tuple[int, ...] = ()  # BIR ids


@dataclass(slots=True)
class _Node:
    """The fields of a node that are read here, by their numbers."""

    id: int = 0  # 1
    name: str = ""  # 2
    parents: tuple[int, ...] = ()  # 3
    predecessors: tuple[int, ...] = ()  # 4 and 5: BIR ids
    type: int = 0  # 6
    attrs: dict[str, str] = field(default_factory=dict)  # 7


_NOTHING = _Node()


class DebugFile:
    """One file of the chain; a node is read when it is asked for, since there are millions of them.

    `damage` says in plain words what could not be read so far.
    """

    def __init__(self, about: str = "", data: bytes = b"") -> None:
        self._about, self._data = about, data
        self._damaged_nodes = 0

    def __bool__(self) -> bool:
        """Whether the NEFF has this file."""
        return bool(self._data)

    def __len__(self) -> int:
        """How many nodes it has, up to where it is damaged."""
        return len(self._places[0]) // 2

    @property
    def damage(self) -> tuple[str, ...]:
        stopped = self._places[1]
        why = [f"after {len(self)} entries: {stopped}"] if stopped else []
        if self._damaged_nodes:
            why.append(f"{self._damaged_nodes} entries are damaged")
        return tuple(f"debug information about {self._about}, {part}" for part in why)

    def at(self, place: int) -> _Node:
        """The node at this place, one that says nothing where there is none or it is damaged."""
        begins_ends = self._places[0]
        if not 0 <= place < len(self):
            return _NOTHING
        try:
            return _node(memoryview(self._data)[begins_ends[2 * place] : begins_ends[2 * place + 1]])
        except ValueError:
            self._damaged_nodes += 1
            return _NOTHING

    def of_id(self, number: int) -> _Node:
        """The node that has this id, one that says nothing where there is none."""
        return self.at(self._place_of.get(number, -1))

    @cached_property
    def _places(self) -> tuple[array[int], str]:
        return places(self._data, _NODES, _MOST_NODES)

    @cached_property
    def _place_of(self) -> dict[int, int]:
        """Places of nodes by id; proto3 leaves out an id that is 0."""
        data = self._data
        out: dict[int, int] = {}
        for place, begin in enumerate(self._places[0][::2]):
            first = data[begin : begin + 12]
            try:
                number = varint(first, 1)[0] if first and first[0] == _ID_KEY else 0
            except ValueError:
                continue
            out.setdefault(number, place)
        return out


NO_FILE = DebugFile()


@dataclass(frozen=True, slots=True)
class DebugChain:
    """The files that lead from one engine's program to the model; those about the model are shared by all engines."""

    asm: DebugFile
    backend: DebugFile = NO_FILE
    penguin: DebugFile = NO_FILE
    hlo: DebugFile = NO_FILE
    pttf: DebugFile = NO_FILE
    _by_bir: dict[int, InstructionOrigin] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def reaches_the_model(self) -> bool:
        """Whether instructions can be traced back to HLO or to a layer."""
        return bool(self.hlo or self.pttf)

    @property
    def damage(self) -> tuple[str, ...]:
        """What could not be read so far."""
        return tuple(why for file in (self.asm, self.backend, self.penguin, self.hlo, self.pttf) for why in file.damage)

    def origin(self, compiler_pc: int) -> InstructionOrigin | None:
        """Where the instruction at this place of the program comes from; None for one that came from nothing."""
        bir_id = next(iter(self.asm.at(compiler_pc).parents), None)
        if bir_id is None:
            return None
        if bir_id not in self._by_bir:
            self._by_bir[bir_id] = self._origin(bir_id)
        return self._by_bir[bir_id]

    def _origin(self, bir_id: int) -> InstructionOrigin:
        bir = self.backend.of_id(bir_id)
        penguin_id = next(iter(bir.parents), None)
        operation = _NOTHING if penguin_id is None else self.penguin.of_id(penguin_id)
        hlo_id = next(iter(operation.parents), None) if self.hlo else None
        hlo = _NOTHING if hlo_id is None else self.hlo.of_id(hlo_id)
        layers = (self.pttf.of_id(number).name for number in hlo.parents)
        return InstructionOrigin(
            bir_id=bir_id,
            bir_name=bir.name,
            instruction_type=_TYPES.get(bir.type, ""),
            penguin_id=penguin_id,
            penguin_name=operation.name,
            hlo_id=hlo_id,
            hlo_name=hlo.name,
            hlo_attrs=hlo.attrs,
            framework_ids=hlo.parents,
            layer=next(filter(None, layers), ""),
            predecessors=bir.predecessors,
        )


def _node(message: memoryview) -> _Node:
    node = _Node()
    for number, value, part in fields(message):
        if number == 1:
            node.id = value
        elif number == 2:
            node.name = _text(part)
        elif number == 3:
            node.parents += tuple(varints(part)) if part else (value,)
        elif number in (4, 5):
            node.predecessors += tuple(varints(part)) if part else (value,)
        elif number == 6:
            node.type = value
        elif number == 7:
            key, text = _attribute(part)
            node.attrs[key] = text
    return node


def _attribute(message: memoryview) -> tuple[str, str]:
    """Key and value of an entry of a map."""
    found = {number: _text(part) for number, _, part in fields(message)}
    return found.get(1, ""), found.get(2, "")


def _text(part: memoryview) -> str:
    return bytes(part).decode("utf-8", "replace")
