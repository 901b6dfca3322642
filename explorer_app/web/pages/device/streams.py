"""The Device page of a trace with streams: which device works, and what it waits for."""

from __future__ import annotations

from typing import Any, Final

from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.breakdown_text import PART_NAMES
from explorer_app.web.card import card, figure
from explorer_app.web.links import timeline_href
from explorer_app.web.message import empty
from explorer_app.web.names import named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.device.lanes import BINS as LANE_BINS
from explorer_app.web.pages.device.lanes import device_name, lanes_card
from explorer_app.web.pages.device.parts import parts_by_device
from explorer_app.web.table import table, with_title
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis.breakdown import PARTS, by_device
from trace_format import Trace

_MOST_DEVICES: Final = 32
_MOST_GAPS: Final = 12
_WORK: Final = ("compute_ns", "exposed_collective_ns", "exposed_copy_ns")
_IDLE: Final = tuple(name for name in PARTS if name.startswith("idle_"))


def streams_view(view: View) -> Any:
    """What the devices of the trace do; None for a trace without measured work of a device."""
    lanes = once(analysis.device_lanes, view.trace, bins=LANE_BINS, simulated=False).lanes
    if lanes.empty:
        return None
    has_work = set(zip(lanes["rank"], lanes["device"], strict=True))
    devices = [
        row for row in by_device(once(analysis.breakdown, view.trace))
        if (row["rank"], row["device"]) in has_work and row["total_ns"]
    ]  # fmt: skip
    return html.Div(
        [
            html.P(answer(devices), className="np-answer"),
            html.Div(_figures(devices), className="np-figures"),
            html.Div([lanes_card(view), _parts_card(devices), _gaps_card(view)], className="np-streams"),
        ]
    )


def works_ns(row: dict[str, int]) -> int:
    """How long a device worked."""
    return sum(row[name] for name in _WORK)


def most_idle(row: dict[str, int]) -> str:
    """The part that most of a device's idle time is; the first of equal ones."""
    return max(_IDLE, key=lambda name: row[name])


def answer(devices: list[dict[str, int]]) -> list[Any]:
    """Which device works most and which least, and what the least busy one waits for."""
    if not devices:
        return ["The devices did nothing in the steps that are looked at."]
    by_work = sorted(devices, key=lambda row: works_ns(row) / row["total_ns"])
    most, least = by_work[-1], by_work[0]
    if len(devices) == 1:
        words = f"{_called(most).capitalize()} works {fmt.ratio(works_ns(most) / most['total_ns'])} of the time. "
    else:
        words = (
            f"Of {len(devices)} devices {_called(most)} works most, {fmt.ratio(works_ns(most) / most['total_ns'])} of "
            f"the time, {_called(least)} least, {fmt.ratio(works_ns(least) / least['total_ns'])}. "
        )
    cause = most_idle(least)
    if not least[cause]:
        return [words, "It never idles."]
    share = fmt.ratio(least[cause] / least["total_ns"])
    if cause == "idle_other_ns":
        whose = "it" if len(devices) == 1 else "the latter"
        return [words, f"Why {whose} idles is mostly unknown ({share} of the time)."]
    said = PART_NAMES[cause].removeprefix("idle: ")
    whose = "It" if len(devices) == 1 else "The latter"
    return [words, f"{whose} idles mostly because: {said} ({share} of the time)."]


def _called(row: dict[str, int]) -> str:
    return device_name(row["rank"], row["device"]) or "the device"


def _figures(devices: list[dict[str, int]]) -> list[Any]:
    if not devices:
        return []
    row = max(devices, key=lambda each: works_ns(each) / each["total_ns"])
    whole = row["total_ns"]
    whose = f"of {_called(row)}, the busiest" if len(devices) > 1 else f"of {fmt.duration(whole)}"
    idle = sum(row[name] for name in _IDLE)
    cause = PART_NAMES[most_idle(row)].removeprefix("idle: ")

    def share(label: str, length_ns: int, note: str) -> Any:
        return figure(label, fmt.ratio(length_ns / whole), exact=fmt.exact(length_ns, "ns"), note=note)

    return [
        share("Works", works_ns(row), whose),
        share("Computes", row["compute_ns"], "whatever else it does"),
        share("Only communicates", row["exposed_collective_ns"], "exposed collectives"),
        share("Only copies", row["exposed_copy_ns"], "exposed copies"),
        share("Idles", idle, f"mostly: {cause}" if idle else "never"),
    ]


def _parts_card(devices: list[dict[str, int]]) -> Any:
    shown = [(_called(row), row) for row in devices[:_MOST_DEVICES]]
    left = len(devices) - _MOST_DEVICES
    note = f"and {fmt.counted(left, 'device')} more" if left > 0 else "of the steps"
    body = parts_by_device(shown, PART_NAMES, label="What the time of each device went to")
    return card("Works and waits", body, note=note, area="parts")


def _gaps_card(view: View) -> Any:
    frame = once(analysis.idle_gaps, view.trace)
    if frame.empty:
        return card("Longest gaps", empty("No gaps", "No device pauses between two pieces of work."), area="gaps")
    rows = [_gap(view, row) for row in frame.head(_MOST_GAPS).to_dict("records")]
    columns = (
        ("Gap", "number"), ("Device", "text"), ("Waits for", "text"), ("Ends with", "name"), ("Launched by", "text"),
    )  # fmt: skip
    note = with_title(
        f"the longest {len(rows)}", "Between two pieces of work of a device; what it waits for is most of the gap"
    )
    body = table(columns, rows, label="The longest gaps between the work of a device")
    return card("Longest gaps", body, note=note, area="gaps", flush=True)


def _gap(view: View, row: dict[Any, Any]) -> tuple[Any, ...]:
    parts = [f"{PART_NAMES[name].removeprefix('idle: ')}: {fmt.duration(row[name])}" for name in _IDLE if row.get(name)]
    before, after = _name(view.trace, row["before"]), _name(view.trace, row["after"])
    launched = _name(view.trace, row["launched_by"]) if row["launched_by"] >= 0 else fmt.UNKNOWN
    return (
        dcc.Link(
            fmt.duration(row["dur_ns"]),
            href=timeline_href(view, int(row["start_ns"]), int(row["end_ns"]),
                               slice_id=view.slice_id(int(row["before"]))),
            title=f"{fmt.exact(row['dur_ns'], 'ns')}\nShow it on the timeline",
        ),
        device_name(row["rank"], row["device"]) or fmt.UNKNOWN,
        with_title(PART_NAMES[row["cause"]].removeprefix("idle: "), "\n".join(parts)),
        with_title(named(before), f"{tooltip(before)}\nafter {tooltip(after)}"),
        with_title(named(launched, longest=40), tooltip(launched)),
    )  # fmt: skip


def _name(trace: Trace, row: int) -> str:
    return trace.pool.strings[int(trace.slices.name[int(row)])]
