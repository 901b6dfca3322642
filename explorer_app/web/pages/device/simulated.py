"""The Device page of a trace whose device was simulated: the same question, and every answer an estimate."""

from __future__ import annotations

from typing import Any, Final

from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.breakdown_text import SIMULATED_PART_NAMES
from explorer_app.web.card import card, figure
from explorer_app.web.links import slice_href
from explorer_app.web.names import in_sentence, label, named, tooltip
from explorer_app.web.numbers import once
from explorer_app.web.pages.device.lanes import device_name, lanes_card
from explorer_app.web.pages.device.parts import parts_by_device
from explorer_app.web.table import share_bar, table, with_title
from explorer_app.web.theme import category_color
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis import SimulatedDevice
from neuron_profile.analysis.breakdown import by_device

_TOP: Final = 15
_SIM: Final = "sim."  # beside every number that no device was asked for


def simulated_view(view: View) -> Any:
    """What the simulated device was estimated to do; None for a trace without one."""
    found = once(analysis.simulated_device, view.trace)
    if found is None:
        return None
    return html.Div(
        [
            html.P(_answer(found), className="np-answer"),
            html.Div(_figures(found), className="np-figures"),
            html.Div(
                [
                    lanes_card(view, simulated=True), *_parts_cards(view), _lines_card(found),
                    _operators_card(view, found),
                ],
                className="np-simulated",
            ),
        ]
    )  # fmt: skip


def _parts_cards(view: View) -> list[Any]:
    """Where the time of each simulated device would go; the parts add up to it."""
    frame = once(analysis.simulated_breakdown, view.trace)
    devices = [row for row in by_device(frame) if row["total_ns"]]
    if not devices:
        return []
    shown = [(device_name(row["rank"], -1) or "the device", row) for row in devices]
    sure = frame.attrs["uncertainty"]
    note = f"estimate {label(str(sure), longest=40)}" if sure else "an estimate"
    body = parts_by_device(shown, SIMULATED_PART_NAMES, label="Where the time would go, an estimate")
    return [card(f"Works and waits, {_SIM}", body, note=note)]


def _answer(found: SimulatedDevice) -> list[Any]:
    words: list[Any] = []
    engines = found.lines[found.lines["bytes"] < 0]
    if len(engines):
        busiest = engines.iloc[int(engines["busy_ns"].to_numpy().argmax())]
        words.append(
            f"By the estimate the busiest engine is {busiest['line']}: it works {fmt.ratio(busiest['busy_ratio'])} of "
            "the time in which a NEFF runs. "
        )
    if len(found.operators):
        first = found.operators.iloc[0]
        words += ["Most time takes ", in_sentence(first["name"]), f", {fmt.ratio(first['share_ratio'])} of it."]
    return words


def _figures(found: SimulatedDevice) -> list[Any]:
    runs = int(found.operators["count"].sum())
    moved = int(found.lines.loc[found.lines["bytes"] > 0, "bytes"].sum())
    running = found.running_ns / max(found.span_ns * max(found.lines["rank"].nunique(), 1), 1)
    return [
        figure(f"Span, {_SIM}", fmt.duration(found.span_ns), exact=fmt.exact(found.span_ns, "ns"),
               note="from the first NEFF to the last"),
        figure(f"NEFFs run, {_SIM}", fmt.duration(found.running_ns), exact=fmt.exact(found.running_ns, "ns"),
               note=f"{fmt.ratio(running)} of the span; else nothing was asked for"),
        figure(f"Operators, {_SIM}", fmt.count(runs), note=fmt.counted(len(found.operators), "name")),
        figure(f"HBM traffic, {_SIM}", fmt.size(moved), exact=fmt.exact(moved, "bytes"), note="read and written"),
    ]  # fmt: skip


def _lines_card(found: SimulatedDevice) -> Any:
    several = found.lines["rank"].nunique() > 1
    rows = [
        (
            f"rank {row['rank']} {row['line']}" if several else row["line"],
            share_bar(row["busy_ratio"], fmt.ratio(row["busy_ratio"]), color=_color(row["bytes"])),
            with_title(fmt.duration(row["busy_ns"]), fmt.exact(row["busy_ns"], "ns")),
            fmt.size(row["bytes"]) if row["bytes"] >= 0 else fmt.UNKNOWN,
        )
        for row in found.lines.to_dict("records")
    ]
    columns = (("Engine", "text"), ("Busy", "bar"), ("Time", "number"), ("Bytes", "number"))
    body = table(columns, rows, label="How long each engine was busy, an estimate")
    return card(f"Engines and DMA, {_SIM}", body, note=f"of {fmt.duration(found.running_ns)} in NEFFs", flush=True)


def _operators_card(view: View, found: SimulatedDevice) -> Any:
    rows = [
        (
            dcc.Link(named(row["name"]), href=slice_href(view, row["slice"]),
                     title=f"{tooltip(row['name'])}\nShow the longest run on the timeline"),
            fmt.count(row["count"]),
            with_title(fmt.duration(row["total_ns"]), fmt.exact(row["total_ns"], "ns")),
            fmt.duration(row["mean_ns"]),
            share_bar(row["share_ratio"], fmt.ratio(row["share_ratio"])),
        )
        for row in found.operators.head(_TOP).to_dict("records")
    ]  # fmt: skip
    columns = (("Operator", "name"), ("Runs", "number"), ("Total", "number"), ("Mean", "number"), ("Share", "bar"))
    body = table(columns, rows, label="The operators with the most time on the device, an estimate")
    left = len(found.operators) - _TOP
    note = f"and {fmt.counted(left, 'name')} more" if left > 0 else ""
    return card(f"Operators, {_SIM}", body, note=note, flush=True)


def _color(nbytes: int) -> str:
    return category_color("compute" if nbytes < 0 else "dma")
