"""The regions of a trace that mark themselves, as the strip above the tracks shows them."""

from __future__ import annotations

from typing import Any, Final

from explorer_app.web.names import named
from explorer_app.web.numbers import once
from explorer_app.web.timeline.data import TimelineData
from neuron_profile import analysis
from neuron_profile.analysis import REGIONS

# More cannot be told apart on any screen, and are a few hundred kilobytes.
MOST_REGIONS: Final = 5000
DEEPEST: Final = 64


def region_kinds(data: TimelineData) -> list[dict[str, Any]]:
    """What kinds of regions there are: `{kind, deepest, why}`; `deepest` is -1 for none, and `why` says why."""
    found = ((kind, once(analysis.regions, data.trace, kind=kind, depth=0).attrs) for kind in REGIONS)
    return [{"kind": kind, "deepest": min(attrs["deepest"], DEEPEST), "why": attrs["why"]} for kind, attrs in found]


def region_bands(data: TimelineData, kind: str, depth: int) -> dict[str, Any]:
    """The regions of one kind and depth of the first rank that has any.

    `{label, count, names, start, end}`: equally long lists in order of start, at most `MOST_REGIONS`, the longest;
    `count` is how many there are. Times are ns from the start of the trace. `label` says whose they are.
    """
    found = once(analysis.regions, data.trace, kind=kind, depth=depth)
    ranks = found["rank"]
    mine = found[ranks == ranks.min()] if len(found) else found
    count = len(mine)
    if count > MOST_REGIONS:
        mine = mine.nlargest(MOST_REGIONS, "dur_ns").sort_values("start_ns", kind="stable")
    return {
        "label": f"rank {ranks.min()}" if ranks.nunique() > 1 else "",
        "count": count,
        "names": [named(name) for name in mine["name"]],
        "start": (mine["start_ns"] - data.start_ns).tolist(),
        "end": (mine["end_ns"] - data.start_ns).tolist(),
    }
