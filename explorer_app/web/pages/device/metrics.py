"""The card with all metrics by AWS's names."""

from __future__ import annotations

from typing import Any, Final

from dash import html

from explorer_app.metric_text import GROUPS, exact_text, group_of, metric_text
from explorer_app.web.card import card
from explorer_app.web.grid import copy_button, grid, name_column, text_column
from explorer_app.web.names import label
from neuron_profile.analysis.neuron_device import ExecutionMetrics

GRID: Final = "np-metrics"
_NOT_METRICS: Final = ("notes", "metrics_source")
_HEIGHT_PX: Final = 560


def metrics_card(metrics: ExecutionMetrics) -> Any:
    """Name, value, exact value in AWS's unit, and whether the source reported it or it was computed."""
    columns = [
        text_column("group", "About", width=112),
        name_column("name", "Metric", flex=1, minWidth=240, cellClass="np-mono-cell"),
        text_column("shown", "Value", width=112, cellClass="ag-right-aligned-cell np-number", type="rightAligned",
                    tooltipField="exact"),
        text_column("exact", "Exact", width=190, cellClass="ag-right-aligned-cell np-number", type="rightAligned"),
        text_column("source", "Source", width=96),
    ]  # fmt: skip
    rows = metric_rows(metrics)
    body = html.Div(
        grid(GRID, columns, rows=rows, empty="No metrics.", label="Metrics by AWS's names"),
        className="np-device-metrics", style={"minHeight": f"{_HEIGHT_PX}px"},
    )  # fmt: skip
    note = html.Span([str(metrics.values["metrics_source"]), " ", copy_button(GRID)])
    return card("Metrics", body, note=note, area="metrics", flush=True)


def metric_rows(metrics: ExecutionMetrics) -> list[dict[str, Any]]:
    """The rows of the grid, what belongs together side by side."""
    names = [name for name in metrics.values if name not in _NOT_METRICS]
    names.sort(key=lambda name: (GROUPS.index(group_of(name)), name))
    return [
        {
            "id": name, "group": group_of(name), "name": name,
            "shown": label(metric_text(name, metrics.values[name])),
            "exact": label(exact_text(name, metrics.values[name])),
            "source": "reported" if name in metrics.reported else "computed",
        }
        for name in names
    ]  # fmt: skip
