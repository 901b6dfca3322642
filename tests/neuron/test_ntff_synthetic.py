"""NTFF files of versions 4, 5 and 6 whose every value is worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import neff_files
import ntff_files as files
import numpy as np
import pandas as pd
import pytest

from neuron_profile.analysis.neuron_device import device_metrics
from trace_format import Trace
from trace_format.errors import NeuronProfileError, TraceFileError
from trace_format.importers import load_file
from trace_format.importers.neff.contents import DmaQueue, EngineProgram, NeffContents, NeffTensor, Subgraph
from trace_format.importers.neff.header import NeffHeader
from trace_format.importers.neuron_device.execution import Execution, execution_of
from trace_format.importers.ntff import read_ntff_file
from trace_format.importers.source import Source

ADDRESS = 0x7F00_0000_1000
FIRST = ADDRESS >> 6 & 0x1FFFFF  # the tag of the first instruction
START, TOTAL = 5_000_000_777, 100_000_500  # picoseconds
ZERO_NS = 5_000_000  # the start, floored

NOTIFY = files.slot(0xA6, byte_36=2)
# 512 rows of a 128 x 64 array; the other one transposes 128 rows of 128 x 128
MATMUL = files.slot(0x02, short_26=512, short_28=1, short_30=1, byte_38=128, byte_39=64)
TRANSPOSE = files.slot(0x02, short_26=128, short_28=1, short_30=1, byte_34=1, byte_38=128, byte_39=128)
WAIT = files.slot(0xA0)
UNKNOWN = files.slot(0x41)
SBUF, HBM = 0x8020_0003_7E00, 0x8005_C03C_0000  # of trn2's core 4
# 256 bytes x 128 from HBM to SBUF, and 512 bytes x 4 x 16 from SBUF to what a table names
LOAD = files.slot(0xB8, word_16=HBM, short_32=128, short_34=1, short_36=256, word_40=SBUF, short_56=128, short_58=1,
                  short_60=256)  # fmt: skip
STORE = files.slot(0xB8, word_16=SBUF, short_32=4, short_34=16, short_36=512, word_40=0x20 << 56 | 3 << 32,
                   short_56=4, short_58=16, short_60=512)  # fmt: skip


def at(picoseconds: int) -> int:
    """The time of a record on trn2, whose clocks count picoseconds."""
    return START + picoseconds


def instruction(engine: str, place: int, start: int, end: int, *, wait_cycles: int = 0) -> bytes:
    tag = FIRST + place
    return files.started(engine, tag, at(start), wait_cycles=wait_cycles) + files.ended(engine, tag, at(end))


def core(records: dict[int, list[bytes]], **more: Any) -> files.Core:
    programs = dict.fromkeys(files.ENGINES, (ADDRESS, (NOTIFY, MATMUL, TRANSPOSE, WAIT, UNKNOWN, LOAD, STORE)))
    return files.Core(**({"core": 4, "programs": programs, "records": records} | more))


def written(ntff: files.Ntff, folder: Path, neff: NeffContents | None = None) -> Trace:
    path = folder / "profile.ntff"
    path.write_bytes(ntff.to_bytes())
    return read_ntff_file(path, neff)


def version_6(folder: Path, *cores: files.Core, neff: NeffContents | None = None, **more: Any) -> Trace:
    return written(files.Ntff(6, cores, **({"executions": ((START, START + TOTAL),)} | more)), folder, neff)


def rows(trace: Trace, kind: str) -> pd.DataFrame:
    slices, tracks = trace.slices.to_pandas(), trace.tracks.to_pandas()
    for column in ("kind", "core", "engine"):
        slices[column] = tracks[column].to_numpy()[slices.track]
    slices["line"] = tracks.name.to_numpy()[slices.track]
    slices["args"] = [json.loads(args or "{}") for args in slices.args.astype(str)]
    slices["at_ns"] = slices.ts_ns - trace.metadata["device_time_zero_ns"]
    return slices[slices.kind == kind]


def without_operands(args: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in args.items() if name != "operands"}


def facts(trace: Trace) -> list[Execution]:
    return [
        execution_of(trace.pool.arg_sets[int(trace.slices.args[row])]) for row in rows(trace, "device_annotation").index
    ]


def test_an_instruction_has_its_times_to_the_picosecond(tmp_path: Path) -> None:
    trace = version_6(tmp_path, core({0: [instruction("Tensor", 1, 1_500, 4_200, wait_cycles=6)]}))
    (row,) = rows(trace, "engine").to_dict("records")
    assert trace.metadata["device_time_zero_ns"] == ZERO_NS
    assert (row["ts_ns"], row["ts_ps"], row["dur_ns"], row["dur_ps"]) == (ZERO_NS + 1, 500, 2, 700)
    assert row["wait_ns"] == 5  # six cycles of 1.2 GHz
    assert (row["name"], row["pc"], row["engine"], row["core"]) == ("MATMUL", 1, "Tensor", 4)
    assert row["flops"] == 2 * 512 * 128 * 64
    assert row["args"] == {"opcode": "MATMUL", "elements": 512 * 128 * 64, "instruction_type": "REGULAR"}
    (run,) = rows(trace, "device_annotation").to_dict("records")
    assert (run["ts_ns"], run["ts_ps"], run["dur_ns"], run["dur_ps"]) == (ZERO_NS, 0, 100_000, 500)
    assert trace.report.to_dict() == {"source_events": 2, "kept": 2, "left_out": {}, "repaired": {}}


def test_opcodes_tell_name_category_and_what_moves(tmp_path: Path) -> None:
    records = [instruction("Vector", place, 10_000 * place, 10_000 * place + 1_000) for place in range(1, 8)]
    found = rows(version_6(tmp_path, core({0: records})), "engine")
    assert [*found.name] == [
        "MATMUL", "MATMUL", "EVENT_SEMAPHORE", "op_0x41", "DMA_DIRECT2D", "DMA_DIRECT2D", "boot code",
    ]  # fmt: skip
    assert [*found.category] == ["compute", "compute", "semaphore", "compute", "compute", "compute", "compute"]
    assert [*found.pc] == [1, 2, 3, 4, 5, 6, -1]
    assert found.args.iloc[1]["instruction_type"] == "TRANSPOSE"
    assert without_operands(found.args.iloc[4]) == {
        "opcode": "DMA_DIRECT2D",
        "hbm_read_bytes": 32768,
        "hbm_write_bytes": 0,
    }
    assert without_operands(found.args.iloc[5]) == {
        "opcode": "DMA_DIRECT2D",
        "hbm_read_bytes": 0,
        "hbm_write_bytes": 32768,
    }
    assert found.args.iloc[6] == {}


def test_operands_are_written_as_aws_writes_them(tmp_path: Path) -> None:
    """A MATMUL of bf16 that waits for semaphore 6 to reach 16 and raises 5; a load that waits for 24."""
    matmul = files.slot(0x02, byte_4=5, byte_5=6, word_8=16, byte_6=0x13, byte_7=5, word_16=0x37E00 | 1 << 32,
                        short_26=128, short_28=1, short_30=1, byte_32=6, byte_38=128, byte_39=64, byte_43=3,
                        word_48=0x200_0000 | 1 << 32 | 0xFFFF << 48, short_58=128, short_60=1, short_62=1)  # fmt: skip
    load = bytearray(LOAD)
    load[4:6], load[8], load[13:15] = b"\5\x18", 1, b"\7\x10"
    unknown = files.slot(0x02, byte_32=0x77)
    programs = {"Tensor": (ADDRESS, (matmul, bytes(load), unknown, WAIT))}
    records = [instruction("Tensor", place, 1_000 * place, 1_000 * place + 500) for place in range(4)]
    found = rows(version_6(tmp_path, core({0: records}, programs=programs)), "engine").args
    assert found.iloc[0]["operands"] == (
        "S[6] (Vector)>=16 S[5] (Tensor)++@complete acc_flags=3 src=bfloat16@0x37e00[1,0,0][128,1,1] "
        "dst=0x2000000[1,-1,0][128,1,1] 128*64 "
    )
    assert found.iloc[0]["waits_for"] == "S[6] (Vector)>=16"
    assert found.iloc[1]["operands"] == (
        "$S[24]>=1 semaphore=7 sem_increment=16 src_elem_size=256 dst_elem_size=256 src_pattern=[0,0][128,1] "
        "dst_pattern=[0,0][128,1] src_addr_imm=0x8005c03c0000 dst_addr_imm=0x802000037e00 "
    )
    assert "operands" not in found.iloc[2]
    assert found.iloc[3] == {"opcode": "EVENT_SEMAPHORE"}


@pytest.mark.parametrize(
    ("fields", "operands", "waits_for"),
    [
        # the first condition at 4, 5 and 8; the second at 32, 33 and 36, what becomes of it at 34, 35 and 40
        ({"byte_4": 5, "byte_5": 6, "byte_8": 43}, "S[6] (Vector)>=43 setter=0   ", "S[6] (Vector)>=43"),
        ({"byte_32": 1, "byte_33": 2, "byte_36": 7, "byte_34": 0x13, "byte_35": 2, "byte_40": 1},
         " setter=0 $S[2]==7 $S[2]++@complete ", "$S[2]==7"),
        ({"byte_34": 0x15, "byte_35": 2, "byte_40": 3}, " setter=0  $S[2]+=3@complete ", None),
        ({"byte_32": 5, "byte_33": 1, "byte_36": 1, "byte_34": 0x14, "byte_35": 1, "byte_40": 1},
         " setter=0 $S[1]>=1 $S[1]--@complete ", "$S[1]>=1"),
        ({"byte_32": 1, "byte_33": 2, "byte_36": 8, "byte_34": 0x19, "byte_35": 2},
         " setter=0 $S[2]==8 $S[2]=0@complete ", "$S[2]==8"),
        ({"byte_4": 5, "byte_5": 6, "byte_8": 43, "byte_34": 0x77}, None, "S[6] (Vector)>=43"),  # of an unknown kind
        ({"byte_4": 0x77, "byte_32": 1, "byte_36": 8}, None, None),
        ({"byte_4": 5, "byte_5": 6, "byte_8": 43, "byte_12": 1}, None, "S[6] (Vector)>=43"),  # where nothing is known
    ],
)  # fmt: skip
def test_a_semaphore_wait_says_for_what_and_what_becomes_of_it(
    fields: dict[str, int], operands: str | None, waits_for: str | None, tmp_path: Path
) -> None:
    programs = {"Sync": (ADDRESS, (files.slot(0xA0, **fields),))}
    trace = version_6(tmp_path, core({0: [instruction("Sync", 0, 0, 500)]}, programs=programs))
    (args,) = rows(trace, "engine").args
    assert (args.get("operands"), args.get("waits_for")) == (operands, waits_for)


def test_what_lies_in_hbm_is_not_guessed_for_a_core_whose_addresses_are_not_known(tmp_path: Path) -> None:
    trace = version_6(tmp_path, core({0: [instruction("Sync", 5, 0, 100)]}, core=7))
    assert without_operands(rows(trace, "engine").args.iloc[0]) == {"opcode": "DMA_DIRECT2D"}
    assert not (trace.tracks.to_pandas().name == "HBM throughput").any()


def test_the_first_that_began_is_the_first_that_ends(tmp_path: Path) -> None:
    """Two runs of one instruction overlap; one of another engine has the same place."""
    tag = FIRST + 1
    records = [
        files.started("Tensor", tag, at(100_000)),
        files.started("Tensor", tag, at(150_000)),
        files.started("Sync", tag, at(160_000)),
        files.ended("Tensor", tag, at(200_000)),
        files.ended("Tensor", tag, at(260_000)),
        files.ended("Sync", tag, at(170_000)),
    ]
    found = rows(version_6(tmp_path, core({0: records})), "engine")
    assert [*zip(found.engine, found.at_ns, found.dur_ns, strict=True)] == [
        ("Tensor", 100, 100), ("Tensor", 150, 110), ("Sync", 160, 10),
    ]  # fmt: skip


def test_records_without_their_other_half_are_counted_and_mislead_none(tmp_path: Path) -> None:
    tag = FIRST + 1
    records = [
        files.ended("Tensor", tag, at(50_000)),  # its start was overwritten
        files.started("Tensor", tag, at(100_000)),
        files.ended("Tensor", tag, at(120_000)),
        files.started("Tensor", tag + 1, at(110_000)),  # the engine ended others after it
    ]
    trace = version_6(tmp_path, core({0: records}))
    found = rows(trace, "engine")
    assert [*zip(found.at_ns, found.dur_ns, strict=True)] == [(100, 20)]
    assert trace.report.to_dict() == {
        "source_events": 4,
        "kept": 2,
        "left_out": {
            "instruction whose end is not recorded": 1,
            "end of an instruction whose start is not recorded": 1,
        },
        "repaired": {},
    }


def test_what_was_under_way_when_the_recording_stopped_is_an_instant(tmp_path: Path) -> None:
    records = [
        files.started("Tensor", FIRST, at(100_000)),
        files.ended("Tensor", FIRST, at(120_000)),
        files.started("Tensor", FIRST + 3, at(120_000)),
        files.started("Sync", FIRST + 1, at(90_000)),  # an engine of its own, of which nothing ended
    ]
    trace = version_6(tmp_path, core({0: records}))
    assert [*rows(trace, "engine").at_ns] == [100]
    under_way = trace.instants.to_pandas().sort_values("ts_ns")
    lines = [trace.tracks.text("name")[track] for track in under_way.track]
    assert [*zip(under_way.ts_ns - ZERO_NS, lines, under_way.name, strict=True)] == [
        (90, "Sync", "MATMUL"), (120, "Tensor", "EVENT_SEMAPHORE"),
    ]  # fmt: skip
    assert {*under_way.source_category} == {"under way when the recording stopped"}
    assert trace.report.clean
    assert trace.report.source_events == 4
    (metrics,) = device_metrics(trace).executions
    assert metrics.values["tensor_engine_instruction_count"] == 1


def test_rows_before_the_run_are_kept_at_their_time(tmp_path: Path) -> None:
    trace = version_6(tmp_path, core({0: [instruction("Tensor", 1, -300, 100)]}))
    (row,) = rows(trace, "engine").to_dict("records")
    assert (row["ts_ns"], row["ts_ps"], row["dur_ns"], row["dur_ps"]) == (ZERO_NS - 1, 700, 0, 400)


def test_a_bit_on_a_branch_does_not_hide_its_place(tmp_path: Path) -> None:
    tag = FIRST + 1
    records = [files.started("Sync", tag | 1 << 21, at(0)), files.ended("Sync", tag, at(5_000))]
    found = rows(version_6(tmp_path, core({0: records})), "engine")
    assert [*zip(found.pc, found.dur_ns, strict=True)] == [(1, 5)]


def test_packets_have_queue_class_and_size(tmp_path: Path) -> None:
    queues = [(64 + 3, 0, 2, "qPoolDynamic"), (64 + 3, 1, 2, "qSPDynamicHW"), (64 + 3, 2, 2, "qSPIO0"),
              (64 + 3, 14, 0, "qDveTable")]  # fmt: skip
    records = [
        files.packet(3, 0, 65_540, at(1_000), at(3_500)),
        files.packet(3, 1, 512, at(2_000), at(2_100)),
        files.packet(3, 2, 64, at(3_000), at(3_100)),
        files.packet(3, 14, 16_384, at(4_000), at(5_000)),
        files.packet(3, 9, 4, at(6_000), at(6_050)),
    ]
    trace = version_6(tmp_path, core({4: records}, queues=queues))
    found = rows(trace, "dma_queue").sort_values("at_ns")
    assert [*zip(found.line, found.name, found.source_category, found.bytes, found.at_ns, found.dur_ns, found.dur_ps,
                 strict=True)] == [
        ("qGpSimdDynamic · E67", "qGpSimdDynamic", "software_dynamic", 65_540, 1, 2, 500),
        ("qSyncDynamicHW · E67", "qSyncDynamicHW", "hardware_dynamic", 512, 2, 0, 100),
        ("qSyncIO0 · E67", "qSyncIO0", "unknown", 64, 3, 0, 100),
        ("qDveTable · E67", "qDveTable", "instruction", 16_384, 4, 1, 0),
        ("Q9 · E67", "Q9", "instruction", 4, 6, 0, 50),
    ]  # fmt: skip
    assert found.args.iloc[0] == {"dma_engine": "67", "dma_queue": "0"}
    assert trace.report.source_events == 15
    assert trace.report.clean
    completed = trace.instants.to_pandas().sort_values("ts_ns")
    lines = trace.tracks.text("name")
    # each 5 ps after its packet's end; in whole nanoseconds
    assert [*zip(completed.ts_ns - ZERO_NS, (lines[track] for track in completed.track), strict=True)] == [
        (2, "qSyncDynamicHW · E67"), (3, "qGpSimdDynamic · E67"), (3, "qSyncIO0 · E67"), (5, "qDveTable · E67"),
        (6, "Q9 · E67"),
    ]  # fmt: skip
    assert {*completed.name} == {"completion"}
    carried = trace.extra["neuron_dma_queues_info"].to_pandas()
    assert [*carried.q_name] == ["qGpSimdDynamic", "qSyncDynamicHW", "qSyncIO0", "qDveTable"]
    assert [*carried.q_type] == ["weights", "weights", "weights", "unknown"]
    assert [*carried.q_event_id] == [-1] * 4


def test_throughput_is_a_step_for_each_change(tmp_path: Path) -> None:
    records = [
        files.packet(0, 1, 2_000, at(10_000), at(20_000)),  # 200 GB/s
        files.packet(1, 1, 1_000, at(15_000), at(25_000)),  # 100 GB/s
    ]
    trace = version_6(tmp_path, core({4: records}))
    tracks, counters = trace.tracks.to_pandas(), trace.counters.to_pandas()
    counters["name"] = tracks.name.to_numpy()[counters.track]
    counters["at"] = counters.ts_ns - ZERO_NS
    throughput = counters[counters.name == "DMA throughput"]
    assert [*zip(throughput["at"], throughput.value, strict=True)] == [(10, 200e9), (15, 300e9), (20, 100e9), (25, 0)]
    under_way = counters[counters.name == "DMA packets under way"]
    assert [*under_way.value] == [1, 2, 1, 0]


def test_activity_is_the_covered_part_of_each_of_1024_bins(tmp_path: Path) -> None:
    """The run of 1024 ns has bins of a nanosecond; an EVENT_SEMAPHORE waits and does not count."""
    records = [
        instruction("Tensor", 1, 2_000, 3_500),
        instruction("Tensor", 2, 3_000, 3_750),
        instruction("Tensor", 3, 5_000, 6_000),
    ]
    trace = version_6(tmp_path, core({0: records}), executions=((START, START + 1_024_000),))
    tracks, counters = trace.tracks.to_pandas(), trace.counters.to_pandas()
    active = counters[tracks.name.to_numpy()[counters.track] == "Tensor active"]
    assert [*active.value] == [0, 0, 1, 0.75] + [0] * 1021
    assert [*(active.ts_ns - ZERO_NS)] == [*range(1025)]


def test_semaphores_are_counters_and_events_instants(tmp_path: Path) -> None:
    records = [
        files.semaphore(5, 7, at(1_000)),
        files.semaphore(24, 16, at(2_000)),
        files.event(4, 0xF1, at(3_000)),
        files.event(4, 0x07, at(4_000)),
        files.event(9, 0x33, at(5_000)),
    ]
    trace = version_6(tmp_path, core({1: records}))
    tracks, counters, instants = trace.tracks.to_pandas(), trace.counters.to_pandas(), trace.instants.to_pandas()
    semaphores = counters[tracks.kind.to_numpy()[counters.track] == "semaphore"]
    lines = tracks.name.to_numpy()[semaphores.track]
    assert [*zip(lines, semaphores.ts_ns - ZERO_NS, semaphores.value, strict=True)] == [
        ("S[5] (Tensor)", 1, 7), ("24", 2, 16),
    ]  # fmt: skip
    assert [*instants.name] == ["event 4 set", "event 4 consumed", "event 9 action 0x33"]
    assert trace.report.to_dict()["kept"] == 5


def test_a_limit_holds_until_the_next_and_the_last_until_the_last_instruction_of_the_run(tmp_path: Path) -> None:
    throttled = [
        files.throttle(8, 8, 0, at(1_000)),
        files.throttle(4, 8, 1, at(5_000)),
        files.throttle(0x80, 8, 3, at(9_000)),  # a state that is not told
    ]
    instructions = [
        instruction("Tensor", 1, 0, 21_000),
        instruction("Sync", 1, 30_000, TOTAL + 1),  # ends after the run
    ]
    found = rows(version_6(tmp_path, core({5: throttled, 0: instructions})), "throttle")
    assert [*zip(found.at_ns, found.dur_ns, found.name, strict=True)] == [
        (1, 4, "limit 8/8"), (5, 4, "limit 4/8"), (9, 12, "limit 1/1"),
    ]  # fmt: skip
    assert [*found.args] == [{"k": 8, "n": 8, "type": 0}, {"k": 4, "n": 8, "type": 1}, {"k": 1, "n": 1, "type": 99}]


def test_the_cores_of_a_logical_core_are_apart_below_one_group(tmp_path: Path) -> None:
    one = core({0: [instruction("Tensor", 1, 0, 1_000)], 4: [files.packet(3, 14, 4, at(0), at(10))]})
    two = core({0: [instruction("Tensor", 1, 0, 1_000)], 4: [files.packet(3, 14, 4, at(0), at(10))]}, core=5,
               name="sg01")  # fmt: skip
    trace = version_6(tmp_path, one, two)
    tracks = trace.tracks.to_pandas()
    (group,) = tracks.index[tracks.parent == -1]
    assert tracks.name[group] == "model.neff"
    assert [*tracks.name[tracks.parent == group]] == ["Core 4", "Core 5", "Executions"]
    assert [*rows(trace, "engine").core] == [4, 5]
    assert [*rows(trace, "dma_queue").line] == ["Q14 · E67", "Q14 · E83"]
    (execution,) = facts(trace)
    assert execution.physical_cores == [4, 5]


def test_each_run_of_a_file_is_an_execution(tmp_path: Path) -> None:
    events = [files.semaphore(1, 1, at(moment)) for moment in (0, 500, 3_000, 9_999)]
    executions = ((START, START + 1_000), (START + 2_500, START + 4_000))
    trace = version_6(tmp_path, core({1: events}), executions=executions)
    found = rows(trace, "device_annotation")
    assert [*zip(found.ts_ns, found.ts_ps, found.dur_ns, found.dur_ps, strict=True)] == [
        (ZERO_NS, 0, 1, 0), (ZERO_NS + 2, 500, 1, 500),
    ]  # fmt: skip
    assert [(run.index, run.event_count, run.total_time_ps) for run in facts(trace)] == [(0, 2, 1_000), (1, 1, 1_500)]


def test_what_the_file_says_of_itself_is_in_the_facts_and_the_metadata(tmp_path: Path) -> None:
    trace = version_6(tmp_path, core({0: [instruction("Tensor", 1, 0, 1)]}, device=3, memory=[("pe", 64), ("xt", 1)]))
    (execution,) = facts(trace)
    assert (execution.neff, execution.neff_uuid) == ("model.neff", "0102030405060708090a0b0c0d0e0f10")
    assert (execution.nd_idx, execution.ntff_version, execution.instance_type) == (3, 6, "trn2.48xlarge")
    assert execution.runtime_version == "2.30.51 (faafe)"
    assert execution.driver_version == "2.26.0 ()"
    assert execution.collectives_version == ""
    assert execution.weight_size_bytes is None
    assert execution.knows_transposes
    assert trace.metadata["device_model"] == "trn2"
    (source,) = trace.metadata["sources"]
    assert source == {
        "format": "ntff", "path": "profile.ntff", "version": 6, "clock": "device", "instance_type": "trn2.48xlarge",
        "runtime_version": "2.30.51 (faafe)", "driver_version": "2.26.0 ()",
    }  # fmt: skip
    carried = trace.extra["neuron_nc_mem_usage"].to_pandas()
    assert [*zip(carried.nd, carried.nc, carried.usage_type, carried.amount_bytes, strict=True)] == [
        (3, 4, "Tensor Instructions", 64), (3, 4, "xt", 1), (3, 4, "Total", 65),
    ]  # fmt: skip
    assert (trace.tracks.to_pandas().device == 3).all()


# Version 5 on inf2: each clock counts in its own way. The start is the end of the Tensor engine's NOTIFY.
CLOCKS = {
    1: (1_000, 10, 7_142),  # 714.2 ps for each count
    3: (0, 1, 1_000),
    4: (0, 1, 2_000),
    6: (0, 1, 100),
    7: (0, 1, 200),
}


def version_5(folder: Path, version: int = 5, instance_type: str = "inf2.xlarge", **more: Any) -> Trace:
    records = [
        files.started("Tensor", FIRST, 1_050), files.ended("Tensor", FIRST, 1_100),  # at 71,420 ps
        files.started("Tensor", FIRST + 1, 1_110, wait_cycles=7), files.ended("Tensor", FIRST + 1, 1_113),
        files.started("Vector", FIRST + 4, 80), files.ended("Vector", FIRST + 4, 81),
        files.started("GpSimd", FIRST + 4, 40), files.ended("GpSimd", FIRST + 4, 41),
    ]  # fmt: skip
    told = {
        0: records,
        4: [files.packet(3, 14, 256, 160, 170)],
        1: [files.semaphore(6, 1, 800)],
        5: [files.throttle(7, 8, 2, 400)],
    }
    dma_clocks = [(0, 1, 1)] * 3 + [(0, 1, 500)] + [(0, 1, 1)] * 12
    cores = [core(told, core=1, clocks=CLOCKS, dma_clocks=dma_clocks, duration_ps=20_000, **more)]
    return written(files.Ntff(version, cores, instance_type=instance_type), folder)


@pytest.mark.parametrize(("version", "instance_type"), [(4, "trn1.32xlarge"), (5, "inf2.xlarge")])
def test_older_versions_begin_at_the_notify_of_a_start_on_clocks_of_their_own(
    tmp_path: Path, version: int, instance_type: str
) -> None:
    trace = version_5(tmp_path, version, instance_type)
    assert trace.metadata["device_time_zero_ns"] == 71  # 71,420 ps
    assert trace.metadata["device_model"] == instance_type.split(".")[0]
    found = rows(trace, "engine")
    assert [*zip(found.engine, found.name, found.at_ns, found.ts_ps, found.dur_ns, found.dur_ps, strict=True)] == [
        # 35,710 to 71,420: -35,710 after the start
        ("Tensor", "NOTIFY", -36, 290, 35, 710),
        # 110 * 714.2 = 78,562: 7,142 after the start; 3 counts are 2,142.6, and 113 of them end at 80,704.6
        ("Tensor", "MATMUL", 7, 142, 2, 142),
        ("GpSimd", "op_0x41", 8, 580, 2, 0),
        ("Vector", "op_0x41", 8, 580, 1, 0),
    ]  # fmt: skip
    assert found.wait_ns.iloc[1] == 5  # 7 cycles of 1.4 GHz
    (run,) = rows(trace, "device_annotation").to_dict("records")
    assert (run["ts_ns"], run["dur_ns"]) == (71, 20)
    (packet,) = rows(trace, "dma_queue").to_dict("records")
    # 160 * 500 = 80,000; DMA engines are numbered from 0 on each core
    assert (packet["at_ns"], packet["ts_ps"], packet["dur_ns"], packet["bytes"]) == (8, 580, 5, 256)
    assert packet["line"] == "Q14 · E3"
    (limit,) = rows(trace, "throttle").to_dict("records")
    # from 400 * 200 = 80,000 to the end of the last instruction, GpSimd's at 82,000
    assert (limit["at_ns"], limit["dur_ns"], limit["args"]) == (8, 2, {"k": 7, "n": 8, "type": 2})
    (execution,) = facts(trace)
    assert (execution.total_time_ps, execution.event_count, execution.ntff_version) == (20_000, 1, version)
    assert execution.neff_uuid == ""  # only its beginning is recorded
    assert not execution.knows_transposes
    assert not trace.report.repaired


def test_without_the_notify_time_begins_with_the_first_instruction(tmp_path: Path) -> None:
    trace = version_5(tmp_path, programs={"Tensor": (ADDRESS, (MATMUL, MATMUL))})
    assert trace.report.repaired == {"the start of the run is not recorded; time 0 is the first instruction": 1}


# The compiler's program: a load by variable 6 (a weight), two matmuls; the runtime puts a NOTIFY in front and at the
# end, deletes the second matmul, and gives the load its addresses.
PSEUDO_LOAD = files.slot(0xD4, word_16=0x10 << 56 | 6 << 32, short_32=128, short_34=1, short_36=256,
                         word_40=0x10 << 56, short_56=128, short_58=1, short_60=256)  # fmt: skip
COMPILED = (PSEUDO_LOAD, MATMUL, UNKNOWN, TRANSPOSE)
LOADED = (NOTIFY, LOAD, MATMUL, TRANSPOSE, NOTIFY)
PATCHES = ((0, 1, 0), (3, 1, 2), (4, 1, 0))


def neff(code: bytes = b"".join(COMPILED), uuid: bytes = bytes(range(1, 17))) -> NeffContents:
    graph = Subgraph(
        "sg00", {"Tensor": EngineProgram(code)}, (DmaQueue("qSPIO0", "data", "Sync", semaphores=(24, 25)),)
    )
    tensors = (
        NeffTensor("weight_0", "weight", bytes=64, var_id=6),
        NeffTensor("input_0", "input", bytes=1000, var_id=7),
        NeffTensor("output_0", "output", bytes=30, var_id=8),
    )
    header = NeffHeader.of(neff_files.header(b"", uuid=uuid))
    return NeffContents(header, size_bytes=2048, hash_ok=True, tensors=tensors, subgraphs=(graph,), hlo_macs=12)


def patched(records: dict[int, list[bytes]], number: int = 7) -> files.Core:
    """A core on which no address of SBUF is known."""
    return core(records, core=number, programs={"Tensor": (ADDRESS, LOADED)}, patches={"Tensor": PATCHES},
                queues=[(16 * number, 2, 2, "qSPIO0")])  # fmt: skip


def test_the_neff_names_instructions_queues_and_sizes(tmp_path: Path) -> None:
    records = {
        0: [instruction("Tensor", place, 1_000 * place, 1_000 * place + 500) for place in range(5)],
        1: [files.semaphore(24, 1, at(10))],
        4: [files.packet(0, 2, 64, at(0), at(100))],
    }
    trace = version_6(tmp_path, patched(records), neff=neff())
    found = rows(trace, "engine")
    assert [args.get("compiler_pc") for args in found.args] == [None, 0, 1, 3, None]
    assert without_operands(found.args.iloc[1]) == {
        "opcode": "DMA_DIRECT2D", "hbm_read_bytes": 32768, "hbm_write_bytes": 0, "compiler_pc": 0,
        "compiler_opcode": "PSEUDO_DMA_DIRECT2D",
    }  # fmt: skip
    assert "S[24] (qSyncIO0)" in [*trace.tracks.to_pandas().name]
    assert [*rows(trace, "dma_queue").source_category] == ["data"]
    (execution,) = facts(trace)
    assert execution.weight_size_bytes == 64
    assert execution.inputs_and_weights_size_bytes == 1064
    assert execution.inputs_outputs_weights_size_bytes == 1094
    assert execution.hlo_macs == 12
    assert [*trace.tensors.to_pandas().name] == ["weight_0", "input_0", "output_0"]
    assert len(trace.neffs) == 1
    assert not trace.report.repaired


def test_a_neff_with_another_uuid_is_named_and_not_used(tmp_path: Path) -> None:
    trace = version_6(tmp_path, patched({0: [instruction("Tensor", 1, 0, 500)]}), neff=neff(uuid=bytes(16)))
    assert trace.report.repaired == {
        "NEFF small.neff (00000000000000000000000000000000) was not used: this is a profile of another one "
        "(0102030405060708090a0b0c0d0e0f10)": 1
    }
    assert without_operands(rows(trace, "engine").args.iloc[0]) == {"opcode": "DMA_DIRECT2D"}
    assert facts(trace)[0].weight_size_bytes is None
    assert len(trace.neffs) == len(trace.tensors) == 0


@pytest.mark.parametrize("code", [b"".join(COMPILED[:3]), b"".join((PSEUDO_LOAD, WAIT, UNKNOWN, TRANSPOSE)), b""])
def test_a_program_that_does_not_fit_the_neff_gives_no_names(tmp_path: Path, code: bytes) -> None:
    trace = version_6(tmp_path, patched({0: [instruction("Tensor", 1, 0, 500)]}), neff=neff(code))
    assert without_operands(rows(trace, "engine").args.iloc[0]) == {"opcode": "DMA_DIRECT2D"}
    (problem,) = trace.report.repaired
    assert problem.startswith("the Tensor program of sg00")
    assert facts(trace)[0].weight_size_bytes == 64


@pytest.mark.parametrize(
    ("uuid", "fits"),
    [
        (bytes((9, 8, 0, *range(13))), True),
        (bytes((9, 8, 1, *range(13))), True),  # two bytes were recorded, and nobody can tell
        (bytes((9, 7, 0, *range(13))), False),
    ],
)
def test_before_version_6_as_much_of_the_uuid_as_is_recorded_has_to_agree(
    tmp_path: Path, uuid: bytes, fits: bool
) -> None:
    recorded = files.Ntff(5, [patched({0: [instruction("Tensor", 1, 0, 500)]})], uuid=bytes((9, 8, 0, *range(13))))
    trace = written(recorded, tmp_path, neff(uuid=uuid))
    assert len(trace.neffs) == fits
    assert any("was not used" in problem for problem in trace.report.repaired) != fits


def test_a_file_of_a_later_version_is_read_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "later.ntff"
    data = bytearray(
        files.Ntff(6, [core({0: [instruction("Tensor", 1, 0, 500)]})], ((START, START + TOTAL),)).to_bytes()
    )
    data[0] = 7
    path.write_bytes(data)
    trace = load_file(path)
    assert len(rows(trace, "engine")) == 1
    assert trace.report.repaired == {"version 7 of the format is not known; it was read as if it were one that is": 1}


def test_kinds_that_are_not_understood_are_counted(tmp_path: Path) -> None:
    records = {
        0: [instruction("Tensor", 1, 0, 500), files.record(0xFF << 24, 0, at(0)), files.record(1, 0, at(0))],
        2: [files.record(0, 0, 0)] * 3,
        4: [files.record(0x80 << 24, 9, at(0))],
    }
    trace = version_6(tmp_path, core(records))
    assert trace.report.to_dict() == {
        "source_events": 8,
        "kept": 2,
        "left_out": {
            "record of a kind that is not understood (2)": 3,
            "instruction record of an unknown engine or phase": 2,
            "DMA record of an unknown kind": 1,
        },
        "repaired": {},
    }


def test_a_record_from_another_time_is_left_out(tmp_path: Path) -> None:
    records = [instruction("Tensor", 1, 0, 500), files.semaphore(1, 1, 0)]
    far = files.semaphore(1, 1, START + 86_400 * 10**12)
    trace = version_6(tmp_path, core({0: records[:1], 1: [far, files.semaphore(1, 1, 1 << 63)]}))
    assert trace.report.left_out == {"record whose time lies more than a day from the run": 2}


def test_a_disk_that_fails_costs_the_records_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "profile.ntff"
    records = [instruction("Tensor", 1, 0, 500), instruction("Tensor", 2, 1_000, 1_500)]
    path.write_bytes(files.Ntff(6, [core({0: records})], ((START, START + TOTAL),)).to_bytes())
    size = path.stat().st_size
    intact = Source.read_at

    def failing(source: Source, offset: int, wanted: int) -> bytes:
        source.damage = "the disk failed: Input/output error"
        return intact(source, offset, wanted) if offset < size - 64 else b""

    monkeypatch.setattr(Source, "read_at", failing)
    report = read_ntff_file(path).report.to_dict()
    assert report == {
        "source_events": 4,
        "kept": 0,
        "left_out": {"record that could not be read from the disk": 4},
        "repaired": {"the disk failed: Input/output error": 1},
    }


def test_a_core_that_is_described_twice_is_read_once(tmp_path: Path) -> None:
    one = core({0: [instruction("Tensor", 1, 0, 500)]})
    trace = version_6(tmp_path, one, core({}))
    assert len(rows(trace, "engine")) == 1
    assert trace.report.repaired == {"core 4 is described twice; the first description is used": 1}


@pytest.mark.parametrize("size", [0, 1, 9, 127])
def test_a_file_shorter_than_its_header_is_refused_in_one_line(tmp_path: Path, size: int) -> None:
    path = tmp_path / "short.ntff"
    path.write_bytes(files.Ntff(6, [core({})]).to_bytes()[:size])
    with pytest.raises(TraceFileError) as error:
        read_ntff_file(path)
    assert "\n" not in str(error.value)
    with pytest.raises(NeuronProfileError):
        load_file(path)


def test_a_cut_file_shows_what_is_left_and_says_how_much_is_not(tmp_path: Path) -> None:
    records = [instruction("Tensor", 1, 1_000 * place, 1_000 * place + 500) for place in range(10)]
    data = files.Ntff(6, [core({0: records})], ((START, START + TOTAL),)).to_bytes()
    path = tmp_path / "cut.ntff"
    path.write_bytes(data[: -5 * 16 - 3])  # five records and a part of one
    trace = read_ntff_file(path)
    assert len(rows(trace, "engine")) == 7
    assert trace.report.to_dict() == {
        "source_events": 20,
        "kept": 14,
        "left_out": {"record that lies beyond the end of the file": 6},
        "repaired": {},
    }


def test_a_description_that_would_be_enormous_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lies.ntff"
    path.write_bytes(bytes([6]) + (1 << 40).to_bytes(8, "little") + bytes(0x80 - 9) + b"\x0a\x00")
    with pytest.raises(TraceFileError, match="whose description would have"):
        read_ntff_file(path)


def test_nothing_of_the_header_and_no_instance_id_is_shown(tmp_path: Path) -> None:
    trace = version_6(tmp_path, core({0: [instruction("Tensor", 1, 0, 500)]}))
    shown = [*trace.pool.strings.values, *map(bytes.decode, trace.pool.arg_sets.values), repr(trace.metadata)]
    assert not any(files.INSTANCE_ID.decode() in text for text in shown)
    everything = "".join(shown).encode()
    assert files.LEFTOVER[:5] not in everything


def test_long_profiles_are_joined_across_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [instruction("Tensor", 1 + place % 2, 1_000 * place, 1_000 * place + 1_500) for place in range(50)]
    packets = [files.packet(place % 3, 1, place, at(1_000 * place), at(1_000 * place + 7_500)) for place in range(50)]
    limits = [files.throttle(place, 8, 0, at(1_000 * place)) for place in range(8)]
    told = {0: records, 4: packets, 5: limits}
    whole = version_6(tmp_path, core(told))
    monkeypatch.setattr("trace_format.importers.ntff.records._PIECE_BYTES", 3 * 16)
    pieces = version_6(tmp_path, core(told))
    for column in ("ts_ns", "ts_ps", "dur_ns", "dur_ps", "pc", "track"):
        assert np.array_equal(getattr(whole.slices, column), getattr(pieces.slices, column))
    assert np.array_equal(whole.counters.value, pieces.counters.value)
    assert whole.report == pieces.report
