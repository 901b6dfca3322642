"""Interned values that many rows share: strings, call stacks, argument sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from trace_format.json_object import json_object

V = TypeVar("V", str, bytes, tuple[int, ...])


class Interned(Generic[V]):
    """An append-only list of distinct values; a value's index is its id, and id 0 is the empty value.

    Ids never change, so a pool may grow while tables that refer to it exist.
    """

    __slots__ = ("_ids", "values")

    def __init__(self, empty: V) -> None:
        self.values: list[V] = [empty]
        self._ids: dict[V, int] | None = None

    def id(self, value: V) -> int:
        """The id of `value`, added if it is new."""
        ids = self._index()
        found = ids.get(value)
        if found is None:
            found = ids[value] = len(self.values)
            self.values.append(value)
        return found

    def ids(self, values: Iterable[V]) -> list[int]:
        """The ids of `values`, in order; new ones are added."""
        ids, known = self._index(), self.values
        values = values if isinstance(values, list) else list(values)
        for value in dict.fromkeys(values):
            if value not in ids:
                ids[value] = len(known)
                known.append(value)
        return list(map(ids.__getitem__, values))

    def extend(self, values: Iterable[V]) -> None:
        """Append values that are known to be new, as a file has them."""
        self.values.extend(values)
        self._ids = None

    def find(self, value: V) -> int:
        """The id of `value`, or -1 if no row can have it."""
        return self._index().get(value, -1)

    def _index(self) -> dict[V, int]:
        if self._ids is None:
            self._ids = {value: i for i, value in enumerate(self.values)}
        return self._ids

    def __getitem__(self, index: int) -> V:
        return self.values[index]

    def __len__(self) -> int:
        return len(self.values)


class Pool:
    """The interned values of one trace.

    - `strings`: names and other text. Text is kept as it came, lone surrogates included.
    - `stacks`: a stack is a tuple of string ids, outermost frame first.
    - `arg_sets`: a whole argument set as one JSON object in UTF-8, without the ids that change on every event.
    """

    __slots__ = ("arg_sets", "stacks", "strings")

    def __init__(self) -> None:
        self.strings: Interned[str] = Interned("")
        self.stacks: Interned[tuple[int, ...]] = Interned(())
        self.arg_sets: Interned[bytes] = Interned(b"")

    def stack_id(self, frames: Sequence[str]) -> int:
        """The id of the stack with these frames, outermost first."""
        return self.stacks.id(tuple(self.strings.ids(frames)))

    def frames(self, stack: int) -> tuple[str, ...]:
        """The frames of a stack, outermost first."""
        return tuple(self.strings[frame] for frame in self.stacks[stack])

    def args(self, arg_set: int) -> dict[str, Any]:
        """An argument set as a new dict; empty for id 0, and for what a damaged file has in place of an object."""
        return json_object(self.arg_sets[arg_set])
