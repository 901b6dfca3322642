"""The Device page: which engine works, which waits."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs

import dash
from dash import Input, Output, State, dcc, html, no_update

from explorer_app import format as fmt
from explorer_app.web.card import figure
from explorer_app.web.grid import SELECT_KEY, SORT_KEY, lead_to_timeline, position
from explorer_app.web.links import page_href
from explorer_app.web.message import banner, empty
from explorer_app.web.names import in_sentence, label
from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from explorer_app.web.pages.device.engines import engines_card, utilisation
from explorer_app.web.pages.device.metrics import metrics_card
from explorer_app.web.pages.device.over_time import over_time_card
from explorer_app.web.pages.device.queues import GRID as QUEUES
from explorer_app.web.pages.device.queues import queues_card
from explorer_app.web.pages.device.simulated import simulated_view
from explorer_app.web.pages.device.streams import streams_view
from explorer_app.web.pages.device.waits import GRID as WAITS
from explorer_app.web.pages.device.waits import waits_card
from explorer_app.web.time_axis import RANGE_KEYS
from explorer_app.web.view import VIEW, View, Views
from neuron_profile.analysis import neuron_device
from neuron_profile.analysis.neuron_device import ExecutionMetrics, Run
from trace_format import Trace

_PATH: Final = "/device"
_LONGEST_NAME: Final = 32  # of a NEFF in the switch
_LINKS: Final = 6  # more runs than these have links to the one before and the one after
_NO_DEVICE: Final = (
    "This trace holds no work of a device: no streams of a GPU and no profile of a Neuron device. Open an NTFF (or "
    "the folder of a session, or the JSON that AWS's "
    "profiler writes), or record one with ProfileMode.DEVICE on a Trainium or Inferentia machine."
)


def layout(view: View) -> Any:
    """The run that the address names (`?execution=2`, the first without), with a switch where there are several."""
    runs = once(neuron_device.runs_of, view.whole)
    if not runs:
        return _without_runs(view)
    return html.Div(None if len(runs) > 1 else of_run(view, 0), id="np-device")


def _without_runs(view: View) -> Any:
    """What was measured of devices, else what was estimated, each for itself."""
    measured, simulated = streams_view(view), simulated_view(view)
    if measured is None:
        return simulated or empty("No device", _NO_DEVICE)
    heading = html.H2("The simulated device, sim.", className="np-device-heading")
    return measured if simulated is None else html.Div([measured, heading, simulated])


def register_callbacks(app: dash.Dash, views: Views) -> None:
    """Show the run that the address names, and lead from rows to slices."""

    @app.callback(Output("np-device", "children"), Input("np-url", "search"), State("np-url", "pathname"), VIEW)
    def show(search: Any, path: Any, asked_view: Any) -> Any:
        view = views.of(asked_view)
        runs = once(neuron_device.runs_of, view.whole)
        if len(runs) < 2 or not isinstance(path, str) or path.rstrip("/") != _PATH:
            return no_update
        asked = parse_qs((search if isinstance(search, str) else "").removeprefix("?")).get("execution", ["0"])[0]
        return of_run(view, max(position(asked, len(runs)), 0))

    for name in (QUEUES, WAITS):
        lead_to_timeline(app, views, name, _slice_of_row)


def _slice_of_row(view: View, row_id: str) -> int:
    """The rows of these grids have the slice of the whole trace that they stand for as their id."""
    return position(row_id, len(view.whole.slices))


def of_run(view: View, number: int) -> Any:
    """What the page says of one run. A run is taken whole: AWS's metrics are of whole runs."""
    trace = view.whole
    runs = once(neuron_device.runs_of, trace)
    run, metrics = runs[number], once(neuron_device.device_metrics, trace).executions[number]
    cards = [
        engines_card(trace, run, number), over_time_card(view, run, number), queues_card(trace, number),
        waits_card(trace, number), metrics_card(metrics),
    ]  # fmt: skip
    return [
        *([_switch(view, runs, number)] if len(runs) > 1 else []),
        html.P(_answer(trace, run, metrics, number), className="np-answer"),
        *(banner(label(note)) for note in metrics.values["notes"] if "peak is wrong" in note),
        html.Div(_figures(run, metrics), className="np-figures"),
        html.Div(cards, className="np-device"),
        *_remarks(metrics),
    ]


def _switch(view: View, runs: tuple[Run, ...], number: int) -> html.Nav:
    if len(runs) <= _LINKS:
        shown = list(range(len(runs)))
    else:
        shown = sorted({0, max(number - 1, 0), number, min(number + 1, len(runs) - 1), len(runs) - 1})
    several = len({run.name for run in runs}) > 1
    links = []
    for at in shown:
        which = {"href": page_href(view, _PATH, execution=at), "title": f"execution {at + 1} of {len(runs)}"}
        current = {"aria-current": "true"} if at == number else {}
        links.append(html.Span(dcc.Link(_called(runs[at], named=several), **which), **current))
    return html.Nav(links, className="np-switch np-device-switch", **{"aria-label": "Which execution is shown"})


def _called(run: Run, *, named: bool) -> str:
    """A run for the switch: "rank 1 nd0 nc4 · run 3", after the name of its NEFF where there are several."""
    parts = [
        f"{what}{value}" for what, value in (("rank ", run.rank), ("nd", run.device), ("nc", run.core)) if value >= 0
    ]
    name = label(run.name, longest=_LONGEST_NAME) if named else ""
    return " · ".join(part for part in (name, " ".join(parts), f"run {run.facts.index + 1}") if part)


def _answer(trace: Trace, run: Run, metrics: ExecutionMetrics, number: int) -> list[Any]:
    cores = ", ".join(f"nc{core}" for core in run.cores)
    where = f" on {cores}" if cores else ""
    words: list[Any] = [in_sentence(run.name), f" ran {fmt.duration(run.total_ps / 1000)}{where}. "]
    frame = once(utilisation, trace, number=number)
    if frame.empty:
        return [*words, "Which engine worked is unknown: the profile holds no instructions."]
    busiest, waits = frame.loc[frame["active_ns"].idxmax()], frame.loc[frame["waiting_ns"].idxmax()]
    words.append(
        f"The busiest engine is {busiest['engine']} of nc{busiest['core']}: it works "
        f"{fmt.ratio(busiest['active_ratio'])} of the time. "
    )
    if waits["waiting_ns"] > 0:
        words.append(
            f"{waits['engine']} of nc{waits['core']} waits longest: {fmt.ratio(waits['waiting_ratio'])}. "
        )  # fmt: skip
    active = metrics.values.get("dma_active_time_percent")
    if active is not None:
        words.append(f"DMA is under way {fmt.ratio(active)} of the time.")
    return words


def _figures(run: Run, metrics: ExecutionMetrics) -> list[Any]:
    values = metrics.values
    cores, flops, hbm = (values.get(k) for k in ("num_physical_cores", "peak_flops_per_core", "hbm_bytes_per_s"))
    peak = f"of {fmt.flop_rate(flops * (cores or 1))} ({fmt.counted(cores or 1, 'core')})" if flops else "peak unknown"
    memory = f"of {fmt.bandwidth(hbm)}" if hbm else "peak unknown"
    source = str(values.get("peaks_source", ""))
    moved = [values.get(name) for name in ("hbm_read_bytes", "hbm_write_bytes")]
    traffic = f"{fmt.size(moved[0])} read, {fmt.size(moved[1])} written" if None not in moved else "bytes unknown"
    return [
        figure("Run", fmt.duration(run.total_ps / 1000), exact=f"{run.total_ps:,} ps",
               note=label(str(values.get("instance_type") or "instance type unknown"))),
        _percent(values, "total_active_time_percent", "Anything active", "an engine or DMA"),
        _percent(values, "mfu_estimated_percent", "MFU", peak, source),
        _percent(values, "hfu_estimated_percent", "HFU", f"{peak}, transposes too", source),
        _percent(values, "mbu_estimated_percent", "MBU", f"{memory}: {traffic}", source),
    ]  # fmt: skip


def _percent(values: Any, name: str, said: str, note: str, source: str = "") -> Any:
    value = values.get(name)
    exact = fmt.UNKNOWN if value is None else f"{name} = {value:.15g}"
    return figure(said, fmt.ratio(value), exact=f"{exact}\n{source}" if source else exact, note=note)


def _remarks(metrics: ExecutionMetrics) -> list[Any]:
    values = metrics.values
    said = [f"Peaks: {values['peaks_source']}."] if "peaks_source" in values else []
    said += [note for note in values["notes"] if "peak is wrong" not in note]
    return [html.P(label(text, longest=1000), className="np-dim np-device-remark") for text in said]


PAGE = Page(
    path=_PATH,
    name="Device",
    question="Which engine works, which waits?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=(
        *RANGE_KEYS,
        SELECT_KEY,
        ("Double click a row", "show its longest packet or wait on the timeline"),
        SORT_KEY,
    ),
)
