"""What a change of the step time means, in words."""

from __future__ import annotations

from explorer_app import format as fmt
from explorer_app.comparison_text import interval, signed
from neuron_profile.analysis import Comparison


def verdict(comparison: Comparison) -> str:
    """Whether the step became longer or shorter, by how much, and whether that is more than noise."""
    of = comparison.step_time
    what = "The whole window" if comparison.base.found_by == comparison.new.found_by == "window" else "A step"
    if of.difference == 0 and not of.is_real:
        return f"{what} takes as long as in the base, {fmt.duration(of.new)}."
    change = (
        f"{what} takes {fmt.duration(abs(of.difference))} {'longer' if of.difference > 0 else 'less'} than in the base "
        f"({signed(of.ratio)}): {fmt.duration(of.base)} became {fmt.duration(of.new)}. "
    )
    if of.is_point:
        counts = f"{fmt.count(of.base_samples)} and {fmt.count(of.new_samples)}"
        return change + f"Whether that is real cannot be told: {counts} are too few to know their noise."
    told = f"the 95 % interval is {interval(of)}"
    if of.is_real:
        return change + f"That is real: {told}, all of it on one side of no change."
    return change + f"That may be noise: {told}, and no change lies in it."
