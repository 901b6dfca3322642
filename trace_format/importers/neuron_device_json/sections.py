"""The sections of a device profile's JSON, each a list of rows, decoded some thousand rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from trace_format.importers.neuron_device_json.salvage import salvaged_sections
from trace_format.importers.recognition import BOM
from trace_format.importers.source import Source
from trace_format.json_object import json_object
from trace_format.report import ImportReport

# The text is in memory as a whole. The largest profile that fits has some ten million rows.
MOST_TEXT_BYTES = 2 << 30
_ROWS_AT_A_TIME = 1 << 14
_DOCUMENT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_ROWS = msgspec.json.Decoder(list[dict[str, Any]])
_ERRORS = (msgspec.MsgspecError, RecursionError, UnicodeError)


class Section:
    """The rows of one section. What is no list counts as one row."""

    def __init__(self, name: str, texts: list[Any], report: ImportReport) -> None:
        self._name, self._texts, self._report = name, texts, report

    @classmethod
    def of(cls, name: str, text: msgspec.Raw, report: ImportReport) -> Section:
        try:
            return cls(name, _LIST.decode(text), report)
        except _ERRORS:
            return cls(name, [text], report)

    def batches(self) -> Iterator[list[dict[str, Any]]]:
        """The rows, some thousand at a time; what is no JSON object is counted as left out."""
        for at in range(0, len(self._texts), _ROWS_AT_A_TIME):
            texts = self._texts[at : at + _ROWS_AT_A_TIME]
            try:
                yield _ROWS.decode(b"[%b]" % b",".join(texts))
            except _ERRORS:
                yield self._one_by_one(texts)

    def _one_by_one(self, texts: list[Any]) -> list[dict[str, Any]]:
        rows = [row for row in (json_object(bytes(text)) for text in texts) if row]
        lost = len(texts) - len(rows)
        if lost:
            self._report.source_events += lost
            self._report.left_out[f"row of {self._name} that is no JSON object"] += lost
        return rows


def read_sections(source: Source, report: ImportReport) -> dict[str, Section]:
    """The sections of a file by name, in its order.

    Of a damaged file, those and those rows that can be read; the report says so.
    Raises LimitExceededError for a text beyond 2 GiB, DamagedFileError where nothing can be read.
    """
    text = _text(source)
    try:
        found = _DOCUMENT.decode(text)
    except _ERRORS:
        salvaged = salvaged_sections(text, report, source.path)
        return {name: Section(name, texts, report) for name, texts in salvaged.items()}
    finally:
        source.note_in(report)
    return {name: Section.of(name, raw, report) for name, raw in found.items()}


def _text(source: Source) -> bytes:
    too_large = (
        f"is a device profile of more than {MOST_TEXT_BYTES >> 30} GiB of JSON; write it as Parquet instead "
        "(--output-format parquet)"
    )
    return source.whole(MOST_TEXT_BYTES, too_large).removeprefix(BOM)
