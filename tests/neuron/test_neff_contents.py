"""What a NEFF says about itself, against numbers worked out by hand and against AWS's JSON of the same programs."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import neff_files as made
import pytest

from trace_format.errors import DamagedFileError, UnsupportedFormatError
from trace_format.importers import load_file
from trace_format.importers.neff import NeffContents, read_neff_file


def read(tmp_path: Path, data: bytes) -> NeffContents:
    return read_neff_file(made.save(tmp_path, data))


def test_the_header_is_read_field_by_field(tmp_path: Path) -> None:
    data = made.neff(
        made.small_members(), neff_version_major=1, neff_version_minor=7, build_version=b"abc", num_tpb=3,
        name=b"graph.neff\0rubbish", requested_tpb_count=4, tpb_per_node=bytes([3, 1]), feature_bits=0xC00 | 1 << 21,
        lnc_size=2,
    )  # fmt: skip
    header = read(tmp_path, data).header
    assert (header.package_version, header.header_size, header.data_size) == (2, 1024, len(data) - 1024)
    assert (header.version, header.build_version, header.name, header.lnc) == ("1.7", "abc", "graph.neff", 2)
    assert (header.num_tpb, header.requested_tpb_count) == (3, 4)
    assert header.tpb_per_node == (3, 1, *[0] * 62)
    assert header.uuid == "101112131415161718191a1b1c1d1e1f"
    assert header.features == ("virtual-core", "v3-2x-4x-dve-perf-mode", "bit 21")


def test_tensors_have_their_size_shape_and_type(tmp_path: Path) -> None:
    found = {tensor.name: tensor for tensor in read(tmp_path, made.neff(made.small_members(spills=True))).tensors}
    assert set(found) == {"x", "bias", "y", "w_sg0000", "t1_SpillSave_0", "t2_SpillSave_1", "clone"}
    assert (found["x"].kind, found["x"].bytes, found["x"].shape) == ("input", 32768, (128, 128))
    assert (found["x"].dtype, found["x"].layout, found["x"].var_id) == ("bfloat16", "NC", 1)
    # the weight is called otherwise in the tensor map; both name its file
    assert (found["w_sg0000"].kind, found["w_sg0000"].shape, found["w_sg0000"].dtype) == (
        "weight",
        (16, 32),
        "bfloat16",
    )
    assert (found["clone"].kind, found["clone"].shape, found["clone"].dtype) == ("virtual", None, "")


def test_sizes_are_those_of_the_tensors_of_a_kind(tmp_path: Path) -> None:
    contents = read(tmp_path, made.neff(made.small_members(spills=True)))
    assert contents.tensor_bytes("input") == 32768 + 512
    assert contents.tensor_bytes("input", "output", "weight") == 32768 + 512 + 65536 + 1024
    assert (contents.weight_bytes, contents.spill_bytes) == (1024, 2 * 524288)
    assert contents.sizes["programs"] == 64 * (5 + 3 + 2 + 4 + 1)


def test_without_spills_there_are_none_and_without_definition_they_are_unknown(tmp_path: Path) -> None:
    assert read(tmp_path, made.neff(made.small_members())).spill_bytes == 0
    members = {name: data for name, data in made.small_members().items() if not name.endswith("def.json")}
    contents = read(tmp_path, made.neff(members))
    assert (contents.spill_bytes, contents.weight_bytes, contents.tensors) == (None, None, ())
    assert any("sg00/def.json" in warning for warning in contents.warnings)
    assert contents.subgraphs[0].programs["Tensor"].slots == 5


def test_queues_belong_to_the_engine_that_starts_them(tmp_path: Path) -> None:
    pool, sync = read(tmp_path, made.neff(made.small_members())).subgraphs[0].queues
    assert (pool.name, pool.type, pool.owner, pool.num_queues) == ("qPoolDynamic", "dynamic", "GpSimd", 16)
    assert pool.semaphores == tuple(range(8, 24))
    assert (sync.name, sync.type, sync.owner, sync.num_queues) == ("qSPIO0", "in", "Sync", 4)
    assert sync.semaphores == (40, 42)


def test_programs_are_slots_of_64_bytes_by_engine(tmp_path: Path) -> None:
    (graph,) = read(tmp_path, made.neff(made.small_members())).subgraphs
    slots = {engine: program.slots for engine, program in graph.programs.items()}
    assert slots == {"Tensor": 5, "Scalar": 3, "GpSimd": 2, "Vector": 4, "Sync": 1}
    assert graph.programs["Vector"].code[64 * 3] == 0x13
    assert graph.cc_streams == 0


def test_two_cores_of_a_logical_core_share_their_tensors(tmp_path: Path) -> None:
    contents = read(tmp_path, made.neff(made.small_members(lnc=2), lnc_size=2))
    assert (contents.lnc, contents.target, [graph.name for graph in contents.subgraphs]) == (
        2,
        "cayman",
        ["sg00", "sg01"],
    )
    assert len(contents.tensors) == 4
    assert [graph.programs["Tensor"].slots for graph in contents.subgraphs] == [5, 1]
    assert contents.subgraphs[1].queues == ()


def test_what_the_compiler_measured(tmp_path: Path) -> None:
    contents = read(tmp_path, made.neff(made.small_members(stats=True)))
    assert (contents.hlo_macs, contents.traffic_bytes) == (1160, 2328)
    assert contents.metrics["ArithmeticIntensity"] == 0.99656355
    older = made.small_members() | {
        "metrics.json": made.as_json([{"MetricName": "HloMacCount", "Value": 12, "Unit": "Count"}, {"MetricName": "x"}])
    }
    contents = read(tmp_path, made.neff(older))
    assert (contents.hlo_macs, contents.traffic_bytes, contents.metrics) == (12, None, {"HloMacCount": 12})


@pytest.mark.parametrize("spelling", ["words", "plain"])
def test_the_hash_is_md5_in_either_byte_order(tmp_path: Path, spelling: str) -> None:
    payload = made.archive(made.small_members())
    digest = made.hash_in_words(payload) if spelling == "words" else hashlib.md5(payload).digest()
    contents = read(tmp_path, made.header(payload, hash=digest) + payload)
    assert contents.hash_ok is True
    assert (contents.hash, contents.warnings) == (digest.hex(), ())


def test_a_wrong_hash_is_said_and_the_rest_is_shown(tmp_path: Path) -> None:
    contents = read(tmp_path, made.neff(made.small_members(), hash=b"\1" * 16))
    assert contents.hash_ok is False
    assert "hash" in contents.warnings[0]
    assert len(contents.tensors) == 4


def test_a_package_of_another_version_is_not_checked(tmp_path: Path) -> None:
    assert read(tmp_path, made.neff(made.small_members(), pkg_version=1, hash=b"\1" * 16)).hash_ok is None
    assert read(tmp_path, made.neff(made.small_members(), hash=bytes(16))).hash_ok is None


def test_a_length_that_is_not_the_files_is_said(tmp_path: Path) -> None:
    data = made.neff(made.small_members(), data_size=7)
    contents = read(tmp_path, data)
    assert contents.warnings == (f"the header says that 7 bytes follow it; {len(data) - 1024} do",)


def test_a_header_alone_leaves_all_else_unknown(tmp_path: Path) -> None:
    contents = read(tmp_path, made.neff(made.small_members())[:1024])
    assert (contents.name, contents.hash_ok) == ("small.neff", False)
    assert (contents.has_debug_info, contents.has_model_debug_info, contents.tensors) == (None, None, ())
    assert set(contents.sizes.values()) == {1024, None}
    assert len(contents.warnings) == 4


def test_a_file_that_is_no_neff_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFormatError, match="no gzipped archive") as caught:
        read(tmp_path, b"x" * 4000)
    assert "\n" not in str(caught.value)
    with pytest.raises(DamagedFileError, match="ends inside the header"):
        read(tmp_path, made.neff(made.small_members())[:1000])


def test_a_neff_is_a_trace_without_events(tmp_path: Path) -> None:
    trace = load_file(made.save(tmp_path, made.neff(made.small_members(lnc=2), lnc_size=2)))
    neffs, tensors = trace.neffs.to_pandas(), trace.tensors.to_pandas()
    assert neffs.loc[0, ["name", "path", "compiler_version", "lnc"]].tolist() == [
        "small.neff", "small.neff", made.COMPILER, 2,
    ]  # fmt: skip
    assert json.loads(neffs.loc[0, "sizes"])["inputs"] == 33280
    assert tensors.loc[0, ["name", "kind", "shape", "dtype", "bytes"]].tolist() == [
        "x", "input", "[128, 128]", "bfloat16", 32768,
    ]  # fmt: skip
    assert trace.extra["neff_queues"].to_pandas()["owner"].tolist() == ["GpSimd", "Sync"]
    assert trace.extra["neff_programs"].to_pandas()["slots"].sum() == 15 + 5
    assert len(trace.slices) == len(trace.counters) == 0
    assert trace.report.clean
    assert trace.report.source_events == len(made.small_members(lnc=2))


# AWS's own tool about the same programs: the JSON of a run beside its NEFF, which is not part of the corpus.
PAIRS = {
    "baseline_bf16_s512": "T172_baseline_exec_2_profile_full.json",
    "fused_bf16_s512": "T178_fused_exec_2_profile_full.json",
    "fused_bf16_s1024": "T181_fused_exec_2_profile_full.json",
    "baseline_fp32_s512": "T184_baseline_exec_2_profile_full.json",
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_real_neff_says_what_awss_tool_shows(name: str, corpus: Path) -> None:
    path = Path(os.environ.get("NPROF_NEFFS", "")) / f"{name}.neff"
    if not path.is_file():
        pytest.skip(f"no {path.name}: set NPROF_NEFFS to a folder that has it")
    told = json.loads((corpus / "neuron_json" / PAIRS[name]).read_text())
    contents = read_neff_file(path)
    header, node, summary = told["neff_header"][0], told["neff_node"], told["summary"][0]
    assert contents.warnings == ()
    assert contents.hash_ok is True
    assert {
        "network_name": contents.name,
        "uuid": contents.uuid,
        "hash": contents.hash,
        "enabled_features": ", ".join(contents.header.features),
        "header_size": str(contents.header.header_size),
        "data_size": str(contents.header.data_size),
        "major_version": str(contents.header.major_version),
        "minor_version": str(contents.header.minor_version),
        "package_version": str(contents.header.package_version),
        "build_version": contents.header.build_version,
        "number_of_logical_neuroncores": str(contents.header.num_tpb),
        "number_of_neuroncores_per_lnc": str(contents.lnc),
    } == header
    kinds = {"input": "IN", "output": "OUT", "weight": "WEIGHT"}
    shown = {
        (t.name, kinds[t.kind], t.layout, "[" + " ".join(map(str, t.shape or ())) + "]", str(t.bytes))
        for t in contents.tensors
        if t.kind in kinds
    }
    assert shown == {
        (row["variable_name"], row["type"], row["format"], row["shape"], row["size"])
        for row in node
        if row["variable_name"]
    }
    assert contents.compiler_version == summary["compiler_version"]
    assert contents.weight_bytes == summary["weight_size_bytes"]
    assert contents.tensor_bytes("input", "weight") == summary["inputs_and_weights_size_bytes"]
    assert contents.tensor_bytes("input", "output", "weight") == summary["inputs_outputs_weights_size_bytes"]
    # instructions of the profile that came from the compiler: their place in the program says where from
    programs = {graph.name: graph.programs for graph in contents.subgraphs}
    checked = 0
    for row in told["instruction"]:
        if "compiler_pc" not in row or "raw_bir_id" not in row:
            continue
        origin = programs[row["subgraph"]][row["subgroup"]].origin(row["compiler_pc"])
        if not row["raw_bir_id"]:
            assert origin is None
            continue
        assert origin is not None
        assert origin.bir_id == row["raw_bir_id"]
        assert origin.bir_name == row.get("bir_instruction_name", "")
        assert origin.instruction_type == row["instruction_type"]
        if row.get("raw_penguin_id"):
            assert origin.penguin_id == row["raw_penguin_id"]
        checked += 1
    assert checked > 100
