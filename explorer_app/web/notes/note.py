"""What a reader wrote about a moment or a range of a trace, and all that was written about one trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from trace_format import NeuronProfileError

FORMAT: Final = 1
MOST_NOTES: Final = 2000
LONGEST_TEXT: Final = 2000
_LONGEST_ID = 32
_FARTHEST_NS = 1 << 63


class NotesError(NeuronProfileError):
    """Notes cannot be read, changed or written."""


class ChangedMeanwhileError(NotesError):
    """A note is not any more what whoever wants to change it saw."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note. `end_ns` is None for a moment; `version` is that of all notes when it was last changed."""

    id: str
    start_ns: int
    end_ns: int | None
    text: str
    version: int


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes on a trace in order of time. `version` grows by one with every change."""

    version: int = 0
    notes: tuple[Note, ...] = ()

    def put(self, note: Note) -> Notes:
        """These with a note changed, or added where its version is 0.

        Raises ChangedMeanwhileError, and NotesError for more than `MOST_NOTES`.
        """
        others = self.notes if note.version == 0 else self._without(note.id, note.version)
        if len(others) >= MOST_NOTES:
            raise NotesError(f"there are {MOST_NOTES} notes: delete some before you add others")
        found = (*others, replace(note, version=self.version + 1))
        return Notes(self.version + 1, tuple(sorted(found, key=lambda each: (each.start_ns, each.id))))

    def remove(self, name: str, version: int) -> Notes:
        """These without the note of this id. Raises ChangedMeanwhileError."""
        return Notes(self.version + 1, self._without(name, version))

    def _without(self, name: str, version: int) -> tuple[Note, ...]:
        if not any(note.id == name and note.version == version for note in self.notes):
            raise ChangedMeanwhileError("the note was changed or deleted elsewhere; this is how the notes are now")
        return tuple(note for note in self.notes if note.id != name)

    def to_json(self) -> str:
        """The text of a file of notes."""
        told = {"format": FORMAT, "version": self.version, "notes": [asdict(note) for note in self.notes]}
        return json.dumps(told, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Notes:
        """The notes in the text of a file. Raises ValueError for what `to_json` did not write."""
        try:
            told = json.loads(text)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            raise ValueError(f"it is not of format {FORMAT}")
        listed = told.get("notes")
        if not isinstance(listed, list) or len(listed) > MOST_NOTES:
            raise ValueError(f"it has no list of at most {MOST_NOTES} notes")
        return cls(_number(told, "version"), tuple(map(_note, listed)))


def _note(told: Any) -> Note:
    told = told if isinstance(told, dict) else {}
    end_ns = None if told.get("end_ns") is None else _number(told, "end_ns")
    return Note(
        _text(told, "id", _LONGEST_ID), _number(told, "start_ns"), end_ns, _text(told, "text", LONGEST_TEXT),
        _number(told, "version"),
    )  # fmt: skip


def _number(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not -_FARTHEST_NS <= value < _FARTHEST_NS:
        raise ValueError(f"{name} is no number of 64 bits")
    return value


def _text(told: Mapping[str, Any], name: str, longest: int) -> str:
    value = told.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise ValueError(f"{name} is no text of 1 to {longest} characters")
    return value
