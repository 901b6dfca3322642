"""Profiles of Neuron devices, whose tracks lie four levels deep, survive every export and load whole in Perfetto."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from neuron_runs import attention
from perfetto_engine import in_perfetto
from trace_differences import differences

from trace_format import Trace
from trace_format.exporters import export_file
from trace_format.importers import load_file


def assert_whole(trace: Trace, path: Path) -> None:
    total, values = "select sum(dur) from slice where dur > 0", "select count(*) from counter"
    found = in_perfetto(path, total, values)
    assert (found["error"], found["problems"]) == (None, {})
    assert found["slices"] == len(trace.slices) + len(trace.instants)
    assert int(found["queries"][total]) == int(trace.slices.dur_ns.sum())
    assert int(found["queries"][values]) == len(trace.counters)


@pytest.mark.parametrize("suffix", [".json", ".pftrace"])
def test_perfetto_loads_every_slice_and_counter_of_a_device(suffix: str, tmp_path: Path) -> None:
    trace = attention().trace()
    export_file(trace, tmp_path / f"t{suffix}")
    assert_whole(trace, tmp_path / f"t{suffix}")


@pytest.mark.parametrize("suffix", [".json", ".pftrace"])
def test_perfetto_loads_every_slice_and_counter_of_a_real_ntff(suffix: str, corpus: Path, tmp_path: Path) -> None:
    trace = load_file(corpus / "neuron_bin" / "T180_fused_exec_2.ntff")
    export_file(trace, tmp_path / f"t{suffix}")
    assert_whole(trace, tmp_path / f"t{suffix}")


def test_an_ntff_to_pb_to_json_to_pb_changes_nothing(corpus: Path, tmp_path: Path) -> None:
    trace = load_file(corpus / "neuron_bin" / "T180_fused_exec_2.ntff")
    for step in ("1.pb", "2.json.gz", "3.pb"):
        export_file(trace, tmp_path / step)
        again = load_file(tmp_path / step)
        assert differences(trace, again) == [], step
        trace = again


def test_lines_of_a_json_are_named_by_core_and_stand_in_the_order_of_the_groups(tmp_path: Path) -> None:
    export_file(attention().trace(), tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    places = {e["tid"]: e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
    ordered = [names[tid] for tid in sorted(names, key=places.__getitem__)]
    assert [name.removesuffix(" (lane 2)") for name in ordered] == [
        "Executions", "Core 4 / Tensor", "Core 4 / Tensor", "Core 4 / Vector", "Core 4 / GpSimd",
        "Core 4 / DMA / qSyncDynamicHW · E64", "Core 4 / DMA / qGpSimdDynamic · E64", "Core 4 / DMA / Q14 · E64",
        "Core 4 / DMA / qSyncDynamicHW · E65", "Core 4 / Throttle", "Core 5 / Tensor",
    ]  # fmt: skip
    assert {e["name"] for e in events if e["ph"] == "C"} == {"Core 4 / Semaphores / S[3] (GpSimd)"}
