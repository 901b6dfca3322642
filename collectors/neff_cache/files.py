"""Reads NEFFs that a capture comes across, within limits of time and size."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trace_format.errors import TraceFileError
from trace_format.importers.neff import read_neff_file
from trace_format.importers.neff.header import HEADER_BYTES, NeffHeader
from trace_format.importers.neff.rows import add_neff

if TYPE_CHECKING:
    from trace_format import TraceBuilder

_LARGEST_READ_WHOLE = 32 << 20  # compressed; unpacking takes about a second for each 100 MiB


@dataclass(slots=True)
class NeffFiles:
    """Adds NEFFs to a trace: whole (tensors, queues, programs) while there is time (`until_s`, monotonic) and the file
    is not large, else their headers alone."""

    builder: TraceBuilder
    until_s: float

    def add(self, path: Path) -> int:
        """The row of a NEFF, -1 where it cannot be read."""
        report = self.builder.report
        report.source_events += 1
        try:
            if path.stat().st_size <= _LARGEST_READ_WHOLE and time.monotonic() < self.until_s:
                return add_neff(self.builder, read_neff_file(path), str(path))
            with path.open("rb") as file:
                header = file.read(HEADER_BYTES)
        except (TraceFileError, OSError) as error:
            why = str(error).removeprefix(f"{path}: ")
            report.left_out[f"NEFF that cannot be read: {why}"] += 1
            return -1
        if len(header) < HEADER_BYTES:
            report.left_out["NEFF that cannot be read: it ends within its header"] += 1
            return -1
        return self._add_header(NeffHeader.of(header), path)

    def _add_header(self, header: NeffHeader, path: Path) -> int:
        string = self.builder.string
        return self.builder["neffs"].append(
            1, uuid=string(header.uuid), hash=string(header.hash), name=string(header.name), path=string(str(path)),
            lnc=header.lnc,
        )  # fmt: skip
