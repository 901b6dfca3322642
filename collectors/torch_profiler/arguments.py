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


def share(texts: Iterable[str]) -> SharedArguments:
    """The distinct argument texts once the ids that change with every event are taken out.

    `texts` are the insides of JSON objects as torch's `metadata_json()` gives them. One that is not written as
    expected stays whole, which costs time and loses nothing. No texts give empty columns.
    """
    place: dict[str, int] = {}
    row: list[int] = []
    indices: list[str] = []
    numbered: dict[int, int] = {}
    for text in texts:  # one at a time: each is a few hundred bytes that are in the cache now and of no use later
        body, _, index = text.rpartition(_EVENT_INDEX)
        whole = not index.isdecimal()
        found = None if whole else place.get(body)
        if found is None:
            if whole:
                body, index = text, "-1"
            at = body.find(_SEQUENCE_NUMBER, 0, _LONGEST_FRONT)
            if at >= 0:
                numbered[len(row)], body = _without_number(body, at)
            found = place.setdefault(body, len(place))
        indices.append(index)
        row.append(found)
    columns = {"event_index": np.fromiter(map(int, indices), np.int64, len(indices))}
    if numbered:
        columns["sequence_number"] = np.full(len(row), -1, np.int64)
        columns["sequence_number"][list(numbered)] = list(numbered.values())
    return SharedArguments(list(place), np.array(row, np.int64), columns)


def _without_number(body: str, at: int) -> tuple[int, str]:
    """The sequence number whose key is at `at` and the text without it; -1 and the whole text if it is no such key."""
    number, comma, rest = body[at + len(_SEQUENCE_NUMBER) :].partition(", ")
    if comma and number.isdecimal() and (at == 0 or _is_record_function(body[:at])):
        return int(number), body[:at] + rest
    return -1, body


def _is_record_function(text: str) -> bool:
    return text.startswith(_RECORD_FUNCTION) and text[len(_RECORD_FUNCTION) : -2].isdecimal() and text.endswith(", ")
