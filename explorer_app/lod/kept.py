"""Lanes and their levels in a file, so that a trace that was looked at before is laid out at once.

The file: `MAGIC`, the length and the crc32 of a header as u32 each, the header, then the columns, each where the header
says. The header is JSON: `trace` (what it is of), `columns` ([name, dtype, rows, offset, crc32]; of level i they
are called `first i` and `longest i`), `shifts` of the levels. All numbers are little-endian.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from explorer_app.lod.lanes import Lanes
from explorer_app.lod.pyramid import Level, Pyramid
from trace_format import NeuronProfileError, Trace
from trace_format.cache import code_digest, make_room, place_for
from trace_format.partial_file import PartialFile
from trace_format.spill import release

Array = np.ndarray

MAGIC: Final = b"\x89NRLN\r\n\x01"
SUFFIX: Final = ".lanes"
_BEFORE_HEADER = len(MAGIC) + 8
_ALIGNED_TO = 64
_LONGEST_HEADER = 1 << 20
_ROWS_AT_A_TIME = 1 << 21
_log = logging.getLogger(__name__)


def place_of_lanes(paths: Sequence[Path]) -> Path | None:
    """Where the cache keeps the lanes of the trace that these paths are; None where it keeps none.

    Those of one file are kept. Raises NeuronProfileError for a limit of the cache that is no number.
    """
    return place_for(paths[0], SUFFIX, code_digest(Path(__file__).parent)) if len(paths) == 1 else None


def keep(pyramid: Pyramid, trace: Trace, path: Path) -> None:
    """Write lanes with all their levels to `path`; where that fails, nothing is there."""
    columns = {name: getattr(pyramid.lanes, name).astype(dtype, copy=False) for name, dtype in Lanes.COLUMNS.items()}
    for number, level in enumerate(pyramid.levels):
        columns |= {f"first {number}": level.first, f"longest {number}": level.longest}
    described: list[tuple[str, str, int, int, int]] = []
    at = 0
    for name, values in columns.items():
        at += -at % _ALIGNED_TO
        described.append((name, values.dtype.str, len(values), at, _crc32(values)))
        at += values.nbytes
    header = json.dumps(
        {
            "trace": _identity(trace),
            "columns": described,
            "shifts": [level.shift for level in pyramid.levels],
        }
    ).encode()
    header += b" " * (-(_BEFORE_HEADER + len(header)) % _ALIGNED_TO)
    numbers = np.array([len(header), zlib.crc32(header)], "<u4").tobytes()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = PartialFile(path, force=True)
        try:
            file.write(MAGIC + numbers + header)
            written = 0
            for (*_, at, _), values in zip(described, columns.values(), strict=True):
                file.write(bytes(at - written))
                file.write(values.data)
                written = at + values.nbytes
            file.finish()
        except NeuronProfileError:
            file.abandon()
            raise
        make_room(path)
    except (NeuronProfileError, OSError) as error:
        _log.debug("the lanes are not kept: %s", error)
    pyramid.lanes.release()


def kept(trace: Trace, path: Path) -> Pyramid | None:
    """What `keep` wrote for this trace, mapped from the file; None where that is not there, not whole, or another's."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        found = _read(mapped, trace)
        with suppress(OSError):  # somebody else's, which we may only read
            os.utime(path)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        _log.debug("%s is not used: %s", path, error)
        return None
    found.lanes.release()
    return found


def _read(mapped: mmap.mmap, trace: Trace) -> Pyramid:
    """Raises ValueError, KeyError or TypeError for what `keep` did not write for this trace."""
    if mapped[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not start like one")
    length, crc = np.frombuffer(mapped, "<u4", 2, len(MAGIC)).tolist()
    begin = _BEFORE_HEADER + min(length, _LONGEST_HEADER)
    if zlib.crc32(mapped[_BEFORE_HEADER:begin]) != crc:
        raise ValueError("its header is damaged")
    header: dict[str, Any] = json.loads(mapped[_BEFORE_HEADER:begin])
    range_ns = trace.time_range_ns
    if range_ns is None or header["trace"] != _identity(trace):
        raise ValueError("it is of another trace")
    columns: dict[str, Array] = {}
    for name, dtype, rows, offset, crc in header["columns"]:
        values = np.frombuffer(mapped, dtype, rows, begin + offset)
        if _crc32(values) != crc:
            raise ValueError(f"its column {name} is damaged")
        columns[name] = values
    if len(columns["row"]) != len(trace.slices) or len(columns["depths"]) != len(trace.tracks):
        raise ValueError("its columns do not fit the trace")
    levels = tuple(
        Level(shift, columns[f"first {number}"], columns[f"longest {number}"])
        for number, shift in enumerate(header["shifts"])
    )
    return Pyramid(Lanes.of_columns(columns, range_ns), levels)


def _identity(trace: Trace) -> list[int]:
    """What tells a trace from any that has other lanes."""
    slices = trace.slices
    of_columns = [_crc32(column) for column in (slices.track, slices.ts_ns, slices.dur_ns)]
    return [len(trace.tracks), len(slices), *(trace.time_range_ns or ()), *of_columns]


def _crc32(column: Array) -> int:
    """The checksum of a column, of which no more than a piece is in memory at a time."""
    crc = 0
    for at in range(0, len(column), _ROWS_AT_A_TIME):
        crc = zlib.crc32(np.ascontiguousarray(column[at : at + _ROWS_AT_A_TIME]).data, crc)
        release([column])
    return crc
