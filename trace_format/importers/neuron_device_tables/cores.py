"""Which physical core a row of a device profile belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from trace_format.importers.neuron_device_tables.part import Part, Row

Array = np.ndarray

_SUBGRAPH = re.compile(r"sg(\d{1,4})")
_MOST_CORES = 1024  # of one profile; a logical core has two


@dataclass(frozen=True)
class Cores:
    """The physical cores of one logical core, in order, and the subgraphs that ran on them.

    `numbers` are the cores' numbers on the device; empty where the profile does not tell them: they are then
    numbered from 0. (The summary's own nc_idx is the sum of those of the cores and of no use.)
    """

    numbers: tuple[int, ...] = ()
    by_subgraph: dict[str, int] = field(default_factory=dict)

    @classmethod
    def told_by(cls, model_info: list[Row], memory: list[Row], only: int) -> Cores:
        """Cores as rows of model_info name them, else as rows of nc_mem_usage do; `only`: the single core, else -1."""
        models = Part("model_info", model_info)
        pairs = list(zip(models.texts("sg_name"), models.integers("nc_idx").tolist(), strict=True))
        known = {name: core for name, core in sorted(pairs) if _is_core(core)}
        if known:
            return cls(tuple(dict.fromkeys(known.values())), known)
        used = sorted({core for core in Part("nc_mem_usage", memory).integers("nc").tolist() if _is_core(core)})
        if used:
            return cls(tuple(used[:_MOST_CORES]))
        return cls((only,) if _is_core(only) else ())

    def of(self, part: Part) -> list[int]:
        """The core of each row: by its subgraph, else by its place among the cores (`pcore_idx`), else the first."""
        known: dict[tuple[str, int], int] = {}
        subgraphs, places = part.texts("subgraph"), part.integers("pcore_idx").tolist()
        out = []
        for key in zip(subgraphs, places, strict=True):
            core = known.get(key)
            if core is None:
                core = known[key] = self._core(*key)
            out.append(core)
        return out

    def _core(self, subgraph: str, place: int) -> int:
        if subgraph in self.by_subgraph:
            return self.by_subgraph[subgraph]
        named = _SUBGRAPH.match(subgraph)
        if named:
            place = int(named[1])
        place = place if 0 <= place < _MOST_CORES else 0
        return self.numbers[place] if place < len(self.numbers) else place


def _is_core(number: int) -> bool:
    return 0 <= number < 2**31
