"""Charts: the one place that makes a plotly graph, so that all look alike and none offers a cloud."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import dash
from dash import ALL, MATCH, ClientsideFunction, Input, Output, State, dcc, html

from explorer_app.web.names import label
from explorer_app.web.theme import chart_layout

# plotly.js 4 puts a "Share chart" button that uploads to a company's cloud on every chart unless told otherwise
CONFIG = {
    "displaylogo": False,
    "displayModeBar": False,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "responsive": True,
    "doubleClick": "reset",
    "showTips": False,  # its hints lie over what stands above the chart
}


def chart(name: str, figure: Mapping[str, Any], *, height_px: int, window_ratio: float, label: str) -> html.Div:
    """A chart drawn from a plotly figure given as plain data, in the colours of the scheme that is on.

    It is at least `height_px` high, at least `window_ratio` of the window's height, and fills its card. `name` is
    unique on the page. Colours in the figure name those of the theme: `var(--np-accent)`, or with an opacity
    `var(--np-accent) 20%`. Texts that come from a trace go through `plain`. `label` says in words what is shown.
    A click on a point whose `customdata` is (text, address), in a heat map the address, leads there; for a time axis
    see `time_axis`.
    """
    drawing = {"data": figure["data"], "layout": _merged(chart_layout(), figure.get("layout", {}))}
    graph = dcc.Graph(
        id={"np": "graph", "chart": name}, figure=drawing, config=CONFIG, style={"height": "100%"}, responsive=True
    )
    return html.Div(
        [
            # the browser makes the graph from this: one drawn twice, first empty, fails if its page is left meanwhile
            dcc.Store(id={"np": "unpainted", "chart": name}, data=graph.to_plotly_json()),
            html.Div(id={"np": "painted", "chart": name}, className="np-painted"),
        ],
        className="np-chart",
        style={"minHeight": f"max({height_px}px, {100 * window_ratio:g}vh)"},
        role="img",
        **{"aria-label": label},
    )


def register_painting(app: dash.Dash) -> None:
    """Let the browser draw every chart, again whenever its figure or the colour scheme changes, and follow the reader:
    a range dragged on a time axis is the range everywhere, a click on a point leads to what it stands for.
    """
    app.clientside_callback(
        ClientsideFunction("np", "paint"),
        Output({"np": "painted", "chart": MATCH}, "children"),
        Input({"np": "unpainted", "chart": MATCH}, "data"),
        Input("np-scheme", "data"),
    )
    graphs = {"np": "graph", "chart": ALL}
    app.clientside_callback(
        ClientsideFunction("npCharts", "choose"),
        Input(graphs, "relayoutData"),
        State(graphs, "figure"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("npCharts", "follow"), Input(graphs, "clickData"), prevent_initial_call=True
    )


def plain(text: str) -> str:
    """`text` for a chart's labels and tooltips, where plotly would read `<` as markup, cut to what fits there."""
    return label(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def value_axis(largest: float, show: Callable[[float], str]) -> dict[str, Any]:
    """An axis from 0 to a little over `largest` with ticks at round values, written by `show`.

    Plotly's own ticks would join number, prefix and unit without a space.
    """
    top = largest * 1.05 if largest > 0 else 1.0
    step = _round_up(top / 6)
    ticks = [step * i for i in range(1, math.floor(top / step) + 1)]
    return {
        "range": [0, top],
        "tickvals": [0, *ticks],
        "ticktext": ["0", *(re.sub(r"\.?0+ ", " ", text) if "." in (text := show(tick)) else text for tick in ticks)],
        "fixedrange": True,
        "zeroline": False,
    }


def _round_up(value: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= value * 0.999)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `over`; mappings in both are merged in turn. Axes beyond the first inherit its look."""
    out = dict(base)
    for key, value in over.items():
        below = base.get(key, base.get(key.rstrip("0123456789")))
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        out[key] = _merged(below, value) if both else value
    return out
