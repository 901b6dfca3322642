"""What went wrong when, as the strip of warnings above the tracks shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from explorer_app import format as fmt
from explorer_app.breakdown_text import PART_NAMES
from explorer_app.web.names import label
from explorer_app.web.numbers import once
from explorer_app.web.timeline.data import TimelineData
from neuron_profile import analysis
from neuron_profile.analysis import WARNING_KINDS

_UNKNOWN: Final = "idle_other_ns"  # of a gap's cause
# One and several of each kind, for the legend.
_NAMES: Final = {
    "idle gap": ("idle gap", "idle gaps"),
    "small DMA": ("small DMA", "small DMAs"),
    "throttling": ("throttled time", "throttled times"),
    "compile stall": ("compile phase", "compile phases"),
}


def warning_bands(data: TimelineData) -> list[dict[str, Any]]:
    """The kinds of warnings that the trace has, each `{kind, name, note, count, counts, start, end, what, slice}`.

    `start`, `end` (ns from the start of the trace), `what` (a sentence), `slice` (a row, -1: none) and `counts` are
    equally long lists in order of start; `counts` are how many gaps, packets, records or compiles each stands for and
    `count` all of them, `name` says what
    those are and `note` from where on they are told of.
    """
    found = once(analysis.warnings_over_time, data.trace)
    several_ranks = found["rank"].nunique() > 1
    out = []
    for kind in WARNING_KINDS:
        mine = found[found["kind"] == kind]
        if not len(mine):
            continue
        count = int(mine["count"].sum())
        out.append(
            {
                "kind": kind,
                "name": _NAMES[kind][count != 1],
                "note": _note(kind, found.attrs),
                "count": count,
                "counts": mine["count"].tolist(),
                "start": (mine["start_ns"] - data.start_ns).tolist(),
                "end": (mine["end_ns"] - data.start_ns).tolist(),
                "what": [label(_what(row, several_ranks=several_ranks)) for row in mine.to_dict("records")],
                "slice": mine["slice"].tolist(),
            }
        )
    return out


def _what(row: Mapping[Any, Any], *, several_ranks: bool) -> str:
    """A warning in words, with whose it is and why."""
    whose = f"rank {row['rank']}: " if several_ranks and row["rank"] >= 0 else ""
    why = f": {PART_NAMES[row['cause']].removeprefix('idle: ')}" if row["cause"] not in ("", _UNKNOWN) else ""
    return f"{whose}{row['what']}{why}"


def _note(kind: str, attrs: dict[Any, Any]) -> str:
    """From where on something is a warning."""
    if kind == "idle gap":
        share = f"{fmt.ratio(attrs['least_idle_ratio'])} of the {'median ' if attrs['idle_of'] == 'step' else ''}"
        return f"A device does nothing for at least {fmt.duration(attrs['least_idle_ns'])}: {share}{attrs['idle_of']}"
    return {
        "small DMA": "DMA packets below 4 KiB, which cannot reach the bandwidth of the memory",
        "throttling": "A core may not use its whole rate, by the device's own records",
        "compile stall": "Something is being compiled; a compile and the phases within it are one band",
    }[kind]
