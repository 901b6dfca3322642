"""How the operations are shown: as a grid, as an icicle or as a treemap; the address says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from explorer_app.web.numbers import once
from neuron_profile import analysis
from neuron_profile.analysis import CALL_TREES
from trace_format import Trace

SHOWN: Final = {"grid": "Grid", "icicle": "Icicle", "treemap": "Treemap"}
TREES: Final = {"module": "Modules and operators", "call": "Every call"}
SIZES: Final = {"device": "Device time", "host": "Host time"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What the reader chose.

    - `show`: one of `SHOWN`. `is_wide`: the window has room for the icicle beside the grid.
    - `tree`: one of `CALL_TREES`, "" for the one that says most. `size`: what areas stand for, one of `SIZES`, ""
      for the device's time where there is any.
    """

    show: str = "grid"
    tree: str = ""
    size: str = ""
    is_wide: bool = False

    @staticmethod
    def of(asked: Any) -> Shape:
        """What the browser asks for; what it cannot ask for is as if it had not."""
        asked = asked if isinstance(asked, Mapping) else {}
        show, tree, size = (str(asked.get(part) or "") for part in ("show", "tree", "size"))
        return Shape(
            show if show in SHOWN else "grid", tree if tree in CALL_TREES else "", size if size in SIZES else "",
            asked.get("wide") is True,
        )  # fmt: skip

    @property
    def has_tree(self) -> bool:
        """Whether a tree is to be drawn."""
        return self.is_wide or self.show != "grid"

    def query(self) -> dict[str, str]:
        """What an address says to show this; what holds without saying is left out."""
        said = {"show": "" if self.show == "grid" else self.show, "tree": self.tree, "size": self.size}
        return {name: value for name, value in said.items() if value}

    def settled(self, trace: Trace, most_nodes: int) -> Shape:
        """This with tree and size chosen: modules where there are any calls in them, the device where it worked."""
        tree = self.tree
        if not tree:
            tree = next(
                (by for by in CALL_TREES if len(once(analysis.call_tree, trace, by=by, most_nodes=most_nodes))), ""
            )
        tree = tree or CALL_TREES[0]
        whole = once(analysis.call_tree, trace, by=tree, most_nodes=most_nodes).attrs
        size = self.size or ("device" if whole["device_ns"] else "host")
        return replace(self, tree=tree, size=size)
