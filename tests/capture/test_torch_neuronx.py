"""Where torch_neuronx is installed, one capture has what the host and the device did (see neuron_stand_in)."""

from __future__ import annotations

import copy
import os
import pickle
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import neuron_stand_in as stand_in
import pytest
import torch
from neuron_stand_in import capture, rows, trace_of
from torch.profiler import profile

from neuron_profile import NeuronConfig, NeuronProfiler, ProfileMode, load
from trace_format import read_trace
from trace_format.importers.neuron_device.execution import execution_of

Step = Callable[[], None]
SYSTEM_ROWS = 5  # what the viewer tells: an execution, two loads of a CPU, memory of the host, memory of the device


def test_one_capture_has_host_ops_engines_queues_and_executions(package: Path, step: Step, tmp_path: Path):
    config = capture(step, tmp_path / "out")
    trace = trace_of(config)
    assert config.trace_path.parent.parent.name == f"i-0123456789abcdef0_pid_{os.getpid()}"
    kinds = trace.tracks.text("kind")
    found = {kinds[trace.slices.track[row]] for row in range(len(trace.slices))}
    assert {"host_thread", "engine", "dma_queue", "device_annotation"} <= found
    assert rows(trace, "aten::addmm")
    (matmul,) = rows(trace, "MATMUL")
    (packet,) = [row for row, track in enumerate(trace.slices.track.tolist()) if kinds[track] == "dma_queue"]
    assert trace.slices.dur_ns[matmul] == 2_000
    assert trace.slices.bytes[packet] == 512
    assert trace.tracks.core[trace.slices.track[matmul]] == stand_in.CORE
    (run,) = [row for row in rows(trace, "model.neff") if trace.slices.args[row]]
    facts = execution_of(trace.pool.arg_sets[int(trace.slices.args[run])])
    assert facts.total_time_ps == stand_in.TOTAL_PS
    assert trace.metadata["device_model"] == "trn2"
    assert not trace.tracks.simulated.any()
    assert facts.weight_size_bytes == 1024  # of neff_files.small_members: the NEFF was found by its UUID


def test_the_device_is_on_the_hosts_clock(package: Path, theirs: ModuleType, step: Step, tmp_path: Path):
    trace = trace_of(capture(step, tmp_path / "out"))
    ran_ns = theirs.mode["began"] + 1_000
    (matmul,) = rows(trace, "MATMUL")
    (execution,) = rows(trace, "nc_exec_running")
    assert trace.slices.ts_ns[execution] == ran_ns
    assert trace.slices.ts_ns[matmul] == ran_ns + 1_000
    assert trace.metadata["device_time_zero_ns"] == ran_ns
    ntff = next(s for s in trace.metadata["sources"] if s["format"] == "ntff")
    assert (ntff["clock"], ntff["aligned_by"]) == ("unix", "nc_exec_running")


def test_what_was_measured_on_a_real_device_comes_in_whole(
    package: Path, corpus: Path, step: Step, tmp_path: Path
):  # the JSON of the same run has 36,351,609 ps on the cores 4 and 5
    file = corpus / "neuron_bin/T180_fused_exec_2.ntff"
    stand_in.leave(package, file.read_bytes(), core=4, total_ns=36_351)
    trace, alone = trace_of(capture(step, tmp_path / "out")), load(file)
    on_engines = {name for name, engine in zip(trace.tracks.text("name"), trace.tracks.engine, strict=True) if engine}
    assert {"Tensor", "Vector", "Scalar", "GpSimd"} <= on_engines
    assert len(rows(trace, "MATMUL")) == len(rows(alone, "MATMUL")) > 0
    assert trace.report.left_out == {}


def test_files_without_a_public_schema_are_named_and_not_read(package: Path, step: Step, tmp_path: Path):
    causes = [*trace_of(capture(step, tmp_path / "out")).report.repaired]
    for name in stand_in.UNREAD:
        assert [name in cause for cause in causes].count(True) == 1


def test_the_folder_opened_later_counts_nothing_twice(
    package: Path, step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NPROF_NEURON_EXPLORER", str(tmp_path / "nowhere"))
    config = capture(step, tmp_path / "out")
    trace, opened = trace_of(config), load(tmp_path / "out")
    for name, table in trace.tables().items():
        assert len(opened.tables()[name]) == len(table), name
    assert opened.slices.ts_ns.tolist() == trace.slices.ts_ns.tolist()
    assert opened.report.to_dict() == trace.report.to_dict()
    assert opened.metadata["sources"] == trace.metadata["sources"]
    assert trace.metadata["session_files"] == [
        "events.json", "neff_abcdef_vnc_0.neff", "profile_nc_0_session_1.ntff"
    ]  # fmt: skip


def test_a_file_that_came_later_is_read_with_the_folder(package: Path, step: Step, tmp_path: Path):
    config = capture(step, tmp_path / "out")
    profile_ = (package / "left_behind" / "profile_nc_0_session_1.ntff").read_bytes()
    (config.trace_path.parent / "profile_nc_1_session_1.ntff").write_bytes(profile_)
    assert len(rows(trace_of(config), "MATMUL")) == 1
    assert len(rows(load(config.trace_path.parent), "MATMUL")) == 2


@pytest.fixture
def viewer(theirs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """AWS's viewer: says that the execution began 9 µs after the window. There is a file `asked` when it ran."""
    script = f"""#!{sys.executable}
import json, sys
sys.path[:0] = [{str(Path(__file__).parents[1] / "neuron")!r}]
from neuron_system_files import T0, system_event, system_profile
began = json.load(open({str(tmp_path / "began")!r}))
event = system_event("nc_exec_running", began + 9_000 - T0, 40_000, nc_idx=0, device_core_idx=4, exec_id=1)
json.dump({{**system_profile(), "trace_event": [event]}}, open("system_profile.json", "w"))
open({str(tmp_path / "asked")!r}, "w").close()
"""
    tool = tmp_path / "neuron-explorer"
    tool.write_text(script)
    tool.chmod(0o755)
    monkeypatch.setenv("NPROF_NEURON_EXPLORER", str(tool))
    return tmp_path / "asked"


def test_awss_viewer_is_not_asked_for_what_the_trace_has(viewer: Path, step: Step, tmp_path: Path):
    config = capture(step, tmp_path / "out")
    load(config.trace_path.parent)
    assert not viewer.exists()


def test_a_device_that_could_not_be_related_is_read_again_where_awss_viewer_tells_when_it_ran(
    viewer: Path, theirs: ModuleType, step: Step, tmp_path: Path
):
    theirs.mode["runtime"] = False
    config = capture(step, tmp_path / "out")
    assert not viewer.exists()  # at the end of a window there is no time for it
    trace = trace_of(config)
    assert len(rows(trace, "MATMUL")) == 1
    assert any("cannot be related" in cause for cause in trace.report.repaired)
    (tmp_path / "began").write_text(str(theirs.mode["began"]))
    opened = load(config.trace_path.parent)
    assert viewer.exists()
    (matmul,) = rows(opened, "MATMUL")
    assert opened.slices.ts_ns[matmul] == theirs.mode["began"] + 9_000 + 1_000
    assert len(rows(opened, "aten::addmm")) == len(rows(trace, "aten::addmm")) > 0
    assert len(opened.memory) == len(trace.memory)
    assert len(opened.neffs) == len(trace.neffs) == 1
    assert not any("cannot be related" in cause or "not read" in cause for cause in opened.report.repaired)
    assert [s["format"] for s in opened.metadata["sources"]].count("ntff") == 1
    assert opened.report.source_events == trace.report.source_events + SYSTEM_ROWS


def test_a_viewer_that_fails_leaves_the_device_where_it_was(
    viewer: Path, theirs: ModuleType, step: Step, tmp_path: Path
):
    theirs.mode["runtime"] = False
    config = capture(step, tmp_path / "out")
    trace, opened = trace_of(config), load(config.trace_path.parent)  # there is no file `began`
    assert opened.slices.ts_ns.tolist() == trace.slices.ts_ns.tolist()
    failed = [cause for cause in opened.report.repaired if "failed with exit status 1" in cause]
    assert len(failed) == 1
    assert set(opened.report.repaired) == {*trace.report.repaired, *failed}
    assert opened.report.to_dict()["kept"] == trace.report.to_dict()["kept"]


@pytest.mark.parametrize("version", [stand_in.LATEST, stand_in.OLDER])
def test_their_config_and_their_profiler_are_told_what_ours_was(
    package: Path, theirs: ModuleType, version: str, step: Step, tmp_path: Path
):
    settings: dict[str, Any] = {
        "modes": [ProfileMode.DEVICE, ProfileMode.HOST_MEMORY], "max_events_per_nc": 1000,
        "capture_enabled_for_nc": [0, 2], "neff_cache_dir": tmp_path / "neffs", "precache_node_info": False,
    }  # fmt: skip
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        config = NeuronConfig(profile_output_dir=tmp_path / "out", **settings)
    known = {
        "modes": [theirs.ProfileMode.DEVICE, theirs.ProfileMode.HOST_MEMORY], "max_events_per_nc": 1000,
        "capture_enabled_for_nc": "0,2", "profile_output_dir": str(tmp_path / "out"),
    }  # fmt: skip
    more = {"neff_cache_dir": str(tmp_path / "neffs"), "precache_node_info": False}
    left_out = [str(warning.message) for warning in said if "does not know it" in str(warning.message)]
    if version == stand_in.LATEST:
        assert theirs.told == [known | more]
        assert left_out == []
    else:
        assert theirs.told == [known]
        assert [text.split()[1] for text in left_out] == ["neff_cache_dir", "precache_node_info"]
    with profile(experimental_config=config):
        step()
    assert theirs.handed_on == [
        f"max_events_per_nc:1000;capture_enabled_for_nc:0,2;host_memory:true;profile_output_dir:{tmp_path / 'out'}"
    ]
    notes = [cause for cause in trace_of(config).report.repaired if "does not know it" in cause]
    assert len(notes) == len(left_out)


def test_by_default_they_are_told_no_more_than_modes_and_folder(package: Path, theirs: ModuleType):
    config = NeuronConfig()
    assert theirs.told[0]["modes"] == [theirs.ProfileMode.DEVICE, theirs.ProfileMode.RUNTIME]
    assert config.custom_profiler_config == "profile_output_dir:profile_output"


def test_what_the_user_hands_on_stays_as_it_is_and_tells_where_the_files_are(
    package: Path, theirs: ModuleType, step: Step, tmp_path: Path
):
    own = f"max_events_per_nc:5;profile_output_dir:{tmp_path / 'elsewhere'}"
    config = capture(step, tmp_path / "out", custom_profiler_config=own)
    assert theirs.handed_on == [own]
    assert config.trace_path.is_relative_to(tmp_path / "elsewhere")
    assert rows(trace_of(config), "MATMUL")


def test_what_their_config_would_hand_on_is_handed_on_but_for_what_torch_would_not_survive(
    package: Path, theirs: ModuleType, step: Step, tmp_path: Path
):
    theirs.mode["hands_on"] = f"level:3;run:lr=1e-3;profile_output_dir:{tmp_path / 'theirs'}"
    config = capture(step, tmp_path / "out")
    assert theirs.handed_on == [f"level:3;profile_output_dir:{tmp_path / 'theirs'}"]
    assert config.trace_path.is_relative_to(tmp_path / "theirs")


@pytest.mark.parametrize("name", ["lr=1e-3", "at 12:30", "a;b"])
def test_a_folder_that_no_parser_on_the_way_survives_is_not_handed_on(
    name: str, package: Path, theirs: ModuleType, step: Step, tmp_path: Path
):
    with pytest.warns(RuntimeWarning, match="is not handed to the Neuron runtime") as said:
        config = capture(step, tmp_path / name)
    assert [str(w.message).count("\n") for w in said if "handed" in str(w.message)] == [0]
    assert theirs.handed_on == [""]
    assert "profile_output_dir" not in {key for key, value in theirs.told[0].items() if name in str(value)}
    assert config.trace_path.is_relative_to(tmp_path / "output")  # the runtime's default
    trace = trace_of(config)
    assert rows(trace, "MATMUL")
    assert any("is not handed" in cause for cause in trace.report.repaired)


def test_their_own_folder_is_found_where_they_name_it(
    package: Path, theirs: ModuleType, step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    began = theirs.began

    def into_another(config: Any) -> None:
        began(config)
        theirs.mode["output"] = tmp_path / "theirs"

    monkeypatch.setattr(theirs, "began", into_another)
    config = capture(step, tmp_path / "out")
    assert config.trace_path.is_relative_to(tmp_path / "theirs")
    assert rows(trace_of(config), "MATMUL")


def test_each_window_has_the_device_of_its_own(package: Path, theirs: ModuleType, step: Step, tmp_path: Path):
    config = NeuronConfig(profile_output_dir=tmp_path / "out")
    found = []
    with profile(
        experimental_config=config,
        schedule=torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=2),
        on_trace_ready=lambda _: found.append(config.trace_path),
    ) as prof:
        for _ in range(4):
            step()
            prof.step()
    assert [path.parent for path in found] == theirs.sessions
    assert [len(rows(read_trace(path), "MATMUL")) for path in found] == [1, 1]


def test_the_exporter_writes_its_json_beside_the_devices_files(package: Path, step: Step, tmp_path: Path):
    config = NeuronConfig(profile_output_dir=tmp_path / "out")
    with profile(experimental_config=config, on_trace_ready=NeuronProfiler(config).export_trace):
        step()
    folder = config.trace_path.parent
    assert {"trace.json", "trace.pb", "ntrace.pb", "profile_nc_0_session_1.ntff"} <= {p.name for p in folder.iterdir()}
    assert rows(load(folder / "trace.json"), "MATMUL")
    assert len(rows(load(folder), "MATMUL")) == 1


def test_copies_keep_what_torch_hands_on_and_the_users_config_names_the_trace(package: Path, tmp_path: Path):
    config = NeuronConfig(profile_output_dir=tmp_path / "out", max_events_per_nc=9)
    told = f"max_events_per_nc:9;profile_output_dir:{tmp_path / 'out'}"
    for made in (copy.copy(config), copy.deepcopy(config), pickle.loads(pickle.dumps(config))):
        assert made.custom_profiler_config == told
        assert made.max_events_per_nc == 9


@pytest.mark.parametrize("modes", [[ProfileMode.CPU_UTIL], [ProfileMode.HOST_MEMORY, ProfileMode.DEVICE]])
def test_modes_of_the_host_turn_its_collector_on(modes: list[ProfileMode]):
    assert NeuronConfig(modes=modes, collectors=["torch"]).collectors == ("torch", "host")
    assert NeuronConfig(modes=modes).collectors.count("host") == 1
    assert NeuronConfig(modes=[ProfileMode.DEVICE], collectors=["torch"]).collectors == ("torch",)


def test_without_torch_neuronx_nothing_is_handed_on_and_nothing_is_said(step: Step, tmp_path: Path):
    config = capture(step, tmp_path)
    assert config.custom_profiler_config == ""
    assert not any("neuron" in cause.lower() for cause in trace_of(config).report.repaired)
