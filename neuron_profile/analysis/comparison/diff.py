"""What changed from one trace, or one set of runs, to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuron_profile.analysis.comparison.change import Change, change
from neuron_profile.analysis.comparison.samples import NAMES, PEAK_MEMORY, STEP_TIME, Samples
from neuron_profile.analysis.records import records
from neuron_profile.analysis.texts import order_of, text
from trace_format import NeuronProfileError, Trace

# An operation has changed where it has by so much of its own time and by so much of the step's.
_OF_ITSELF, _OF_STEP = 0.02, 0.001


@dataclass(frozen=True)
class Comparison:
    """Base against new.

    - `numbers`: by name, the change of each number that both sides tell (see `samples.NAMES`).
    - `operations`: the operations that changed, largest change first: name (with shapes where they were recorded),
      side, what (slower, faster, new, gone), base_ns, new_ns, difference_ns (self time for each step), ratio
      (difference over base; NaN for new ones), base_count, new_count (calls for each step).
    - `notes`: what limits the comparison, in plain words.
    """

    base: Samples
    new: Samples
    numbers: dict[str, Change]
    operations: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def step_time(self) -> Change:
        return self.numbers[STEP_TIME]

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it: `numbers` {name: {base, new, difference, ratio, low, high, ...}}, operations, notes."""
        return {
            "numbers": {name: _plain(one) for name, one in self.numbers.items()},
            "operations": records(self.operations),
            "notes": list(self.notes),
        }


def diff(base: Trace | Sequence[Trace], new: Trace | Sequence[Trace]) -> Comparison:
    """What changed from `base` to `new`; each is a trace or several runs of one program.

    Operations are matched by name and shapes. A trace against itself has no changed operation.
    Raises NeuronProfileError where nothing in a side has a duration.
    """
    before, after = (Samples([side] if isinstance(side, Trace) else list(side)) for side in (base, new))
    numbers = {}
    for name in NAMES:
        of_before, of_after = before.of(name), after.of(name)
        told = len(of_before) > 0 and len(of_after) > 0
        if told and (name == STEP_TIME or of_before.any() or of_after.any()):
            numbers[name] = change(of_before, of_after)
    if STEP_TIME not in numbers:
        raise NeuronProfileError("a trace without anything that has a duration cannot be compared; record it anew")
    operations = _operations(before, after, numbers[STEP_TIME])
    return Comparison(before, after, numbers, operations, tuple(_notes(before, after, numbers)))


def _operations(base: Samples, new: Samples, step: Change) -> pd.DataFrame:
    keys = [tuple(row) for side in (base, new) for row in side.operations[["name", "side"]].to_numpy().tolist()]
    number = {key: at for at, key in enumerate(sorted(set(keys)))}
    at = [number[key] for key in keys]
    sides = (
        base.operations.assign(at=at[: len(base.operations)]),
        new.operations.assign(at=at[len(base.operations) :]),
    )
    joined = sides[0].merge(sides[1], on="at", how="outer", suffixes=("_base", "_new"), indicator=True)
    before, after = (joined[f"self_ns_{side}"].fillna(0.0).to_numpy() for side in ("base", "new"))
    difference = after - before
    least = np.maximum(_OF_ITSELF * np.maximum(before, after), _OF_STEP * max(step.base, step.new, 0.0))
    there = joined["_merge"].astype(str).to_numpy()
    what = np.where(difference > 0, "slower", "faster").astype(object)
    what[there == "left_only"], what[there == "right_only"] = "gone", "new"
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(before > 0, difference / before, np.nan)
    frame = pd.DataFrame(
        {
            "name": text(name for name, _ in number), "side": text(side for _, side in number), "what": what,
            "base_ns": before, "new_ns": after,
            "difference_ns": difference, "ratio": ratio,
            "base_count": joined["count_base"].fillna(0.0), "new_count": joined["count_new"].fillna(0.0),
        }
    )  # fmt: skip
    changed = frame[np.abs(difference) > least]
    order = np.lexsort((order_of(changed["name"]), -np.abs(changed["difference_ns"].to_numpy())))
    return changed.iloc[order].reset_index(drop=True)


def _notes(base: Samples, new: Samples, numbers: dict[str, Change]) -> list[str]:
    notes = []
    if numbers[STEP_TIME].is_point:
        of = numbers[STEP_TIME]
        notes.append(
            f"{of.base_samples} and {of.new_samples} steps: too few to tell a change from noise, so the medians are "
            "compared as they are"
        )
    if base.found_by != new.found_by:
        notes.append(f"steps were found by {base.found_by} in the base and by {new.found_by} in the new one")
    elif base.found_by == "window":
        notes.append("no steps are marked, so whole windows are compared")
    if PEAK_MEMORY in numbers and (base.peak_is_relative or new.peak_is_relative):
        notes.append("the peak memory is what was allocated since the start of the trace; what was there before is not "
                     "in it")  # fmt: skip
    return notes


def _plain(one: Change) -> dict[str, Any]:
    return {
        "base": one.base, "new": one.new, "difference": one.difference,
        "ratio": one.ratio if np.isfinite(one.ratio) else None, "low": one.low, "high": one.high,
        "is_real": one.is_real, "is_point": one.is_point,
        "base_samples": one.base_samples, "new_samples": one.new_samples,
    }  # fmt: skip
