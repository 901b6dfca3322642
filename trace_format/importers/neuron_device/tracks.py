"""The tracks of Neuron devices: logical core > physical core > engines, DMA queues, semaphores, throttle, counters.

Hierarchy (a track's `parent` is the one before it):

    <title>                       one for each device profile (kind other; `device`, `core` = its first core)
      Executions                  device_annotation: one slice for each run of the NEFF (see `execution`)
      Layers                      device_annotation, where a source tells layers apart
      Collectives                 collective, of a simulated device
      Core 4                      other
        Tensor, Vector, ...       engine; `engine` names it; slices are instructions and nothing else,
                                    instants those that were under way when the recording stopped
        DMA                       other
          qSyncIO0 · E64          dma_queue; slices are packets and nothing else, instants their completions
        Semaphores                other
          S[3] (GpSimd)           semaphore; the values are a counter of the same track
        Events                    semaphore; instants
        Throttle                  throttle
        <counter>                 counter, `unit` says of what

Every track of a profile has its `device` (-1: not told), and those below a physical core their `core`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trace_format.builder import TraceBuilder
from trace_format.importers.neuron_device.engines import ENGINES

EXECUTIONS, LAYERS, DMA, SEMAPHORES, EVENTS, THROTTLE = (
    "Executions", "Layers", "DMA", "Semaphores", "Events", "Throttle",
)  # fmt: skip
COLLECTIVES = "Collectives"
SIMULATED = "(simulated)"
_BEHIND_MEASURED = 5_900_000  # Kineto has devices at 5,000,000 and its own spans at 536,870,912 (output_json.cpp)
_COUNTERS_AFTER = len(ENGINES)  # sort index within a core: engines, counters, DMA, throttle, semaphores, events
_PLACES = {DMA: 20, THROTTLE: 30, SEMAPHORES: 40, EVENTS: 50}


@dataclass
class DeviceTracks:
    """The tracks of one device profile, each made when it is first asked for.

    `title` is what the group is called; `parent` the track of its process, -1 for none. Those of a `simulated` device
    say so in their names too.
    """

    builder: TraceBuilder
    title: str
    device: int = -1
    first_core: int = -1
    parent: int = -1
    rank: int = -1
    host: str = ""
    simulated: bool = False
    _rows: dict[tuple[object, ...], int] = field(default_factory=dict)

    def group(self) -> int:
        """The track under which all others of this profile lie."""
        place = _BEHIND_MEASURED if self.simulated else 0
        return self._track((), self.title, "other", self.parent, core=self.first_core, sort_index=place)

    def executions(self) -> int:
        return self._track((EXECUTIONS,), EXECUTIONS, "device_annotation", self.group(), core=self.first_core)

    def layers(self) -> int:
        return self._track((LAYERS,), LAYERS, "device_annotation", self.group(), core=self.first_core, sort_index=1)

    def collectives(self) -> int:
        """The lane on which all collectives of this device are."""
        return self._track((COLLECTIVES,), COLLECTIVES, "collective", self.group(), core=self.first_core, sort_index=5)

    def core(self, core: int) -> int:
        """The group of a physical core."""
        return self._track(("core", core), f"Core {core}", "other", self.group(), core=core, sort_index=10 + core)

    def engine(self, core: int, engine: str) -> int:
        """The track of an engine (see `engines.engine_name`)."""
        place = ENGINES.index(engine) if engine in ENGINES else _COUNTERS_AFTER
        return self._track(("engine", core, engine), engine, "engine", self.core(core), core=core, engine=engine,
                           sort_index=place)  # fmt: skip

    def queue(self, core: int, name: str, dma_engine: int) -> int:
        """The track of a DMA queue on one DMA engine (-1: not told)."""
        shown = name if dma_engine < 0 else f"{name} · E{dma_engine}"
        return self._track(("queue", core, name, dma_engine), shown, "dma_queue", self._below(core, DMA), core=core,
                           sort_index=max(dma_engine, 0))  # fmt: skip

    def semaphore(self, core: int, label: str) -> int:
        """The track of a semaphore; its values are rows of `counters`."""
        return self._track(("semaphore", core, label), label, "semaphore", self._below(core, SEMAPHORES), core=core)

    def events(self, core: int) -> int:
        """The track of events that are set and consumed; each is an instant."""
        return self._track((EVENTS, core), EVENTS, "semaphore", self.core(core), core=core, sort_index=_PLACES[EVENTS])

    def throttle(self, core: int) -> int:
        return self._track((THROTTLE, core), THROTTLE, "throttle", self.core(core), core=core,
                           sort_index=_PLACES[THROTTLE])  # fmt: skip

    def counter(self, core: int, name: str, unit: str) -> int:
        """The track of a counter of a physical core."""
        return self._track(("counter", core, name), name, "counter", self.core(core), core=core, unit=unit,
                           sort_index=_COUNTERS_AFTER + 1)  # fmt: skip

    def _below(self, core: int, name: str) -> int:
        return self._track((name, core), name, "other", self.core(core), core=core, sort_index=_PLACES[name])

    def _track(
        self, key: tuple[object, ...], name: str, kind: str, parent: int, *, core: int, engine: str = "",
        unit: str = "", sort_index: int = 0,
    ) -> int:  # fmt: skip
        row = self._rows.get(key)
        if row is None:
            name = f"{name} {SIMULATED}" if self.simulated else name
            row = self._rows[key] = self.builder.track(
                name, kind=kind, parent=parent, host=self.host, engine=engine, unit=unit, rank=self.rank,
                device=self.device, core=core, sort_index=sort_index, simulated=int(self.simulated),
            )  # fmt: skip
        return row
