"""An NTFF file as a trace: engines, DMA queues, semaphores and throttling of each physical core, and the runs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.importers.neff.contents import NeffContents
from trace_format.importers.neff.rows import add_neff
from trace_format.importers.neuron_device.clocks import core_clocks, family
from trace_format.importers.neuron_device.engines import ENGINES
from trace_format.importers.neuron_device.execution import Execution, add_execution
from trace_format.importers.neuron_device.tracks import DeviceTracks
from trace_format.importers.ntff.carried import carry_tables
from trace_format.importers.ntff.compiled import Join
from trace_format.importers.ntff.container import Container, CoreTrace, read_container
from trace_format.importers.ntff.counters import add_counters
from trace_format.importers.ntff.events import add_events, semaphore_label
from trace_format.importers.ntff.instructions import add_instructions
from trace_format.importers.ntff.packets import add_packets
from trace_format.importers.ntff.profile import Profile
from trace_format.importers.ntff.programs import Program, programs_of
from trace_format.importers.ntff.records import readable_segments
from trace_format.importers.ntff.runs import run_times
from trace_format.importers.ntff.slot_columns import SlotColumns
from trace_format.importers.ntff.throttle import add_throttling
from trace_format.importers.ntff.times import DeviceTime
from trace_format.importers.source import Source
from trace_format.trace import Trace

Array = np.ndarray


def read_ntff_file(path: str | os.PathLike[str], neff: NeffContents | None = None) -> Trace:
    """The trace in an NTFF file, with what the NEFF of the same program knows of it.

    A NEFF of another program is not used, and the report says so. Raises TraceFileError where the file cannot be read.
    """
    with Source(path) as source:
        return read_ntff(source, neff)


def read_ntff(source: Source, neff: NeffContents | None = None) -> Trace:
    """The trace in an NTFF file; see `read_ntff_file`."""
    container = read_container(source)
    builder = TraceBuilder()
    problems = list(container.problems)
    segments = readable_segments(container, builder.report)
    programs = programs_of(container, source, problems)
    runs = run_times(source, container, segments, programs, problems)
    time = DeviceTime(runs[0].start_ps if runs else 0)
    profile = Profile(source, container, segments, builder, _tracks(builder, container, source), time, runs,
                      family(container.instance_type))  # fmt: skip
    join = _joined(container, neff, problems)
    event_counts = np.zeros(len(runs), np.int64)
    knows_transposes = True
    for core in container.cores:
        queues = join.semaphores(core, container) if join else {}
        slots = _slots(profile, core, programs[core.core], join, queues)
        knows_transposes &= all(columns.knows_transposes for columns in slots.values())
        seen = add_instructions(profile, core, slots, core_clocks(container.instance_type))
        packets = add_packets(profile, core, join.queue_types if join else {})
        event_counts += add_events(profile, core, queues)
        add_throttling(profile, core, profile.end_ps if seen.last_end_ps is None else seen.last_end_ps)
        add_counters(profile, core, seen, packets, slots)
    carry_tables(profile)
    facts = _facts(container) | (_facts_of_neff(join.neff) if join else {}) | {"knows_transposes": knows_transposes}
    for index, run in enumerate(runs):
        since = run.start_ps - time.zero_ps
        add_execution(
            builder, profile.tracks,
            Execution(total_time_ps=run.total_ps, index=index, event_count=int(event_counts[index]), **facts),
            start_ns=time.zero_ns + since // 1000, start_ps=since % 1000,
        )  # fmt: skip
    if join:
        add_neff(builder, join.neff, "")
    if source.damage:
        problems.append(source.damage)
    for problem in problems:
        builder.report.repaired[problem] += 1
    return builder.finish(metadata=_metadata(container, source, time, profile.family))


def _tracks(builder: TraceBuilder, container: Container, source: Source) -> DeviceTracks:
    first = container.cores[0] if container.cores else CoreTrace("", -1, -1)
    return DeviceTracks(builder, container.neff_name or source.path.name, device=first.device, first_core=first.core)


def _joined(container: Container, neff: NeffContents | None, problems: list[str]) -> Join | None:
    if neff is None:
        return None
    if not container.is_of(neff.uuid):
        problems.append(
            f"NEFF {neff.name} ({neff.uuid}) was not used: this is a profile of another one "
            f"({container.neff_uuid.hex() or 'its UUID is not recorded'})"
        )
        return None
    return Join(neff, problems)


def _slots(
    profile: Profile, core: CoreTrace, programs: dict[str, Program], join: Join | None, queues: dict[int, str]
) -> dict[str, SlotColumns]:
    """The columns of instructions by engine. `queues`: which DMA queue raises a semaphore."""
    out = {}
    for engine in ENGINES:
        program = programs.get(engine, Program.empty(engine))
        compiled = join.compiled(core, program) if join else None
        out[engine] = SlotColumns(
            profile.builder, program, compiled, lambda number: semaphore_label(number, queues, unknown="$S[{}]"),
            family=profile.family, core=core.core,
        )  # fmt: skip
    return out


def _facts(container: Container) -> dict[str, Any]:
    return {
        "neff": container.neff_name,
        "neff_uuid": container.neff_uuid.hex() if container.uuid_is_whole else "",
        "nd_idx": container.cores[0].device if container.cores else None,
        "physical_cores": [core.core for core in container.cores],
        "instance_type": container.instance_type,
        "ntff_version": container.version,
        "runtime_version": container.runtime_version,
        "driver_version": container.driver_version,
        "collectives_version": container.collectives_version,
    }


def _facts_of_neff(neff: NeffContents) -> dict[str, Any]:
    return {
        "neff_uuid": neff.uuid,
        "compiler_version": neff.compiler_version,
        "weight_size_bytes": neff.tensor_bytes("weight"),
        "inputs_and_weights_size_bytes": neff.tensor_bytes("input", "weight"),
        "inputs_outputs_weights_size_bytes": neff.tensor_bytes("input", "output", "weight"),
        "hlo_macs": neff.hlo_macs,
    }


def _metadata(container: Container, source: Source, time: DeviceTime, device_model: str) -> dict[str, Any]:
    told = {
        "instance_type": container.instance_type,
        "runtime_version": container.runtime_version,
        "driver_version": container.driver_version,
        "collectives_version": container.collectives_version,
        "capture_unix_s": container.capture_unix_s,
    }
    described = {"format": "ntff", "path": source.path.name, "version": container.version, "clock": "device"}
    described |= {name: value for name, value in told.items() if value}
    metadata: dict[str, Any] = {"sources": [described], "device_time_zero_ns": time.zero_ns}
    return metadata | ({"device_model": device_model} if device_model else {})
