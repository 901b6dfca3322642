"""The verdict on a trace, and the numbers behind it, on one page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from neuron_profile.analysis.breakdown import busiest, by_device
from neuron_profile.analysis.collectives import CollectiveSkew, collective_skew
from neuron_profile.analysis.findings import Context, Finding, findings_in
from neuron_profile.analysis.measured import measured_window_ns
from neuron_profile.analysis.memory.peak import peak_holders
from neuron_profile.analysis.memory.timeline import memory_timeline
from neuron_profile.analysis.neuron_device import DeviceMetrics
from neuron_profile.analysis.operations.categories import time_by_category
from neuron_profile.analysis.operations.kinds import operations
from neuron_profile.analysis.records import plain, records
from neuron_profile.analysis.roofline import utilisation
from neuron_profile.analysis.texts import to_group_by
from trace_format import ImportReport, Trace

HOTSPOTS = 20
HOLDERS = 10


@dataclass(frozen=True, slots=True)
class Summary:
    """What one page says about a trace; each part is what the function of that name returns.

    - `hotspots`: the first `HOTSPOTS` rows of `operations`.
    - `findings`: the verdict, most time to be recovered first; none where there is nothing to say.
    - `skew`: of the collectives, where the trace has several ranks; else None.
    - `peak_memory`: columns device, rank, peak_bytes, at_ns (the first moment of the peak); no rows where
      the trace has no memory events. `attrs`: those of `memory_timeline`.
    - `peak_holders`: the first `HOLDERS` rows of each device.
    - `device`: the metrics of Neuron devices; `neffs`: the names of the programs (NEFFs) that the trace tells of.
    - `window_ns`: first start and last end of anything that was measured, None for a trace without any time.
    """

    metadata: Mapping[str, Any]
    window_ns: tuple[int, int] | None
    steps: pd.DataFrame
    breakdown: pd.DataFrame
    time_by_category: pd.DataFrame
    hotspots: pd.DataFrame
    findings: tuple[Finding, ...]
    skew: CollectiveSkew | None
    utilisation: pd.DataFrame
    peak_memory: pd.DataFrame
    peak_holders: pd.DataFrame
    device: DeviceMetrics
    neffs: tuple[str, ...]
    report: ImportReport

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON takes it; what the trace does not tell is left out, unknown values are None.

        Keys: metadata, breakdown (of the device that idles least over all steps: total_ns and its parts, and by_device
        those of each), steps, hotspots, findings, time_by_category, ranks (where there are several), utilisation (where
        any is known), peak_memory and peak_holders (where memory was recorded), report; for profiles of Neuron devices
        device (AWS's names and units, totals over executions) and device_by_execution (a list); neffs (names) where
        there are any.
        """
        found: dict[str, Any] = {
            "metadata": plain(self.metadata),
            "breakdown": {**busiest(self.breakdown), "by_device": by_device(self.breakdown)},
            "steps": records(self.steps),
            "hotspots": records(self.hotspots),
            "findings": [finding.to_dict() for finding in self.findings],
            "time_by_category": records(self.time_by_category),
        }
        if self.skew is not None:
            found["ranks"] = self.skew.to_dict()
        if self.utilisation[["mfu_ratio", "hfu_ratio", "mbu_ratio"]].notna().any(axis=None):
            found["utilisation"] = records(self.utilisation)
        if len(self.peak_memory):
            found["peak_memory"] = records(self.peak_memory)
            found["peak_holders"] = records(self.peak_holders)
        if self.device.total is not None:
            found["device"] = self.device.total.to_dict()
            found["device_by_execution"] = [execution.to_dict() for execution in self.device.executions]
        if self.neffs:
            found["neffs"] = list(self.neffs)
        return {**found, "report": self.report.to_dict()}


def summarize(trace: Trace) -> Summary:
    """The summary of a trace. For a trace without events its tables are empty."""
    context = Context(trace)
    several = context.steps["rank"].nunique() > 1 or len(set(trace.tracks.rank[trace.tracks.rank >= 0].tolist())) > 1
    return Summary(
        metadata=trace.metadata,
        window_ns=measured_window_ns(trace),
        steps=context.steps,
        breakdown=context.breakdown,
        time_by_category=time_by_category(trace),
        hotspots=operations(trace, top=HOTSPOTS),
        findings=findings_in(context),
        skew=collective_skew(trace) if several else None,
        utilisation=utilisation(trace),
        peak_memory=_peaks(memory_timeline(trace)),
        peak_holders=peak_holders(trace, top=HOLDERS),
        device=context.device,
        neffs=tuple(trace.neffs.text("name")),
        report=trace.report,
    )


def _peaks(timeline: pd.DataFrame) -> pd.DataFrame:
    """The highest total of each device, at its first moment."""
    first = (
        to_group_by(timeline, "device").groupby(["device", "rank"], sort=True, observed=True)["total_bytes"].idxmax()
    )
    peaks = timeline.loc[first, ["device", "rank", "total_bytes", "ts_ns"]].reset_index(drop=True)
    peaks.columns = pd.Index(["device", "rank", "peak_bytes", "at_ns"])
    peaks.attrs = dict(timeline.attrs)
    return peaks
