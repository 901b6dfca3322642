"""Reads the JSON of a device profile."""

from __future__ import annotations

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_device_json.sections import read_sections
from trace_format.importers.neuron_device_tables.part import Part
from trace_format.importers.neuron_device_tables.profile import DeviceProfile
from trace_format.importers.source import Source
from trace_format.trace import Trace


def read_device_json(source: Source) -> Trace:
    """The trace in a device profile: times in ns since the run began (`device_time_zero_ns` is 0).

    Raises LimitExceededError for more text than is read into memory, DamagedFileError where no row can be read.
    """
    builder = TraceBuilder()
    sections = read_sections(source, builder.report)
    profile = DeviceProfile(builder, source.path)
    first = [name for name in DeviceProfile.FACTS_FIRST if name in sections]
    for name in [*first, *(name for name in sections if name not in first)]:
        for rows in sections[name].batches():
            profile.add(Part(name, rows))
    entry = {"format": "neuron-device-json", "path": source.path.name} | profile.finish()
    return builder.finish(
        metadata={"sources": [entry], "device_time_zero_ns": 0, **profile.facts.metadata()},
    )
