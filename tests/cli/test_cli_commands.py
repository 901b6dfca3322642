"""What each command prints, and where."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from pathlib import Path

import pytest
from command_line import ROOT, command, environment, run, small_trace

from explorer_app.cli.hotspots import GROUPINGS
from explorer_app.cli.main import main
from neuron_profile import analysis
from neuron_profile._version import __version__
from trace_format.importers import load_file
from trace_format.trace_pb.writer import write_trace

HEAVY = ("torch", "dash", "plotly", "pandas", "duckdb", "pyarrow", "flask")


@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["summary", "--help"], ["demo", "--help"], []])
def test_help_and_version_import_nothing_heavy(argv: list[str]) -> None:
    code = (
        "import sys; from explorer_app.cli.main import main; code = main(sys.argv[1:]);"
        f"loaded = [name for name in {HEAVY} if name in sys.modules]; print('loaded:', loaded); sys.exit(code)"
    )
    done = run(python=["-c", code, *argv])
    assert "loaded: []" in done.stdout
    assert done.returncode == (0 if argv else 2)


def test_version_is_printed_on_stdout() -> None:
    done = run("--version")
    assert (done.stdout, done.stderr, done.returncode) == (f"neuron-explorer {__version__}\n", "", 0)


def test_help_lists_the_commands_and_the_options_with_a_path() -> None:
    done = run("--help")
    assert done.returncode == 0
    for word in ("PATH...", "--host", "--port", "--no-browser", "--debug", "--version",
                 "summary", "hotspots", "convert", "check", "demo"):  # fmt: skip
        assert word in done.stdout


def test_groupings_of_the_command_are_those_of_the_analysis() -> None:
    assert GROUPINGS == analysis.GROUPINGS


def test_summary_prints_one_screen_on_stdout(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(trace_file)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert len(out.splitlines()) <= 40
    for words in ("here", "1, median 100 ns", "kept 3 of 3 source events", "gemm", "aten::mm", "100 %"):
        assert words in out


def test_summary_json_has_the_keys_that_are_known(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(trace_file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found = json.loads(out)
    assert list(found) == ["metadata", "breakdown", "steps", "hotspots", "findings", "time_by_category", "report"]
    assert found["steps"][0]["dur_ns"] == 100
    assert found["report"] == {"source_events": 3, "kept": 3, "left_out": {}, "repaired": {}}


ROWS = [
    {"name": "gemm", "category": "compute", "count": 1, "total_ns": 40, "self_ns": 40, "mean_ns": 40.0, "p50_ns": 40,
     "p95_ns": 40, "max_ns": 40, "share_ratio": 1.0},
    {"name": "aten::mm", "category": "host_op", "count": 1, "total_ns": 60, "self_ns": 60, "mean_ns": 60.0,
     "p50_ns": 60, "p95_ns": 60, "max_ns": 60, "share_ratio": 1.0},
]  # fmt: skip


def test_hotspots_json_is_a_list_of_rows(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotspots", str(trace_file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ROWS
    assert main(["hotspots", str(trace_file), "--json", "--top", "1"]) == 0
    assert json.loads(capsys.readouterr().out) == ROWS[:1]


def test_names_in_csv_are_no_formulas_and_drive_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["=1+1", "@SUM(A1)", "esc\x1b[2J", "nul\0", "plain, with a comma"]
    events = [
        {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": 10 * number, "dur": 9 - number}
        for number, name in enumerate(names)
    ]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"traceEvents": events}))
    assert main(["hotspots", str(path), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["name"] for row in rows] == ["'=1+1", "'@SUM(A1)", "esc\\x1b[2J", "nul\\x00", "plain, with a comma"]


def test_hotspots_csv_has_a_header_and_the_same_rows(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotspots", str(trace_file), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [{key: float(value) if key not in ("name", "category") else value for key, value in row.items()}
            for row in rows] == ROWS  # fmt: skip


def test_hotspots_by_what_was_not_recorded_says_why(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotspots", str(trace_file), "--by", "module"]) == 0
    assert "with_modules=True" in capsys.readouterr().out
    assert main(["hotspots", str(trace_file), "--by", "module", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == []
    assert "with_modules=True" in err


@pytest.mark.parametrize("by", GROUPINGS)
def test_hotspots_takes_every_grouping(by: str, trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotspots", str(trace_file), "--by", by]) == 0
    assert capsys.readouterr().err == ""


def test_names_from_a_trace_are_neither_control_sequences_nor_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.pb"
    write_trace(
        small_trace("\x1b[2J\rcls", "[bold red]x[/]", ":smile:", "two\nlines", "\u202ertl", "lone \ud800"), path
    )
    assert main(["hotspots", str(path)]) == 0
    out = capsys.readouterr().out
    for shown in (r"\x1b[2J\rcls", "[bold red]x[/]", ":smile:", r"two\nlines", r"\u202ertl", r"lone \ud800"):
        assert shown in out
    assert not {"\x1b", "\r", "\u202e", "\ud800"} & set(out)
    assert main(["hotspots", str(path), "--json"]) == 0
    assert "lone \ud800" in {row["name"] for row in json.loads(capsys.readouterr().out)}


def test_any_name_survives_a_console_that_cannot_show_it(tmp_path: Path) -> None:
    path = tmp_path / "trace.pb"
    write_trace(small_trace("日本", "lone \ud800"), path)
    for argv in (["hotspots", path], ["hotspots", path, "--csv"], ["summary", path]):
        done = subprocess.run(
            command(*argv), env={**environment(), "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_check_prints_the_report_on_stdout(lossy_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(lossy_file)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "kept 1 of 2 source events, left out 1" in out
    (cause,) = load_file(lossy_file).report.left_out
    assert cause in out


def test_check_json_is_the_report(lossy_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(lossy_file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == load_file(lossy_file).report.to_dict()


def test_strict_fails_if_anything_was_left_out(
    lossy_file: Path, trace_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(trace_file), "--strict"]) == 0
    capsys.readouterr()
    assert main(["check", str(lossy_file), "--strict", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["kept"] == 1
    assert err.count("\n") == 1
    assert "left out 1" in err


@pytest.mark.parametrize("suffix", [".pb", ".json", ".json.gz"])
def test_convert_writes_the_format_of_the_suffix(
    suffix: str, trace_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / f"out{suffix}"
    assert main(["convert", str(trace_file), str(target)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert f"wrote {target}" in err
    # reading a Chrome export back, the same names and times
    assert main(["hotspots", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ROWS


def test_convert_overwrites_nothing_without_force(
    trace_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.json"
    target.write_text("mine")
    assert main(["convert", str(trace_file), str(target)]) == 1
    assert "--force" in capsys.readouterr().err
    assert target.read_text() == "mine"
    assert main(["convert", str(trace_file), str(target), "--force"]) == 0
    assert json.loads(target.read_text())


def test_convert_says_what_was_lost_on_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [
        {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2},
        {"ph": "X", "name": "no time", "pid": 1, "tid": 1},
        {"ph": "C", "name": "c", "pid": 1, "ts": 1, "args": {"value": "no number"}},
    ]
    source = tmp_path / "in.json"
    source.write_text(json.dumps(events))
    assert main(["convert", str(source), str(tmp_path / "out.pftrace")]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert (
        lines[0] == f"{source}: kept 2 of 3 source events, left out 1, repaired 1; neuron-explorer check says of what"
    )
    assert lines[1] == "out.pftrace has no place for 1 counter values that are no number; .pb and .json have"


def test_convert_onto_itself_with_force_keeps_the_trace(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(trace_file), str(trace_file), "--force"]) == 0
    capsys.readouterr()
    assert main(["hotspots", str(trace_file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ROWS


@pytest.mark.parametrize("folder", ["missing", "a_file"])
def test_convert_into_a_folder_that_cannot_be_written_is_one_line(
    folder: str, trace_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a_file").write_text("")
    assert main(["convert", str(trace_file), str(tmp_path / folder / "out.pb")]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert folder in err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_convert_into_a_folder_without_permission_is_one_line(
    trace_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shut").mkdir(mode=0o500)
    assert main(["convert", str(trace_file), str(tmp_path / "shut" / "out.pb")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_directory_is_opened_as_the_traces_in_it(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotspots", str(trace_file.parent), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ROWS


def test_a_file_called_like_a_command_is_reached_by_its_path(
    trace_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(trace_file.parent)
    trace_file.rename("summary")
    served = []
    monkeypatch.setattr("explorer_app.cli.serve.serve_trace", lambda trace, paths, *_, **__: served.append(paths))
    assert main(["./summary"]) == 0
    assert main(["--", "summary"]) == 0
    assert main(["summary"]) == 2
    assert served == [(Path("summary"),), (Path("summary"),)]


def test_a_reader_that_stops_early_causes_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "trace.pb"
    write_trace(small_trace(*(f"aten::operator_with_a_long_name_{i}" for i in range(20_000))), path)
    for flag in ("--json", "--csv"):
        with subprocess.Popen(
            command("hotspots", path, flag), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) == 1


def test_the_analysis_example_answers_its_questions(trace_file: Path) -> None:
    done = run(python=[str(ROOT / "examples" / "analysis.py"), str(trace_file)])
    assert done.stderr == ""
    assert done.returncode == 0
    assert "1 steps, median 0.00 ms (found by: ProfilerStep)" in done.stdout
    assert "gemm" in done.stdout


def test_the_demo_captures_a_training_run(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = run("demo", "-o", tmp_path / "out", "--no-serve")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    trace = load_file(line)
    assert Path(line).name == "trace.pb"
    assert tmp_path in Path(line).parents
    assert len(analysis.steps(trace)) == 5
    assert "Linear_0" in set(analysis.hotspots(trace, by="module")["name"])
    assert analysis.movers(trace)["bytes"].sum() > 0
    memory = analysis.memory_by_category(trace)
    assert memory["activation_bytes"].max() > memory["unknown_bytes"].max()
    # a compile for the first batch, and another for the smaller last one
    assert set(trace.compiles.text("backend")) == {"aot_eager"}
    assert any(trigger.startswith("recompile") for trigger in trace.compiles.text("trigger"))
    assert trace.report.source_events < 200_000  # a compile's Python frames would be millions
    assert {"Tensor", "Vector"} <= set(trace.tracks.text("engine"))
    assert trace.tracks.simulated.any()
    assert {"process CPU", "process memory"} <= set(trace.tracks.text("name"))
