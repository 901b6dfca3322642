"""Shares the argument texts of host activities: an op called a thousand times alike has one text, not a thousand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

_EVENT_INDEX = ', "Ev Idx": '
_SEQUENCE_NUMBER = '"Sequence number": '
_RECORD_FUNCTION = '"Record function id": '
_LONGEST_FRONT = 64  # the sequence number comes first, or after the record function id


@dataclass(slots=True)
class SharedArguments:
    """The arguments of `n` activities. `texts`: the distinct ones; `row` `(n,)`: which of them each has.
    `columns`: what was different for each activity, by column of the slices table."""

    texts: list[str]
    row: Array
    columns: dict[str, Array]


class ArgumentSharing:
    """Takes argument texts out of which the ids that change with every event are taken.

    The texts are the insides of JSON objects as torch's `metadata_json()` gives them. One that is not written as
    expected stays whole, which costs time and loses nothing.
    """

    def __init__(self) -> None:
        self._place: dict[str, int] = {}
        self._row: list[int] = []
        self._indices: list[str] = []
        self._numbered: dict[int, int] = {}

    def add(self, texts: Iterable[str]) -> None:
        """Take in the texts of the next activities."""
        place, row, indices = self._place, self._row, self._indices
        known = place.get
        for text in texts:
            body, _, index = text.rpartition(_EVENT_INDEX)
            found = known(body) if index.isdecimal() else None
            if found is None:
                if not index.isdecimal():
                    body, index = text, "-1"
                at = body.find(_SEQUENCE_NUMBER, 0, _LONGEST_FRONT)
                if at >= 0:
                    self._numbered[len(row)], body = _without_number(body, at)
                found = place.setdefault(body, len(place))
            indices.append(index)
            row.append(found)

    def finish(self) -> SharedArguments:
        """The distinct texts of all that were taken in; no texts give empty columns."""
        columns = {"event_index": np.fromiter(map(int, self._indices), np.int64, len(self._indices))}
        if self._numbered:
            columns["sequence_number"] = np.full(len(self._row), -1, np.int64)
            columns["sequence_number"][list(self._numbered)] = list(self._numbered.values())
        return SharedArguments(list(self._place), np.array(self._row, np.int64), columns)


def _without_number(body: str, at: int) -> tuple[int, str]:
    """The sequence number whose key is at `at` and the text without it; -1 and the whole text if it is no such key."""
    number, comma, rest = body[at + len(_SEQUENCE_NUMBER) :].partition(", ")
    if comma and number.isdecimal() and (at == 0 or _is_record_function(body[:at])):
        return int(number), body[:at] + rest if at else rest
    return -1, body


def _is_record_function(text: str) -> bool:
    return text.startswith(_RECORD_FUNCTION) and text[len(_RECORD_FUNCTION) : -2].isdecimal() and text.endswith(", ")
