"""A JSON object of lists, as AWS's tools and the runtime write them: each list as the texts of its items.

A file that is cut off, or is not JSON in one place, gives what is whole in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from trace_format.errors import DamagedFileError
from trace_format.importers.recognition import BOM
from trace_format.importers.source import Source
from trace_format.importers.trace_event_json.repair import dumped, mended
from trace_format.importers.trace_event_json.text import Window
from trace_format.json_object import json_object

_LARGEST_BYTES = 2 << 30  # a full ring of a million events for each of 16 cores is about that
_LARGEST_ITEM_BYTES = 16 << 20
_AT_A_TIME = 10_000
_SECTIONS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_NOT_JSON = (msgspec.MsgspecError, RecursionError, UnicodeError)

Text = bytes | msgspec.Raw


@dataclass
class Document:
    """`lists` holds the items of each list as JSON text, `values` what is beside them, decoded.

    `lost` counts items that could not be read, `repaired` what was done to read the others, both by cause.
    """

    lists: dict[str, Sequence[Text]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)


def read_document(source: Source) -> Document:
    """The object in a file. Raises DamagedFileError where it holds none, LimitExceededError where it is too large."""
    text = source.whole(_LARGEST_BYTES, f"is JSON of more than {_LARGEST_BYTES:,} bytes").removeprefix(BOM)
    document = Document()
    try:
        for key, value in _SECTIONS.decode(text).items():
            if bytes(memoryview(value)[:1]) == b"[":
                document.lists[key] = _ITEMS.decode(value)
            else:
                document.values[key] = msgspec.json.decode(value)
    except _NOT_JSON:
        document = _Damaged(text, source).document()
    return document


def objects(items: Sequence[Text]) -> Iterator[dict[str, Any]]:
    """Each item as a dict; an empty one for what is no object."""
    for at in range(0, len(items), _AT_A_TIME):
        some = items[at : at + _AT_A_TIME]
        try:
            values = msgspec.json.decode(b"[%b]" % b",".join(bytes(item) for item in some))
        except _NOT_JSON:
            values = [json_object(bytes(item)) for item in some]
        yield from (value if isinstance(value, dict) else {} for value in values)


class _Damaged:
    """Reads a document value by value, up to where its text ends or is no JSON any more."""

    def __init__(self, text: bytes, source: Source) -> None:
        self._window = Window(iter([text]))
        self._path = source.path
        self._found = Document()

    def document(self) -> Document:
        window, found = self._window, self._found
        if window.peek() != b"{":
            raise DamagedFileError("is no JSON object", path=self._path)
        window.at += 1
        while (first := window.peek()) != b"}":
            if first == b",":
                window.at += 1
                continue
            key = self._decoded(window.value(_LARGEST_ITEM_BYTES)) if first == b'"' else None
            if key is None or window.peek() != b":":
                break
            window.at += 1
            if window.peek() == b"[":
                window.at += 1
                found.lists.setdefault(str(key[0]), [])
                if not self._list(found.lists[str(key[0])]):
                    break
            else:
                value = self._decoded(window.value(_LARGEST_ITEM_BYTES))
                if value is not None:
                    found.values[str(key[0])] = value[0]
        if window.peek() != b"}":
            found.repaired[f"the file ends early or is not JSON from here on (byte {window.offset})"] += 1
        if not found.lists and not found.values:
            raise DamagedFileError("is not valid JSON and holds nothing whole", path=self._path)
        return found

    def _list(self, items: Any) -> bool:
        """Append the items of the list that the window stands in; False where the text ends within it."""
        window = self._window
        while True:
            first = window.peek()
            if first == b"":
                return False
            if first in (b",", b"]"):
                window.at += 1
                if first == b"]":
                    return True
                continue
            text = window.value(_LARGEST_ITEM_BYTES)
            if text is None:
                self._found.lost["item that the file ends in"] += 1
                return False
            value = self._decoded(text)
            if value is None:
                self._found.lost["item that is no valid JSON"] += 1
            else:
                items.append(dumped(value[0]) if value[1] else text)
                self._found.repaired.update(value[1])

    def _decoded(self, text: bytes | None) -> tuple[Any, list[str]] | None:
        try:
            return mended(text) if text else None
        except RecursionError:
            return None
