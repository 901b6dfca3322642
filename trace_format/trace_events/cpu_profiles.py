"""V8's CPU profiles (`Profile` and `ProfileChunk` events of Chrome and Node) become samples."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any

import msgspec
import numpy as np

from trace_format.builder import TraceBuilder
from trace_format.limits import LATEST_NS
from trace_format.trace_events.stack_frames import WITHOUT_A_TIME

_NS_PER_US = 1000


class _CallFrame(msgspec.Struct, gc=False):
    function: str = msgspec.field(name="functionName", default="")
    url: str = ""
    line: int = msgspec.field(name="lineNumber", default=-1)


_Number = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]  # what JavaScript holds exactly


class _Node(msgspec.Struct, gc=False):
    id: _Number
    frame: _CallFrame = msgspec.field(name="callFrame")
    parent: int | None = None
    children: list[int] = []


class _CpuProfile(msgspec.Struct):
    nodes: list[_Node] = []
    samples: list[_Number] = []


class _Data(msgspec.Struct):
    profile: _CpuProfile | None = msgspec.field(name="cpuProfile", default=None)
    deltas: list[_Number] = msgspec.field(name="timeDeltas", default_factory=list)
    start_us: _Number | None = msgspec.field(name="startTime", default=None)


class _Arguments(msgspec.Struct):
    data: _Data


_ARGUMENTS = msgspec.json.Decoder(_Arguments)


class _Profile:
    """What the chunks of one profile have said so far."""

    def __init__(self, track: int) -> None:
        self.track = track
        self.start_us: int | None = None
        self.frames: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.chunks: list[tuple[int, list[int], list[int]]] = []  # time of the event, nodes, microseconds between them


class CpuProfiles:
    """Collects the chunks of V8 CPU profiles; `finish` adds a row to the samples table for each sample.

    Sample times are the profile's start plus the sum of the deltas so far; chunks count in order of their time.
    """

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._profiles: dict[Hashable, _Profile] = {}

    def take(self, key: Hashable, args: bytes, ts_ns: int, track: int) -> bool:
        """Take in one event of the profile `key`; False where its arguments are no part of a profile."""
        try:
            data = _ARGUMENTS.decode(args).data
        except (msgspec.MsgspecError, RecursionError):
            return False
        if data.profile is None and data.start_us is None:
            return False
        profile = self._profiles.setdefault(key, _Profile(track))
        if data.start_us is not None:
            profile.start_us = data.start_us
            profile.track = track  # chunks come from the thread that writes them, the start from the one profiled
        if data.profile is not None:
            for node in data.profile.nodes:
                profile.frames[node.id] = _shown(node.frame)
                if node.parent is not None:
                    profile.parents[node.id] = node.parent
                profile.parents.update((child, node.id) for child in node.children)
            profile.chunks.append((ts_ns, data.profile.samples, data.deltas))
        return True

    def finish(self) -> None:
        """Add the samples to the builder."""
        for profile in self._profiles.values():
            self._add(profile)
        self._profiles.clear()

    def _add(self, profile: _Profile) -> None:
        nodes: list[int] = []
        deltas: list[int] = []
        profile.chunks.sort(key=lambda chunk: chunk[0])
        for _, samples, between in profile.chunks:
            nodes += samples
            deltas += (between + [0] * len(samples))[: len(samples)]
        if not nodes:
            return
        start_ns = profile.chunks[0][0] if profile.start_us is None else profile.start_us * _NS_PER_US
        unique, place = np.unique(np.array(nodes, np.int64), return_inverse=True)
        stacks = np.array([self._stack(profile, node) for node in unique.tolist()], np.int64)
        between_us = np.array(deltas, np.int64)
        # a sum beyond int64 wraps around; as a float it shows
        good = np.abs(start_ns + np.cumsum(between_us, dtype=np.float64) * _NS_PER_US) < LATEST_NS
        if not good.all():
            self._builder.report.repaired[WITHOUT_A_TIME] += int((~good).sum())
        self._builder["samples"].append(
            int(good.sum()),
            ts_ns=(start_ns + np.cumsum(between_us) * _NS_PER_US)[good],
            track=profile.track,
            stack=stacks[place][good],
        )

    def _stack(self, profile: _Profile, node: int) -> int:
        frames: list[str] = []
        seen: set[int] = set()
        at: Any = node
        while at is not None and at not in seen:
            seen.add(at)
            frames.append(profile.frames.get(at, f"node {at}"))
            at = profile.parents.get(at)
        return self._builder.pool.stack_id(frames[::-1])


def _shown(frame: _CallFrame) -> str:
    name = frame.function or "(anonymous)"
    if not frame.url:
        return name
    return f"{name} {frame.url}:{frame.line + 1}" if frame.line >= 0 else f"{name} {frame.url}"
