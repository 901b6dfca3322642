"""Runs of neuronx-cc that a window sees: a stand-in on the PATH is started in every way there is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collectors import Window, audit_events
from collectors.compiles import descendants
from collectors.compiles.call import CompilerCall, is_compiler_call
from collectors.compiles.processes import CompilerProcesses
from neuron_profile import NeuronConfig, NeuronProfiler, analysis, load
from trace_format import Trace, TraceBuilder

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "neuron"))
import neff_files

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are watched on Linux")

# Waits for a file, then makes its NEFF (the word after --output) and exits as it is told.
STAND_IN = """#!/bin/sh
for word in "$@"; do
  if [ "$before" = --output ]; then output=$word; fi
  before=$word
done
until [ -e "$FOLDER/go" ]; do sleep 0.01; done
if [ -e "$FOLDER/log" ]; then cp "$FOLDER/log" log-neuron-cc.txt; fi
if [ "$STATUS" = 0 ]; then cp "$FOLDER/small.neff" "$output"; fi
exit "$STATUS"
"""
COMMAND = "neuronx-cc compile graph.hlo --framework XLA --target trn2 --output made.neff"
TICK_NS = 10**7


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the stand-in finds what it needs and where it runs; it is first on the PATH."""
    program = tmp_path / "bin" / "neuronx-cc"
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    neff_files.save(tmp_path, neff_files.neff(neff_files.small_members()))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FOLDER", str(tmp_path))
    monkeypatch.setenv("STATUS", "0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def collector() -> Iterator[CompilerProcesses]:
    watching = CompilerProcesses(Window())
    watching.start(time.time_ns)
    yield watching
    watching.stop()
    assert not audit_events._listeners


def wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def seen(collector: CompilerProcesses, count: int) -> None:
    assert collector._watch is not None
    watch = collector._watch
    wait_for(lambda: len(watch.found) >= count)


def ended(collector: CompilerProcesses) -> None:
    assert collector._watch is not None
    watch = collector._watch
    wait_for(lambda: all(process.end_ns >= 0 for process in watch.found))


def collected(collector: CompilerProcesses) -> Trace:
    collector.stop()
    builder = TraceBuilder()
    collector.collect(builder, host="here", rank=2)
    return builder.finish()


def args_of(trace: Trace, row: int = 0) -> dict[str, Any]:
    return trace.pool.args(int(trace.slices.args[trace.compiles.slice[row]]))


def directly() -> subprocess.Popen[bytes]:
    return subprocess.Popen(COMMAND.split())


def by_a_shell() -> subprocess.Popen[bytes]:
    return subprocess.Popen(COMMAND, shell=True)


def by_a_shell_that_stays() -> subprocess.Popen[bytes]:
    return subprocess.Popen(f"{COMMAND}; exit $?", shell=True)


def by_a_child() -> subprocess.Popen[bytes]:
    code = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    return subprocess.Popen([sys.executable, "-c", code, *COMMAND.split()])


def by_a_script_that_does_not_name_it(folder: Path) -> subprocess.Popen[bytes]:
    (folder / "build.sh").write_text(f"{COMMAND}\nexit $?\n")
    return subprocess.Popen(["sh", "build.sh"])


@pytest.mark.parametrize("way", [directly, by_a_shell, by_a_shell_that_stays, by_a_child, "script"])
@pytest.mark.parametrize("status", [0, 3])
def test_a_compiler_is_seen_however_it_is_started(
    way: Any, status: int, folder: Path, collector: CompilerProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATUS", str(status))
    before_ns = time.time_ns()
    child = by_a_script_that_does_not_name_it(folder) if way == "script" else way()
    seen(collector, 1)
    seen_ns = time.time_ns()
    (folder / "go").touch()
    assert child.wait(timeout=30) == status
    ended(collector)
    after_ns = time.time_ns()
    trace = collected(collector)
    assert trace.slices.text("name") == ["neuronx-cc made.neff"]
    start, end = int(trace.slices.ts_ns[0]), int(trace.slices.ts_ns[0] + trace.slices.dur_ns[0])
    assert before_ns - TICK_NS <= start <= seen_ns <= end <= after_ns
    assert trace.compiles.text("what") == ["made.neff"]
    assert trace.compiles.text("backend") == ["neuronx-cc"]
    told = args_of(trace)
    assert told["target"] == "trn2"
    assert told["output"] == str(folder / "made.neff")
    assert told["command"].endswith("compile graph.hlo --framework XLA --target trn2 --output made.neff")
    knows = way in (directly, by_a_shell) or linux_tells_exit_codes()
    assert trace.compiles.exit_status.tolist() == [status if knows else -1]
    (line,) = {int(track) for track in trace.slices.track}
    assert (trace.tracks.text("name")[line], trace.tracks.text("kind")[line]) == ("neuronx-cc", "compile")
    assert (trace.tracks.pid[line], trace.tracks.rank[line]) == (os.getpid(), 2)
    if status == 0:  # its NEFF was read: see neff_files.small_members
        assert trace.compiles.neff.tolist() == [0]
        assert trace.neffs.text("path") == [str(folder / "made.neff")]
        assert sorted(trace.tensors.text("name")) == ["bias", "w_sg0000", "x", "y"]
    else:
        assert len(trace.neffs) == 0
        assert trace.compiles.neff.tolist() == [-1]


def linux_tells_exit_codes() -> bool:
    """Since Linux 6.15, of processes that are not our children, too."""
    child = subprocess.Popen(["sh", "-c", "exit 5"])
    file = os.pidfd_open(child.pid)
    try:
        child.wait()
        return descendants.exit_code(file) == 5
    finally:
        os.close(file)


def test_what_python_starts_itself_has_its_exact_start(folder: Path, collector: CompilerProcesses) -> None:
    (folder / "go").touch()
    before_ns = time.time_ns()
    child = directly()
    after_ns = time.time_ns()
    child.wait(timeout=30)
    seen(collector, 1)
    ended(collector)
    trace = collected(collector)
    assert before_ns <= trace.slices.ts_ns[0] <= after_ns
    assert args_of(trace)["start_within_ns"] == 0


def test_one_that_ends_at_once_is_not_missed(folder: Path, collector: CompilerProcesses) -> None:
    (folder / "go").touch()
    for _ in range(20):
        subprocess.run(["neuronx-cc", "compile", "--output", "a.neff"], env={**os.environ, "STATUS": "2"}, check=False)
    trace = collected(collector)
    assert trace.compiles.exit_status.tolist() == [2] * 20
    assert (trace.slices.dur_ns >= 0).all()


def test_a_signal_that_kills_it_is_told_as_a_shell_does(folder: Path, collector: CompilerProcesses) -> None:
    child = directly()
    seen(collector, 1)
    child.send_signal(signal.SIGKILL)
    child.wait(timeout=30)
    ended(collector)
    assert collected(collector).compiles.exit_status.tolist() == [128 + 9]


def test_one_that_goes_on_after_the_window_did_not_finish(folder: Path, collector: CompilerProcesses) -> None:
    child = directly()
    seen(collector, 1)
    trace = collected(collector)
    (folder / "go").touch()
    child.wait(timeout=30)
    assert trace.slices.dur_ns.tolist() == [-1]
    assert trace.compiles.exit_status.tolist() == [-1]


def test_compilers_at_work_at_once_are_on_lines_of_their_own(folder: Path, collector: CompilerProcesses) -> None:
    children = [directly()]
    seen(collector, 1)
    children += [directly()]
    seen(collector, 2)
    (folder / "go").touch()
    for child in children:
        child.wait(timeout=30)
    ended(collector)
    children.append(directly())
    children[-1].wait(timeout=30)
    seen(collector, 3)
    ended(collector)
    trace = collected(collector)
    lines = [trace.tracks.text("name")[track] for track in trace.slices.track.tolist()]
    assert sorted(lines) == ["neuronx-cc", "neuronx-cc", "neuronx-cc 2"]


def test_without_a_file_to_wait_with_the_end_is_when_it_is_missed(
    folder: Path, collector: CompilerProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(pid: int) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", none_left)
    child = directly()
    seen(collector, 1)
    (folder / "go").touch()
    assert child.wait(timeout=30) == 0
    exited_ns = time.time_ns()
    ended(collector)
    trace = collected(collector)
    assert trace.slices.ts_ns[0] + trace.slices.dur_ns[0] >= exited_ns
    assert trace.compiles.exit_status.tolist() == [0]  # subprocess.Popen knows


def test_its_log_gives_its_phases_and_its_passes(folder: Path, collector: CompilerProcesses) -> None:
    second = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    (folder / "log").write_text(
        f"2020-01-01T00:00:00Z INFO 7 [Other]: Other finished after 1.000 seconds\n"
        f"2020-01-01T00:00:00Z INFO 7 [root]: Subcommand returned with exitcode=0\n"
        f"{second} INFO 8 [root]: {COMMAND}\n"
        f"{second} INFO 8 [Tensorizer]: Tensorizer finished after 0.250 seconds\n"
        f"{second} INFO 8 [root]: Subcommand returned with exitcode=0\n"
    )
    child = directly()
    seen(collector, 1)
    (folder / "go").touch()
    child.wait(timeout=30)
    ended(collector)
    trace = collected(collector)
    assert trace.pool.args(int(trace.compiles.phases[0])) == {"Tensorizer": 250_000_000}
    assert "Tensorizer" in trace.slices.text("name")
    assert "Other" not in trace.slices.text("name")
    row = trace.slices.text("name").index("Tensorizer")
    parent = int(trace.tracks.parent[trace.slices.track[row]])
    assert trace.tracks.text("name")[parent] == "neuronx-cc"


def test_a_capture_charges_a_compiler_to_the_step_that_waited(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    (folder / "go").touch()
    config = NeuronConfig(profile_output_dir=folder / "out", collectors=["torch", "compilers"])
    with NeuronProfiler(config):
        with torch.profiler.record_function("step 0"):
            torch.ones(2) + 1
        with torch.profiler.record_function("step 1"):
            subprocess.run(COMMAND.split(), check=True, timeout=30)
    trace = load(config.trace_path)
    frame = analysis.compiles(trace)
    assert (frame.what.tolist(), frame.step.tolist()) == (["made.neff"], [1])
    track = int(trace.slices.track[frame.slice[0]])
    assert trace.tracks.pid[trace.tracks.parent[track]] == os.getpid()
    assert trace.report.clean


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["neuronx-cc", "compile", "a"], True),
        (["/opt/bin/neuronx-cc", "compile", "a"], True),
        (["/usr/bin/python3", "-u", "/opt/bin/neuronx-cc", "compile"], True),
        (["neuronx-cc", "--version"], False),
        (["sh", "-c", "neuronx-cc compile a", "compile"], False),
        (["python", "-c", "x", "neuronx-cc", "compile"], False),
        (["cat", "neuronx-cc.log", "compile"], False),
        (["a", "b", "c", "d", "neuronx-cc", "compile"], False),
        ([], False),
    ],
)
def test_a_compiler_is_told_from_what_starts_one(argv: list[str], expected: bool) -> None:
    assert is_compiler_call(argv) is expected


def test_options_may_be_joined_to_their_values_or_stand_before_them() -> None:
    call = CompilerCall(
        ("neuronx-cc", "compile", "--target=inf2", "--output", "/abs/a.neff", "--logfile=l"), Path("/w")
    )
    assert (call.target, call.output, call.log) == ("inf2", Path("/abs/a.neff"), Path("/w/l"))
    bare = CompilerCall(("neuronx-cc", "compile", "--target"), Path("/w"))
    assert (bare.target, bare.output, bare.log, bare.what) == ("", None, Path("/w/log-neuron-cc.txt"), "")
    module = CompilerCall(("neuronx-cc", "compile", "m.MODULE_12+ab.hlo", "--output=x.neff"), Path("/w"))
    assert module.what == "MODULE_12+ab"
