"""The JSON around the events: a bare array, or an object whose other keys describe the trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trace_format.errors import DamagedFileError, UnsupportedFormatError
from trace_format.importers.trace_event_json.events import EventReader
from trace_format.importers.trace_event_json.repair import mended
from trace_format.importers.trace_event_json.text import Window
from trace_format.report import ImportReport
from trace_format.trace_events import EventBatch

EVENTS_KEY = "traceEvents"
SECTION_KEY = "neuronProfile"
_LARGEST_VALUE_BYTES = 16 << 20
_LARGEST_SECTION_BYTES = 4 << 30

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

    `keys` holds what was beside the events, `dropped` what of it was too large to keep.
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

    def batches(self) -> Iterator[EventBatch]:
        """The events of the document; the window stands behind its end afterwards.

        Raises UnsupportedFormatError where it is JSON, but no trace.
        """
        window = self._window
        if window.peek() == b"[":
            window.at += 1
            yield from self._array()
        else:
            window.at += 1
            yield from self._object()

    def stray_events(self) -> Iterator[EventBatch]:
        """The events from where the window stands, inside a list of events whose beginning is elsewhere."""
        self.found_events = True
        yield from EventReader(self._window, self._report).batches(self._path)

    def _array(self) -> Iterator[EventBatch]:
        if self._window.peek() not in (b"{", b"]", b""):
            raise UnsupportedFormatError(
                "is JSON, but no trace: an array of something other than events", path=self._path
            )
        self.found_events = True
        yield from EventReader(self._window, self._report).batches(self._path)

    def _object(self) -> Iterator[EventBatch]:
        window = self._window
        while True:
            first = window.peek()
            if first == b",":
                window.at += 1
                continue
            if first in (b"}", b""):
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

    def _key(self, first: bytes) -> str | None:
        text = self._window.value(_LARGEST_VALUE_BYTES) if first == b'"' else None
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
            return
        if key == SECTION_KEY:
            self.section = text
            return
        value = mended(text) if text else None
        if value is None:
            self.dropped.append(key)
        else:
            self.keys[key] = value[0]

    def _no_trace(self) -> UnsupportedFormatError:
        for key, what, advice in _OTHER_JSON:
            if key in self.keys or key in self.dropped:
                return UnsupportedFormatError(f"is {what}; {advice}", path=self._path)
        return UnsupportedFormatError(
            'is JSON, but no trace: it has no "traceEvents"; name the file torch.profiler or Chrome wrote',
            path=self._path,
        )
