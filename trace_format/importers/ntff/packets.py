"""DMA packet records: on its queue's track a slice for each packet that began and ended, and its completion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec
import numpy as np

from trace_format.errors import LimitExceededError
from trace_format.importers.neuron_device.activity import Steps
from trace_format.importers.neuron_device.engines import queue_name
from trace_format.importers.ntff.container import PACKETS, Clock, CoreTrace
from trace_format.importers.ntff.pairing import PENDING, Pairing
from trace_format.importers.ntff.profile import Profile
from trace_format.importers.ntff.times import duration
from trace_format.tables import CATEGORIES

Array = np.ndarray

ENGINES_PER_CORE = 16  # AWS Neuron docs, NKI architecture guides: 16 DMA engines for each NeuronCore
# Kinds of records. In all files seen each packet has one of each on its queue, the completion 0.19 to 1.6 us after the
# end; what exactly completes then is not known.
_START, _END, _COMPLETED = 1, 5, 6
_SIZE_MASK = 0xFFFFFF
_QUEUE_SHIFT = 4  # of a key: queue and DMA engine
# AWS's tool counts this queue, and those that are not registered, as fetching instructions. Fitted to its JSON.
_INSTRUCTION_QUEUE = 14
_INSTRUCTION, _HARDWARE, _SOFTWARE = "instruction", "hardware_dynamic", "software_dynamic"
_DYNAMIC = (_HARDWARE, _SOFTWARE)
_MOST_TRACKS = 1 << 17  # a core has 16 DMA engines with some queues each
_PS_PER_S = 10.0**12
_TIMED = np.dtype([("key", "<i8"), ("ps", "<i8"), ("size", "<u4"), ("kind", "u1")])
_COUNTED_FROM_CORE_0 = ("trn1", "inf2")  # where DMA engines are numbered anew for each core


@dataclass
class Packets:
    """What was seen of a core's packets: what moves at a time, of that what dynamic queues move, and how many do.

    `static`: whether there were packets of queues whose transfers no instruction starts.
    """

    throughput: Steps
    dynamic_throughput: Steps
    under_way: Steps
    static: bool = False


def add_packets(profile: Profile, core: CoreTrace, queue_types: Mapping[str, str]) -> Packets:
    """Add the slices of a core's DMA packets. `queue_types`: what the NEFF says of a queue, by its name."""
    throughput, dynamic, under_way = (Steps(0, profile.end_ps) for _ in range(3))
    seen = Packets(throughput, dynamic, under_way)
    queues = _Queues(profile, core, queue_types)
    pairing = Pairing()
    for records in profile.records(core, PACKETS):
        timed = _timed(profile, core, records)
        _add_completions(profile, queues, timed[timed["kind"] == _COMPLETED])
        starts, ends = pairing.join(_pending(timed[timed["kind"] != _COMPLETED]))
        told, which = queues.told(starts["key"])
        lasts, moved = ends["ps"] - starts["ps"], ends["value"].astype(np.int64)
        profile.builder["slices"].append(
            len(starts),
            category=CATEGORIES.index("dma"),
            bytes=moved,
            **{name: column[which] for name, column in told.items()},
            **profile.time.start(starts["ps"]),
            **duration(lasts),
        )
        kinds = told["source_category"][which]
        amount = moved * _PS_PER_S
        started = np.isin(kinds, queues.ids(*_DYNAMIC))
        seen.throughput.add(starts["ps"], lasts, amount)
        seen.under_way.add_level(starts["ps"], lasts)
        seen.dynamic_throughput.add(starts["ps"][started], lasts[started], amount[started])
        seen.static |= not np.isin(kinds, queues.ids(*_DYNAMIC, _INSTRUCTION)).all()
    pairing.finish()
    profile.leave_out("DMA packet whose end is not recorded", pairing.unpaired_starts)
    profile.leave_out("end of a DMA packet whose start is not recorded", pairing.unpaired_ends)
    return seen


@dataclass
class _Queues:
    """What all packets of a queue on a DMA engine share, by their key."""

    profile: Profile
    core: CoreTrace
    types: Mapping[str, str]  # by name
    _known: dict[int, tuple[int, int, int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._base = 0 if self.profile.family in _COUNTED_FROM_CORE_0 else self.core.core * ENGINES_PER_CORE
        self._names = {(queue.engine, queue.index): queue.name for queue in self.core.queues}

    def told(self, keys: Array) -> tuple[dict[str, Array], Array]:
        """Columns of slices by queue, and which queue each key is."""
        used, which = np.unique(keys, return_inverse=True)
        columns = np.array([self._of(key) for key in used.tolist()], np.uint32).reshape(-1, 4).T
        return dict(zip(("track", "name", "source_category", "args"), columns, strict=True)), which

    def ids(self, *kinds: str) -> list[int]:
        return [self.profile.builder.string(kind) for kind in kinds]

    def _of(self, key: int) -> tuple[int, int, int, int]:
        found = self._known.get(key)
        if found is None:
            builder, engine, queue = self.profile.builder, self._base + key % ENGINES_PER_CORE, key >> _QUEUE_SHIFT
            name = self._names.get((engine, queue), "")
            shown = queue_name(name) if name else f"Q{queue}"
            if builder["tracks"].rows > _MOST_TRACKS:
                raise LimitExceededError(
                    f"has more than {_MOST_TRACKS} DMA queues; it is damaged", path=self.profile.source.path
                )
            facts = {"dma_engine": str(engine), "dma_queue": str(queue)}
            found = self._known[key] = (
                self.profile.tracks.queue(self.core.core, shown, engine),
                builder.string(shown),
                builder.string(self._kind(name, queue)),
                builder.pool.arg_sets.id(msgspec.json.encode(facts)),
            )
        return found

    def _kind(self, name: str, queue: int) -> str:
        """The class of a queue. That of a dynamic one is told by its name; fitted to AWS's JSON."""
        if queue == _INSTRUCTION_QUEUE or not name:
            return _INSTRUCTION
        if name.endswith("DynamicHW"):
            return _HARDWARE
        if name.endswith("Dynamic"):
            return _SOFTWARE
        return self.types.get(name, "unknown")


def _add_completions(profile: Profile, queues: _Queues, records: Array) -> None:
    """Each completion is an instant of its queue's track."""
    told, which = queues.told(records["key"])
    profile.builder["instants"].append(
        len(records),
        ts_ns=profile.time.start(records["ps"])["ts_ns"],
        track=told["track"][which],
        name=profile.builder.string("completion"),
        category=CATEGORIES.index("dma"),
    )


def _timed(profile: Profile, core: CoreTrace, records: Array) -> Array:
    """The records of known kinds as `_TIMED`, each on the clock of its DMA engine."""
    kinds = records["value"] & np.uint32(0xF)
    known = np.isin(kinds, (_START, _END, _COMPLETED))
    profile.leave_out("DMA record of an unknown kind", int((~known).sum()))
    records = records[known]
    engines = records["head"] >> np.uint32(24) & np.uint32(0xF)
    parts = []
    for engine in range(ENGINES_PER_CORE):
        clock = core.dma_clocks[engine] if engine < len(core.dma_clocks) else Clock()
        timed, since = profile.timed(records[engines == engine], clock)
        part = np.zeros(len(timed), _TIMED)
        queue = (timed["value"] >> np.uint32(4) & np.uint32(0xFFF)).astype(np.int64)
        part["key"] = queue << _QUEUE_SHIFT | engine
        part["ps"], part["size"] = since, timed["head"] & np.uint32(_SIZE_MASK)
        part["kind"] = timed["value"] & np.uint32(0xF)
        parts.append(part)
    return np.concatenate(parts)


def _pending(timed: Array) -> Array:
    """The starts and ends as they are joined: those of one queue on one DMA engine belong together."""
    out = np.zeros(len(timed), PENDING)
    out["key"], out["ps"], out["value"], out["end"] = timed["key"], timed["ps"], timed["size"], timed["kind"] == _END
    return out
