"""The files of one process become one trace, whatever layout they lie in; what is damaged is passed over and named."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neff_files import neff, small_members
from neuron_system_files import T0, execution_events, runtime_event, saved, system_event, system_profile

from neuron_profile import load
from trace_format import NeuronProfileError, Trace, TraceFileError
from trace_format.exporters import export_file
from trace_format.importers.neuron_device.execution import execution_of
from trace_format.importers.neuron_session import layout
from trace_format.importers.neuron_session.discovery import find_sessions

PROCESS = "i-0123456789abcdef0_pid_77"
WINDOW = str(T0)
# Of the run in T180_fused_exec_2.ntff: its program, the NeuronCores that ran it and how long they did, as the JSON of
# the same run has them (neff_header.uuid, model_info.nc_idx, summary.total_time).
UUID = bytes.fromhex("dde49a87175a4a58a15258f2942acf29")
TOTAL_PS = 36_351_609
CORES = (4, 5)
NTFF, JSON = "neuron_bin/T180_fused_exec_2.ntff", "neuron_json/T178_fused_exec_2_profile_full.json"
OTHER_NTFF = "neuron_bin/T174_baseline_exec_2.ntff"


def copied(corpus: Path, name: str, to: Path) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(corpus / name, to))


def neff_file(path: Path, uuid: bytes = UUID) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(neff(small_members(lnc=2), uuid=uuid))
    return path


def framework_trace(path: Path, *, at_ns: int = 0, name: str = "aten::mm", **top: Any) -> Path:
    """A trace of torch.profiler's: an op, and the call that hands over request 41, 100 ns later."""
    at_us = (T0 + at_ns) // 1000
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 77, "tid": 9, "ts": at_us, "dur": 50},
        {"ph": "X", "cat": "privateuse1_runtime", "name": "dispatch", "pid": 77, "tid": 9, "ts": at_us, "dur": 1,
         "args": {"correlation": 41}},
    ]  # fmt: skip
    return saved(path, {"traceEvents": events, **top})


def runtime_json(path: Path) -> Path:
    """The runtime saw the execution on cores 4 and 5 from 2000 ns on, for request 41."""
    events = [
        runtime_event("nrt_execute", "start", 1_000, 1, nrta_seq_id=41),
        runtime_event("nrt_execute", "stop", 60_000, 1),
        *execution_events(2_000, 2_000 + 36_351, 2, CORES[0], 7),
        *execution_events(2_010, 2_010 + 36_300, 3, CORES[1], 7),
    ]
    return saved(path, {"events": events, "data_version": 2})


def paths(trace: Trace) -> set[str]:
    names, parents = trace.tracks.text("name"), trace.tracks.parent.tolist()

    def path(track: int) -> str:
        return names[track] if parents[track] < 0 else f"{path(parents[track])}/{names[track]}"

    return {path(track) for track in range(len(names))}


def source(trace: Trace, format_name: str) -> dict[str, Any]:
    return next(dict(s) for s in trace.metadata["sources"] if s["format"] == format_name)


def run_row(trace: Trace) -> int:
    names = trace.tracks.text("name")
    return next(row for row, track in enumerate(trace.slices.track.tolist()) if names[track] == "Executions")


@pytest.fixture
def session(corpus: Path, tmp_path: Path) -> Path:
    """What torch.profiler with NeuronConfig leaves for one process, with the runtime's events as JSON."""
    folder = tmp_path / "out" / PROCESS / WINDOW
    framework_trace(folder / "trace.json")
    runtime_json(folder / "events.json")
    copied(corpus, NTFF, folder / "profile_nc_0_session_1.ntff")
    neff_file(folder / "neff_abcdef_vnc_0.neff")
    for name in layout.UNREAD:
        (folder / name).write_bytes(b"\x0a\x03\x01\x02\x03")
    return folder


def test_a_session_is_one_trace_with_host_runtime_and_device_tracks(session: Path):
    trace = load(session.parents[1])
    lines = paths(trace)
    assert "worker 0/neuron_hw/NC 0:4" in lines
    assert {"fused.neff/Core 4/Tensor", "fused.neff/Core 5/Tensor"} <= lines
    assert {"aten::mm", "dispatch", "nrt_execute", "MATMUL"} <= set(trace.slices.text("name"))
    assert {s["format"] for s in trace.metadata["sources"]} == {"trace-event-json", "neuron-runtime-json", "ntff"}
    assert trace.metadata["pid"] == 77
    assert "ranks" not in trace.metadata


@pytest.mark.parametrize("opened", ["output folder", "process", "window"])
def test_it_is_the_same_at_each_level_of_its_folders(opened: str, session: Path):
    folder = {"output folder": session.parents[1], "process": session.parent, "window": session}[opened]
    trace = load(folder)
    assert "worker 0/neuron_hw/NC 0:4" in paths(trace)
    assert trace.metadata["pid"] == 77


def test_the_device_is_moved_to_where_the_runtime_says_that_it_ran(session: Path):
    trace = load(session)
    ran = run_row(trace)
    assert int(trace.slices.ts_ns[ran]) == T0 + 2_000
    assert trace.metadata["device_time_zero_ns"] == T0 + 2_000
    ntff = source(trace, "ntff")
    assert (ntff["clock"], ntff["aligned_by"], ntff["clock_residual_ns"]) == ("unix", "nc_exec_running", 0)
    assert not any("cannot be related" in cause for cause in trace.report.repaired)
    alone = load(session / "profile_nc_0_session_1.ntff")
    zero_ns = alone.metadata["device_time_zero_ns"]
    instructions = [row for row, name in enumerate(trace.slices.text("name")) if name == "MATMUL"]
    instructions_alone = [row for row, name in enumerate(alone.slices.text("name")) if name == "MATMUL"]
    assert (trace.slices.ts_ns[instructions] - T0 - 2_000).tolist() == (
        alone.slices.ts_ns[instructions_alone] - zero_ns
    ).tolist()


def test_requests_are_followed_from_the_framework_to_the_device(session: Path):
    trace = load(session)
    names, kinds = trace.slices.text("name"), trace.flows.text("kind")
    arrows = {
        (names[a], names[b], kind)
        for a, b, kind in zip(trace.flows.from_slice.tolist(), trace.flows.to_slice.tolist(), kinds, strict=True)
    }
    assert ("dispatch", "nrt_execute", "nrta_seq_id") in arrows
    assert ("nc_exec_running", "fused.neff", "execution") in arrows


def test_numbers_that_are_not_the_frameworks_join_nothing(session: Path):
    framework_trace(session / "trace.json", at_ns=70_000)  # request 41 would be answered before it was made
    trace = load(session)
    names, kinds = trace.slices.text("name"), trace.flows.text("kind")
    causes = {names[row] for row, kind in zip(trace.flows.from_slice.tolist(), kinds, strict=True)}
    assert causes == {"nc_exec_running"}
    assert [names[row] for row in range(len(names)) if trace.slices.correlation[row] == 41] == ["dispatch"]


def test_an_execution_that_the_device_shows_is_not_counted_as_work_twice(session: Path):
    trace = load(session)
    kinds = dict(zip(trace.tracks.text("name"), trace.tracks.text("kind"), strict=True))
    assert (kinds["NC 0:4"], kinds["NC 0:5"]) == ("device_annotation", "device_annotation")


def test_the_neff_is_found_by_its_uuid_and_its_tensors_are_there(session: Path):
    neff_file(session / "neff_999999_vnc_0.neff", bytes(range(16)))
    (session / "neff_abcdef_vnc_0.neff").rename(session / "zzz.neff")
    trace = load(session)
    facts = execution_of(trace.pool.arg_sets[int(trace.slices.args[run_row(trace)])])
    assert facts.weight_size_bytes == 1024  # of neff_files.small_members
    assert set(trace.neffs.text("uuid")) == {UUID.hex(), bytes(range(16)).hex()}


def test_files_of_the_runtime_without_a_schema_are_named_one_line_each(session: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NPROF_NEURON_EXPLORER", str(session / "nowhere"))
    causes = list(load(session).report.repaired)
    for name in layout.UNREAD:
        assert [name in cause for cause in causes].count(True) == 1
    assert not any("passed over" in cause for cause in causes)


def test_without_events_of_the_runtime_the_device_begins_with_the_trace_and_that_is_said(session: Path):
    (session / "events.json").unlink()
    trace = load(session)
    ran = run_row(trace)
    assert int(trace.slices.ts_ns[ran]) == T0
    ntff = source(trace, "ntff")
    assert ntff["clock"] == "device"
    assert ntff["moved_by_ns"] == T0 - load(session / "profile_nc_0_session_1.ntff").metadata["device_time_zero_ns"]
    assert any("cannot be related" in cause for cause in trace.report.repaired)


def test_the_run_is_found_among_others_by_how_long_it_took(session: Path):
    others = [*execution_events(100, 900, 8, CORES[0], 5), *execution_events(90_000, 91_000, 9, CORES[0], 9)]
    events = json.loads((session / "events.json").read_text())
    saved(session / "events.json", {**events, "events": [*others, *events["events"]]})
    trace = load(session)
    assert trace.metadata["device_time_zero_ns"] == T0 + 2_000
    kinds = dict(zip(trace.tracks.text("name"), trace.tracks.text("kind"), strict=True))
    assert kinds["NC 0:4"] == "stream"  # the device shows one of three


def test_a_device_json_of_the_same_run_gives_its_metrics_and_no_second_device(corpus: Path, session: Path):
    alone = load(session)
    copied(corpus, JSON, session / f"{PROCESS}_nc_0_session_1.json")
    trace = load(session)
    assert len(trace.slices) == len(alone.slices)
    facts = execution_of(trace.pool.arg_sets[int(trace.slices.args[run_row(trace)])])
    summary = json.loads((corpus / JSON).read_text())["summary"][0]
    assert facts.reported["total_time"] == summary["total_time"]
    assert source(trace, "neuron-device-json")["same_run_as"] == "profile_nc_0_session_1.ntff"


def test_a_device_json_of_another_run_is_a_device_of_its_own(corpus: Path, session: Path):
    copied(corpus, "neuron_json/T172_baseline_exec_2_profile_full.json", session / "device_profile_model_1.json")
    assert {"fused.neff", "baseline.neff"} <= paths(load(session))


def test_runtime_inspection_without_a_window_folder(corpus: Path, tmp_path: Path):
    folder = tmp_path / PROCESS
    copied(corpus, NTFF, folder / "abc123_instid_0_vnc_0.ntff")
    neff_file(folder / "neff_abc123.neff")
    trace = load(tmp_path)
    assert trace.metadata["pid"] == 77
    assert len(trace.tensors) > 0


def test_what_capture_leaves_with_a_system_profile_beside_it(corpus: Path, tmp_path: Path):
    copied(corpus, NTFF, tmp_path / "profile_exec_2.ntff")
    profile = system_profile()
    profile["trace_event"] = [system_event("nc_exec_running", 5_000, 36_351, nc_idx=0, device_core_idx=4, exec_id=1)]
    saved(tmp_path / "system_profile.json", profile)
    trace = load(tmp_path)
    assert trace.metadata["device_time_zero_ns"] == T0 + 5_000
    assert {"instance 0/PID 77/neuron_hw/NC 0:4", "instance 0/host/CPU 0 host_cpu_util"} <= paths(trace)


def test_ranks_in_the_names_of_ntff_files_are_ranks(corpus: Path, tmp_path: Path):
    copied(corpus, NTFF, tmp_path / "profile_rank_0_exec_2.ntff")
    copied(corpus, OTHER_NTFF, tmp_path / "profile_rank_1_exec_2.ntff")
    trace = load(tmp_path)
    assert [r["rank"] for r in trace.metadata["ranks"]] == [0, 1]
    assert set(trace.tracks.rank.tolist()) == {0, 1}
    names = trace.tracks.text("name")
    starts = {
        int(trace.slices.ts_ns[row])
        for row, track in enumerate(trace.slices.track.tolist()) if names[track] == "Executions"
    }  # fmt: skip
    assert len(starts) == 1  # their clocks cannot be related: both begin together


def test_several_processes_are_ranks_with_their_own_devices(corpus: Path, tmp_path: Path):
    for rank, ntff in enumerate((NTFF, OTHER_NTFF)):
        folder = tmp_path / f"i-0123456789abcdef0_pid_{70 + rank}" / WINDOW
        framework_trace(folder / f"neuron_framework_trace_rank_{rank}.json", at_ns=rank * 1_000)
        copied(corpus, ntff, folder / "profile_nc_0_session_1.ntff")
    neff_file(tmp_path / "neffs" / "graph_abc.neff")
    trace = load(tmp_path)
    assert [(r["rank"], r["pid"]) for r in trace.metadata["ranks"]] == [(0, 70), (1, 71)]
    names, ranks = trace.tracks.text("name"), trace.tracks.rank.tolist()
    assert {rank for name, rank in zip(names, ranks, strict=True) if name == "fused.neff"} == {0}
    assert {rank for name, rank in zip(names, ranks, strict=True) if name == "baseline.neff"} == {1}
    assert len(trace.tensors) > 0  # the NEFF beside the sessions was found by its UUID


def test_jaxs_trace_and_a_compile_cache_beside_the_profiles(corpus: Path, tmp_path: Path):
    import gzip

    plain = framework_trace(tmp_path / "plain.json", name="jit_step")
    packed = tmp_path / "jax" / "plugins" / "profile" / "trace.json.gz"
    packed.parent.mkdir(parents=True)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    copied(corpus, NTFF, tmp_path / PROCESS / "profile_nc_0_session_1.ntff")
    module = tmp_path / "neuronxcc-2.0" / "MODULE_12+34"
    neff_file(module / "model.neff")
    (module / "model.done").write_text("")
    sessions = find_sessions(tmp_path)
    assert sum(len(s.compile_caches) for s in sessions) == 1
    assert sum(len(s.cached_neffs) for s in sessions) == 1
    assert [host.name for s in sessions for host in s.hosts] == ["trace.json.gz"]


def test_the_cache_of_two_levels_is_a_cache_and_its_neffs_are_found(corpus: Path, tmp_path: Path):
    neff_file(tmp_path / "cache" / "ab" / "cd" / "abcd0123456789.neff")
    copied(corpus, NTFF, tmp_path / "profile.ntff")
    (session,) = find_sessions(tmp_path)
    assert session.compile_caches == [tmp_path / "cache"]
    trace = load(tmp_path)
    facts = execution_of(trace.pool.arg_sets[int(trace.slices.args[run_row(trace)])])
    assert facts.weight_size_bytes == 1024


@pytest.mark.parametrize(
    ("name", "nc", "rank"),
    [
        ("profile_nc_3_session_12.ntff", 3, None),
        ("abc_instid_0_vnc_5.ntff", 5, None),
        ("profile.ntff", None, None),
        ("profile_exec_2.ntff", None, None),
        ("profile_rank_4.ntff", None, 4),
        ("profile_rank_4_exec_2.ntff", None, 4),
        ("model_10001_pid_77_vnc_6_inst_0_20260101_123456.ntff", 6, None),
        ("something else.ntff", None, None),
    ],
)
def test_names_of_ntff_files_tell_core_and_rank(name: str, nc: int | None, rank: int | None):
    assert layout.ntff_facts(name) == layout.NameFacts(nc, rank)


def test_names_of_device_jsons_tell_the_core():
    assert layout.device_json_facts(f"{PROCESS}_nc_2_session_1.json").nc == 2
    assert layout.device_json_facts(f"{PROCESS}_nc_2_model_10001.json").nc == 2
    assert layout.device_json_facts("device_profile_model_10001.json") == layout.NameFacts()


def test_damaged_members_are_passed_over_and_named(session: Path):
    (session / "empty.ntff").write_bytes(b"")
    (session / "cut.neff").write_bytes(b"\x02" * 100)
    (session / "cut.json").write_bytes(b"")
    whole = (session / "events.json").read_bytes()
    (session / "broken.json").write_bytes(whole[:80])
    (session / "settings.json").write_text('{"lr": 1}')
    trace = load(session)
    passed = [cause for cause in trace.report.repaired if "passed over" in cause]
    assert all("\n" not in cause for cause in passed)
    for name in ("empty.ntff", "cut.neff", "cut.json", "broken.json"):
        assert sum(f"file passed over: {name}: " in cause for cause in passed) == 1, name
    assert not any("settings.json" in cause for cause in trace.report.repaired)
    assert trace.metadata["device_time_zero_ns"] == T0 + 2_000


def test_a_session_of_which_nothing_can_be_read_is_refused_in_one_line(tmp_path: Path):
    folder = tmp_path / PROCESS / WINDOW
    folder.mkdir(parents=True)
    (folder / "profile_nc_0_session_1.ntff").write_bytes(b"")
    with pytest.raises(TraceFileError) as refused:
        load(tmp_path)
    assert "profile_nc_0_session_1.ntff" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_ntff_and_its_neff_named_together_are_one_trace(corpus: Path, tmp_path: Path):
    pair = [copied(corpus, NTFF, tmp_path / "x.ntff"), neff_file(tmp_path / "y.neff")]
    for order in (pair, pair[::-1]):
        trace = load(order)
        facts = execution_of(trace.pool.arg_sets[int(trace.slices.args[run_row(trace)])])
        assert facts.weight_size_bytes == 1024
        assert trace.neffs.text("uuid") == [UUID.hex()]
        assert "ranks" not in trace.metadata


def test_a_neff_of_another_program_is_named_and_the_ntff_opens_without_it(corpus: Path, tmp_path: Path):
    ntff = copied(corpus, NTFF, tmp_path / "x.ntff")
    trace = load([ntff, neff_file(tmp_path / "y.neff", bytes(range(16)))])
    assert len(trace.slices) == len(load(ntff).slices)
    assert len(trace.tensors) == 0
    assert [cause for cause in trace.report.repaired if cause.startswith("y.neff is not the NEFF of x.ntff")]


def test_a_named_file_that_is_damaged_is_refused(corpus: Path, tmp_path: Path):
    ntff = copied(corpus, NTFF, tmp_path / "x.ntff")
    (tmp_path / "y.neff").write_bytes(b"")
    with pytest.raises(TraceFileError, match=r"y\.neff"):
        load([ntff, tmp_path / "y.neff"])
    (tmp_path / "z.ntff").write_bytes(b"\x06")
    with pytest.raises(TraceFileError, match=r"z\.ntff"):
        load([ntff, tmp_path / "z.ntff"])


def test_ntff_files_named_together_are_ranks(corpus: Path, tmp_path: Path):
    both = [copied(corpus, NTFF, tmp_path / "a.ntff"), copied(corpus, OTHER_NTFF, tmp_path / "b.ntff")]
    trace = load(both)
    assert [r["rank"] for r in trace.metadata["ranks"]] == [0, 1]
    assert len(trace.slices) == sum(len(load(path).slices) for path in both)


def test_neffs_alone_are_their_tables(tmp_path: Path):
    neff_file(tmp_path / "a.neff")
    neff_file(tmp_path / "b.neff", bytes(range(16)))
    assert len(load(tmp_path / "a.neff").neffs) == 1
    assert len(load(tmp_path).neffs) == 2


def tool(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_awss_tool_reads_what_has_no_schema(session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (session / "events.json").unlink()
    made = saved(tmp_path / "made.json", system_profile())
    stub = tool(tmp_path / "neuron-explorer", f'echo "$@" > {tmp_path}/argv; cp {made} system_profile.json')
    monkeypatch.setenv("NPROF_NEURON_EXPLORER", str(stub))
    trace = load(session)
    assert "instance 0/PID 77/neuron_rt/NC 0 · TID 12" in paths(trace)
    assert not any("not read" in cause for cause in trace.report.repaired)
    assert (tmp_path / "argv").read_text().strip() == f"view -d {session} --output-format json"
    assert not (session / "system_profile.json").exists()


@pytest.mark.parametrize(
    ("script", "said"),
    [("echo working; echo 'no license' >&2; exit 3", "exit status 3: no license"), ("exec sleep 60", "longer than")],
)
def test_a_tool_that_fails_or_hangs_costs_one_line(
    script: str, said: str, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NPROF_NEURON_EXPLORER", str(tool(tmp_path / "neuron-explorer", script)))
    monkeypatch.setenv("NPROF_NEURON_EXPLORER_SECONDS", "0.3" if "sleep" in script else "60")
    causes = list(load(session).report.repaired)
    assert sum(said in cause for cause in causes) == 1
    assert any("ntrace.pb" in cause for cause in causes)


def test_the_command_line_says_what_a_folder_holds(session: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NPROF_NEURON_EXPLORER", str(session / "nowhere"))
    summary = run("summary", str(session), "--json")
    assert summary.returncode == 0, summary.stderr
    assert json.loads(summary.stdout)["metadata"]["pid"] == 77
    checked = run("check", str(session))
    assert checked.returncode == 0
    assert "ntrace.pb (events of the runtime) is here and not read" in " ".join(checked.stdout.split())


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """What the command line answers."""
    return subprocess.run(
        [sys.executable, "-c", "from explorer_app.cli.main import main; main()", *command],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_a_folder_of_a_hostile_number_of_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("trace_format.importers.neuron_session.discovery.MOST_FILES", 2)
    for number in range(3):
        (tmp_path / f"{number}.ntff").write_bytes(b"")
    with pytest.raises(NeuronProfileError, match="more than 2 files"):
        load(tmp_path)


@pytest.mark.parametrize("pids", [["71"], ["70", "71"]])
def test_a_system_profile_beside_several_processes_goes_to_the_one_it_tells_of(pids: list[str], tmp_path: Path):
    for rank, pid in enumerate((70, 71)):
        framework_trace(
            tmp_path / f"host_pid_{pid}" / WINDOW / f"neuron_framework_trace_rank_{rank}.json", at_ns=rank * 1_000
        )
    events = [system_event("nrt_execute", 0, 100, nc_idx=0, process_id=pid) for pid in pids]
    saved(tmp_path / "system_profile.json", {"trace_event": events})
    trace = load(tmp_path)
    calls = [row for row, name in enumerate(trace.slices.text("name")) if name == "nrt_execute"]
    passed = [cause for cause in trace.report.repaired if "system_profile.json" in cause]
    if len(pids) == 1:
        assert trace.tracks.rank[trace.slices.track[calls]].tolist() == [1]
        assert passed == []
    else:
        assert calls == []
        assert len(passed) == 1
        assert "system_profile.json: tells of several processes and is not shown with the ranks" in passed[0]


def test_a_compile_cache_alone_and_beside_a_trace(tmp_path: Path):
    module = tmp_path / "neuronxcc-2.0" / "MODULE_12+34"
    neff_file(module / "model.neff")
    (module / "model.done").write_text("")
    assert load(tmp_path).neffs.text("uuid") == [UUID.hex()]
    framework_trace(tmp_path / "trace.json")
    trace = load(tmp_path)
    assert "aten::mm" in trace.slices.text("name")
    assert trace.neffs.text("uuid") == [UUID.hex()]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    damage=st.lists(
        st.tuples(
            st.sampled_from(["trace.json", "events.json", "x.ntff", "y.neff"]),
            st.floats(0, 1),
            st.binary(max_size=8),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_session_with_damaged_files_opens_or_is_refused_in_one_line(
    damage: list[tuple[str, float, bytes]], corpus: Path, tmp_path: Path
):
    folder = tmp_path / PROCESS
    framework_trace(folder / "trace.json")
    runtime_json(folder / "events.json")
    copied(corpus, NTFF, folder / "x.ntff")
    neff_file(folder / "y.neff")
    for name, place, data in damage:
        whole = (folder / name).read_bytes()
        at = int(place * len(whole))
        (folder / name).write_bytes(whole[:at] + data + (whole[at + len(data) :] if len(data) % 2 else b""))
    try:
        report = load(tmp_path).report.to_dict()
    except NeuronProfileError as error:
        assert "\n" not in str(error)
    else:
        assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]


def test_a_store_of_parquet_files_is_a_device_or_the_metrics_of_one(corpus: Path, tmp_path: Path):
    pytest.importorskip("pyarrow")
    from parquet_files import tables_of, write_table

    document = json.loads((corpus / JSON).read_text())
    store = tmp_path / "profiles" / "global" / "run@latest"
    for table, rows in tables_of(document).items():
        write_table(store, table, rows)
    alone = load(tmp_path)
    assert "MATMUL" in alone.slices.text("name")
    ntff = copied(corpus, NTFF, tmp_path / PROCESS / "profile_nc_0_session_1.ntff")
    trace = load(tmp_path)
    assert len(trace.slices) == len(load(ntff).slices)
    facts = execution_of(trace.pool.arg_sets[int(trace.slices.args[run_row(trace)])])
    assert facts.reported["total_time"] == document["summary"][0]["total_time"]


def test_no_instance_id_of_a_folder_is_saved(corpus: Path, tmp_path: Path):
    ntff = corpus / "neuron_bin" / "T180_fused_exec_2.ntff"
    process = tmp_path / "i-0123abcd4567ef890_pid_77"
    for window in ("1764500000000000000", "1764500000000000001"):
        (process / window).mkdir(parents=True)
        shutil.copy(ntff, process / window / "profile_nc_0_session_1.ntff")
    (process / window / "profile_nc_1_session_1.ntff").touch()
    trace = load(tmp_path)
    assert [rank["name"] for rank in trace.metadata["ranks"]] == [
        "instance_pid_77/1764500000000000000", "instance_pid_77/1764500000000000001",
    ]  # fmt: skip
    assert any("instance_pid_77/1764500000000000001/profile_nc_1" in cause for cause in trace.report.repaired)
    export_file(trace, tmp_path / "out.json")
    assert "i-0123abcd4567ef890" not in (tmp_path / "out.json").read_text()
