"""The numbers of one side of a comparison: one trace, or several runs of the same program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from neuron_profile.analysis.breakdown import PARTS, breakdown
from neuron_profile.analysis.comparison.change import LEAST_SAMPLES
from neuron_profile.analysis.comparison.step_times import self_time_by_step
from neuron_profile.analysis.memory.timeline import allocators, memory_timeline
from neuron_profile.analysis.operations.hotspots import hotspots
from neuron_profile.analysis.steps.steps import steps
from neuron_profile.analysis.texts import as_text, text, to_group_by
from trace_format import Trace

Array = np.ndarray

STEP_TIME, PEAK_MEMORY, COMPILES = "step_time", "peak_memory", "compiles"
_PART_NAMES = {name.removesuffix("_ns"): name for name in PARTS}
IN_BYTES = frozenset({PEAK_MEMORY})
COUNTS = frozenset({COMPILES})
NAMES = (STEP_TIME, *_PART_NAMES, PEAK_MEMORY, COMPILES)

# The sources of compiles, as they name themselves in a trace.
_COMPILE_SOURCES = ("torch-structured-log", "neuronx-cc-log")


@dataclass(frozen=True)
class Samples:
    """Samples by name. Those of steps are of each step of all runs, or, from five runs on, the median of each run."""

    runs: Sequence[Trace]

    def of(self, name: str) -> Array:
        """The samples of a number: `(n,)`, times in ns, sizes in bytes. Raises KeyError for a name not in `NAMES`."""
        if name == STEP_TIME:
            return self._of_steps([frame["dur_ns"].to_numpy(np.float64) for frame in self._steps])
        if name in _PART_NAMES:
            return self._of_steps([frame[_PART_NAMES[name]].to_numpy(np.float64) for frame in self._breakdowns])
        if name == PEAK_MEMORY:
            peaks = [memory_timeline(run)["total_bytes"].max() for run in self.runs if len(run.memory)]
            return np.array(peaks, np.float64)
        if name == COMPILES:
            return np.array([len(run.compiles) for run in self.runs if _tells_compiles(run)], np.float64)
        raise KeyError(name)

    def self_time_of(self, operation: str) -> Array:
        """Samples of the self time in a step of the operation with this name, on whichever side: `(n,)` ns."""
        found = zip(self.runs, self._steps, strict=True)
        return self._of_steps([self_time_by_step(run, frame, operation) for run, frame in found])

    def mean_self_time_of(self, operation: str) -> Array:
        """The same, the mean over the steps of each run: `(runs,)` ns."""
        times = []
        for run, per_step in zip(self.runs, self._step_counts, strict=True):
            frame = hotspots(run, by="name")
            times.append(float(frame.loc[frame["name"] == operation, "self_ns"].sum()) / per_step)
        return np.array(times, np.float64)

    @cached_property
    def operations(self) -> pd.DataFrame:
        """Self time and calls for each step by operation, the mean over runs. Columns: name, side, self_ns, count."""
        parts = []
        for run, per_step in zip(self.runs, self._step_counts, strict=True):
            frame = hotspots(run, by="op")
            if frame.attrs.get("why"):  # no shapes were recorded
                frame = hotspots(run, by="name")
            device_rows = frame.attrs["device_rows"]
            side = np.where(np.arange(len(frame)) < device_rows, "device", "host")
            parts.append(
                pd.DataFrame(
                    {
                        "name": frame["name"], "side": text(side),
                        "self_ns": frame["self_ns"] / per_step, "count": frame["count"] / per_step,
                    }
                )
            )  # fmt: skip
        whole = to_group_by(pd.concat(parts, ignore_index=True), "name", "side")
        sums = whole.groupby(["name", "side"], sort=True, observed=True)[["self_ns", "count"]].sum().div(len(self.runs))
        return as_text(sums.reset_index(), "name", "side")

    @property
    def peak_is_relative(self) -> bool:
        """Whether the device with the peak of any run tells only what was allocated since the start of the trace."""
        for run in self.runs:
            found = allocators(run)
            if len(found.total_bytes) and int(found.of_row[int(found.total_bytes.argmax())]) in found.relative:
                return True
        return False

    @property
    def found_by(self) -> str:
        """How steps were found (see `steps`): "window" where a trace has none."""
        found = {frame.attrs["found_by"] for frame in self._steps}
        return found.pop() if len(found) == 1 else "different marks"

    @property
    def on_host(self) -> bool:
        """Whether no run has measured work of a device: the parts of a step are those of a host alone."""
        return all(bool((frame["device"] < 0).all()) for frame in self._breakdowns)

    def _of_steps(self, samples: list[Array]) -> Array:
        if len(samples) >= LEAST_SAMPLES:  # steps of one run are more alike than those of two
            return np.array([np.median(one) for one in samples if len(one)], np.float64)
        return np.concatenate(samples) if samples else np.zeros(0)

    @cached_property
    def _steps(self) -> list[pd.DataFrame]:
        return [steps(run) for run in self.runs]

    @cached_property
    def _step_counts(self) -> list[int]:
        """Steps that each rank made, for each run."""
        return [max(len(frame["step"].unique()), 1) for frame in self._steps]

    @cached_property
    def _breakdowns(self) -> list[pd.DataFrame]:
        return [breakdown(run) for run in self.runs]


def _tells_compiles(run: Trace) -> bool:
    """Whether compiles were recorded, or were looked for: else that there are none means nothing."""
    sources = run.metadata.get("sources")
    told = [one.get("format") for one in sources if isinstance(one, dict)] if isinstance(sources, list) else []
    return len(run.compiles) > 0 or any(one in told for one in _COMPILE_SOURCES)
