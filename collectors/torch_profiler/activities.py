"""Kineto's activities, as `trace_activities()` gives them, become batches of trace events.

What torch's own JSON export says of an activity (libkineto/src/output_json.cpp; in Python
torch/profiler/_chrome_trace_export.py), this says of it too, save the end that torch gives to what had not ended
when the window did. An activity's getter costs about 0.1 microseconds, so each is asked only of the activities
that can have an answer.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from collectors.torch_profiler.arguments import share
from collectors.torch_profiler.flops import flops_column
from trace_format.trace_events import NO_DURATION, EventBatch
from trace_format.trace_events.batch import Key

Array = np.ndarray
_Texts = TypeVar("_Texts")

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
        by_kind: defaultdict[str, list[Any]] = defaultdict(list)
        for activity in self._all:
            by_kind[activity.type()].append(activity)
        for kind, activities in by_kind.items():
            if kind == _INSTANT_TYPE:
                yield self._instants(kind, activities)
                continue
            batch = self._host_work(kind, activities) if kind in _HOST_TYPES else self._other_work(kind, activities)
            yield batch
            flows = self._flows(activities, batch)
            if flows is not None:
                yield flows

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

    def _host_work(self, kind: str, activities: list[Any]) -> EventBatch:
        of, count = self._getters, len(activities)
        names = self._texts(of.name, activities, list)
        shared = self._texts(of.metadata_json, activities, share)
        args = [b"{%b}" % text.encode() for text in shared.texts]
        threads = self._threads(activities)
        self._host_threads.update(threads)
        correlation = self._numbers(of.correlation_id, activities)
        columns = {"external_id": np.where(correlation > 0, correlation, -1), **shared.columns}
        if self._with_flops:
            columns["flops"] = flops_column(names, args, shared.row)
        return EventBatch(
            ph="X" * count, name=names, cat=[kind] * count,
            ts_ns=self._numbers(of.timestamp, activities), dur_ns=self._durations(activities),
            pid=[self._pid] * count, tid=threads, args=args, args_row=shared.row, columns=columns,
        )  # fmt: skip

    def _instants(self, kind: str, activities: list[Any]) -> EventBatch:
        of, count = self._getters, len(activities)
        return EventBatch(
            ph="i" * count, name=self._texts(of.name, activities, list), cat=[kind] * count,
            ts_ns=self._numbers(of.timestamp, activities), dur_ns=np.full(count, NO_DURATION),
            pid=[self._pid] * count, tid=self._threads(activities),
            args=[b"{%b}" % text.encode() for text in self._texts(of.metadata_json, activities, list)],
        )  # fmt: skip

    def _other_work(self, kind: str, activities: list[Any]) -> EventBatch:
        of, count = self._getters, len(activities)
        return EventBatch(
            ph="X" * count, name=self._texts(of.name, activities, list), cat=[kind] * count,
            ts_ns=self._numbers(of.timestamp, activities), dur_ns=self._durations(activities),
            pid=[self._process(number, kind) for number in map(of.device_id, activities)],
            tid=self._threads(activities),
            args=[b"{%b}" % self._whole_text(activity, kind).encode() for activity in activities],
        )  # fmt: skip

    def _flows(self, activities: list[Any], batch: EventBatch) -> EventBatch | None:
        """The flow ends on the activities of `batch`; None if there are none."""
        ids = self._numbers(self._getters.flow_id, activities)
        rows = np.flatnonzero(ids > 0)
        if not len(rows):
            return None
        ends = [activities[row] for row in rows.tolist()]
        kinds = [_FLOW_KINDS.get(end.flow_type(), _OTHER_FLOW_KIND) for end in ends]
        return EventBatch(
            ph=["s" if end.flow_start() else "f" for end in ends], name=kinds, cat=kinds,
            ts_ns=batch.ts_ns[rows], dur_ns=np.full(len(ends), NO_DURATION),
            pid=[batch.pid[row] for row in rows.tolist()], tid=[batch.tid[row] for row in rows.tolist()],
            args=[b""] * len(ends), id=ids[rows].tolist(), bp=["e"] * len(ends),
        )  # fmt: skip

    def _texts(
        self, getter: Callable[[Any], str], activities: list[Any], use: Callable[[Iterable[str]], _Texts]
    ) -> _Texts:
        """`use` of what the getter says of each activity."""
        try:
            return use(map(getter, activities))
        except UnicodeDecodeError:  # rare, so only then one by one
            return use(self._text(getter, activity, activity) for activity in activities)

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

    def _threads(self, activities: list[Any]) -> list[int]:
        threads = list(map(self._getters.resource_id, activities))
        return threads if min(threads) >= 0 else [0 if t == _NO_THREAD else abs(t) for t in threads]

    def _durations(self, activities: list[Any]) -> Array:
        return np.maximum(self._numbers(self._getters.duration, activities), 0)

    def _numbers(self, getter: Callable[[Any], int], activities: list[Any]) -> Array:
        return np.fromiter(map(getter, activities), np.int64, len(activities))

    def _process(self, number: int, kind: str) -> Key:
        """The process or device of an activity; the number of a device may be that of this process, too."""
        if number == self._pid and kind not in _DEVICE_TYPES:
            return number
        word = "GPU" if self._device in (None, "cuda") else str(self._device).upper()
        label = f"{word} {number}" if number >= 0 else "Overhead"
        key: Key = label if number == self._pid else number
        self._others[key] = label
        return key


def _thread_name(thread: int) -> str:
    try:
        name = Path(f"/proc/self/task/{thread}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:  # it has ended, or this system has no such files
        name = ""
    return f"thread {thread} ({name})" if name else f"thread {thread}"
