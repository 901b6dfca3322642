"""The records of an NTFF file, 16 bytes each: which of them are read, and those of a segment piece by piece."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from trace_format.importers.ntff.container import EVENTS, INSTRUCTIONS, PACKETS, THROTTLE, Container, Segment
from trace_format.importers.source import Source
from trace_format.report import ImportReport

Array = np.ndarray

# What all kinds have in common: two words that mean something else in each, and the time on the clock of the kind.
RECORD = np.dtype([("head", "<u4"), ("value", "<u4"), ("ts", "<u8")])
RECORD_BYTES = RECORD.itemsize
# Of instructions: engines by their number, and the phases. The highest byte: 0x80, the engine << 2, the phase.
RECORD_ENGINES = {1: "Tensor", 2: "Scalar", 3: "GpSimd", 4: "Vector", 5: "Sync"}
ENDS = 1  # 0: it starts
_PIECE_BYTES = (1 << 20) * RECORD_BYTES
_READ_KINDS = (INSTRUCTIONS, EVENTS, PACKETS, THROTTLE)


# By the number of a physical core and the kind of their records, in the order of the file.
Segments = Mapping[tuple[int, int], list[Segment]]


def readable_segments(container: Container, report: ImportReport) -> Segments:
    """The segments that are understood, cut to the whole records that the file has of them.

    The records of all segments are counted in `report`, and those that are not read as left out.
    """
    chosen: dict[tuple[int, int], list[Segment]] = {}
    cores = {core.core for core in container.cores}
    unread_bytes = container.raw_size  # segments do not overlap, so together they cannot be larger
    for segment in container.segments:
        declared = -(-segment.size // RECORD_BYTES)
        there = max(min(segment.size, container.raw_size - segment.offset), 0) // RECORD_BYTES
        report.source_events += declared
        if segment.kind not in _READ_KINDS:
            report.lose(f"record of a kind that is not understood ({segment.kind})", declared)
        elif segment.core not in cores:
            report.lose(f"record of a core that is not described ({segment.core})", declared)
        elif there * RECORD_BYTES > unread_bytes:
            report.lose("record of a segment that overlaps others", declared)
        else:
            report.lose("record that lies beyond the end of the file", declared - there)
            unread_bytes -= there * RECORD_BYTES
            readable = dataclasses.replace(segment, size=there * RECORD_BYTES)
            chosen.setdefault((segment.core, segment.kind), []).append(readable)
    return chosen


def record_pieces(source: Source, container: Container, segments: Iterable[Segment]) -> Iterator[Array]:
    """The records of readable segments, of `RECORD`, some megabytes at a time; short segments together."""
    waiting: list[Array] = []
    size = 0
    for segment in segments:
        at = container.raw_offset + segment.offset
        end = at + segment.size
        while at < end:
            piece = source.read_at(at, min(_PIECE_BYTES - size, end - at))
            if len(piece) < RECORD_BYTES:
                break
            at, size = at + len(piece), size + len(piece)
            waiting.append(np.frombuffer(piece, RECORD, len(piece) // RECORD_BYTES))
            if size >= _PIECE_BYTES:
                yield np.concatenate(waiting)
                waiting, size = [], 0
    if size:
        yield np.concatenate(waiting)


def engines_and_phases(records: Array) -> tuple[Array, Array]:
    """The number of each record's engine, and 0 for a start, 1 for an end; other numbers are none of either."""
    top = records["head"] >> np.uint32(24)
    return (top >> np.uint32(2)) ^ np.uint32(0x20), top & np.uint32(3)
