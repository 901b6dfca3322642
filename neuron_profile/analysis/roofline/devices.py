"""Which device each track shows work of, and what it can do at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuron_profile.hardware import DevicePeaks, device_peaks
from trace_format import Trace

Array = np.ndarray

HOST_DEVICE = "host"
_UNKNOWN = "unknown device"


@dataclass(frozen=True, slots=True)
class Devices:
    """The kinds of devices in a trace.

    - `of_track`: the kind of the device of each track, index into the others, `(tracks,) int64`. The last kind is the
      host itself.
    - `names`: what each is called. `peaks`: what it can do; None where no peak is known.
    """

    of_track: Array
    names: tuple[str, ...]
    peaks: tuple[DevicePeaks | None, ...]

    @property
    def host(self) -> int:
        return len(self.names) - 1


def devices_of(trace: Trace, given: DevicePeaks | None = None) -> Devices:
    """The devices of a trace; `given` are the peaks of them all, and of the host, where someone knows better.

    A device is known by the name that the profiler wrote (Kineto's `deviceProperties`, else `device_model`), and by
    its memory and units where that says them too. Of a device without a name nothing is guessed.
    """
    described = _described(trace)
    by_id = {device["id"]: device for device in described if type(device.get("id")) is int}
    alike = len({_text(device.get("name")) for device in described}) == 1
    of_all = described[0] if alike else {"name": trace.metadata.get("device_model")} if not described else {}
    kinds: dict[tuple[str, str], DevicePeaks | None] = {}  # by the names of device and product
    place: dict[int, int] = {}
    for number in np.unique(trace.tracks.device).tolist():
        device = by_id.get(number, of_all)
        name = _text(device.get("name"))
        known = given or device_peaks(
            name, memory_bytes=_whole(device, "totalGlobalMem"), units=_whole(device, "numSms")
        )  # fmt: skip
        key = (name or _UNKNOWN, known.name if known else "")
        kinds[key] = known
        place[number] = list(kinds).index(key)
    of_track = np.array([place[number] for number in trace.tracks.device.tolist()], np.int64)
    return Devices(of_track, (*(name for name, _ in kinds), HOST_DEVICE), (*kinds.values(), given))


def _described(trace: Trace) -> list[dict[str, Any]]:
    """What the profiler wrote about the devices, each as a dict; files hold anything."""
    source = trace.metadata.get("source_metadata")
    devices = source.get("deviceProperties") if isinstance(source, Mapping) else None
    if not isinstance(devices, Sequence):
        return []
    return [dict(device) for device in devices if isinstance(device, Mapping)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(device: dict[str, Any], key: str) -> int | None:
    value = device.get(key)
    return value if type(value) is int and value > 0 else None
