"""Kineto's activities, as `trace_activities()` gives them, become batches of trace events.

What torch's own JSON export says of an activity (libkineto/src/output_json.cpp; in Python
torch/profiler/_chrome_trace_export.py), this says of it too, save the end that torch gives to what had not ended
when the window did. An activity's getter costs about 0.1 microseconds, so each is asked only of the activities
that can have an answer.
"""

from __future__ import annotations

import dataclasses
import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from collectors.torch_profiler.arguments import ArgumentSharing
from collectors.torch_profiler.flops import flops_column
from trace_format.trace_events import NO_DURATION, EventBatch
from trace_format.trace_events.batch import Key

Array = np.ndarray

# What the host's threads did: nothing else caused it, so its external id is its own correlation id.
_HOST_TYPES = frozenset(("cpu_op", "user_annotation", "python_function"))
_INSTANT_TYPE = "cpu_instant_event"
# The external id of these is that of their cause alone.
_CAUSED_TYPES = frozenset(
    ("gpu_memcpy", "gpu_memset", "kernel", "cuda_runtime", "cuda_driver", "privateuse1_runtime", "privateuse1_driver")
)
# What a device did; anything else that bears this process's number was done by this process.
_DEVICE_TYPES = frozenset(("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync"))
_FLOW_KINDS = {1: "fwdbwd"}
_OTHER_FLOW_KIND = "ac2g"
_COLLECTIVE_OP = "record_param_comms"
_NO_THREAD = -(2**63)
# How many activities are asked one thing after another: so many stay in the processor's cache meanwhile.
_AT_A_TIME = 1000
_NO_CONTROL = dict.fromkeys(range(32), "\ufffd")


class KinetoActivities:
    """The activities of one window of this process. `device` is torch's name for the accelerator, None for none."""

    def __init__(self, activities: Sequence[Any], *, device: str | None, with_flops: bool) -> None:
        self._all = activities
        self._getters: Any = type(activities[0]) if activities else None
        self._device = device
        self._with_flops = with_flops
        self._pid = os.getpid()
        self._host_threads: set[int] = set()
        self._others: dict[Key, str] = {}  # what is not this process -> its label
        self._mended: set[int] = set()  # the activities, by id(), that held bytes which are not UTF-8

    @property
    def mended(self) -> int:
        """How many of the activities in the batches so far held bytes that are not UTF-8, which were replaced."""
        return len(self._mended)

    def batches(self) -> Iterator[EventBatch]:
        """The events, in batches: one event for each activity, and one for each end of a flow."""
        read: defaultdict[str, _Columns] = defaultdict(_Columns)
        for first in range(0, len(self._all), _AT_A_TIME):
            by_kind: defaultdict[str, list[Any]] = defaultdict(list)
            for activity in self._all[first : first + _AT_A_TIME]:
                by_kind[activity.type()].append(activity)
            for kind, activities in by_kind.items():
                self._read(kind, activities, read[kind])
        for kind, columns in read.items():
            batch = self._host_work(kind, columns) if kind in _HOST_TYPES else _batch(kind, columns)
            yield batch
            if columns.ends:
                yield _flows(columns.ends, batch)

    def names(self) -> EventBatch:
        """Metadata events that name processes and threads as torch's export does; to be asked for after `batches`."""
        rows: list[tuple[str, Key, int, str]] = []
        for process, label in {self._pid: "CPU", **self._others}.items():
            rows += [("process_name", process, 0, "python"), ("process_labels", process, 0, label)]
        rows += [("thread_name", self._pid, thread, _thread_name(thread)) for thread in sorted(self._host_threads)]
        names, processes, threads, texts = zip(*rows, strict=True)
        args = [msgspec.json.encode({n.partition("_")[2]: text}) for n, text in zip(names, texts, strict=True)]
        return EventBatch(
            ph="M" * len(rows), name=names, cat=[""] * len(rows), args=args, pid=processes, tid=threads,
            ts_ns=np.zeros(len(rows), np.int64), dur_ns=np.full(len(rows), NO_DURATION),
        )  # fmt: skip

    def _read(self, kind: str, activities: list[Any], columns: _Columns) -> None:
        """Ask some activities of one kind all there is to ask."""
        of, count, first = self._getters, len(activities), len(columns.name)
        columns.name += self._texts(of.name, activities)
        columns.ts_ns.extend(map(of.timestamp, activities))
        threads = _threads(map(of.resource_id, activities))
        columns.thread += threads
        if kind == _INSTANT_TYPE:
            columns.args += [b"{%b}" % text.encode() for text in self._texts(of.metadata_json, activities)]
            columns.process += [self._pid] * count
            return
        columns.dur_ns.extend(map(of.duration, activities))
        columns.ends += [
            _FlowEnd(first + row, flow, activities[row].flow_type(), activities[row].flow_start())
            for row, flow in enumerate(map(of.flow_id, activities))
            if flow > 0
        ]
        if kind in _HOST_TYPES:
            columns.arguments.add(self._texts(of.metadata_json, activities))
            columns.correlation.extend(map(of.correlation_id, activities))
            columns.process += [self._pid] * count
            self._host_threads.update(threads)
        else:
            columns.args += [b"{%b}" % self._whole_text(activity, kind).encode() for activity in activities]
            columns.process += [self._process(number, kind) for number in map(of.device_id, activities)]

    def _host_work(self, kind: str, columns: _Columns) -> EventBatch:
        shared = columns.arguments.finish()
        args = [b"{%b}" % text.encode() for text in shared.texts]
        correlation = _numbers(columns.correlation)
        slices = {"external_id": np.where(correlation > 0, correlation, -1), **shared.columns}
        if self._with_flops:
            slices["flops"] = flops_column(columns.name, args, shared.row)
        return dataclasses.replace(_batch(kind, columns), args=args, args_row=shared.row, columns=slices)

    def _texts(self, getter: Callable[[Any], str], activities: list[Any]) -> list[str]:
        """What the getter says of each activity."""
        try:
            return list(map(getter, activities))
        except UnicodeDecodeError:  # rare, so only then one by one
            return [self._text(getter, activity, activity) for activity in activities]

    def _text(self, getter: Callable[[Any], str], activity: Any, described: Any) -> str:
        """What the getter says of an activity; if it is not UTF-8, with that and the control characters replaced.

        Kineto names a Python frame whose code object is gone by what lies in that memory now. `described` is the
        activity that the text is for: the same, or one that it caused.
        """
        try:
            return getter(activity)
        except UnicodeDecodeError as error:
            self._mended.add(id(described))
            return error.object.decode("utf-8", "replace").translate(_NO_CONTROL)

    def _whole_text(self, activity: Any, kind: str) -> str:
        """The arguments of an activity that may have a cause, with the external id that torch's export gives it."""
        of = self._getters
        cause = activity.linked_correlation_id()
        external = cause or (0 if kind in _CAUSED_TYPES else activity.correlation_id())
        parts = [f'"External id": {external}'] if external else []
        parts.append(self._text(of.metadata_json, activity, activity))
        if kind == "kernel":
            linked = activity.linked_activity()
            if linked is not None and self._text(of.name, linked, activity) == _COLLECTIVE_OP:
                parts.append(self._text(of.metadata_json, linked, activity))
        return ", ".join(filter(None, parts))

    def _process(self, number: int, kind: str) -> Key:
        """The process or device of an activity; the number of a device may be that of this process, too."""
        if number == self._pid and kind not in _DEVICE_TYPES:
            return number
        word = "GPU" if self._device in (None, "cuda") else str(self._device).upper()
        label = f"{word} {number}" if number >= 0 else "Overhead"
        key: Key = label if number == self._pid else number
        self._others[key] = label
        return key


class _FlowEnd(NamedTuple):
    """One end of a flow: the position of its activity among those of its kind, and what torch says of the flow."""

    row: int
    flow: int
    kind: int
    starts: bool


@dataclass(slots=True)
class _Columns:
    """What the activities of one kind say, each column as long as there are activities or empty for the whole kind."""

    name: list[str] = field(default_factory=list)
    ts_ns: array[int] = field(default_factory=lambda: array("q"))
    dur_ns: array[int] = field(default_factory=lambda: array("q"))
    correlation: array[int] = field(default_factory=lambda: array("q"))
    thread: list[int] = field(default_factory=list)
    process: list[Key] = field(default_factory=list)
    args: list[bytes] = field(default_factory=list)
    arguments: ArgumentSharing = field(default_factory=ArgumentSharing)  # in place of `args`
    ends: list[_FlowEnd] = field(default_factory=list)


def _batch(kind: str, columns: _Columns) -> EventBatch:
    """The activities of a kind as events."""
    count, lasting = len(columns.name), len(columns.dur_ns) > 0
    return EventBatch(
        ph=("X" if lasting else "i") * count, name=columns.name, cat=[kind] * count, ts_ns=_numbers(columns.ts_ns),
        dur_ns=np.maximum(_numbers(columns.dur_ns), 0) if lasting else np.full(count, NO_DURATION),
        pid=columns.process, tid=columns.thread, args=columns.args,
    )  # fmt: skip


def _flows(ends: Sequence[_FlowEnd], batch: EventBatch) -> EventBatch:
    """The ends of flows on the activities of `batch`."""
    rows = [end.row for end in ends]
    kinds = [_FLOW_KINDS.get(end.kind, _OTHER_FLOW_KIND) for end in ends]
    return EventBatch(
        ph="".join(["s" if end.starts else "f" for end in ends]), name=kinds, cat=kinds,
        ts_ns=batch.ts_ns[rows], dur_ns=np.full(len(ends), NO_DURATION),
        pid=[batch.pid[row] for row in rows], tid=[batch.tid[row] for row in rows],
        args=[b""] * len(ends), id=[end.flow for end in ends], bp=["e"] * len(ends),
    )  # fmt: skip


def _threads(numbers: Iterable[int]) -> list[int]:
    threads = list(numbers)
    return threads if min(threads) >= 0 else [0 if t == _NO_THREAD else abs(t) for t in threads]


def _numbers(column: array[int]) -> Array:
    return np.array(column, np.int64)


def _thread_name(thread: int) -> str:
    try:
        name = Path(f"/proc/self/task/{thread}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:  # it has ended, or this system has no such files
        name = ""
    return f"thread {thread} ({name})" if name else f"thread {thread}"
