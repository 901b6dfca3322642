"""What the browser posts when a reader does something, for tests without a browser."""

from __future__ import annotations

from typing import Any


def grouping_request(by: Any) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """The outputs, as (component, property), and the body of choosing a grouping on the Hotspots page."""
    outputs = [
        ("np-hotspots", "rowData"), ("np-hotspots", "columnDefs"), ("np-hotspots-why", "children"),
        ("np-hotspots-answer", "children"), ("np-hotspots-by", "children"), ("np-question", "children"),
    ]  # fmt: skip
    body = {
        "output": ".." + "...".join(f"{name}.{what}" for name, what in outputs) + "..",
        "outputs": [{"id": name, "property": what} for name, what in outputs],
        "inputs": [{"id": "np-hotspots-grouping", "property": "data", "value": by}],
        "changedPropIds": ["np-hotspots-grouping.data"],
    }
    return outputs, body
