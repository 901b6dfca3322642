"""The tracks of a Neuron job's host side, grouped as AWS's viewer groups them.

    instance 0                        the machine
      PID 77
        framework
          TID 12, Stream 3            host_thread; runtime, for it is what was handed over
        neuron_rt
          NC 0 · TID 9                runtime: calls of the Neuron runtime for a logical core
        neuron_hw
          NC 0                        device_annotation: one slice for each execution on a core made of several
          NC 0:4                      stream: executions on physical core 4 (its `core`)
          NC 0 collectives            collective
      host                            counters of the machine

An EC2 instance id identifies an account's machine and is not shown: instances are numbered. Another host's name is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trace_format.builder import TraceBuilder
from trace_format.instance_id import INSTANCE_ID

FRAMEWORK, RUNTIME, HARDWARE = "framework", "neuron_rt", "neuron_hw"
_GROUP_PLACES = {FRAMEWORK: 0, RUNTIME: 1, HARDWARE: 2}
_HOST_PLACE = -1
_MOST_PLACES = 1 << 30  # a damaged file may name any core


@dataclass
class HostTracks:
    """The tracks, each made when it is first asked for. -1 and "" are what a source does not tell."""

    builder: TraceBuilder
    _rows: dict[tuple[object, ...], int] = field(default_factory=dict)
    _instances: dict[str, str] = field(default_factory=dict)

    def instance(self, instance: str) -> int:
        """The group of a machine; -1 where the source names none."""
        if not instance:
            return -1
        return self._track(("instance", instance), self._shown(instance), "other", -1)

    def process(self, instance: str, pid: int, name: str = "") -> int:
        """The group of a process, called `name` where it has no pid."""
        shown = f"PID {pid}" if pid >= 0 else name or "process"
        return self._track(("process", instance, pid, name), shown, "other", self.instance(instance), pid=pid)

    def thread(self, process: int, tid: int) -> int:
        """A thread of the framework."""
        shown = f"TID {tid}" if tid >= 0 else "thread"
        return self._track(("tid", process, tid), shown, "host_thread", self._group(process, FRAMEWORK), tid=tid)

    def stream(self, process: int, stream: int) -> int:
        """A stream of the framework: what it handed to the device."""
        return self._track(("stream", process, stream), f"Stream {stream}", "runtime", self._group(process, FRAMEWORK))

    def runtime(self, process: int, nc: int, tid: int) -> int:
        """The calls that a thread makes for a logical core."""
        shown = f"NC {nc}" if nc >= 0 else "calls"
        if tid >= 0:
            shown += f" · TID {tid}"
        return self._track(("rt", process, nc, tid), shown, "runtime", self._group(process, RUNTIME), tid=tid,
                           sort_index=max(nc, 0))  # fmt: skip

    def execution(self, process: int, nc: int) -> int:
        """The executions on a logical core that is made of several physical ones."""
        return self._track(("exec", process, nc), f"NC {nc}", "device_annotation", self._group(process, HARDWARE),
                           sort_index=_hardware_place(nc, 0))  # fmt: skip

    def core(self, process: int, nc: int, core: int) -> int:
        """The executions on a physical core of a logical one."""
        shown = f"NC {nc}:{core}" if core >= 0 else f"NC {nc}"
        return self._track(("core", process, nc, core), shown, "stream", self._group(process, HARDWARE), core=core,
                           sort_index=_hardware_place(nc, 1 + max(core, 0)))  # fmt: skip

    def collectives(self, process: int, nc: int) -> int:
        return self._track(("cc", process, nc), f"NC {nc} collectives", "collective", self._group(process, HARDWARE),
                           sort_index=_hardware_place(nc, 99))  # fmt: skip

    def notes(self, process: int, nc: int) -> int:
        """What else the hardware tells of a logical core: moments, switches of models."""
        return self._track(("notes", process, nc), f"NC {nc} events", "device_annotation",
                           self._group(process, HARDWARE), sort_index=_hardware_place(nc, 98))  # fmt: skip

    def counter(self, instance: str, name: str, unit: str) -> int:
        """A counter of a machine."""
        parent = self._track(("host", instance), "host", "other", self.instance(instance), sort_index=_HOST_PLACE)
        return self._track(("counter", instance, name), name, "counter", parent, unit=unit)

    def _group(self, process: int, name: str) -> int:
        return self._track(("group", process, name), name, "other", process, sort_index=_GROUP_PLACES[name])

    def _shown(self, instance: str) -> str:
        if not INSTANCE_ID.fullmatch(instance):
            return instance
        return self._instances.setdefault(instance, f"instance {len(self._instances)}")

    def _track(
        self, key: tuple[object, ...], name: str, kind: str, parent: int, *, unit: str = "", pid: int = -1,
        tid: int = -1, core: int = -1, sort_index: int = 0,
    ) -> int:  # fmt: skip
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = self.builder.track(
                name, kind=kind, parent=parent, unit=unit, pid=pid, tid=tid, core=core, sort_index=sort_index
            )
        return row


def _hardware_place(nc: int, place: int) -> int:
    return min(max(nc, 0), _MOST_PLACES) * 100 + min(place, 99)
