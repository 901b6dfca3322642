"""Which page tells more about what a rule found."""

from __future__ import annotations

from typing import Final, NamedTuple


class Explained(NamedTuple):
    """A page, by its name in the navigation."""

    name: str
    path: str


_COLLECTIVES, _COMPILE = Explained("Collectives", "/collectives"), Explained("Compile", "/compile")
_DEVICE, _HOTSPOTS, _MEMORY = (Explained(n, f"/{n.lower()}") for n in ("Device", "Hotspots", "Memory"))
_OF_RULE: Final = {
    "recompile": _COMPILE, "exposed-collectives": _COLLECTIVES, "slow-rank": _COLLECTIVES,
    "item-in-loop": _HOTSPOTS, "tiny-operators": _HOTSPOTS, "python-between-operators": _HOTSPOTS,
    "host-bound": _HOTSPOTS, "start-up": _HOTSPOTS, "unfused-optimizer": _HOTSPOTS,
    "layout-copies": _MEMORY, "exposed-copies": _MEMORY, "low-utilisation": _MEMORY, "memory-growth": _MEMORY,
    "small-dma": _DEVICE, "throttling": _DEVICE, "engine-waits": _DEVICE, "neff-per-operator": _DEVICE,
    "unexplained-idle": _DEVICE,
}  # fmt: skip


def page_explaining(rule: str) -> Explained | None:
    """The page; None where the timeline says it all, or the rule is not known."""
    return _OF_RULE.get(rule)
