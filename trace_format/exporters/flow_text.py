"""Formats flows as trace events."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trace_format.exporters.event_text import SEPARATOR, Texts
from trace_format.exporters.lanes import Lanes
from trace_format.exporters.text_rows import TextRows
from trace_format.tables import Slices
from trace_format.trace import Trace

Array = np.ndarray


class FlowTexts:
    """Flow events by the slice they start or end at, so that each directly follows its slice in the file:
    a viewer binds it to the slice it saw last at that time on that line."""

    def __init__(self, trace: Trace, lanes: Lanes, texts: Texts, base_ns: int) -> None:
        flows = trace.flows
        valid = (flows.from_slice >= 0) & (flows.to_slice >= 0)
        number = np.flatnonzero(valid)
        cause, effect = flows.from_slice[valid], flows.to_slice[valid]
        at = np.where(_may_follow(trace.slices, cause, effect), cause, effect)
        slices, rows = np.concatenate([cause, effect]), np.concatenate([cause, at])
        order = np.argsort(rows, kind="stable")
        self._rows, self._slices = rows[order], slices[order]
        self._number = np.concatenate([number, number])[order]
        self._ends = (np.arange(len(rows)) >= len(rows) // 2)[order]
        self._trace, self._lanes, self._texts, self._base_ns = trace, lanes, texts, base_ns
        self._said: dict[tuple[int, int], str] = {}

    def append_to(self, first: int, events: list[bytes]) -> None:
        """Append to the events of the slices from row `first` on the flow events of each."""
        low, high = np.searchsorted(self._rows, [first, first + len(events)]).tolist()
        for row, text in zip((self._rows[low:high] - first).tolist(), self._made(slice(low, high)), strict=True):
            events[row] += text

    def _made(self, part: slice) -> Iterator[bytes]:
        rows, number, lanes, said = self._slices[part], self._number[part], self._lanes, self._said
        flows = self._trace.flows
        numbers = TextRows(len(rows))
        numbers.put(b',"id":')
        numbers.integers(number)
        numbers.put(b',"ts":')
        numbers.microseconds(self._trace.slices.ts_ns[rows] - self._base_ns)
        labels = zip(flows.kind[number].tolist(), flows.name[number].tolist(), strict=True)
        at = lanes.slice_lane[rows].tolist()
        for end, label, lane, text in zip(self._ends[part].tolist(), labels, at, numbers.finish(), strict=True):
            if label not in said:
                said[label] = f'"cat":{self._texts.string(label[0])},"name":{self._texts.string(label[1])}'
            kind = '"ph":"f","bp":"e"' if end else '"ph":"s"'
            head = f'{SEPARATOR}{{{kind},{said[label]},"pid":{lanes.pid[lane]},"tid":{lanes.tid[lane]}'
            yield head.encode() + text + b"}"


def _may_follow(slices: Slices, cause: Array, effect: Array) -> Array:
    """Which flows can have their end behind their start in the file, where the slices stand the other way round.

    A viewer takes no end before its start. Both slices begin at one moment then, and the one at the end must be the
    last of its line that begins there, or the end would be bound to another.
    """
    starts, track = slices.ts_ns, slices.track
    found = (starts[cause] == starts[effect]) & (cause > effect)
    following = np.minimum(effect + 1, len(starts) - 1)
    return found & ((track[following] != track[effect]) | (starts[following] != starts[effect]))
