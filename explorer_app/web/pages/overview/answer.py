"""The answer of the Overview in words: how long, what bounds it, what a fix would return."""

from __future__ import annotations

from typing import Final

from explorer_app import format as fmt
from explorer_app.breakdown_text import in_sentence, largest, names_of
from explorer_app.web.names import label, named
from explorer_app.web.numbers import once
from explorer_app.web.pages.overview.categories import work_of_side
from explorer_app.web.pages.overview.step_times import has_marks
from neuron_profile import analysis
from neuron_profile.analysis import Finding
from neuron_profile.analysis.breakdown import busiest
from trace_format import Trace

_SHOWN_NEFFS: Final = 3
_LONGEST_NAME: Final = 60
_OVER_MEDIAN: Final = 1.05
_TORCH: Final = ("host_op", "collective")


def answer(trace: Trace) -> str:
    """A few sentences; what the trace does not tell is left out."""
    parts = busiest(once(analysis.breakdown, trace))
    if not parts.get("total_ns"):
        return _without_time(trace)
    words = [_length(trace, parts["total_ns"])]
    by_category = once(analysis.time_by_category, trace)
    if by_category.empty:
        words.append("It holds no work: nothing in it but marks and annotations has a duration.")
    elif has_parts(trace):
        names = names_of(once(analysis.breakdown, trace))
        bound = largest(parts, names)
        share = fmt.ratio(parts[bound] / parts["total_ns"])
        words.append(f"Its largest part is {in_sentence(names[bound])}: {share}.")
        words.append(_return(trace))
    elif (by_category["category"] == "compile").any():
        words.append("It tells of compiling alone: what that cost is on the page Compile.")
    else:
        words.append("Neither a device nor torch's operators were recorded: the operations below are all there is.")
    words += _unfinished(trace)
    return " ".join(filter(None, words))


def has_parts(trace: Trace) -> bool:
    """Whether the trace tells what a device or torch's operators did, so that a breakdown says something."""
    found = once(analysis.time_by_category, trace)
    return bool((found["side"] == "device").any() or found["category"].isin(_TORCH).any())


def _length(trace: Trace, total_ns: int) -> str:
    steps = once(analysis.steps, trace)
    if not has_marks(steps):
        has_host = (once(analysis.time_by_category, trace)["side"] == "host").any()
        return f"What was recorded takes {fmt.duration(total_ns)}{'; no step is marked in it' if has_host else ''}."
    of = f"median of {len(steps)}" if len(steps) > 1 else "the only one marked"
    ranks = steps["rank"].nunique()
    of += f", on {ranks} ranks" if ranks > 1 else ""
    return f"A step takes {fmt.duration(steps['dur_ns'].median())} ({of})."


def _return(trace: Trace) -> str:
    """What fixing the first finding would return, by its estimate."""
    first = next(iter(once(analysis.findings, trace)), None)
    if first is None:
        return "No rule found anything to improve."
    if first.is_simulated:
        return "No rule found anything to improve in what was measured."
    if first.recoverable_ns < 0:
        return f"{label(first.title)}."
    shown = f"{fmt.duration(first.recoverable_ns)} {_of_what(trace, first)} ({fmt.ratio(first.share_ratio)})"
    return f"Fixing the first finding would return about {shown}."


def _of_what(trace: Trace, finding: Finding) -> str:
    """What the time of a finding is part of: some rules tell of the mean of the steps, not of their median."""
    steps = once(analysis.steps, trace)
    if not has_marks(steps) or len(steps) == 1:
        return "of it"
    whole_ns = finding.recoverable_ns / finding.share_ratio if finding.share_ratio > 0 else 0.0
    return "of each" if whole_ns <= _OVER_MEDIAN * steps["dur_ns"].median() else "of an average step"


def _unfinished(trace: Trace) -> list[str]:
    sides = once(analysis.time_by_category, trace)["side"].unique()
    return [
        f"No slice on the {side} finished, so how long they took is unknown."
        for side in sides
        if work_of_side(trace, side)[0]["self_ns"] is None
    ]


def _without_time(trace: Trace) -> str:
    neffs = trace.neffs.text("name")
    if not len(neffs):
        words = ["This trace holds no work: nothing in it but marks and annotations has a duration."]
        return " ".join([*words, *_unfinished(trace)])
    shown = ", ".join(named(name, longest=_LONGEST_NAME) for name in neffs[:_SHOWN_NEFFS])
    more = len(neffs) - _SHOWN_NEFFS
    shown += f" and {fmt.count(more)} more" if more > 0 else ""
    return (
        f"This is {fmt.counted(len(neffs), 'compiled program')}, {shown}, and no run: nothing here has taken any time. "
        "Open a device profile (NTFF) with it to see one; its tensors are on the page Memory."
    )
