"""What an accelerator did goes on tracks of its own, and agrees with torch's own exporter (no device is needed)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from event_comparison import DERIVED, described, flows

from collectors import Window
from collectors.torch_profiler.events import TorchEvents
from trace_format import Trace, TraceBuilder
from trace_format.importers import load_file
from trace_format.metadata import device_model

exporter = pytest.importorskip("torch.profiler._chrome_trace_export")

START_NS = 1_700_000_000_000_000_000
PID = os.getpid()


@dataclass
class Activity:
    """An activity as Kineto hands it over; each field is a getter there."""

    kind: str
    label: str
    at_ns: int
    lasts_ns: int
    device: int = PID
    line: int = 50
    own_id: int = 0
    cause_id: int = 0
    cause: Activity | None = None
    text: str = ""
    flow: int = 0
    flow_kind: int = 2
    begins_flow: bool = False
    garbled: bool = False

    def type(self) -> str:
        return self.kind

    def name(self) -> str:
        return (self.label.encode() + b"(0): \xae").decode() if self.garbled else self.label

    def timestamp(self) -> int:
        return START_NS + self.at_ns

    def duration(self) -> int:
        return self.lasts_ns

    def device_id(self) -> int:
        return self.device

    def resource_id(self) -> int:
        return self.line

    def correlation_id(self) -> int:
        return self.own_id

    def linked_correlation_id(self) -> int:
        return self.cause_id

    def linked_activity(self) -> Activity | None:
        return self.cause

    def metadata_json(self) -> str:
        if self.garbled and self.text:
            return (self.text.encode() + b', "Call stack": "\xf4\x02;a"').decode()
        return self.text

    def flow_id(self) -> int:
        return self.flow

    def flow_type(self) -> int:
        return self.flow_kind

    def flow_start(self) -> bool:
        return self.begins_flow


def activities(gpu: int = 0) -> list[Activity]:
    """An op that launches a kernel and a copy, a collective, an annotation, a sync, and Kineto's own overhead."""
    comms = Activity(
        "cpu_op", "record_param_comms", 30, 20, own_id=3,
        text='"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 4, "Out msg nelems": 4, "Ev Idx": 2',
    )  # fmt: skip
    return [
        Activity("cpu_op", "aten::mm", 0, 20, own_id=1, text='"Record function id": 0, "Ev Idx": 0'),
        Activity("user_annotation", "block", 0, 90, own_id=2, text='"Record function id": 0, "Ev Idx": 1'),
        comms,
        Activity(
            "cuda_runtime", "cudaLaunchKernel", 5, 6, own_id=11, cause_id=1, flow=11, begins_flow=True,
            text='"cbid": 211, "correlation": 11',
        ),
        Activity("cuda_runtime", "cudaMemcpyAsync", 12, 4, line=-50, own_id=12, text='"correlation": 12'),
        Activity(
            "kernel", "gemm<float>", 25, 40, device=gpu, line=7, own_id=11, cause_id=1, flow=11,
            text='"queued": 0, "device": 0, "stream": 7, "correlation": 11, "grid": [1, 2, 3]',
        ),
        Activity(
            "kernel", "ncclDevKernel_AllReduce", 70, 10, device=gpu, line=8, own_id=13, cause_id=3, cause=comms,
            text='"stream": 8, "correlation": 13',
        ),
        Activity("gpu_memcpy", "Memcpy HtoD", 26, 5, device=gpu, line=8, own_id=12, text='"bytes": 256'),
        Activity("gpu_user_annotation", "block", 25, 60, device=gpu, line=7, own_id=2),
        Activity("cuda_sync", "Stream Sync", 66, 3, device=gpu, line=7, own_id=14, text='"correlation": 14'),
        Activity("overhead", "Buffer Flush", 95, 2, device=-1, line=-(2**63), own_id=15),
    ]  # fmt: skip


@dataclass(eq=False)
class Profile:
    """As much of a torch.profiler.profile as the collector asks for."""

    profiler: Any
    use_device: str | None
    with_flops: bool = True


def live(found: list[Activity], device: str | None = "cuda") -> Trace:
    results = SimpleNamespace(trace_activities=lambda: found)
    prof = Profile(SimpleNamespace(kineto_results=results), device)
    builder = TraceBuilder()
    TorchEvents(Window(profile=prof)).collect(builder, host="", rank=-1)
    return builder.finish()


def by_track(trace: Trace) -> dict[tuple[str, str, int], list[str]]:
    """(kind, name, device) of each track with slices -> the names of its slices."""
    found: dict[tuple[str, str, int], list[str]] = {}
    tracks = trace.tracks
    keys = list(zip(tracks.text("kind"), tracks.text("name"), tracks.device.tolist(), strict=True))
    for track, name in zip(trace.slices.track.tolist(), trace.slices.text("name"), strict=True):
        found.setdefault(keys[track], []).append(name)
    return found


def test_device_work_has_tracks_of_its_own():
    assert {track: names for track, names in by_track(live(activities())).items() if track[2] >= 0} == {
        ("stream", "stream 7", 0): ["gemm<float>"],
        ("stream", "stream 8", 0): ["Memcpy HtoD", "ncclDevKernel_AllReduce"],
        ("device_annotation", "stream 7 annotations", 0): ["block"],
        ("other", "stream 7 sync", 0): ["Stream Sync"],
    }


def test_it_is_what_torchs_own_exporter_writes(tmp_path: Path):
    found = activities()
    path = tmp_path / "torch.json"
    exporter.export_chrome_trace(
        SimpleNamespace(trace_activities=lambda: found, trace_start_ns=lambda: START_NS), str(path)
    )
    one, other = live(found), load_file(path)
    assert described(one, "slices", "track", "ts_ns", *DERIVED) == described(
        other, "slices", "track", "ts_ns", *DERIVED
    )
    assert [kind for _, _, kind, _ in flows(one)] == ["ac2g"]
    assert {ends[:2] for ends in map(names_of, flows(one))} == {ends[:2] for ends in map(names_of, flows(other))}
    assert one.collectives.text("op") == other.collectives.text("op") == ["all_reduce"]


def names_of(flow: tuple[Any, ...]) -> tuple[str, str]:
    return flow[0][0], flow[1][0]


def test_a_device_with_the_number_of_this_process_is_not_taken_for_it():
    trace = live(activities(gpu=PID))
    kinds = {name: (kind, device) for (kind, _, device), names in by_track(trace).items() for name in names}
    assert kinds["gemm<float>"] == ("stream", PID)
    assert kinds["cudaMemcpyAsync"] == kinds["aten::mm"] == ("host_thread", -1)


def test_another_backends_device_bears_its_name():
    trace = live(activities(), device="neuron")
    assert "python (NEURON 0)" in trace.tracks.text("name")


def test_the_devices_are_described_as_in_torchs_own_file(monkeypatch: pytest.MonkeyPatch):
    described = SimpleNamespace(name="NVIDIA H100", total_memory=85 * 10**9, major=9, minor=0, warp_size=32)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: described)
    metadata = live(activities()).metadata
    one = {"name": "NVIDIA H100", "totalGlobalMem": 85 * 10**9, "computeMajor": 9, "computeMinor": 0, "warpSize": 32}
    assert metadata["source_metadata"]["deviceProperties"] == [{"id": 0, **one}, {"id": 1, **one}]
    assert metadata["device_model"] == "NVIDIA H100"


@pytest.mark.parametrize("device", [None, "cuda", "no_such_device"])
def test_without_devices_in_use_nothing_is_said_of_them(device: str | None):
    metadata = live(activities(), device=device).metadata
    assert "device_model" not in metadata
    assert "source_metadata" not in metadata


def test_devices_that_torch_fails_to_describe_cost_no_events(monkeypatch: pytest.MonkeyPatch):
    def fail(_: int) -> None:
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", fail)
    trace = live(activities())
    assert len(trace.slices) == len(activities())
    assert "device_model" not in trace.metadata


def test_different_devices_are_each_named_once():
    names = [{"name": "A100"}, {"name": "H100"}, {"name": "A100"}, {}]
    assert device_model(names) == "A100, H100"


def test_bytes_that_are_no_text_are_replaced_and_every_event_is_kept():
    moment = Activity("cpu_instant_event", "moment", 3, 0, text='"a": 1')
    found = [*activities(), moment]
    well = live(found)
    for activity in found:
        activity.garbled = activity.label != "record_param_comms"
    trace = live(found)
    assert trace.report.to_dict() == {
        **well.report.to_dict(), "repaired": {"bytes that are not UTF-8 replaced": len(found) - 1},
    }  # fmt: skip
    assert trace.slices.text("name") == [
        name if name == "record_param_comms" else f"{name}(0): \ufffd" for name in well.slices.text("name")
    ]
    assert trace.slices.dur_ns.tolist() == well.slices.dur_ns.tolist()
    assert trace.slices.event_index.tolist() == well.slices.event_index.tolist()
    assert trace.instants.text("name") == ["moment(0): \ufffd"]
    stacks = [[trace.pool.strings[frame] for frame in stack] for stack in trace.pool.stacks.values]
    assert ["a", "\ufffd\ufffd"] in stacks
