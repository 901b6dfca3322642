"""NTFF files of real runs, row by row against the JSON that AWS's own tool made of the same runs (trn2, version 6)."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trace_format import Trace
from trace_format.exporters import export_file
from trace_format.importers import load_file
from trace_format.importers.neff import read_neff_file
from trace_format.importers.neuron_device.execution import Execution, execution_of
from trace_format.importers.ntff import read_ntff_file
from trace_format.trace_pb.writer import write_trace

# NTFF, JSON, NEFF, and how many packets of the instruction queue AWS's tool leaves out of its JSON although they lie
# in the run: the rule behind that is not known, so all are kept.
PAIRS = (
    ("T174_baseline_exec_2", "T172_baseline_exec_2_profile_full", "baseline_bf16_s512", 6),
    ("T180_fused_exec_2", "T178_fused_exec_2_profile_full", "fused_bf16_s512", 4),
    ("T183_fused_exec_2", "T181_fused_exec_2_profile_full", "fused_bf16_s1024", 4),
    ("T186_baseline_exec_2", "T184_baseline_exec_2_profile_full", "baseline_fp32_s512", 4),
)
# The JSON of T183 counts this instruction in its own model_info, and its list of rows lacks it.
LOST = {"T183_fused_exec_2": [(4, "Vector", "EVENT_SEMAPHORE", 56, 7650)]}


@dataclass(frozen=True)
class Pair:
    name: str
    path: Path
    neff: str
    more_packets: int
    trace: Trace
    json: dict[str, list[dict[str, Any]]]

    @property
    def cores(self) -> dict[str, int]:
        return {row["sg_name"]: row["nc_idx"] for row in self.json["model_info"]}

    @property
    def execution(self) -> Execution:
        (row,) = np.flatnonzero(self.tracks.kind.to_numpy()[self.trace.slices.track] == "device_annotation")
        return execution_of(self.trace.pool.arg_sets[int(self.trace.slices.args[row])])

    @property
    def tracks(self) -> pd.DataFrame:
        return self.trace.tracks.to_pandas()

    def slices(self, kind: str) -> pd.DataFrame:
        """The slices on tracks of a kind that lie in the run; `at` is their time as AWS's tool shows it."""
        return in_run(self.trace, self.slices_of_trace(), self.execution.total_time_ps, kind)

    def slices_of_trace(self) -> pd.DataFrame:
        slices, tracks = self.trace.slices.to_pandas(), self.tracks
        for column in ("kind", "core", "engine"):
            slices[column] = tracks[column].to_numpy()[slices.track]
        slices["track_name"] = tracks.name.to_numpy()[slices.track]
        slices["args"] = [json.loads(args or "{}") for args in slices.args.astype(str)]
        return slices


def in_run(trace: Trace, slices: pd.DataFrame, total_ps: int, kind: str) -> pd.DataFrame:
    slices["at"] = slices.ts_ns - trace.metadata["device_time_zero_ns"]
    execution = slices[slices.kind == "device_annotation"].iloc[0]
    start = (slices.ts_ns - execution.ts_ns) * 1000 + slices.ts_ps - execution.ts_ps
    end = start + slices.dur_ns * 1000 + slices.dur_ps
    slices["at"] = start // 1000
    return slices[(slices.kind == kind) & (start >= 0) & (end <= total_ps)]


@pytest.fixture(scope="module", params=PAIRS, ids=[pair[0] for pair in PAIRS])
def pair(request: pytest.FixtureRequest, corpus: Path) -> Pair:
    ntff, profile, neff, more_packets = request.param
    path = corpus / "neuron_bin" / f"{ntff}.ntff"
    document = json.loads((corpus / "neuron_json" / f"{profile}.json").read_text())
    return Pair(ntff, path, neff, more_packets, load_file(path), document)


@pytest.fixture(scope="module")
def joined(pair: Pair) -> Trace:
    return read_ntff_file(pair.path, read_neff_file(neff_file(pair.neff)))


def neff_file(name: str) -> Path:
    """A NEFF of these runs; they are not part of the corpus."""
    path = Path(os.environ.get("NPROF_NEFFS", "")) / f"{name}.neff"
    if not path.is_file():
        pytest.skip(f"no {path.name}: set NPROF_NEFFS to a folder that has it")
    return path


def test_instructions_are_those_of_the_json(pair: Pair) -> None:
    rows = pair.slices("engine")
    found = Counter(zip(rows.core, rows.engine, rows.name.astype(str), rows.pc, rows["at"], rows.dur_ns, strict=True))
    expected = Counter(
        (pair.cores[row["subgraph"]], row["subgroup"], row["opcode"], row["pc"], row["timestamp"], row["duration"])
        for row in pair.json["instruction"]
    )
    assert expected - found == Counter()
    assert [row[:5] for row in found - expected] == LOST.get(pair.name, [])
    counts = sum(
        value for row in pair.json["model_info"] for key, value in row.items() if key.endswith("instruction_count")
    )
    assert len(rows) == counts


def test_waits_are_those_of_the_json_save_for_its_rounding(pair: Pair) -> None:
    rows = pair.slices("engine")
    key = [rows.core, rows.engine, rows.pc, rows["at"]]
    found = dict(zip(zip(*key, strict=True), rows.wait_ns, strict=True))
    lower = 0
    for row in pair.json["instruction"]:
        waited = found[pair.cores[row["subgraph"]], row["subgroup"], row["pc"], row["timestamp"]]
        # where cycles are a whole number of nanoseconds, version 2.28 of the tool is one too low now and then
        assert waited == row["evt_wait_time"] or (waited == row["evt_wait_time"] + 1 and waited % 5 == 0)
        lower += waited != row["evt_wait_time"]
    assert lower <= len(rows) // 10


def test_packets_are_those_of_the_json_and_the_ones_it_leaves_out(pair: Pair) -> None:
    rows = pair.slices("dma_queue")
    found = Counter(
        (core, args["dma_engine"], args["dma_queue"], at, duration, size, kind)
        for core, args, at, duration, size, kind in zip(
            rows.core, rows.args, rows["at"], rows.dur_ns, rows.bytes, rows.source_category.astype(str), strict=True
        )
    )
    expected = Counter(
        (pair.cores[row["subgraph"]], row["dma_engine"], row["dma_queue"], row["timestamp"], row["duration"],
         row["transfer_size"], row["queue_type"])
        for row in pair.json["dma"]
    )  # fmt: skip
    assert expected - found == Counter()
    more = found - expected
    assert sum(more.values()) == pair.more_packets
    assert {(queue, kind) for _, _, queue, _, _, _, kind in more} == {("14", "instruction")}


def test_queues_have_the_names_of_the_json(pair: Pair) -> None:
    rows = pair.slices("dma_queue")
    known = {
        (pair.cores[row["subgraph"]], row["q_idx"], row["q_eng_idx"]): row["q_name"]
        for row in pair.json["dma_queues_info"]
    }
    named = {
        (core, int(args["dma_queue"]), int(args["dma_engine"])): str(name)
        for core, args, name in zip(rows.core, rows.args, rows.name, strict=True)
    }
    for queue in known.keys() & named.keys():
        assert named[queue] == known[queue]
    assert known.keys() & named.keys()
    carried = pair.trace.extra["neuron_dma_queues_info"].to_pandas()
    assert {*carried.q_name} == {row["q_name"] for row in pair.json["dma_queues_info"]}
    assert carried.subgraph.value_counts().to_dict() == {
        row["sg_name"]: row["dma_queue_count"] for row in pair.json["model_info"]
    }
    types = {(row["q_name"], row["q_type"]) for row in pair.json["dma_queues_info"]}
    assert {*zip(carried.q_name, carried.q_type, strict=True)} == types


def semaphore_rows(pair: Pair, trace: Trace) -> Counter[Any]:
    counters, tracks = trace.counters.to_pandas(), trace.tracks.to_pandas()
    counters = counters[tracks.kind.to_numpy()[counters.track] == "semaphore"]
    at = counters.ts_ns - trace.metadata["device_time_zero_ns"]
    kept = (at >= 0) & (at <= pair.execution.total_time_ps // 1000)
    counters, at = counters[kept], at[kept]
    names, cores = tracks.name.to_numpy()[counters.track], tracks.core.to_numpy()[counters.track]
    return Counter(zip(cores, names, at, counters.value, strict=True))


def test_semaphore_updates_are_those_of_the_json(pair: Pair) -> None:
    """Without the NEFF the queue behind a semaphore is not known, and the bare number is shown."""

    def without_queue(label: str) -> str:
        return label[2 : label.index("]")] if label.startswith("S[") and "(q" in label else label

    expected = Counter(
        (pair.cores[row["subgraph"]], without_queue(row["id"]), row["timestamp"], row["value"])
        for row in pair.json["semaphore_update"]
    )
    assert semaphore_rows(pair, pair.trace) == expected


def test_throttling_is_that_of_the_json(pair: Pair) -> None:
    rows = pair.slices("throttle")
    found = [
        (core, at, duration, args["k"], args["n"], args["type"])
        for core, at, duration, args in zip(rows.core, rows["at"], rows.dur_ns, rows.args, strict=True)
    ]
    expected = [
        (pair.cores[row["subgraph"]], row["timestamp"], row["duration"], row["k"], row["n"], row["type"])
        for row in pair.json["ham"]
    ]
    assert sorted(found) == sorted(expected)


def test_elements_transposes_and_hbm_bytes_are_those_of_the_json(pair: Pair) -> None:
    rows = pair.slices("engine")
    key = zip(rows.core, rows.engine, rows.pc, rows["at"], strict=True)
    found = dict(zip(key, rows.args, strict=True))
    matmuls = 0
    for row in pair.json["instruction"]:
        args = found[pair.cores[row["subgraph"]], row["subgroup"], row["pc"], row["timestamp"]]
        assert args.get("elements") == row.get("elements")
        if row["opcode"] == "MATMUL":
            matmuls += 1
            assert args["instruction_type"] == row["instruction_type"]
        assert args.get("hbm_read_bytes", 0) == row.get("hbm_read_bytes", 0)
        assert args.get("hbm_write_bytes", 0) == row.get("hbm_write_bytes", 0)
    assert matmuls
    flops = rows.flops.sum()
    assert flops == pair.json["summary"][0]["hardware_flops"]


def test_memory_is_that_of_the_json(pair: Pair) -> None:
    carried = pair.trace.extra["neuron_nc_mem_usage"].to_pandas()
    found = [*zip(carried.nd, carried.nc, carried.usage_type, carried.amount_bytes, strict=True)]
    expected = [(row["nd"], row["nc"], row["usage_type"], row["amount_bytes"]) for row in pair.json["nc_mem_usage"]]
    assert sorted(found) == sorted(expected)


def counter(trace: Trace, name: str, core: int) -> pd.DataFrame:
    tracks, counters = trace.tracks.to_pandas(), trace.counters.to_pandas()
    (track,) = tracks.index[(tracks.name == name) & (tracks.core == core) & (tracks.kind == "counter")]
    return counters[counters.track == track]


def test_pending_dmas_are_those_of_the_json(pair: Pair) -> None:
    rows = counter(pair.trace, "Pending DMAs", 4)
    zero = pair.trace.metadata["device_time_zero_ns"]
    expected = sorted((row["timestamp"], row["value"]) for row in pair.json["pending_dma"])
    assert [*zip(rows.ts_ns - zero, rows.value.astype(int), strict=True)] == expected


def test_throughput_adds_up_to_the_bytes_of_all_packets(pair: Pair) -> None:
    slices = pair.slices_of_trace()
    for core in pair.cores.values():
        rows = counter(pair.trace, "DMA throughput", core)
        # a point is floored to a nanosecond; the packets take tens to thousands
        moved = (rows.value.to_numpy()[:-1] * np.diff(rows.ts_ns) / 1e9).sum()
        packets = slices[(slices.core == core) & (slices.kind == "dma_queue")]
        assert moved == pytest.approx(packets.bytes.sum(), rel=0.01)
        assert rows.value.iloc[-1] == 0


def test_throughput_is_that_of_the_json_but_for_the_packets_it_leaves_out(pair: Pair) -> None:
    zero = pair.trace.metadata["device_time_zero_ns"]
    equal = 0
    for subgraph, core in pair.cores.items():
        rows = counter(pair.trace, "DMA throughput", core)
        found: dict[int, list[float]] = {}
        for at, value in zip((rows.ts_ns - zero).tolist(), rows.value, strict=True):
            found.setdefault(at, []).append(value)
        for row in pair.json["dma_throughput"]:
            if row["subgraph"] == subgraph:
                # AWS's rates have six digits
                equal += any(
                    value == pytest.approx(row["transfer_rate"], rel=1e-5) for value in found[row["timestamp"]]
                )
    assert equal >= 0.97 * len(pair.json["dma_throughput"])


def test_hbm_throughput_is_that_of_the_transfers_that_instructions_start(pair: Pair) -> None:
    rows = counter(pair.trace, "HBM throughput", 4)
    moved = (rows.value.to_numpy()[:-1] * np.diff(rows.ts_ns) / 1e9).sum()
    summary = pair.json["summary"][0]
    # the packets also write the semaphores that tell of their end, 4 bytes each
    assert moved == pytest.approx(summary["hbm_read_bytes"] + summary["hbm_write_bytes"], rel=0.01)


def test_engine_activity_adds_up_to_the_active_time(pair: Pair) -> None:
    for subgraph, core in pair.cores.items():
        for engine in ("Tensor", "Vector", "Scalar", "GpSimd", "Sync"):
            rows = counter(pair.trace, f"{engine} active", core)
            assert rows.value.between(0, 1).all()
            found = rows.value.iloc[:-1].mean() * pair.execution.total_time_ps / 1000
            expected = sum(
                row["duration_ns"]
                for row in pair.json["active_time"]
                if row["engine"] == engine.lower() and row["subgraph"] == subgraph
            )
            # AWS's rows are floored to a nanosecond; instructions before the run reach into it
            assert found == pytest.approx(expected, abs=len(pair.json["active_time"]), rel=0.02)


def test_the_run_is_described_as_the_json_has_it(pair: Pair) -> None:
    facts, summary, metadata = pair.execution, pair.json["summary"][0], pair.json["metadata"][0]
    assert facts.total_time_ps == round(summary["total_time"] * 1e12)
    assert facts.event_count == summary["event_count"]
    assert facts.ntff_version == metadata["ntff_version"]
    assert facts.physical_cores == list(pair.cores.values())
    assert facts.nd_idx == pair.json["model_info"][0]["nd_idx"]
    assert facts.neff_uuid == pair.json["neff_header"][0]["uuid"]
    assert facts.neff == pair.json["neff_header"][0]["network_name"]
    for name in ("instance_type", "runtime_version", "driver_version", "collectives_version"):
        assert getattr(facts, name) == summary[name]
    assert facts.knows_transposes
    assert facts.weight_size_bytes is None
    assert facts.compiler_version == ""


def test_all_records_are_accounted_for(pair: Pair) -> None:
    assert pair.trace.report.clean
    rows = pair.slices_of_trace()
    paired = int(rows.kind.isin(["engine", "dma_queue"]).sum())
    # one instruction for each core was under way when the recording stopped
    assert pair.trace.instants.text("source_category").count("under way when the recording stopped") == 2
    semaphores = int((pair.tracks.kind.to_numpy()[pair.trace.counters.track] == "semaphore").sum())
    throttled = int((rows.kind == "throttle").sum())
    records = 2 * paired + semaphores + len(pair.trace.instants) + throttled
    assert pair.trace.report.kept == records


def test_each_packet_is_completed_once_after_its_end(pair: Pair) -> None:
    packets = pair.slices_of_trace().query("kind == 'dma_queue'")
    instants = pair.trace.instants.to_pandas().query("name == 'completion'")
    assert len(instants) == len(packets)
    for track, mine in packets.groupby("track", observed=True):
        completed = np.sort(instants.ts_ns[instants.track == track])
        assert (completed > np.sort(mine.ts_ns + mine.dur_ns)).all()


def test_nothing_shows_the_instance_or_the_leftovers_in_the_header(pair: Pair, tmp_path: Path) -> None:
    data = pair.path.read_bytes()
    size = int.from_bytes(data[1:9], "little")
    instance = data.index(b"i-", 0x80 + size // 2, 0x80 + size)
    instance_id = data[instance : instance + 19]
    assert instance_id.startswith(b"i-")
    leftovers = {data[at : at + 8] for at in range(9, 0x80 - 8)} - {bytes(8)}
    leftovers = {part for part in leftovers if part.count(0) < 3}
    write_trace(pair.trace, tmp_path / "t.pb")
    for suffix in (".json", ".pftrace"):
        export_file(pair.trace, tmp_path / f"t{suffix}")
    shown = [path.read_bytes() for path in tmp_path.iterdir()]
    shown += [repr(pair.trace.metadata).encode(), repr(pair.trace.report.to_dict()).encode()]
    shown += [text.encode("utf-8", "surrogatepass") for text in pair.trace.pool.strings.values]
    shown += pair.trace.pool.arg_sets.values
    for text in shown:
        assert instance_id not in text
        assert not any(part in text for part in leftovers)


def test_with_the_neff_semaphores_have_the_labels_of_the_json(pair: Pair, joined: Trace) -> None:
    expected = Counter(
        (pair.cores[row["subgraph"]], row["id"], row["timestamp"], row["value"])
        for row in pair.json["semaphore_update"]
    )
    assert semaphore_rows(pair, joined) == expected


def test_with_the_neff_instructions_have_the_names_of_the_json(pair: Pair, joined: Trace) -> None:
    with_neff = Pair(pair.name, pair.path, pair.neff, pair.more_packets, joined, pair.json)
    rows = with_neff.slices("engine")
    found = dict(zip(zip(rows.core, rows.engine, rows.pc, rows["at"], strict=True), rows.args, strict=True))
    named = 0
    for row in pair.json["instruction"]:
        args = found[pair.cores[row["subgraph"]], row["subgroup"], row["pc"], row["timestamp"]]
        for name in ("compiler_pc", "compiler_opcode"):
            assert args.get(name) == row.get(name)
        for name in ("bir_id", "bir_instruction_name", "penguin_id", "hlo_name"):
            assert args.get(name, "") == row[name]
        if row["opcode"] != "MATMUL":
            assert args.get("instruction_type", "") == row["instruction_type"]
        named += bool(row["bir_id"])
    assert named


def test_with_the_neff_operands_are_those_of_the_json(pair: Pair, joined: Trace) -> None:
    """Of a transfer, without what is the same in all of these files and cannot be told apart in the instruction."""
    with_neff = Pair(pair.name, pair.path, pair.neff, pair.more_packets, joined, pair.json)
    rows = with_neff.slices("engine")
    found = dict(zip(zip(rows.core, rows.engine, rows.pc, rows["at"], strict=True), rows.args, strict=True))
    told = Counter[str]()
    for row in pair.json["instruction"]:
        args = found[pair.cores[row["subgraph"]], row["subgroup"], row["pc"], row["timestamp"]]
        expected = re.sub(r" (src|dst)_shape_reg=0| compute_op=NONE| (in|out)_dtype=\w+", "", row["operands"])
        if row["opcode"] in ("MATMUL", "DMA_DIRECT2D"):
            assert args["operands"] == expected.replace("  ", " ")
            told[row["opcode"]] += 1
        waits = re.match(r"(S\[\d+\] \(\w+\)>=\d+) ", expected)
        if row["opcode"] == "EVENT_SEMAPHORE":  # which has a second condition
            assert args["operands"] == row["operands"]
            assert args.get("waits_for", "") in row["operands"]
        else:
            assert args.get("waits_for", "") == (waits[1] if waits else "")
    assert len(told) == 2


def test_with_the_neff_its_sizes_are_those_of_the_json(pair: Pair, joined: Trace) -> None:
    with_neff = Pair(pair.name, pair.path, pair.neff, pair.more_packets, joined, pair.json)
    facts, summary = with_neff.execution, pair.json["summary"][0]
    for name in ("weight_size_bytes", "inputs_and_weights_size_bytes", "inputs_outputs_weights_size_bytes"):
        assert getattr(facts, name) == summary[name]
    assert facts.compiler_version == summary["compiler_version"]
    assert not joined.report.repaired
    nodes = {row["variable_name"]: int(row["size"]) for row in pair.json["neff_node"] if row.get("size")}
    tensors = joined.tensors.to_pandas().query("kind in ('input', 'output', 'weight')")
    assert dict(zip(tensors.name.astype(str), tensors.bytes, strict=True)) == nodes


def test_a_neff_of_another_program_is_named_and_not_used(pair: Pair) -> None:
    other = next(neff for _, _, neff, _ in PAIRS if neff != pair.neff)
    trace = read_ntff_file(pair.path, read_neff_file(neff_file(other)))
    (problem,) = trace.report.repaired
    assert "was not used" in problem
    assert len(trace.slices) == len(pair.trace.slices)
    assert len(trace.neffs) == 0
