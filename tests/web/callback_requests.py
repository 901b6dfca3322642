"""What the browser posts when a reader does something, for tests without a browser."""

from __future__ import annotations

from typing import Any


def page_request(path: Any, view: Any = None) -> dict[str, Any]:
    """The body of going to a page."""
    return {
        "output": "np-page.children", "outputs": {"id": "np-page", "property": "children"},
        "inputs": [
            {"id": "np-url", "property": "pathname", "value": path},
            {"id": "np-trace", "property": "data", "value": ""},
            {"id": "np-span", "property": "data", "value": None},
        ],
        "state": [{"id": "np-view", "property": "data", "value": view}],
        "changedPropIds": ["np-url.pathname"],
    }  # fmt: skip


def grouping_request(by: Any) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """The outputs, as (component, property), and the body of choosing a grouping on the Hotspots page."""
    outputs = [
        ("np-hotspots", "rowData"), ("np-hotspots", "columnDefs"), ("np-hotspots-why", "children"),
        ("np-hotspots-answer", "children"), ("np-question", "children"),
    ]  # fmt: skip
    body = {
        "output": ".." + "...".join(f"{name}.{what}" for name, what in outputs) + "..",
        "outputs": [{"id": name, "property": what} for name, what in outputs],
        "inputs": [{"id": "np-hotspots-grouping", "property": "data", "value": by}],
        "state": [{"id": "np-view", "property": "data", "value": None}],
        "changedPropIds": ["np-hotspots-grouping.data"],
    }
    return outputs, body
