"""The fastest that a channel can go, and who says so."""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from neuron_profile.analysis.bandwidth.channels import DIRECTIONS, OF_MEMORY, PEER, QUEUE, Channel
from neuron_profile.analysis.neuron_device.peaks_used import STATED, peaks_used
from neuron_profile.analysis.roofline.devices import devices_of
from neuron_profile.hardware import DevicePeaks, peaks_of
from neuron_profile.hardware.core import GENERATIONS, CoreModel, core_model
from trace_format import TRACK_KINDS, Trace
from trace_format.importers.neuron_device.execution import Execution, execution_of
from trace_format.importers.neuron_device.tracks import EXECUTIONS

_ANNOTATION = TRACK_KINDS.index("device_annotation")


@dataclass(frozen=True, slots=True)
class PeakRate:
    """The most bytes per second that a channel can carry, NaN where that is not known; `source` says who tells."""

    bytes_per_s: float
    source: str


_NOT_KNOWN = PeakRate(math.nan, "")


class PeakRates:
    """The peak rates of the channels of a trace; `peaks`, where given, take the place of what is known of its devices.

    A device's memory has one peak for both directions together, the DMA queues of a NeuronCore that of its 16 engines,
    by which they are served together. No rate of a link to a host is known: nothing in a trace tells its kind.
    """

    def __init__(self, trace: Trace, peaks: DevicePeaks | None = None) -> None:
        self._given = peaks
        self._model = str(trace.metadata.get("device_model") or "")
        self._facts = _facts(trace)
        devices = devices_of(trace)
        kinds = zip(trace.tracks.device.tolist(), devices.of_track.tolist(), strict=True)
        self._peaks = {device: devices.peaks[kind] for device, kind in kinds}

    def of(self, channel: Channel) -> PeakRate:
        """The peak rate of a channel; not known for the host's memory, and where no source tells."""
        if channel.side != "device":
            return _NOT_KNOWN
        if channel.direction == DIRECTIONS[QUEUE]:
            return self._of_queues(channel)
        peaks = self._given or self._peaks.get(channel.device)
        if channel.direction == DIRECTIONS[PEER] and peaks and peaks.link_bytes_per_s:
            return PeakRate(peaks.link_bytes_per_s, f"{peaks.name}: {peaks.source}")
        if channel.direction in OF_MEMORY:
            facts = self._facts.get((channel.rank, channel.device))
            known = peaks_used(facts) if facts and not self._given else None
            if known and known.hbm_bytes_per_s:
                return PeakRate(known.hbm_bytes_per_s, known.hbm_source)
            if peaks and peaks.memory_bytes_per_s:
                return PeakRate(peaks.memory_bytes_per_s, f"{peaks.name}: {peaks.source}")
        return _NOT_KNOWN

    def core(self, channel: Channel) -> CoreModel | None:
        """The model of the NeuronCore to which a channel belongs; None for other devices."""
        facts = self._facts.get((channel.rank, channel.device))
        known = peaks_of(facts.instance_type if facts else "") or peaks_of(self._model)
        return core_model(known.family) if known and known.family in GENERATIONS else None

    def _of_queues(self, channel: Channel) -> PeakRate:
        facts, core = self._facts.get((channel.rank, channel.device)), self.core(channel)
        if facts and facts.dma_bytes_per_s:
            return PeakRate(facts.dma_bytes_per_s, STATED)
        if core is None:
            return _NOT_KNOWN
        # AWS Neuron docs, "Introduction to DMA with NKI": 27.2 GB/s an engine, of NeuronCore-v4 38.4; profiles fit 27.1
        source = f"{core.dma_engines} DMA engines of a core at {core.packet_rate} GB/s: profiles of {core.generation}"
        return PeakRate(core.packet_rate * core.dma_engines * 1e9, source)


def _facts(trace: Trace) -> dict[tuple[int, int], Execution]:
    """What the first run on each (rank, device) says about it."""
    tracks, slices = trace.tracks, trace.slices
    lines = np.flatnonzero((tracks.kind == _ANNOTATION) & (tracks.name == trace.pool.strings.find(EXECUTIONS)))
    found: dict[tuple[int, int], Execution] = {}
    for line in lines.tolist():
        for row in np.flatnonzero(slices.track == line)[:1].tolist():
            try:
                facts = execution_of(trace.pool.arg_sets[int(slices.args[row])])
            except msgspec.MsgspecError:
                continue  # a slice that others put there
            found.setdefault((int(tracks.rank[line]), int(tracks.device[line])), facts)
    return found
