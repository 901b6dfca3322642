"""Rows that say how much of something there is at a time become values of counters."""

from __future__ import annotations

import numpy as np

from trace_format.importers.neuron_device.activity import Coverage
from trace_format.importers.neuron_device.engines import engine_name
from trace_format.importers.neuron_device_tables.context import Context
from trace_format.importers.neuron_device_tables.part import UNREADABLE, Part
from trace_format.limits import LATEST_NS

Array = np.ndarray

# By table and column: name and unit. Usage is a fraction of 1, as AWS has it.
_PENDING = {"value": ("Pending DMAs", "DMAs")}
_THROUGHPUT = {"transfer_rate": ("DMA throughput", "B/s"), "total_transfer_bytes": ("DMA bytes", "B")}
_HBM = {"hbm_transfer_rate": ("HBM throughput", "B/s"), "hbm_total_transfer_bytes": ("HBM bytes", "B")}
_SBUF = {"usage_avg": ("SBUF usage", "ratio")} | {
    f"partition_{first}_usage": (f"SBUF partition {first} usage", "ratio") for first in (0, 32, 64, 96)
}
_PSUM = {"usage_avg": ("PSUM usage", "ratio")} | {
    f"bank_{bank}_usage": (f"PSUM bank {bank} usage", "ratio") for bank in range(8)
}


def add_pending(context: Context, part: Part) -> None:
    """Add how many dynamic DMAs were started and not known to be done."""
    part, ts = context.timed(part)
    _add(context, part, ts, _PENDING)


def add_throughput(context: Context, part: Part) -> None:
    """Add rates and running totals; those of HBM from the first row on that knows of HBM traffic."""
    part, ts = context.timed(part)
    _add(context, part, ts, _THROUGHPUT)
    cores = context.cores.of(part)
    knows = (part.reals("hbm_transfer_rate") > 0) | (part.reals("hbm_total_transfer_bytes") > 0)
    knows |= np.array([text == "true" for text in part.texts("uses_hbm")], bool)
    seen = np.zeros(len(part), bool)
    for core in set(cores):
        mine = np.array(cores) == core
        before = core in context.hbm_seen
        seen |= mine & (before | np.logical_or.accumulate(knows & mine))
        if (knows & mine).any():
            context.hbm_seen.add(core)
    _add(context, part.where(seen), ts[seen], _HBM)


def add_usage(context: Context, part: Part) -> None:
    """Add how full SBUF and PSUM are, on average and by part."""
    part, ts = context.timed(part)
    kinds = part.texts("type")
    for kind, columns in (("sb", _SBUF), ("psum", _PSUM)):
        mine = np.array([text == kind for text in kinds], bool)
        _add(context, part.where(mine), ts[mine], columns)
    unknown = sum(kind not in ("sb", "psum") for kind in kinds)
    context.leave_out(f"row of {part.name} that is about neither sb nor psum", unknown)


def add_activity(context: Context, part: Part) -> None:
    """Remember when engines were busy; `add_active_share` makes counters of it when all is known."""
    part, ts = context.timed(part, "start_ts")
    start = ts - context.zero_ns
    end = part.integers("end_ts", UNREADABLE)
    good = (end >= start) & (end < LATEST_NS)
    context.leave_out(f"row of {part.name} whose end cannot be read", int((~good).sum()))
    part, start, end = part.where(good), start[good], end[good]
    engines = [engine_name(text) for text in part.texts("engine")]
    keys = list(zip(context.cores.of(part), engines, strict=True))
    for key in dict.fromkeys(keys):
        mine = np.array([other == key for other in keys], bool)
        context.busy.setdefault(key, []).append((start[mine], end[mine]))


def add_active_share(context: Context, total_ns: int) -> None:
    """Add which share of each of up to 1024 equal parts of the run an engine was busy, as for other sources."""
    for (core, engine), intervals in context.busy.items():
        covered = Coverage(0, total_ns)
        for start, end in intervals:
            covered.add(start, end - start)
        ratio = covered.ratio()
        context.builder["counters"].append(
            len(ratio) + 1,
            ts_ns=covered.edges_ps + context.zero_ns,  # edges in the unit they were given in: ns
            track=context.tracks.counter(core, f"{engine} active", "ratio"),
            value=np.append(ratio, 0.0),
        )


def _add(context: Context, part: Part, ts: Array, columns: dict[str, tuple[str, str]]) -> None:
    cores = context.cores.of(part)
    for column, (name, unit) in columns.items():
        values = part.reals(column)
        known = ~np.isnan(values)
        if known.any():
            tracks = _tracks(context, cores, [name] * len(part), unit)
            context.builder["counters"].append(
                int(known.sum()), ts_ns=ts[known], track=tracks[known], value=values[known]
            )


def _tracks(context: Context, cores: list[int], names: list[str], unit: str) -> Array:
    return context.tracks_of(lambda core, name: context.tracks.counter(core, name, unit), cores, names)
