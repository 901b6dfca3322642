"""`neuron-explorer diff`: what it prints, and the exit code of a CI job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from explorer_app.cli.main import main
from trace_format import CATEGORIES, TraceBuilder, write_trace


def save(path: Path, *step_us: int, operator_us: int = 5, start_us: int = 0) -> Path:
    """A trace of steps of these lengths, each with one operator in it."""
    builder = TraceBuilder()
    thread = builder.track("python", kind="host_thread", pid=1, tid=1)
    at = start_us * 1000
    for number, length in enumerate(step_us):
        for name, category, spent in (
            (f"ProfilerStep#{number}", "annotation", length), ("aten::mm", "host_op", operator_us)
        ):  # fmt: skip
            builder["slices"].append(
                ts_ns=[at], dur_ns=[spent * 1000], track=thread, name=builder.string(name),
                category=CATEGORIES.index(category),
            )  # fmt: skip
        at += length * 1000
    path.parent.mkdir(parents=True, exist_ok=True)
    write_trace(builder.finish(metadata={"sources": [{"clock": "unix"}]}), path)
    return path


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """The second is 20 % slower, with an operator that takes 10 us instead of 5."""
    base = save(tmp_path / "base.pb", *[100] * 6)
    return str(base), str(save(tmp_path / "new.pb", *[120] * 6, operator_us=10))


def test_it_prints_the_step_time_and_the_operations_that_changed(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *pair]) == 0
    out = capsys.readouterr().out
    assert next(line for line in out.splitlines() if line.startswith("step time")).split() == [
        "step", "time", "100", "µs", "120", "µs", "+20.0", "%", "+20.0", "%", "to", "+20.0", "%",
    ]  # fmt: skip
    assert next(line for line in out.splitlines() if line.startswith("aten::mm")).split() == [
        "aten::mm", "slower", "on", "the", "host", "5.00", "µs", "10.0", "µs", "+5.00", "µs",
    ]  # fmt: skip


@pytest.mark.parametrize("how", [[], ["--markdown"]])
def test_parts_of_hosts_alone_are_called_as_in_the_summary(
    how: list[str], pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *pair, *how]) == 0
    out = capsys.readouterr().out
    assert "no operator running (Python and the like)" in out
    assert "launched" not in out


def test_a_condition_that_holds_is_exit_1_and_its_line(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *pair, "--fail-if", "step_time > +3%", "--fail-if", "step_time > +50%"]) == 1
    err = capsys.readouterr().err.splitlines()
    assert err == [
        "neuron-explorer: FAILED: step_time > +3%: 100 µs -> 120 µs (+20.0 %, 95 % interval +20.0 % to +20.0 %)"
    ]


def test_a_trace_against_itself_passes(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", pair[0], pair[0], "--fail-if", "step_time > +0%"]) == 0
    assert "No operation changed" in capsys.readouterr().out


def test_as_json_it_has_numbers_operations_and_gates(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *pair, "--json", "--fail-if", "step_time > +3%"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["numbers", "operations", "notes", "gates"]
    assert found["numbers"]["step_time"]["ratio"] == pytest.approx(0.2)
    assert found["operations"][0]["difference_ns"] == 5000
    assert found["gates"][0]["fails"] is True


def test_as_markdown_it_is_tables_and_verdicts(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *pair, "--markdown", "--fail-if", "step_time > +3%"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| | base | new | change | 95 % interval |"
    assert "| step time | 100 µs | 120 µs | +20.0 % | +20.0 % to +20.0 % |" in lines
    assert "| `aten::mm` | slower on the host | 5.00 µs | 10.0 µs | +5.00 µs |" in lines
    assert lines[-1].startswith("❌ FAILED: step_time > +3%")


def test_the_junit_file_has_a_case_for_each_condition(pair: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    argv = ["diff", *pair, "--fail-if", "step_time > +3%", "--fail-if", "step_time > +50%", "--junit", str(path)]
    assert main(argv) == 1
    suite = ElementTree.parse(path).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [len(case) for case in suite] == [1, 0]
    assert main(argv) == 1  # the file is there and --force is not given
    assert main([*argv, "--force"]) == 1


def test_runs_are_the_traces_in_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side, length in (("base", 100), ("new", 150)):
        for number in range(5):
            save(tmp_path / side / f"run{number}" / "trace.pb", length, length + number)
    argv = ["diff", str(tmp_path / "base"), str(tmp_path / "new"), "--runs", "--json"]
    assert main(argv) == 0
    step_time = json.loads(capsys.readouterr().out)["numbers"]["step_time"]
    assert (step_time["base_samples"], step_time["new_samples"]) == (5, 5)


def test_windows_of_one_program_are_runs_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(5):
        builder_path = tmp_path / "out" / "host_pid_7" / str(number) / "trace.pb"
        save(builder_path, *[100] * (number + 1), start_us=number * 1000)
    assert main(["diff", str(tmp_path / "out"), str(tmp_path / "out"), "--runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["numbers"]["step_time"]["base_samples"] == 5


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (["--fail-if", "speed > 3"], 2, "no number of a summary: take one of step_time, "),
        (["--fail-if", ""], 2, "'' is no condition; write a number, "),
        (["--fail-if", "step_time"], 2, "numbers are step_time, "),
        (["--fail-if", "step_time > 3%"], 2, "write +3% or -3%"),
        (["--fail-if", "compiles > 0"], 1, "the traces do not tell compiles"),
        (["--json", "--markdown"], 2, "--json and --markdown exclude each other"),
        (["--runs"], 1, "is no folder of runs"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    argv: list[str], code: int, words: str, pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *pair, *argv]) == code
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_the_example_of_a_gate_fails_a_slower_capture_and_passes_an_equal_one(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    script = Path(__file__).resolve().parents[2] / "examples" / "ci_gate.sh"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "JUNIT": str(tmp_path / "gate.xml")}
    codes = []
    for new in pair[::-1]:
        done = subprocess.run(
            ["bash", str(script), pair[0], new],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        codes.append(done.returncode)
        assert done.stdout.startswith("| | base | new |")
    assert codes == [1, 0]
    assert (tmp_path / "gate.xml").exists()
