"""A NEFF as a trace of its own, without events."""

from __future__ import annotations

from trace_format.builder import TraceBuilder
from trace_format.importers.neff.reader import read_contents
from trace_format.importers.neff.rows import add_neff
from trace_format.importers.source import Source
from trace_format.trace import Trace


def read_neff(source: Source) -> Trace:
    """The trace of a NEFF: one row of `neffs`, its tensors, and its queues and programs as carried tables.

    The report counts the members of its archive. Raises DamagedFileError where not even the header is there,
    LimitExceededError where the archive is a bomb.
    """
    contents = read_contents(source)
    builder = TraceBuilder()
    add_neff(builder, contents, source.path.name)
    builder.report.source_events = contents.members
    for cause, names in contents.refused.items():
        builder.report.left_out[f"member of the archive: {cause}"] += len(names)
    for problem in contents.problems:
        builder.report.repaired[problem] += 1
    described = {
        "format": "neff",
        "path": source.path.name,
        "clock": "unknown",
        "compiler_version": contents.compiler_version,
        "neff_version": contents.header.version,
        "warnings": list(contents.warnings),
    }
    return builder.finish(metadata={"sources": [described]})
