"""Profiles of a Neuron device written down row by row, whose numbers are worked out by hand."""

from __future__ import annotations

from typing import Any

import msgspec

from trace_format import CATEGORIES, Trace, TraceBuilder
from trace_format.importers.neuron_device.execution import Execution, add_execution
from trace_format.importers.neuron_device.tracks import DeviceTracks

US = 1_000_000  # picoseconds
START_NS, START_PS = 5_000_000, 500


class Profile:
    """Collects the rows of profiles. Times in picoseconds since the (first) run began, which is at 5 ms and 500 ps."""

    def __init__(self, builder: TraceBuilder | None = None, **of_profile: Any) -> None:
        self.builder = builder or TraceBuilder()
        of_profile = {"title": "nd0 nc4", "device": 0, "first_core": 4, **of_profile}
        self.tracks = DeviceTracks(self.builder, **of_profile)

    def run(self, start_ps: int = 0, **facts: Any) -> None:
        at = START_NS * 1000 + START_PS + start_ps
        facts = {"instance_type": "trn2.48xlarge", "ntff_version": 6, "physical_cores": [4, 5], **facts}
        add_execution(self.builder, self.tracks, Execution(**facts), start_ns=at // 1000, start_ps=at % 1000)

    def instruction(self, core: int, engine: str, opcode: str, start: int, dur: int, **columns: Any) -> None:
        category = "semaphore" if opcode == "EVENT_SEMAPHORE" else "compute"
        self._slice(self.tracks.engine(core, engine), opcode, category, start, dur, columns)

    def packet(self, core: int, queue: str, dma_engine: int, kind: str, start: int, dur: int, size: int) -> None:
        columns = {"bytes": size, "source_category": self.builder.string(kind)}
        self._slice(self.tracks.queue(core, queue, dma_engine), queue, "dma", start, dur, columns)

    def throttle(self, core: int, start: int, dur: int, **args: int) -> None:
        self._slice(self.tracks.throttle(core), "throttle", "overhead", start, dur, {"args": args})

    def semaphore(self, core: int, label: str, *values: tuple[int, int]) -> None:
        at = [START_NS + (START_PS + time) // 1000 for time, _ in values]
        self.builder["counters"].append(
            ts_ns=at, track=self.tracks.semaphore(core, label), value=[value for _, value in values]
        )

    def trace(self, **metadata: Any) -> Trace:
        return self.builder.finish(metadata={"device_time_zero_ns": START_NS, **metadata})

    def _slice(self, track: int, name: str, category: str, start: int, dur: int, columns: dict[str, Any]) -> None:
        at = START_NS * 1000 + START_PS + start
        if "args" in columns:
            columns = {**columns, "args": self.builder.pool.arg_sets.id(msgspec.json.encode(columns["args"]))}
        self.builder["slices"].append(
            1, track=track, name=self.builder.string(name), category=CATEGORIES.index(category), ts_ns=at // 1000,
            ts_ps=at % 1000, dur_ns=dur // 1000, dur_ps=dur % 1000, **columns,
        )  # fmt: skip


def attention(profile: Profile | None = None, **facts: Any) -> Profile:
    """A run of 10 µs on the cores 4 and 5 of a trn2.

    Tensor works in [0, 2), [1, 3) on core 4 and [2.5, 4.5) on core 5: 4.5 µs together, 6 µs in sum; of 4 MFLOP each
    the second is a transpose. It waits in [5, 8) on core 4.
    Vector works in [3, 4) and [6, 7) on core 4; before the second it says it waited 5 µs, of which only 2 µs were free.
    GpSimd starts transfers in [0.25, 0.35) and [4, 4.1): 64 KiB read, 32 KiB written.
    DMA: 32 KiB in [0.5, 1) and [0.9, 1.5) on two engines of qSyncDynamicHW; 32 KiB in [4.5, 5.5) on qGpSimdDynamic;
    1 KiB of instructions in [8, 8.25): in all 2.25 µs together, 2.35 µs in sum.
    Core 4 is unthrottled in [0, 6), at half its limit in [6, 8).
    Outside of the run: a MATMUL before it and one that ends after it.
    """
    profile = profile or Profile()
    facts = {"total_time_ps": 10 * US, "neff": "attention", "event_count": 7, "knows_transposes": True, **facts}
    profile.run(**facts)
    for core, start, kind in ((4, 0, "REGULAR"), (4, US, "TRANSPOSE"), (5, 5 * US // 2, "REGULAR")):
        profile.instruction(core, "Tensor", "MATMUL", start, 2 * US, pc=start // US, flops=4e6,
                            args={"opcode": "MATMUL", "instruction_type": kind})  # fmt: skip
    profile.instruction(4, "Tensor", "MATMUL", -US, US // 2, flops=4e6)
    profile.instruction(4, "Tensor", "MATMUL", 19 * US // 2, US, flops=4e6)
    profile.instruction(4, "Tensor", "EVENT_SEMAPHORE", 5 * US, 3 * US, pc=9, args={"operands": " S[7]>=3 "})
    profile.instruction(4, "Vector", "TENSOR_REDUCE", 3 * US, US, pc=11, wait_ns=0)
    profile.instruction(4, "Vector", "TENSOR_REDUCE", 6 * US, US, pc=12, wait_ns=5000)
    for start, read, written in ((US // 4, 65536, 0), (4 * US, 0, 32768)):
        profile.instruction(4, "GpSimd", "DMA_DIRECT2D", start, US // 10,
                            args={"hbm_read_bytes": read, "hbm_write_bytes": written})  # fmt: skip
    profile.packet(4, "qSyncDynamicHW", 64, "hardware_dynamic", US // 2, US // 2, 32768)
    profile.packet(4, "qSyncDynamicHW", 65, "hardware_dynamic", 9 * US // 10, 6 * US // 10, 32768)
    profile.packet(4, "qGpSimdDynamic", 64, "software_dynamic", 9 * US // 2, US, 32768)
    profile.packet(4, "Q14", 64, "instruction", 8 * US, US // 4, 1024)
    profile.throttle(4, 0, 6 * US, k=8, n=8, type=0)
    profile.throttle(4, 6 * US, 2 * US, k=4, n=8, type=1)
    profile.semaphore(4, "S[3] (GpSimd)", (0, 0), (US, 1), (4 * US, 2))
    return profile
