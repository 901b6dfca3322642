"""Writes a trace as Chrome trace events: what Perfetto and chrome://tracing open."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from trace_format.exporters.event_text import SCOPE_LETTERS, SEPARATOR, Texts, instant_events, slice_events
from trace_format.exporters.lanes import Lanes, lay_out
from trace_format.exporters.plain_text import plain
from trace_format.exporters.section_text import section
from trace_format.exporters.sink import Sink
from trace_format.exporters.text_rows import TextRows, joined
from trace_format.trace import Trace
from trace_format.trace_events import memory
from trace_format.trace_events.section import dumps

Array = np.ndarray

_WIDEST_SPAN_NS = 2**62
_DEVICE_TYPES = {name: number for number, name in enumerate(memory.DEVICE_TYPES)}
_OTHER_DEVICE = len(memory.DEVICE_TYPES) - 1


def write_chrome_trace(trace: Trace, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a trace as trace-event JSON, gzipped if the name ends in .gz.

    Times are relative to `baseTimeNanoseconds` and exact to the nanosecond. Raises TraceFileError where the
    file exists and `force` is not given, or where it cannot be written.
    """
    with Sink(path, force=force) as sink:
        lanes = lay_out(trace)
        base_ns = _base_ns(trace)
        sink.write(f'{{"schemaVersion":1,"displayTimeUnit":"ns","baseTimeNanoseconds":{base_ns},\n')
        sink.write('"neuronProfile":')
        for part in section(trace, lanes):
            sink.write(part)
        sink.write(',\n"traceEvents":[\n')
        separator = len(SEPARATOR)
        for events in _events(trace, lanes, base_ns):
            sink.write(events[separator:])
            separator = 0
        sink.write("\n]}\n")


def _base_ns(trace: Trace) -> int:
    """What times are written relative to: the first, unless that would not fit the numbers viewers use."""
    first, last = trace.time_range_ns or (0, 0)
    return first if last - first < _WIDEST_SPAN_NS else 0


def _events(trace: Trace, lanes: Lanes, base_ns: int) -> Iterator[bytes]:
    """All events, many at once, a separator before each; no empty parts."""
    texts = Texts(trace.pool)
    if len(trace.tracks):
        yield "".join(SEPARATOR + text for text in _names(trace, lanes)).encode()
    yield from slice_events(trace.slices, lanes, texts, base_ns, _FlowTexts(trace, lanes, texts, base_ns).append_to)
    yield from instant_events(trace.instants, lanes, texts, base_ns)
    if len(trace.counters):
        yield _counters(trace, lanes, base_ns)
    if len(trace.memory):
        yield _memory(trace, lanes, base_ns)


def _names(trace: Trace, lanes: Lanes) -> Iterator[str]:
    """Metadata events: names and order of processes and threads."""
    tracks = trace.tracks
    names, parents, order = tracks.text("name"), tracks.parent.tolist(), tracks.sort_index.tolist()
    for track, parent in enumerate(parents):
        if parent < 0:
            yield from _metadata("process", lanes.process[track], 0, names[track], order[track])
    for lane, track in enumerate(lanes.track):
        number = lanes.number[lane]
        name = names[track] if number == 0 else f"{names[track]} (lane {number + 1})"
        yield from _metadata("thread", lanes.pid[lane], lanes.tid[lane], name, lane)


def _metadata(what: str, pid: int, tid: int, name: str, index: int) -> Iterator[str]:
    place = f'"pid":{pid},"tid":{tid}'
    if name:  # Perfetto counts an empty name as an error
        yield f'{{"ph":"M","name":"{what}_name",{place},"args":{{"name":{dumps(plain(name))}}}}}'
    yield f'{{"ph":"M","name":"{what}_sort_index",{place},"args":{{"sort_index":{index}}}}}'


class _FlowTexts:
    """Flow events by the slice they start or end at, so that each directly follows its slice in the file:
    a viewer binds it to the slice it saw last at that time on that line."""

    def __init__(self, trace: Trace, lanes: Lanes, texts: Texts, base_ns: int) -> None:
        flows, slices = trace.flows, trace.slices
        valid = (flows.from_slice >= 0) & (flows.to_slice >= 0)
        number = np.flatnonzero(valid)
        rows = np.concatenate([flows.from_slice[valid], flows.to_slice[valid]])
        order = np.argsort(rows, kind="stable")
        self._rows = rows[order]
        number = np.concatenate([number, number])[order]
        ends = (np.arange(len(rows)) >= len(rows) // 2)[order].tolist()
        labels = zip(flows.kind[number].tolist(), flows.name[number].tolist(), strict=True)
        middle = TextRows(len(rows))
        middle.put(b',"id":')
        middle.integers(number)
        middle.put(b',"ts":')
        middle.microseconds(slices.ts_ns[self._rows] - base_ns)
        at = lanes.slice_lane[self._rows].tolist()
        said: dict[tuple[int, int], str] = {}
        self._texts = []
        for end, label, lane, numbers in zip(ends, labels, at, middle.finish(), strict=True):
            if label not in said:
                said[label] = f'"cat":{texts.string(label[0])},"name":{texts.string(label[1])}'
            kind = '"ph":"f","bp":"e"' if end else '"ph":"s"'
            head = f'{SEPARATOR}{{{kind},{said[label]},"pid":{lanes.pid[lane]},"tid":{lanes.tid[lane]}'
            self._texts.append(head.encode() + numbers + b"}")

    def append_to(self, first: int, events: list[bytes]) -> None:
        """Append to the events of the slices from row `first` on the flow events of each."""
        low, high = np.searchsorted(self._rows, [first, first + len(events)]).tolist()
        for row, text in zip((self._rows[low:high] - first).tolist(), self._texts[low:high], strict=True):
            events[row] += text


def _timed(heads: list[str], ts_ns: Array, tails: list[str]) -> bytes:
    """Events from what they say before and after their time."""
    times = TextRows(len(ts_ns))
    times.microseconds(ts_ns)
    return joined([(SEPARATOR + head).encode() for head in heads], times.finish(), [tail.encode() for tail in tails])


def _counters(trace: Trace, lanes: Lanes, base_ns: int) -> bytes:
    """Counter events; a value that is not finite has no event (the section keeps it)."""
    counters = trace.counters
    finite = np.isfinite(counters.value)
    heads = {
        track: f'{{"ph":"C","name":{name},"pid":{lanes.process[track]},"ts":'
        for track, name in _counter_names(trace, lanes).items()
    }
    return _timed(
        [heads[track] for track in counters.track[finite].tolist()],
        counters.ts_ns[finite] - base_ns,
        [f',"args":{{"value":{value!r}}}}}' for value in counters.value[finite].tolist()],
    )


def _counter_names(trace: Trace, lanes: Lanes) -> dict[int, str]:
    """The name of each counter track as JSON text, unique within its process."""
    out: dict[int, str] = {}
    taken: set[tuple[int, str]] = set()
    texts = trace.tracks.text("name")
    for track in np.unique(trace.counters.track).tolist():
        name, number = texts[track], 1
        while (lanes.process[track], name) in taken:
            number += 1
            name = f"{texts[track]} ({number})"
        taken.add((lanes.process[track], name))
        out[track] = dumps(plain(name))
    return out


def _memory(trace: Trace, lanes: Lanes, base_ns: int) -> bytes:
    """Memory records as torch.profiler writes them."""
    table = trace.memory
    columns = (
        table.track.tolist(), table.text("device"), table.delta_bytes.tolist(), table.total_bytes.tolist(),
        table.reserved_bytes.tolist(), table.address.tolist(), table.event_index.tolist(),
    )  # fmt: skip
    spare = max([999_999, *lanes.process, *lanes.tid]) + 1
    heads, tails = [], []
    for track, device, delta, total, reserved, address, index in zip(*columns, strict=True):
        lane = int(lanes.first[track]) if track >= 0 else -1
        pid, tid = (lanes.pid[lane], lanes.tid[lane]) if lane >= 0 else (spare, spare)
        kind, _, number = device.partition(":")
        said = {
            "Total Reserved": reserved if reserved >= 0 else None,
            "Total Allocated": total if total >= 0 else None,
            "Bytes": delta,
            "Addr": address,
            "Device Id": int(number) if number.isdigit() else -1,
            "Device Type": _DEVICE_TYPES.get(kind, _OTHER_DEVICE),
            "Ev Idx": index if index >= 0 else None,
        }
        place = f'"cat":"cpu_instant_event","s":"{SCOPE_LETTERS[0]}","name":"{memory.NAME}","pid":{pid},"tid":{tid}'
        heads.append(f'{{"ph":"i",{place},"ts":')
        tails.append(f',"args":{dumps({key: value for key, value in said.items() if value is not None})}}}')
    return _timed(heads, table.ts_ns - base_ns, tails)
