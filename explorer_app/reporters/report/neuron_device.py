"""The section with the metrics of Neuron devices: which engine works, which waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from explorer_app import format as fmt
from explorer_app.metric_text import GROUPS, exact_text, group_of, metric_text
from explorer_app.reporters.report.markup import Markup, element, joined, named, told
from explorer_app.reporters.report.parts import section, share_bar, table
from explorer_app.web.theme import category_color
from neuron_profile.analysis import Summary

_ENGINES: Final = ("Tensor", "Vector", "Scalar", "GpSimd", "Sync")
_COLUMNS: Final = (
    ("Engine", "text"), ("Active, of the run", "bar"), ("Active", "number"), ("Waiting", "number"),
    ("Instructions", "number"),
)  # fmt: skip
_TOLD_ELSEWHERE: Final = frozenset({"notes"})


def neuron_device(summary: Summary) -> Markup:
    """Engines, then all metrics by group; nothing for a trace without a profile of such a device."""
    total = summary.device.total
    if total is None:
        return Markup()
    values = total.values
    runs = len(summary.device.executions)
    note = f"{fmt.counted(runs, 'execution')} added up" if runs > 1 else ""
    engines = [_engine(values, engine) for engine in _ENGINES]
    groups: dict[str, list[tuple[str, Any]]] = {group: [] for group in GROUPS}
    for name, value in values.items():
        if name not in _TOLD_ELSEWHERE:
            groups[group_of(name)].append((name, value))
    rows = [
        (group, element("code", name), told(metric_text(name, value), exact_text(name, value)))
        for group, metrics in groups.items()
        for name, value in metrics
    ]
    columns = (("About", "text"), ("Metric", "wide"), ("Value", "number"))
    every = element(
        "details", element("summary", f"All {len(rows)} metrics"), table(columns, rows, "Metrics of the device")
    )
    notes = [element("p", named(str(text)), _class="dim") for text in values.get("notes", ())]
    return section("Neuron device", table(_COLUMNS, engines, "Engines"), *notes, every, note=note)


def _engine(values: Mapping[str, Any], engine: str) -> tuple[Any, ...]:
    def shown(name: str) -> str:
        key = f"{engine.lower()}_engine_{name}"
        return metric_text(key, values[key]) if key in values else fmt.UNKNOWN

    share = values.get(f"{engine.lower()}_engine_active_time_percent")
    bar = joined((fmt.UNKNOWN,)) if share is None else share_bar(share, category_color("compute"))
    return engine, bar, shown("active_time"), shown("waiting_time"), shown("instruction_count")
