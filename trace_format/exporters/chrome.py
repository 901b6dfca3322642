"""Writes a trace as Chrome trace events: what Perfetto and chrome://tracing open."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from trace_format.exporters.event_text import CHUNK_ROWS, SEPARATOR, Texts, instant_events, slice_events
from trace_format.exporters.flow_text import FlowTexts
from trace_format.exporters.lanes import Lanes, lay_out
from trace_format.exporters.memory_text import memory_events
from trace_format.exporters.plain_text import plain
from trace_format.exporters.section_text import section
from trace_format.exporters.sink import Sink
from trace_format.exporters.text_rows import TextRows, joined
from trace_format.exporters.track_places import line_names, line_order
from trace_format.trace import Trace
from trace_format.trace_events.section import dumps

Array = np.ndarray

_WIDEST_SPAN_NS = 2**62


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
    yield from slice_events(trace.slices, lanes, texts, base_ns, FlowTexts(trace, lanes, texts, base_ns).append_to)
    yield from instant_events(trace.instants, lanes, texts, base_ns)
    yield from _counters(trace, lanes, base_ns)
    yield from memory_events(trace, lanes, base_ns)


def _names(trace: Trace, lanes: Lanes) -> Iterator[str]:
    """Metadata events: names and order of processes and threads."""
    tracks = trace.tracks
    names, parents, order = tracks.text("name"), tracks.parent.tolist(), tracks.sort_index.tolist()
    for track, parent in enumerate(parents):
        if parent < 0:
            yield from _metadata("process", lanes.process[track], 0, names[track], order[track])
    lines, place = line_names(tracks), line_order(tracks)
    ordered = sorted(range(len(lanes.track)), key=lambda lane: (place[lanes.track[lane]], lanes.number[lane]))
    index = {lane: at for at, lane in enumerate(ordered)}
    for lane, track in enumerate(lanes.track):
        number = lanes.number[lane]
        name = lines[track] if number == 0 else f"{lines[track]} (lane {number + 1})"
        yield from _metadata("thread", lanes.pid[lane], lanes.tid[lane], name, index[lane])


def _metadata(what: str, pid: int, tid: int, name: str, index: int) -> Iterator[str]:
    place = f'"pid":{pid},"tid":{tid}'
    if name:  # Perfetto counts an empty name as an error
        yield f'{{"ph":"M","name":"{what}_name",{place},"args":{{"name":{dumps(plain(name))}}}}}'
    yield f'{{"ph":"M","name":"{what}_sort_index",{place},"args":{{"sort_index":{index}}}}}'


def _counters(trace: Trace, lanes: Lanes, base_ns: int) -> Iterator[bytes]:
    """Counter events; a value that is not finite has no event (the section keeps it)."""
    counters = trace.counters
    heads = {
        track: f'{SEPARATOR}{{"ph":"C","name":{name},"pid":{lanes.process[track]},"ts":'.encode()
        for track, name in _counter_names(trace, lanes).items()
    }
    for first in range(0, len(counters), CHUNK_ROWS):
        chunk = slice(first, first + CHUNK_ROWS)
        finite = np.isfinite(counters.value[chunk])
        if not finite.any():
            continue
        times = TextRows(int(finite.sum()))
        times.microseconds(counters.ts_ns[chunk][finite] - base_ns)
        yield joined(
            [heads[track] for track in counters.track[chunk][finite].tolist()],
            times.finish(),
            [b',"args":{"value":%r}}' % value for value in counters.value[chunk][finite].tolist()],
        )


def _counter_names(trace: Trace, lanes: Lanes) -> dict[int, str]:
    """The name of each counter track as JSON text, unique within its process."""
    out: dict[int, str] = {}
    taken: set[tuple[int, str]] = set()
    texts = line_names(trace.tracks)
    for track in np.unique(trace.counters.track).tolist():
        name, number = texts[track], 1
        while (lanes.process[track], name) in taken:
            number += 1
            name = f"{texts[track]} ({number})"
        taken.add((lanes.process[track], name))
        out[track] = dumps(plain(name))
    return out
