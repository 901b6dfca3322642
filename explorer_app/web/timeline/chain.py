"""What caused a slice and what it caused, as the canvas draws it and the details list it."""

from __future__ import annotations

from typing import Any

from explorer_app.web.names import label
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.mention import mention
from neuron_profile import analysis


def chain(data: TimelineData, row: int) -> dict[str, Any]:
    """The links that lead to a slice and from it (see `analysis.causes`), ready for JSON.

    `{upstream, downstream, left_out}`; a link is `{distance, kind, from, to}`, its ends as `mention.mention` has them.
    """
    found = analysis.causes(data.trace, row)
    links: dict[str, Any] = {"upstream": [], "downstream": [], "left_out": found.attrs["left_out"]}
    for link in found.to_dict("records"):
        links[link["direction"]].append(
            {
                "distance": link["distance"],
                "kind": label(link["kind"]),
                "from": mention(data, link["from_slice"]),
                "to": mention(data, link["to_slice"]),
            }
        )
    return links
