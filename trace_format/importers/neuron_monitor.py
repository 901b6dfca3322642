"""Reads the stream of neuron-monitor: a JSON object for each period, as counters.

Documented (AWS Neuron docs, neuron-monitor user guide): the objects `neuron_runtime_data`, `system_data`,
`instance_info`, `neuron_hardware_info`; sections with a `period` in seconds and an `error` that is "" where all went
well; utilization and vcpu usage from 0 to 100, latencies in seconds, memory in bytes.

Tolerated: objects one a line, printed over several lines, or one after the other; sections and numbers that are not
listed, which become counters too; a stream cut off. A stream has no time of day unless the program that stored it
added one (`timestamp`, `timestamp_ns`): without, the first period begins at 0 and each lasts as long as it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec

from trace_format.builder import TraceBuilder
from trace_format.errors import DamagedFileError
from trace_format.importers.clocks import is_unix
from trace_format.importers.neuron_system.values import integer, number, text
from trace_format.importers.recognition import BOM
from trace_format.importers.source import Source
from trace_format.importers.trace_event_json.repair import dumped, mended
from trace_format.importers.trace_event_json.text import Window
from trace_format.limits import LATEST_NS
from trace_format.trace import Trace

_LARGEST_PERIOD_BYTES = 16 << 20
_LONGEST_PERIOD_S = 30 * 86_400.0
_DEFAULT_PERIOD_S = 5.0  # AWS Neuron docs, neuron-monitor user guide: the period where none is configured
_MOST_TRACKS = 20_000
_MOST_LISTED = 4096
_ERROR_LENGTH = 200
_NO_VALUES = frozenset({"period", "pid", "model_id", "neuron_device_index"})
# What the numbers below a name are: unit, and what they are multiplied with. The innermost name decides.
_UNITS = {
    "neuroncore_utilization": ("ratio", 0.01), "vcpu_usage": ("ratio", 0.01), "average_usage": ("ratio", 0.01),
    "usage_data": ("ratio", 0.01), "flops": ("flop/s", 1.0), "effective_flops": ("flop/s", 1.0),
    "latency_stats": ("s", 1.0), "execution_summary": ("executions", 1.0), "error_summary": ("errors", 1.0),
    "memory_used": ("bytes", 1.0), "memory_info": ("bytes", 1.0), "context_switch_count": ("switches", 1.0),
    "neuron_hw_counters": ("errors", 1.0),
}  # fmt: skip
# Names that say nothing beyond what those below them say.
_SILENT = frozenset(
    {
        "neuroncore_counters", "neuroncores_in_use", "execution_stats", "memory_used", "neuron_runtime_used_bytes",
        "neuron_runtime_vcpu_usage", "usage_breakdown", "memory_info", "neuron_hw_counters", "neuron_devices",
        "latency_stats", "usage_data", "execution_summary",
    }
)  # fmt: skip
_NUMBERED = {"neuroncores_in_use": "NC", "neuroncore_memory_usage": "NC", "usage_data": "CPU"}


@dataclass
class _Series:
    """The values of one counter, waiting to be added."""

    track: int
    times_ns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


@dataclass
class _Monitor:
    """Takes in the periods of a stream one by one."""

    builder: TraceBuilder = field(default_factory=TraceBuilder)
    series: dict[tuple[str, ...], _Series] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    models: dict[str, tuple[str, str]] = field(default_factory=dict)
    hardware: dict[str, Any] = field(default_factory=dict)

    def take(self, period: dict[str, Any], ts_ns: int) -> None:
        """Add the values of one period that begins at `ts_ns`."""
        runtimes = period.get("neuron_runtime_data")
        for runtime in runtimes if isinstance(runtimes, list) else []:
            if isinstance(runtime, dict):
                pid = integer(runtime.get("pid"))
                tag = text(runtime.get("neuron_runtime_tag"))
                name = " ".join(("runtime", *([tag] if tag else []), *([f"PID {pid}"] if pid is not None else [])))
                self._error(name, runtime)
                self._values(self._group(name, -1 if pid is None else pid), (name,), runtime.get("report"), ts_ns)
        self._values(self._group("system", -1), ("system",), period.get("system_data"), ts_ns)
        hardware = period.get("neuron_hardware_info")
        if isinstance(hardware, dict):
            self._error("neuron_hardware_info", hardware)
            self.hardware |= {k: v for k, v in hardware.items() if isinstance(v, str | int) and k != "error" and v}

    def finish(self) -> Trace:
        """The trace of all periods, without metadata."""
        for series in self.series.values():
            self.builder["counters"].append(
                len(series.values), ts_ns=series.times_ns, track=series.track, value=series.values
            )
        string = self.builder.string
        for uuid, (name, path) in self.models.items():
            self.builder["neffs"].append(1, uuid=string(uuid), name=string(name), path=string(path))
        return self.builder.finish()

    def _values(self, group: int, path: tuple[str, ...], value: Any, ts_ns: int) -> None:
        """Add every number at and below `value`, which stands under the names of `path`."""
        waiting: list[tuple[tuple[str, ...], Any]] = [(path, value)]
        while waiting:
            path, value = waiting.pop()
            if isinstance(value, dict):
                self._error(path[-1], value)
                waiting += [((*path, key), inner) for key, inner in value.items() if key not in _NO_VALUES][::-1]
            elif isinstance(value, list):
                self._models(path, value)
                waiting += [
                    ((*path, f"device {_index(inner, place)}"), inner)
                    for place, inner in enumerate(value[:_MOST_LISTED]) if path[-1] != "loaded_models"
                ][::-1]  # fmt: skip
            elif (found := number(value)) is not None:
                self._value(group, path, found, ts_ns)
            elif isinstance(value, (int, float)) and not isinstance(value, bool):  # infinity, and beyond all units
                self.builder.report.repaired["value that is no number a counter can have: not shown"] += 1

    def _value(self, group: int, path: tuple[str, ...], value: float, ts_ns: int) -> None:
        unit, scale = next((_UNITS[name] for name in reversed(path) if name in _UNITS), ("", 1.0))
        series = self.series.get(path)
        if series is None:
            if len(self.series) >= _MOST_TRACKS:
                self.builder.report.repaired[f"value of a counter beyond {_MOST_TRACKS:,}: left out"] += 1
                return
            track = self.builder.track(_shown(path), kind="counter", parent=group, unit=unit, core=_core(path))
            series = self.series[path] = _Series(track)
        series.times_ns.append(ts_ns)
        series.values.append(value * scale)

    def _error(self, name: str, section: dict[str, Any]) -> None:
        error = section.get("error")
        if isinstance(error, str) and error:
            shown = error[:_ERROR_LENGTH].replace("\n", " ")
            self.builder.report.repaired[f"{name} has an error in place of values: {shown}"] += 1

    def _models(self, path: tuple[str, ...], value: list[Any]) -> None:
        for model in value if path[-1] == "loaded_models" else []:
            if isinstance(model, dict) and (uuid := text(model.get("uuid"))):
                self.models[uuid] = (text(model.get("name")), "")

    def _group(self, name: str, pid: int) -> int:
        if name not in self.groups:
            self.groups[name] = self.builder.track(name, pid=pid)
        return self.groups[name]


def read_neuron_monitor(source: Source) -> Trace:
    """The trace in a stream of neuron-monitor: a counter for each number in it, by runtime and for the machine.

    A value holds from the start of its period. The report counts periods. Raises DamagedFileError for a stream
    without a whole one.
    """
    monitor = _Monitor()
    report = monitor.builder.report
    begin_ns, told = 0, False
    for period in _periods(source, monitor):
        report.source_events += 1
        if not period:
            report.left_out["period that is no JSON object"] += 1
            continue
        if abs(begin_ns) > LATEST_NS:
            report.left_out["period whose time no clock shows"] += 1
            continue
        length_ns = round(_length_s(period) * 1e9)
        ends_ns = _time_ns(period)
        if ends_ns is not None:
            told, begin_ns = True, ends_ns - length_ns
        monitor.take(period, begin_ns)
        begin_ns += length_ns
    if not report.kept:
        raise DamagedFileError("is a neuron-monitor stream without one whole period", path=source.path)
    source.note_in(report)
    trace = monitor.finish()
    span = trace.time_range_ns
    described: dict[str, Any] = {
        "format": "neuron-monitor",
        "path": source.path.name,
        "producer": "neuron-monitor",
        "clock": "unix" if told and span and is_unix(span[0]) else "unknown",
        "times_from": "stream" if told else "periods",
    }
    if monitor.hardware:
        described["hardware"] = monitor.hardware
    return Trace.of(trace.pool, trace.tables(), metadata={"sources": [described]}, report=trace.report)


def _periods(source: Source, monitor: _Monitor) -> Iterator[dict[str, Any]]:
    """The objects of a stream; an empty one for what is none. Reads on behind what is no JSON."""
    window = Window(source.pieces())
    window.skip(BOM)
    while (first := window.peek()) != b"":
        at = window.offset
        if first != b"{":
            window.at += 1
            if first not in (b",", b"[", b"]"):  # a list of periods is one too
                monitor.builder.report.repaired["text between periods: not read"] += 1
                window.at = max(window.data.find(b"\n", window.at), window.at)
            continue
        value = window.value(_LARGEST_PERIOD_BYTES)
        if value is None:
            monitor.builder.report.source_events += 1
            monitor.builder.report.left_out[f"period that the file ends in (byte {at})"] += 1
            return
        yield _object(value, monitor)


def _object(value: bytes, monitor: _Monitor) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(value) if value else None
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        try:
            found, causes = mended(value) or (None, [])
            found = msgspec.json.decode(dumped(found))  # fractions as floats
        except (msgspec.MsgspecError, RecursionError):
            return {}
        monitor.builder.report.repaired.update(causes)
    return found if isinstance(found, dict) else {}


def _length_s(period: dict[str, Any]) -> float:
    """How long a period lasted: the longest of those its sections tell."""
    longest = 0.0
    waiting: list[Any] = [period]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            told = number(value.get("period"))
            if told is not None and 0 < told < _LONGEST_PERIOD_S:
                longest = max(longest, told)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value[:_MOST_LISTED]
    return longest or _DEFAULT_PERIOD_S


def _time_ns(period: dict[str, Any]) -> int | None:
    """The time that a program which stored the stream added to a period; None where there is none."""
    system = period.get("system_data")
    for place in (period, system if isinstance(system, dict) else {}):
        exact = integer(place.get("timestamp_ns"))
        if exact is not None and abs(exact) < LATEST_NS:
            return exact
        told = place.get("timestamp")
        if isinstance(told, str):
            try:
                when = datetime.fromisoformat(told)
            except ValueError:
                continue
            if when.tzinfo is not None:
                return round(when.timestamp() * 1e6) * 1000
        seconds = number(told)
        if seconds is not None and is_unix(round(seconds * 1e9)):
            return round(seconds * 1e9)
    return None


def _index(value: Any, place: int) -> int:
    told = integer(value.get("neuron_device_index")) if isinstance(value, dict) else None
    return place if told is None else told


def _shown(path: tuple[str, ...]) -> str:
    """The name of a counter: what its names say, without those that go without saying and without its group's."""
    parts = [
        f"{_NUMBERED[above]} {name}" if above in _NUMBERED and name.isdecimal() else name.replace("_", " ")
        for above, name in pairwise(path) if name not in _SILENT
    ]  # fmt: skip
    return " ".join(parts) or path[-1]


def _core(path: tuple[str, ...]) -> int:
    for above, name in pairwise(path):
        if _NUMBERED.get(above) == "NC" and name.isdecimal() and int(name) < 2**31:
            return int(name)
    return -1
