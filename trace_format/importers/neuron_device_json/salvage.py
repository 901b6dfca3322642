"""Finds the rows of a device profile whose JSON is damaged or cut off."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from trace_format.errors import DamagedFileError
from trace_format.importers.neuron_device_tables.profile import KNOWN_TABLES
from trace_format.json_object import json_object
from trace_format.report import ImportReport

_DEPTH = 6  # of lists and objects within a row; four are used
_LONGEST_ROW_BYTES = 1 << 17
_MOST_FAILURES = 1000  # each may cost a look at that many bytes

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_STRING = rb'"(?:[^"\\]++|\\.)*+"'


def _nested(depth: int) -> bytes:
    inner = rb"(?:[^\"{}\[\]]++|" + _STRING
    if depth:
        inner += rb"|\{" + _nested(depth - 1) + rb"\}|\[" + _nested(depth - 1) + rb"\]"
    return inner + rb")*+"


_ROW = re.compile(rb"\{" + _nested(_DEPTH) + rb"\}", re.DOTALL)
_SECTION = re.compile(rb'[{,\s]*+"([A-Za-z_0-9]{1,64})"\s*+:\s*+\[')
_AROUND = re.compile(rb"[\]},\s]*+")  # what ends rows and sections too
# Where to go on after a place that makes no sense: the next row, or the next section. A list of objects within a row
# looks like one, so only those that are known count there.
_AGAIN = re.compile(
    rb'\}\s*+,\s*+(?=\{)|\]\s*+,\s*+(?="(?:' + "|".join(KNOWN_TABLES).encode() + rb')"\s*+:\s*+\[\s*+[{\]])'
)


def salvaged_sections(text: bytes, report: ImportReport, path: Path) -> dict[str, list[bytes]]:
    """The texts of all rows that are whole, by section; the report says what was lost.

    Raises DamagedFileError where there is none.
    """
    sections: dict[str, list[bytes]] = {}
    name, at, failures = "", 0, 0
    lost = False  # since a failure it is not known whether a list is a section or one within a row
    while at < len(text):
        at = _end(_AROUND, text, at)
        heading = None if text[at : at + 1] == b"{" and name else _SECTION.match(text, at)
        if heading and (not lost or heading[1].decode() in KNOWN_TABLES):
            name, lost = heading[1].decode(), False
            sections.setdefault(name, [])
            at = heading.end()
            continue
        row = _ROW.match(text, at, min(len(text), at + _LONGEST_ROW_BYTES)) if name and not heading else None
        if row and _is_object(row[0]):
            sections[name].append(row[0])
            at = row.end()
            continue
        if at >= len(text):
            break
        failures += not lost or not heading
        lost = True
        again = _AGAIN.search(text, at)
        if failures == _MOST_FAILURES and again is not None:
            report.repaired[f"too much of the JSON is damaged: not read from byte {at} on"] += 1
            again = None
        if again is None:
            break
        at = again.end()
    if not any(sections.values()):
        raise DamagedFileError("is a device profile of which no row can be read; write or copy it again", path=path)
    if failures:
        report.source_events += failures
        report.left_out["row that is cut off or damaged"] += failures
    report.repaired[f"the JSON is damaged or cut off; read what is whole ({len(text)} bytes)"] += 1
    return sections


def _is_object(text: bytes) -> bool:
    """Whether the text is one: a quotation mark too many makes several rows look like one."""
    try:
        _OBJECT.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return bool(json_object(text))
    return True


def _end(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
