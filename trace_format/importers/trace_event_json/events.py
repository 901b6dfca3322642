"""Reads the events of a JSON array piece by piece, past whatever is broken in it."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import islice
from typing import Any

import msgspec

from trace_format.importers.recognition import BOM
from trace_format.importers.trace_event_json.decode import (
    batch_of,
    decode_event,
    decode_events,
    has_a_place,
    usual_event,
)
from trace_format.importers.trace_event_json.repair import mended
from trace_format.importers.trace_event_json.text import Window, member, value_end
from trace_format.report import ImportReport
from trace_format.trace_events import EventBatch

CHUNK_BYTES = 1 << 19
_LARGEST_EVENT_BYTES = 128 << 20
_LEAF_BYTES = 16 << 10
_MOST_TRIED = 4
_BLANK = b" \t\r\n,"
_SEPARATORS = (b" ", b"\t", b"\r", b"\n", b",")
_EVENT_BEFORE = re.compile(rb"\}\s*,\s*\Z")
# Between two events, seen without knowing what is around: the next one starts with a key that events have.
_FIRST_KEY = rb'\{\s*"(?:ph|name|cat|pid|tid|ts|tts|dur|tdur|args|id|id2|s|bp|attr)"\s*:'
_BOUNDARY = re.compile(rb"(?<=\})\s*,\s*(?=%b)" % _FIRST_KEY)
EVENT_START = re.compile(_FIRST_KEY)
_RESYNC = re.compile(_BOUNDARY.pattern + rb'|"traceEvents"\s*:\s*\[\s*(?=\{)')  # or another document's list begins
_PHASE_KEY = re.compile(rb'"ph"\s*:')
_MIXED = "documents written into each other: read as one list of events"
LONGEST_EVENT_START = 256  # bytes
_ARRAY_END = re.compile(rb'\}\s*(\])(?=\s*(?:,\s*"|\}|\Z))')
_FILE_END = re.compile(rb"\]\s*\}?\s*\Z")
_LOOK_BACK = 256  # white space allowed between two events where a piece may be cut
_MOST_CUTS, _MOST_ENDS = 2000, 200
# Entries of the list that are no objects, one after the other, each with the comma behind it.
_SCALAR_ENTRY = rb'(?:"(?:[^"\\]|\\.)*+"|-?(?:\d[\d.eE+-]*+|Infinity)|true|false|null|NaN)'
_SCALAR_ENTRIES = re.compile(rb"(?:%b(?=\s*[,\]]|[ \t\r]*\n)[\s,]*+)++" % _SCALAR_ENTRY, re.DOTALL)
_ONE_SCALAR = re.compile(_SCALAR_ENTRY, re.DOTALL)
_AFTER_ENTRY = re.compile(rb"\s*(?:[,\]]|\Z)|[ \t\r]*\n")
_INVALID = "event that is no valid JSON"
NO_OBJECT = "entry that is no object"
_TOO_DEEP = "event nested too deeply to be read"
# How far to look for the end of an event of unusual form, while no more was searched in vain than so much, and so many
# times what has been read: a file of nothing but broken events must not take hours.
_REACH_BYTES = ((8 << 20, 4, 8 << 20), (16 << 20, 8, 1 << 20))
_LEAST_REACH_BYTES = 1 << 10
_FAULT = re.compile(r"\(byte (\d+)\)\Z")  # the place of a fault, at the end of msgspec's message
_UNDECODABLE = (msgspec.MsgspecError, RecursionError, UnicodeError)


class EventReader:
    """The events from where a window stands (inside the array) to the array's end, in batches.

    A piece is cut where one event seems to end and the next to begin; a wrong cut does not decode, so nothing is
    misread: it is cut anew, down to single events. What is broken inside one event is mended if that is possible,
    else that event is left out. Both are counted in `report`. So are entries that are no objects.

    `by_line`: the text has no brackets around the events, and each is on a line of its own.
    """

    def __init__(self, window: Window, report: ImportReport, *, by_line: bool = False) -> None:
        self._window = window
        self._report = report
        self._events: list[dict[str, Any]] = []  # those taken one by one, waiting to become a batch
        self._start = 0  # of the piece at hand, in the text
        self._end = -1  # in the piece at hand: place after the array's closing bracket
        self._cut_off = False  # the file ends inside an event
        self._searched_bytes = 0  # for ends of events, in vain
        self._by_line = by_line
        self.closed = False  # the array's end was found

    def batches(self) -> Iterator[EventBatch]:
        """The batches in the order of the file; the window stands behind the array's end afterwards."""
        window, wanted = self._window, CHUNK_BYTES
        commas = 0  # since the last event
        while True:
            window.fill(wanted)
            first = window.peek()
            if first == b",":
                window.at += 1
                commas += 1
                continue
            self._note_commas(commas, allowed=0 if first == b"]" else 1)
            commas = 0
            if first in (b"]", b""):
                break
            if first != b"{":
                after = self._skip_scalars(window.data, window.at)
                if after > window.at:
                    window.at = after
                    continue
            before = window.offset
            yield from self._piece()
            if self._end >= 0:
                self.closed = True
                yield from self._flush()
                return
            if window.offset == before:
                wanted *= 2
                if wanted > _LARGEST_EVENT_BYTES:
                    yield from self._past_the_end_of_reach()
                    wanted = CHUNK_BYTES
            else:
                wanted = CHUNK_BYTES
        yield from self._flush()
        if first == b"]":
            self.closed = True
            window.at += 1
        elif not self._cut_off and not self._by_line:
            self._report.repaired[f"the file ends before its list of events does (byte {window.offset})"] += 1

    def _piece(self) -> Iterator[EventBatch]:
        """Consume what is in memory up to the last event that is whole."""
        window = self._window
        if window.ended:
            found = self._whole_rest()
            if found is not None:
                yield from self._flush()
                yield found
                return
            cut = len(window.data)
        else:
            cut = self._last_cut()
            if cut < 0:
                return
        text = window.data[window.at : cut]
        at, self._start = window.at, window.offset
        try:
            batch = decode_events(b"[%b]" % text.strip(_BLANK))
        except _UNDECODABLE:
            used = yield from self._salvage(text, final=window.ended)
            window.at = at + (self._end if self._end >= 0 else used)
        else:
            window.at = cut
            yield from self._flush()
            yield batch

    def _last_cut(self) -> int:
        """Where the last event in memory begins, if that can be seen; else -1."""
        data, low = self._window.data, self._window.at
        at = len(data)
        for _ in range(_MOST_CUTS):
            at = data.rfind(b"{", low, at)
            if at <= low:
                return -1
            if _EVENT_BEFORE.search(data[max(low, at - _LOOK_BACK) : at]):
                return at
        return -1

    def _whole_rest(self) -> EventBatch | None:
        """The rest of the array, if its end can be told from the end of the file and all of it decodes."""
        window = self._window
        at = len(window.data)
        for _ in range(_MOST_ENDS):
            at = window.data.rfind(b"]", window.at, at)
            if at < 0:
                return None
            if window.data[window.at : at].rstrip()[-1:] not in (b"}", b","):
                continue
            if not re.match(rb'\s*(?:,\s*"|\}|\Z)', window.data[at + 1 : at + 1 + _LOOK_BACK]):
                continue
            try:
                batch = decode_events(b"[%b]" % window.data[window.at : at].strip(_BLANK))
            except _UNDECODABLE:
                return None
            self._note_commas(int(window.data[window.at : at].rstrip()[-1:] == b","), allowed=0)
            window.at = at + 1
            self._end = window.at
            return batch
        return None

    def _salvage(self, text: bytes, *, final: bool) -> Generator[EventBatch, None, int]:
        """Read around what does not decode. Returns how much of `text` was used up."""
        batches: list[EventBatch] = []
        used = self._read_around(text, batches, final=final)
        batches += self._flush()
        if batches:
            yield EventBatch.joined(batches)
        return used

    def _read_around(self, text: bytes, batches: list[EventBatch], *, final: bool) -> int:
        """Split what does not decode, at the fault where the decoder names it, else in halves, until it does."""
        ranges = [(0, len(text))]
        done = 0
        while ranges and self._end < 0:
            low, high = ranges.pop()
            low = max(low, done)
            body = text[low:high].lstrip(_BLANK)
            if not body:
                continue
            start = high - len(body)
            try:
                batch = decode_events(b"[%b]" % body.rstrip(_BLANK))
            except _UNDECODABLE as error:
                middle = _BOUNDARY.search(text, (low + high) // 2, high) if high - low > _LEAF_BYTES else None
                if middle:
                    ranges += [(middle.end(), high), (low, middle.start())]
                    continue
                fault = _FAULT.search(str(error))
                if fault:
                    cut = self._event_around(text, start, start + int(fault[1]))
                    if cut > start:
                        ranges += [(cut, high), (low, cut)]
                        continue
                    ranges.append((start + 1, high))
                    high = start + 1
                done = self._one_by_one(text, low, high, final=final)
                if done < high:
                    return done
            else:
                done = high
                batches += self._flush()
                batches.append(batch)
        return len(text)

    @staticmethod
    def _event_around(text: bytes, low: int, place: int) -> int:
        """Where the event begins that a place in [low, ...) lies in, as far as that can be seen; else `low`."""
        at = place
        for _ in range(_MOST_CUTS):
            at = text.rfind(b"{", low, at)
            if at <= low:
                return low
            if _EVENT_BEFORE.search(text[max(low, at - _LOOK_BACK) : at]):
                return at
        return low

    def _one_by_one(self, text: bytes, low: int, high: int, *, final: bool) -> int:
        """Take the events that begin in [low, high). Returns where the next one begins; below `high` if the one there
        needs text that is not in memory yet."""
        at = after = low
        while True:
            while text[at : at + 1] in _SEPARATORS:
                at += 1
            if text.startswith(BOM, at):  # files written one behind the other
                at += len(BOM)
                continue
            if not self._by_line and low < after and EVENT_START.match(text, at) and b"," not in text[after - 1 : at]:
                self._report.repaired["comma missing between events"] += 1
            ends = text[at : at + 1] == b"]"
            if not self._by_line and low < after:
                self._note_commas(text.count(b",", after, at), allowed=0 if ends else 1)
            if at >= high:
                return at
            if ends:
                self._end = at + 1
                return high
            stop = self._take(text, at)
            if stop < 0:
                # what looks like the next event may be an object within this one, whose end is not in memory yet
                if len(text) - at < self._reach() and not final:
                    return at
                stop = self._leave_out(text, at)
            at = after = stop

    def _take(self, text: bytes, low: int) -> int:
        """Read the event that begins at `low`. Returns the place after it; -1: it cannot be read."""
        if text[low : low + 1] != b"{":
            after = self._skip_scalars(text, low)
            if after > low:
                return after
        high = min(len(text), low + self._reach())
        likely = _BOUNDARY.search(text, low, high)
        if likely:
            try:
                self._events.append(decode_event(text[low : likely.start()]))
            except _UNDECODABLE:
                pass
            else:
                return likely.start()
        stop = value_end(text, low, high)
        if stop < 0:
            self._searched_bytes += high - low
        elif self._is_array_of_no_events(text, low, stop):
            self._lose(NO_OBJECT)
            return stop
        try:
            value = mended(text[low:stop]) if stop >= 0 else None
            if value is None:  # its strings are broken: try the places that look like its end
                for stop in self._likely_ends(text, low, high):
                    value = mended(text[low:stop])
                    if value is not None and isinstance(value[0], dict) and "ph" in value[0]:
                        break
                else:
                    return -1
            self._keep(*value, text[low:stop])
        except RecursionError:
            self._lose(_TOO_DEEP)
        return stop

    def _keep(self, value: Any, causes: list[str], text: bytes) -> None:
        """Take in an entry of the list; `causes` say what in its text had to be mended."""
        if isinstance(value, dict) and isinstance(value.get("traceEvents"), list):
            value = value["traceEvents"]
        if isinstance(value, list):
            inner = [usual_event(one, None) for one in value if isinstance(one, dict)]
            self._lose(NO_OBJECT, len(value) - len(inner))
            self._report.repaired[_MIXED] += 1
            self._events += inner
            return
        event = usual_event(value, None if causes else member(text, b'"args"'))
        self._events.append(event)
        if has_a_place(event):  # else it is left out, for a reason of its own
            self._report.repaired.update(causes)

    def _note_commas(self, commas: int, *, allowed: int) -> None:
        if commas > allowed:
            self._report.repaired["comma too many"] += commas - allowed

    def _lose(self, cause: str, entries: int = 1) -> None:
        if entries:
            self._report.source_events += entries
            self._report.left_out[cause] += entries

    def _skip_scalars(self, text: bytes, low: int) -> int:
        """Count the entries from `low` on that are text, numbers or the like. Returns the place after them."""
        scalars = _SCALAR_ENTRIES.match(text, low)
        if scalars is None and self._window.ended:
            scalars = _ONE_SCALAR.fullmatch(text, low)
        if scalars is None:
            return low
        self._lose(NO_OBJECT, sum(1 for _ in _ONE_SCALAR.finditer(text, low, scalars.end())))
        return scalars.end()

    @staticmethod
    def _is_array_of_no_events(text: bytes, low: int, stop: int) -> bool:
        is_entry = text[low : low + 1] == b"[" and _AFTER_ENTRY.match(text, stop)
        return bool(is_entry) and not _PHASE_KEY.search(text, low, stop)

    def _reach(self) -> int:
        for in_vain, times, reach in _REACH_BYTES:
            if self._searched_bytes < in_vain + times * self._start:
                return reach
        return _LEAST_REACH_BYTES

    @staticmethod
    def _likely_ends(text: bytes, low: int, high: int) -> list[int]:
        following = list(islice(_BOUNDARY.finditer(text, low, high), _MOST_TRIED))
        last = _ARRAY_END.search(text, low, following[-1].start() if following else high)
        return [found.start() for found in following] + ([last.start() + 1] if last else [])

    def _leave_out(self, text: bytes, at: int) -> int:
        """Count the event at `at` as lost, and any it runs into. Returns where the next one seems to begin."""
        following = _RESYNC.search(text, at + 1)
        end = self._array_end(text, at) if following is None and self._window.ended else -1
        stop = following.end() if following else end if end >= 0 else len(text)
        if following and b"[" in following[0]:
            self._report.repaired[_MIXED] += 1
        lost = max(len(_PHASE_KEY.findall(text, at, stop)), 1)
        self._report.source_events += lost
        if following is None and end < 0 and self._window.ended:
            self._cut_off = True
            self._report.left_out[f"event cut off by the end of the file (byte {self._start + at})"] += 1
            lost -= 1
        if lost:
            longest = _REACH_BYTES[0][2]
            cause = f"event of more than {longest >> 20} MB, or no valid JSON" if stop - at > longest else _INVALID
            self._report.left_out[cause] += lost
        return stop

    @staticmethod
    def _array_end(text: bytes, at: int) -> int:
        """Where the bracket is that seems to end the array, in text up to the file's end; -1 where there is none."""
        ends = [found.start(1) for found in _ARRAY_END.finditer(text, at)]
        if ends and _FILE_END.match(text, ends[-1]):
            return ends[-1]
        return ends[0] if ends else -1

    def _past_the_end_of_reach(self) -> Iterator[EventBatch]:
        """Go on where no event ends within any reasonable length, with what is in memory."""
        window = self._window
        at, text = window.at, window.data[window.at :]
        self._start = window.offset
        used = yield from self._salvage(text, final=False)
        window.at = at + (self._end if self._end >= 0 else used)
        if used == len(text) and self._end < 0:
            window.seek(_RESYNC, LONGEST_EVENT_START)

    def _flush(self) -> Iterator[EventBatch]:
        if self._events:
            yield batch_of(self._events)
            self._events = []
