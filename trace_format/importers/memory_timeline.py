"""Reads the raw memory timeline of torch.profiler (`export_memory_timeline("….raw.json.gz")`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.errors import LimitExceededError
from trace_format.importers.clocks import is_unix
from trace_format.importers.recognition import BOM
from trace_format.importers.source import Source
from trace_format.report import ImportReport
from trace_format.trace import Trace

Array = np.ndarray

# torch/profiler/_memory_profiler.py: Action, and _CATEGORY_TO_INDEX in the order of _CATEGORY_TO_COLORS
_PREEXISTING = 1
_CATEGORIES = (
    "parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", "",
)  # fmt: skip
_MOST_ROWS = 1 << 24  # they are put in order in memory
_LARGEST_NUMBER = 2**62
_LONGEST_ROW = 1 << 16  # four numbers take less than a hundred bytes
_ROWS = msgspec.json.Decoder(list[tuple[int, int, int, int]])
_ONE = msgspec.json.Decoder(tuple[int, int, int, int])
_ROW = re.compile(rb"\[[^\[\]]*\]")
_AROUND = b" \t\r\n,"
_END = re.compile(rb"\]\s*\]\Z")
_UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeError)
_NO_ROW = "entry that is not [time, action, bytes, category]"


def read_memory_timeline(source: Source) -> Trace:
    """The trace in a raw memory timeline: a row of the memory table for each entry, `total_bytes` their running sum.

    What existed before recording began stands at the time of the first entry that has one. The file does not say
    which device it is about. Raises LimitExceededError for more rows than fit into memory.
    """
    builder = TraceBuilder()
    parts: list[Array] = []
    rows = 0
    for part in _Rows(builder.report).read(source.pieces()):
        parts.append(part)
        rows += len(part)
        if rows > _MOST_ROWS:
            raise LimitExceededError(f"is a memory timeline of more than {_MOST_ROWS} entries", path=source.path)
    source.note_in(builder.report)
    builder.report.source_events += rows
    ts, action, delta, category = np.concatenate([np.zeros((0, 4), np.int64), *parts]).T
    timed = ts[ts >= 0]
    began = int(timed.min()) if len(timed) else 0
    before = (ts < 0) | (action == _PREEXISTING)
    when = np.where(before, began, ts)
    order = np.argsort(when, kind="stable")
    names = [builder.string(name) for name in _CATEGORIES]
    builder["memory"].append(
        rows,
        ts_ns=when[order],
        delta_bytes=delta[order],
        total_bytes=_running_sum(delta[order]),
        category=np.array(names, np.int64)[np.clip(category, 0, len(names) - 1)][order],
    )
    described = {
        "format": "torch-memory-timeline",
        "path": source.path.name,
        "producer": "torch.profiler",
        "clock": "unix" if is_unix(began) else "unknown",
        "present_before": int(before.sum()),
    }
    return builder.finish(metadata={"sources": [described]})


def _running_sum(delta: Array) -> Array:
    """The running sum, unknown (-1) throughout where numbers are so large that it could exceed int64."""
    if np.abs(delta.astype(np.float64)).sum() >= _LARGEST_NUMBER:
        return np.full(len(delta), -1, np.int64)
    return np.cumsum(delta)


class _Rows:
    """Reads the entries piece by piece; what cannot be read is counted in the report and costs no other entry."""

    def __init__(self, report: ImportReport) -> None:
        self._report = report
        self._opened = self._ended = False

    def read(self, pieces: Iterator[bytes]) -> Iterator[Array]:
        """Time, action, bytes and category of the entries, `(n, 4) int64` for each piece of the text."""
        rest, size = b"", 0
        for piece in pieces:
            size += len(piece)
            text = rest + piece
            cut = text.rfind(b"]") + 1
            yield self._of(text[:cut])
            rest = text[cut:]
            if len(rest) > _LONGEST_ROW:
                self._note_between(rest, inside=False)
                rest = b""
        if rest.strip(_AROUND + b"["):
            self._report.source_events += 1
            self._report.left_out["entry cut off by the end of the file"] += 1
        if not self._ended:
            self._report.repaired[f"the file ends before its list of entries does (byte {size})"] += 1

    def _of(self, text: bytes) -> Array:
        body = text.strip(_AROUND)
        if not self._opened and body:
            body = body.removeprefix(BOM).lstrip(_AROUND)[1:]
            self._opened = True
        end = _END.search(body, max(0, len(body) - _LONGEST_ROW))
        inner = body[: end.start() + 1] if end else body
        try:
            rows = np.array(_ROWS.decode(b"[%b]" % inner.strip(_AROUND)), np.int64).reshape(-1, 4)
        except (*_UNREADABLE, OverflowError):
            return self._one_by_one(body)
        self._ended |= end is not None
        good = ((rows > -_LARGEST_NUMBER) & (rows < _LARGEST_NUMBER)).all(axis=1)
        self._leave_out(int((~good).sum()))
        return rows[good]

    def _one_by_one(self, text: bytes) -> Array:
        """The entries in a text that is no list of them, each for itself."""
        rows = []
        at = 0
        for found in _ROW.finditer(text):
            self._note_between(text[at : found.start()], inside=at > 0)
            at = found.end()
            try:
                row = _ONE.decode(found[0])
            except _UNREADABLE:
                self._leave_out()
                continue
            if all(-_LARGEST_NUMBER < number < _LARGEST_NUMBER for number in row):
                rows.append(row)
            else:
                self._leave_out()
        self._note_between(text[at:], inside=False)
        return np.array(rows, np.int64).reshape(-1, 4)

    def _note_between(self, text: bytes, *, inside: bool) -> None:
        """Count what stands between two entries (`inside`), or before the first or behind the last."""
        marks = text.translate(None, b" \t\r\n")
        if marks.translate(None, b"[],"):
            self._leave_out()
        elif inside and b"," not in marks and b"[" not in marks:
            self._repair("comma missing between entries")
        elif marks.count(b",") > 1 or b",]" in marks:
            self._repair("comma too many")
        opened, closed = marks.count(b"["), marks.count(b"]")
        self._ended |= closed > 0
        if opened and self._ended:
            self._repair("a further list in the same file")
            self._ended = False
            opened -= 1
        if opened or closed > 1:
            self._repair("bracket too many")

    def _leave_out(self, entries: int = 1) -> None:
        if entries:
            self._report.source_events += entries
            self._report.left_out[_NO_ROW] += entries

    def _repair(self, cause: str) -> None:
        self._report.repaired[cause] += 1
