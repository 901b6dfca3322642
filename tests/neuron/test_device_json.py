"""A device profile as JSON becomes the tracks and rows of the device, values as the file has them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from device_json_files import instruction, packet, write_profile

from trace_format.errors import LimitExceededError
from trace_format.importers import load_file
from trace_format.importers.neuron_device.execution import Execution, execution_of
from trace_format.importers.neuron_device_json import sections
from trace_format.trace import Trace


def rows_of(trace: Trace, kind: str) -> list[dict]:
    """The slices on tracks of a kind, in words, with core, engine and name of their track."""
    kinds, names = trace.tracks.text("kind"), trace.tracks.text("name")
    frame = trace.slices.to_pandas()
    return [
        row | {"core": int(trace.tracks.core[row["track"]]), "on": names[row["track"]],
               "args": json.loads(row["args"] or "{}")}
        for row in frame.to_dict("records") if kinds[row["track"]] == kind
    ]  # fmt: skip


def counter(trace: Trace, name: str, core: int) -> list[tuple[int, float]]:
    names = trace.tracks.text("name")
    return [
        (ts, value)
        for ts, track, value in zip(
            trace.counters.ts_ns.tolist(), trace.counters.track.tolist(), trace.counters.value.tolist(), strict=True
        )
        if names[track] == name and trace.tracks.core[track] == core
    ]


def execution(trace: Trace) -> Execution:
    row = trace.slices.track.tolist().index(trace.tracks.text("name").index("Executions"))
    return execution_of(trace.pool.arg_sets[int(trace.slices.args[row])])


def test_an_instruction_is_a_slice_of_its_engine_on_its_physical_core(tmp_path: Path) -> None:
    on_1 = instruction(subgraph="sg01", subgroup="Vector", label="Vector", opcode="EVENT_SEMAPHORE", id=12)
    trace = load_file(write_profile(tmp_path / "p.json", instruction=[instruction(), on_1]))
    first, second = sorted(rows_of(trace, "engine"), key=lambda row: row["core"])
    assert (first["core"], first["on"], first["name"], first["category"]) == (4, "Tensor", "MATMUL", "compute")
    assert (first["ts_ns"], first["dur_ns"], first["wait_ns"], first["pc"]) == (100, 40, 25, 7)
    assert first["external_id"] == 11
    assert first["flops"] == 2 * 1000
    assert first["args"] == {
        "compiler_pc": 3, "elements": 1000, "instruction_type": "REGULAR", "label": "TensorMatrix",
        "opcode": "MATMUL", "operands": " acc_flags=0 ",
    }  # fmt: skip
    assert (second["core"], second["on"], second["category"]) == (5, "Vector", "semaphore")
    assert np.isnan(second["flops"])  # elements of anything but a MATMUL say nothing about FLOPs
    assert "label" not in second["args"]
    assert trace.metadata["device_time_zero_ns"] == 0
    assert trace.metadata["sources"][0]["clock"] == "device"


def test_what_changes_with_every_instruction_is_carried_beside_it(tmp_path: Path) -> None:
    rows = [instruction(id=1, crc_in=5, news="a"), instruction(id=2, crc_in=6, news="b", timestamp=300)]
    trace = load_file(write_profile(tmp_path / "p.json", instruction=rows))
    carried = trace.extra["neuron_instruction"].to_pandas()
    assert carried["id"].tolist() == [1, 2]
    assert carried["crc_in"].tolist() == [5, 6]
    assert carried["news"].tolist() == ["a", "b"]
    assert len({row["args"]["opcode"] for row in rows_of(trace, "engine")}) == 1


def test_ids_of_64_bits_are_exact(tmp_path: Path) -> None:
    large, larger = 2**53 + 1, 2**64 - 1
    rows = [
        instruction(id=large),
        instruction(id=larger, timestamp=500, predecessors=[{"id": large, "type": "FLOW_DEPENDENCE"}]),
        instruction(id=3, timestamp=600, predecessors=[{"id": larger, "type": "ORDERED"}, {"id": 99, "type": "X"}]),
    ]
    trace = load_file(write_profile(tmp_path / "p.json", instruction=rows))
    first, second, third = rows_of(trace, "engine")
    assert first["external_id"] == large
    assert second["external_id"] == -1
    assert second["args"]["id"] == larger
    assert trace.extra["neuron_instruction"].id.tolist() == [large, larger, 3]
    flows = trace.flows.to_pandas()
    kinds = dict(zip(flows["kind"], zip(flows["from_slice"], flows["to_slice"], strict=True), strict=True))
    place = {ts: row for row, ts in enumerate(trace.slices.ts_ns.tolist()) if ts}
    assert kinds == {"FLOW_DEPENDENCE": (place[100], place[500]), "ORDERED": (place[500], place[600])}
    assert trace.report.repaired == {"predecessor that is not in the file": 1}
    assert third["external_id"] == 3


def test_a_packet_is_a_slice_of_its_queue_and_a_row_that_sums_up_is_an_instant(tmp_path: Path) -> None:
    rows = [packet(), packet(subgraph="sg01", dma_engine="80", subgroup="qSyncIO0", id=22, queue_type="data"),
            packet(aggregated="yes", id=23, transfer_size=9000)]  # fmt: skip
    trace = load_file(write_profile(tmp_path / "p.json", dma=rows))
    first, second = sorted(rows_of(trace, "dma_queue"), key=lambda row: row["core"])
    assert (first["on"], first["core"], first["name"]) == ("Q0 · E64", 4, "Q0")
    assert (first["ts_ns"], first["dur_ns"], first["bytes"], first["category"]) == (200, 50, 4096, "dma")
    assert first["source_category"] == "software_dynamic"
    assert first["args"]["dma_engine"] == "64"
    assert first["args"]["dma_queue"] == "0"
    assert (second["on"], second["core"], second["source_category"]) == ("qSyncIO0 · E80", 5, "data")
    [summed] = trace.instants.to_pandas().to_dict("records")
    assert json.loads(summed["args"])["transfer_size"] == 9000
    assert trace.extra["neuron_dma"].to_pandas()["transfer_rate"].tolist() == [81920000000] * 3


def test_semaphores_and_throttling_have_tracks_of_their_own(tmp_path: Path) -> None:
    path = write_profile(
        tmp_path / "p.json",
        semaphore_update=[{"timestamp": 5, "id": "S[5] (Tensor)", "value": 1, "subgraph": "sg00"},
                          {"timestamp": 9, "id": "S[5] (Tensor)", "value": 0, "subgraph": "sg00"},
                          {"timestamp": 7, "id": "S[5] (Tensor)", "value": 3, "subgraph": "sg01"}],
        ham=[{"timestamp": 50, "duration": 20, "k": 4, "n": 8, "type": 1, "subgraph": "sg00"}],
    )  # fmt: skip
    trace = load_file(path)
    assert counter(trace, "S[5] (Tensor)", 4) == [(5, 1), (9, 0)]
    assert counter(trace, "S[5] (Tensor)", 5) == [(7, 3)]
    [throttled] = rows_of(trace, "throttle")
    assert (throttled["ts_ns"], throttled["dur_ns"], throttled["core"]) == (50, 20, 4)
    assert throttled["category"] == "overhead"
    assert throttled["args"] == {"k": 4, "n": 8, "type": 1}


def test_usage_stays_a_fraction_and_hbm_traffic_that_is_not_known_is_absent(tmp_path: Path) -> None:
    throughput = {"transfer_rate": 7, "total_transfer_bytes": 70, "subgraph": "sg00"}
    no_hbm = {"hbm_transfer_rate": 0, "hbm_total_transfer_bytes": 0, "uses_hbm": "false"}
    path = write_profile(
        tmp_path / "p.json",
        pending_dma=[{"timestamp": 1, "value": 3, "subgraph": "sg00"}],
        dma_throughput=[
            throughput | no_hbm | {"timestamp": 1},
            throughput | {"timestamp": 2, "hbm_transfer_rate": 5, "hbm_total_transfer_bytes": 50, "uses_hbm": "true"},
            throughput | {"timestamp": 3, "hbm_transfer_rate": 0, "hbm_total_transfer_bytes": 50, "uses_hbm": "false"},
            throughput | no_hbm | {"timestamp": 1, "subgraph": "sg01"},
        ],
        instruction_usage=[
            {"timestamp": 4, "type": "sb", "usage_avg": 0.25, "partition_32_usage": 0.5, "subgraph": "sg00"},
            {"timestamp": 4, "type": "psum", "usage_avg": 0.125, "bank_3_usage": 1, "subgraph": "sg00"},
            {"timestamp": 4, "type": "new", "usage_avg": 0.1},
        ],
    )
    trace = load_file(path)
    assert counter(trace, "Pending DMAs", 4) == [(1, 3)]
    assert counter(trace, "DMA throughput", 4) == [(1, 7), (2, 7), (3, 7)]
    assert counter(trace, "HBM throughput", 4) == [(2, 5), (3, 0)]
    assert counter(trace, "HBM bytes", 5) == []
    assert counter(trace, "SBUF usage", 4) == [(4, 0.25)]
    assert counter(trace, "SBUF partition 32 usage", 4) == [(4, 0.5)]
    assert counter(trace, "PSUM bank 3 usage", 4) == [(4, 1)]
    assert trace.report.left_out == {"row of instruction_usage that is about neither sb nor psum": 1}


def test_activity_is_the_busy_share_of_equal_parts_of_the_run(tmp_path: Path) -> None:
    # a run of 2048 ns: 1024 parts of 2 ns each
    intervals = [(10, 13), (12, 14), (20, 20)]
    rows = [{"engine": "tensor", "pcore_idx": 1, "start_ts": start, "end_ts": end, "duration_ns": end - start}
            for start, end in intervals]  # fmt: skip
    path = write_profile(tmp_path / "p.json", active_time=[*rows, {"engine": "tensor", "start_ts": 5, "end_ts": 2}],
                         summary=[{"total_time": 2048e-9}])  # fmt: skip
    trace = load_file(path)
    busy = [point for point in counter(trace, "Tensor active", 5) if point[1]]
    assert busy == [(10, 1.0), (12, 1.0)]
    assert len(counter(trace, "Tensor active", 5)) == 1025
    assert trace.report.left_out == {"row of active_time whose end cannot be read": 1}


def test_the_facts_of_the_run_are_the_arguments_of_its_execution(tmp_path: Path) -> None:
    path = write_profile(
        tmp_path / "p.json",
        summary=[{"total_time": 3.6351609e-05, "mfu_estimated_percent": 0.035211646340056094, "nc_idx": 9,
                  "hbm_read_bytes": 491520, "instance_type": "trn2.3xlarge", "model_flops": 0, "event_count": 757,
                  "weight_size_bytes": 98304}],
        metadata=[{"pe_num_rows": 128, "pe_num_cols": 128, "pe_clock_freq": 2.4, "pe_clock_others": 1.2,
                   "hbm_ddr_bandwidth": 716000000000, "ntff_version": 6, "num_physical_cores": 2}],
        neff_header=[{"network_name": "fused.neff", "uuid": "dd", "hash": "81", "number_of_neuroncores_per_lnc": "2",
                      "data_size": "40960"}],
        neff_node=[{"sg_name": "sg00", "variable_name": ""},
                   {"variable_name": "q_ref", "type": "IN", "shape": "[128 512]", "size": "131072", "format": "NC"}],
        layer_summary=[{"name": "/sg00", "start": 84, "end": 124, "duration": 40, "tensor_engine_mfu": 0.5}],
        warnings=[{"category": "Missing Data", "message": "no HLO statistics"}],
        instruction=[instruction()],
    )  # fmt: skip
    trace = load_file(path)
    facts = execution(trace)
    assert facts.total_time_ps == 36_351_609
    assert facts.physical_cores == [4, 5]  # not the 9 of the summary, their sum
    assert (facts.nd_idx, facts.neff, facts.neff_uuid, facts.instance_type) == (0, "fused.neff", "dd", "trn2.3xlarge")
    assert (facts.pe_rows, facts.pe_clock_ghz, facts.hbm_bytes_per_s) == (128, 2.4, 716e9)
    assert facts.reported["mfu_estimated_percent"] == 0.035211646340056094  # a fraction, all its digits
    assert facts.hlo_macs is None  # model_flops 0: the NEFF has no statistics
    assert facts.weight_size_bytes == 98304
    assert facts.event_count == 757
    assert facts.knows_transposes
    assert facts.warnings == ["no HLO statistics"]
    assert trace.metadata["device_model"] == "trn2"
    [neff] = trace.neffs.to_pandas().to_dict("records")
    assert (neff["name"], neff["uuid"], neff["lnc"]) == ("fused.neff", "dd", 2)
    assert json.loads(neff["sizes"]) == {"data": 40960}
    [tensor] = trace.tensors.to_pandas().to_dict("records")
    assert (tensor["name"], tensor["kind"], tensor["shape"]) == ("q_ref", "input", "[128, 512]")
    assert (tensor["bytes"], tensor["neff"]) == (131072, 0)
    layer = next(row for row in rows_of(trace, "device_annotation") if row["on"] == "Layers")
    assert (layer["name"], layer["ts_ns"], layer["dur_ns"]) == ("/sg00", 84, 40)
    assert layer["args"] == {"tensor_engine_mfu": 0.5}


def test_sections_and_columns_that_are_not_known_are_carried_along(tmp_path: Path) -> None:
    path = write_profile(
        tmp_path / "p.json",
        instruction=[instruction()],
        hbm_weather=[{"t": 1, "sky": "blue", "odd": [1, 2]}, {"t": 2}],
        terminology=[{"a": "first", "b": "second"}],
        verdict="fine",
    )
    trace = load_file(path)
    weather = trace.extra["neuron_hbm_weather"].to_pandas()
    assert weather["t"].tolist() == [1, 2]
    assert weather["sky"].tolist() == ["blue", ""]
    assert weather["odd"].tolist() == ["[1,2]", ""]
    assert trace.extra["neuron_terminology"].to_pandas()["value"].tolist() == ["first", "second"]
    # model_info 2, instruction 1, hbm_weather 2, terminology 1, verdict 1
    assert trace.report.source_events == 7
    assert trace.report.left_out == {"row of verdict that is no JSON object": 1}


def test_columns_beyond_the_limit_are_kept_in_one(tmp_path: Path) -> None:
    rows = [{f"c{row}_{n}": n for n in range(200)} for row in range(3)]
    trace = load_file(write_profile(tmp_path / "p.json", wide=rows, dma=[packet()]))
    carried = trace.extra["neuron_wide"].to_pandas()
    assert len(carried.columns) == 257
    assert json.loads(carried["other_columns"][2]) == rows[2]


def test_a_profile_that_does_not_tell_its_cores_has_them_numbered_from_0(tmp_path: Path) -> None:
    rows = [instruction(), instruction(subgraph="sg01", id=12)]
    trace = load_file(write_profile(tmp_path / "p.json", model_info=[], instruction=rows))
    assert sorted(row["core"] for row in rows_of(trace, "engine")) == [0, 1]
    assert trace.metadata["sources"][0]["cores"] == "numbered from 0"


def test_a_profile_of_one_core_needs_no_subgraph(tmp_path: Path) -> None:
    row = {name: value for name, value in instruction().items() if name != "subgraph"}
    path = write_profile(tmp_path / "p.json", model_info=[{"sg_name": "sg00", "nd_idx": 2, "nc_idx": 3}],
                         instruction=[row])  # fmt: skip
    trace = load_file(path)
    [found] = rows_of(trace, "engine")
    assert found["core"] == 3
    assert trace.tracks.device.tolist()[found["track"]] == 2


@pytest.mark.parametrize("form", ["pretty", "white space", "bom", "gzip", "facts last"])
def test_the_form_of_the_text_does_not_matter(form: str, tmp_path: Path) -> None:
    sections = {"instruction": [instruction()], "dma": [packet()], "model_info": [
        {"sg_name": "sg00", "nd_idx": 0, "nc_idx": 4}]}  # fmt: skip
    text = json.dumps(sections, indent=2 if form == "pretty" else None).encode()
    text = {"white space": b"\n\t  " + text, "bom": b"\xef\xbb\xbf" + text, "gzip": gzip.compress(text)}.get(form, text)
    path = tmp_path / "p.json"
    path.write_bytes(text)
    trace = load_file(path)
    assert [row["core"] for row in rows_of(trace, "engine") + rows_of(trace, "dma_queue")] == [4, 4]
    assert trace.report.clean


def test_a_collective_is_a_row_of_its_table(tmp_path: Path) -> None:
    row = {"timestamp": 10, "duration": 30, "operation": "AllGather", "algorithm": "Ring", "dtype": "BF16",
           "input_size": 512, "output_size": 1024, "stream_id": 0, "op_id": 7, "replica_group": "[[0,1]]",
           "bus_bandwidth": 5.5}  # fmt: skip
    trace = load_file(write_profile(tmp_path / "p.json", cc_ops=[row]))
    [found] = trace.collectives.to_pandas().to_dict("records")
    assert (found["op"], found["in_bytes"], found["out_bytes"], found["algorithm"]) == ("all_gather", 512, 1024, "Ring")
    [slice_] = rows_of(trace, "collective")
    assert (slice_["ts_ns"], slice_["dur_ns"], slice_["args"]["bus_bandwidth"]) == (10, 30, 5.5)


def test_more_text_than_is_read_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "MOST_TEXT_BYTES", 100)
    path = write_profile(tmp_path / "p.json", instruction=[instruction()])
    with pytest.raises(LimitExceededError, match="--output-format parquet") as raised:
        load_file(path)
    assert "\n" not in str(raised.value)


def test_a_trace_event_file_with_lists_beside_its_events_stays_one(tmp_path: Path) -> None:
    event = {"ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1, "name": "op"}
    for number, text in enumerate([
        {"traceEvents": [event], "instruction": [instruction()]},
        {"summary": [{"a": 1}], "traceEvents": [event]},
        {"warnings": [{"a": 1}], "traceEvents": [event]},
    ]):  # fmt: skip
        path = tmp_path / f"t{number}.json"
        path.write_text(json.dumps(text))
        assert load_file(path).slices.text("name") == ["op"]


def test_a_profile_that_begins_with_an_unknown_section_is_told_by_its_others(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"brand_new": [{"a": 1}], "warnings": [], "dma": [packet()]}))
    assert load_file(path).metadata["sources"][0]["format"] == "neuron-device-json"


def test_instructions_that_the_profile_counts_and_does_not_list_are_told(tmp_path: Path) -> None:
    counts = [
        {"sg_name": "sg00", "nc_idx": 4, "tensor_engine_instruction_count": 3, "sync_engine_instruction_count": 0},
        {"sg_name": "sg01", "nc_idx": 5, "tensor_engine_instruction_count": 1, "vector_engine_instruction_count": 2},
    ]
    rows = [instruction(id=1), instruction(id=2), instruction(id=3, subgraph="sg01", timestamp=None)]
    trace = load_file(write_profile(tmp_path / "p.json", model_info=counts, instruction=rows))
    # 4 of Tensor, of which 3 are listed (one without a time), and 2 of Vector
    assert trace.report.repaired == {"instruction that the file counts (model_info) and does not list": 3}
    without = load_file(write_profile(tmp_path / "q.json", model_info=counts))
    assert without.report.clean  # a file without the table has lost none of its rows


def test_what_stands_behind_the_compressed_profile_is_told(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "p.json", instruction=[instruction()])
    path.write_bytes(gzip.compress(path.read_bytes()) + b"more")
    (cause,) = load_file(path).report.repaired
    assert "4 bytes" in cause
