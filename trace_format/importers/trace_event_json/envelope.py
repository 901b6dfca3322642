"""The JSON around the events: a bare array, or an object whose other keys describe the trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from trace_format.errors import DamagedFileError, TraceFileError, UnsupportedFormatError
from trace_format.importers.trace_event_json.events import EVENT_START, EventReader
from trace_format.importers.trace_event_json.repair import as_float, mended
from trace_format.importers.trace_event_json.text import Window, first_key, value_end
from trace_format.report import ImportReport
from trace_format.trace_events import EventBatch

EVENTS_KEY = "traceEvents"
SECTION_KEY = "neuronProfile"
BASE_KEY, SAMPLES_KEY = "baseTimeNanoseconds", "samples"
_EXACT_KEYS = (BASE_KEY, SAMPLES_KEY)
_LARGEST_VALUE_BYTES = 16 << 20
_LARGEST_SECTION_BYTES = 4 << 30
_DEEPEST = 100  # levels of nesting in what stands beside the events
_LOOK_AHEAD_BYTES = 64 << 10
_PHASE_KEY = b'"ph"'
_TELLING_KEYS = (_PHASE_KEY, b'"traceEvents"')
_PHASE = re.compile(rb'\s*:\s*"[^"\\]"')
_NEXT_LINE = re.compile(rb"\s*\n\s*(?=\{)")
_PHASE_MEMBER = re.compile(_PHASE_KEY + _PHASE.pattern)

# Other JSON files, by a key at their top.
_OTHER_JSON = (
    ("$schema", "a speedscope profile", "convert the original profile to Chrome trace JSON"),
    ("profiles", "a speedscope profile", "convert the original profile to Chrome trace JSON"),
    ("nodes", "an execution trace (PyTorch ET, Chakra)", "it has no timeline; name the Kineto trace beside it"),
    ("cells", "a Jupyter notebook", "name a trace file"),
    ("active_time", "a Neuron device profile as JSON, which this version does not read", "name a trace.pb"),
    ("log", "a HAR file or a log", "name a trace file"),
)


class Envelope:
    """Reads one document of a file's text, once.

    `keys` holds what was beside the events, fractions in `samples` and in the base time as `Decimal`; `dropped`, what
    of it was too large or too broken to keep.
    `section` is this project's own section as JSON text; b"" where there is none.
    """

    def __init__(self, window: Window, path: str, report: ImportReport) -> None:
        self._window = window
        self._path = path
        self._report = report
        self.keys: dict[str, Any] = {}
        self.dropped: list[str] = []
        self.section = b""
        self.found_events = False
        self._ends_early = False

    def batches(self) -> Iterator[EventBatch]:
        """The events of the document; the window stands behind its end afterwards.

        Raises UnsupportedFormatError where it is JSON, but no trace.
        """
        window = self._window
        if window.peek() == b"[":
            window.at += 1
            if window.peek() not in (b"{", b"]", b"") and not self._has_events_further_on():
                raise UnsupportedFormatError(
                    "is JSON, but no trace: an array of something other than events", path=self._path
                )
            yield from self._array()
        elif self._begins_with_events():
            yield from self._bare_events()
        else:
            window.at += 1
            yield from self._object()

    def stray_events(self) -> Iterator[EventBatch]:
        """The events from where the window stands, inside a list of events whose beginning is elsewhere."""
        self.found_events = True
        yield from EventReader(self._window, self._report).batches()

    def _begins_with_events(self) -> bool:
        """Whether the object that begins here is an event itself, or one line before a line that is one."""
        window = self._window
        window.fill(_LOOK_AHEAD_BYTES)
        text = window.data[window.at : window.at + _LOOK_AHEAD_BYTES]
        key, after = first_key(text, _TELLING_KEYS)
        if not key and after >= 0 and (next_line := _NEXT_LINE.match(text, after)):
            text = text[next_line.end() :]
            key, after = first_key(text, _TELLING_KEYS)
        if key or after >= 0:
            return key == _PHASE_KEY and bool(_PHASE.match(text, after))
        line = text.partition(b"\n")[0]  # its strings are broken, or it is very long
        return bool(EVENT_START.match(line)) and bool(_PHASE_MEMBER.search(line))

    def _bare_events(self) -> Iterator[EventBatch]:
        """Events without brackets around them: one on each line, or a list whose beginning is missing."""
        window = self._window
        end = value_end(window.data, window.at, len(window.data))
        line_end = window.data.find(b"\n", window.at) + 1 or len(window.data)
        if end >= 0:
            separator = window.data[end : end + _LOOK_AHEAD_BYTES].lstrip()[:1]
        else:
            separator = window.data[window.at : line_end].rstrip()[-1:]
        by_line = separator not in (b",", b"]")
        if by_line:
            window.take_lines()
        else:
            self._report.repaired["the file begins inside its list of events"] += 1
        self.found_events = True
        yield from EventReader(window, self._report, by_line=by_line).batches()

    def _has_events_further_on(self) -> bool:
        self._window.fill(_LOOK_AHEAD_BYTES)
        return bool(EVENT_START.search(self._window.data, self._window.at))

    def _array(self) -> Iterator[EventBatch]:
        self.found_events = True
        reader = EventReader(self._window, self._report)
        yield from reader.batches()
        self._ends_early = not reader.closed

    def _object(self) -> Iterator[EventBatch]:
        window = self._window
        while True:
            first = window.peek()
            if first == b",":
                window.at += 1
                continue
            if first in (b"}", b""):
                if not first:
                    self._note_early_end()
                window.at += len(first)
                break
            key = self._key(first)
            if key is None:
                break
            if window.peek() == b":":
                window.at += 1
            if key == EVENTS_KEY and window.peek() == b"[":
                window.at += 1
                yield from self._array()
                continue
            self._value(key)
        if not self.found_events:
            raise self._no_trace()

    def _note_early_end(self) -> None:
        if self.found_events and not self._ends_early:
            self._report.repaired[f"the file ends before its object does (byte {self._window.offset})"] += 1
        self._ends_early = True

    def _key(self, first: bytes) -> str | None:
        text = self._window.value(_LARGEST_VALUE_BYTES) if first == b'"' else b""
        if text is None:
            self._note_early_end()
            self._window.at = len(self._window.data)
            return None
        key = mended(text) if text else None
        if key is not None:
            return str(key[0])
        if not self.found_events:
            raise DamagedFileError(
                "is not valid JSON here and holds no events before", path=self._path, offset_bytes=self._window.offset
            )
        self._report.repaired[f"the file is not valid JSON after its events (byte {self._window.offset})"] += 1
        return None

    def _value(self, key: str) -> None:
        text = self._window.value(_LARGEST_SECTION_BYTES if key == SECTION_KEY else _LARGEST_VALUE_BYTES)
        if text is None:
            self._note_early_end()
            self._window.at = len(self._window.data)
            return
        if key == SECTION_KEY:
            self.section = text
            return
        try:
            value = mended(text) if text else None
            plain = None if value is None else _plain(value[0])
        except RecursionError:
            value = None
        if value is None:
            self.dropped.append(key)
            self._report.repaired["value beside the events that cannot be read: left out"] += 1
        else:
            self.keys[key] = value[0] if key in _EXACT_KEYS else plain

    def _no_trace(self) -> TraceFileError:
        for key, what, advice in _OTHER_JSON:
            if key in self.keys or key in self.dropped:
                return UnsupportedFormatError(f"is {what}; {advice}", path=self._path)
        if self._ends_early:
            return DamagedFileError(
                "ends before its list of events begins; get it anew", path=self._path, offset_bytes=self._window.offset
            )
        if EVENTS_KEY in self.keys or EVENTS_KEY in self.dropped:
            return UnsupportedFormatError('is JSON, but no trace: its "traceEvents" is no list', path=self._path)
        if self._window.peek() == b"{":
            return UnsupportedFormatError(
                "is JSON lines, but no trace: what is on its first line is no event; name the file a profiler wrote",
                path=self._path,
            )
        return UnsupportedFormatError(
            'is JSON, but no trace: it has no "traceEvents"; name the file torch.profiler or Chrome wrote',
            path=self._path,
        )


def _plain(value: Any, depth: int = 0) -> Any:
    """A value that `mended` returned with numbers as int or float. Raises RecursionError where it is too deep."""
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, Decimal):
        return as_float(value)
    if isinstance(value, dict):
        return {name: _plain(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, depth + 1) for inner in value]
    return value
