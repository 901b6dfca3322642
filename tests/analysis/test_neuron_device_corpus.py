"""The metrics worked out from real NTFF files against those that AWS's own tool wrote about the same runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neuron_profile.analysis.neuron_device import device_metrics, engine_utilisation, runs_of
from trace_format.importers import load_file

PAIRS = {
    "T174_baseline_exec_2.ntff": "T172_baseline_exec_2_profile_full.json",
    "T180_fused_exec_2.ntff": "T178_fused_exec_2_profile_full.json",
    "T183_fused_exec_2.ntff": "T181_fused_exec_2_profile_full.json",
    "T186_baseline_exec_2.ntff": "T184_baseline_exec_2_profile_full.json",
}
# What follows from the records alone, by AWS's names.
EQUAL = (
    "total_time", "total_active_time", "total_active_time_percent",
    *(f"{engine}_engine_{what}" for engine in ("tensor", "vector", "scalar", "gpsimd", "sync")
      for what in ("active_time", "active_time_percent", "instruction_time", "instruction_count")),
    "matmul_instruction_count", "activate_instruction_count", "activate_instruction_time",
    "dma_active_time", "dma_active_time_percent", "dma_packet_time", "dma_active_cycles",
    *(f"{kind}_dma_{what}" for kind in ("static", "software_dynamic", "hardware_dynamic")
      for what in ("active_time", "active_time_percent", "packet_count", "packet_percent", "size", "size_percent")),
    "dynamic_dma_active_time_percent", "dynamic_dma_packet_percent", "dynamic_dma_size_percent",
    "hbm_read_bytes", "hbm_write_bytes", "hardware_flops", "transpose_flops",
    "hfu_estimated_percent", "mfu_estimated_percent", "mfu_inst_estimated_percent",
    "mfu_max_achievable_estimated_percent", "mfu_inst_max_achievable_estimated_percent",
    "mbu_estimated_percent", "mm_arithmetic_intensity", "peak_flops_bandwidth_ratio",
    "event_count", "trace_count", "neuroncore_cycle_count",
    "throttle_active_nc0_time_ns", "throttle_avg_util_limit_nc0_percent",
    *(f"throttle_activity_{state}_{what}_nc0_percent"
      for state in (0, 1) for what in ("active_time", "avg_util_limit")),
)  # fmt: skip
NEED_THE_NEFF = (
    "model_flops", "mfu_hlo_estimated_percent", "mbu_min_read_util_percent", "weight_size_bytes",
    "inputs_and_weights_size_bytes", "inputs_outputs_weights_size_bytes",
)  # fmt: skip


def reported(corpus: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((corpus / "neuron_json" / name).read_text())["summary"][0])


def computed(path: Path) -> dict[str, Any]:
    (found,) = device_metrics(load_file(path)).executions
    return dict(found.values)


@pytest.mark.parametrize("ntff", PAIRS)
def test_metrics_from_the_records_are_those_that_aws_reports(ntff: str, corpus: Path) -> None:
    theirs, ours = reported(corpus, PAIRS[ntff]), computed(corpus / "neuron_bin" / ntff)
    differ = {
        name: (theirs[name], ours.get(name))
        for name in EQUAL
        if name not in ours
        or abs(ours[name] - theirs[name]) > 1e-6 * abs(theirs[name]) + (2e-12 if name.endswith("_time") else 0)
    }
    assert differ == {}
    assert ours["metrics_source"] == "computed from the records"


@pytest.mark.parametrize("ntff", PAIRS)
def test_what_needs_the_neff_is_absent_from_an_ntff_alone(ntff: str, corpus: Path) -> None:
    assert not set(NEED_THE_NEFF) & set(computed(corpus / "neuron_bin" / ntff))


@pytest.mark.parametrize("name", PAIRS.values())
def test_the_summary_of_a_device_json_is_what_its_source_reports(name: str, corpus: Path) -> None:
    theirs = reported(corpus, name)
    (found,) = device_metrics(load_file(corpus / "neuron_json" / name)).executions
    assert {key: found.values[key] for key in theirs} == theirs
    assert set(theirs) <= found.reported
    assert found.values["peaks_source"] == "Tensor peak: stated by the profile; HBM bandwidth: stated by the profile"


@pytest.mark.parametrize("ntff", PAIRS)
def test_both_files_of_a_run_tell_the_same_of_each_engine_of_each_core(ntff: str, corpus: Path) -> None:
    frames = []
    for path in (corpus / "neuron_bin" / ntff, corpus / "neuron_json" / PAIRS[ntff]):
        trace = load_file(path)
        frames.append(engine_utilisation(trace, runs_of(trace)[0]).set_index(["core", "engine"]))
    ours, theirs = frames
    assert ours.index.tolist() == theirs.index.tolist()
    # the JSON has whole nanoseconds, up to two off for each of at most a few hundred instructions, and lost one row
    assert (ours["instructions"] - theirs["instructions"]).abs().sum() <= 1
    assert ((ours["active_ns"] - theirs["active_ns"]).abs() <= 2 * theirs["instructions"]).all()
