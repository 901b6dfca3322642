"""Every error is one line on stderr that says what, where, and what to do; the exit code tells its kind."""

from __future__ import annotations

import gzip
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from command_line import command, environment, run

from explorer_app.cli.main import main


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("neuron-explorer: ")
    return err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "name a trace to open, or a command; see neuron-explorer --help"),
        (["--port", "0"], "Missing argument 'PATH...'"),
        (["--bogus", "x.pb"], "No such option '--bogus'"),
        (["x.pb", "--port", "70000"], "'--port'"),
        (["x.pb", "--port", "many"], "'--port'"),
        (["summary"], "see neuron-explorer summary --help"),
        (["summary", "x.pb", "--csv"], "No such option '--csv'"),
        (["hotspots", "x.pb", "--by", "colour"], "'--by'"),
        (["hotspots", "x.pb", "--top", "0"], "'--top'"),
        (["hotspots", "x.pb", "--json", "--csv"], "--json and --csv exclude each other"),
        (["convert", "x.pb"], "Missing argument 'OUT'"),
        (["convert", "x.pb", "y.txt"], "'y.txt' ends in none of .pb, .json, .json.gz"),
        (["demo", "somewhere"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert words in one_line(capsys)


def bad_files(folder: Path) -> dict[str, Path]:
    paths = {name: folder / name for name in ("empty.json", "foreign.bin", "text.json", "cut.json.gz", "broken.pb")}
    paths["empty.json"].write_bytes(b"")
    paths["foreign.bin"].write_bytes(b"\x7fELF" + bytes(range(256)))
    paths["text.json"].write_text("hello\nworld\n")
    paths["cut.json.gz"].write_bytes(gzip.compress(b"")[:-5] + b"xxx")
    paths["broken.pb"].write_bytes(b"\x09\x89NRPB\n\x1a\n" + b"\x12\xff\xff\xff\xff\x0f")
    return {**paths, "missing.pb": folder / "missing.pb", "folder": folder / "folder"}


@pytest.mark.parametrize(
    "name", ["empty.json", "foreign.bin", "text.json", "cut.json.gz", "broken.pb", "missing.pb", "folder"]
)
@pytest.mark.parametrize("command", [[], ["summary"], ["hotspots"], ["check"], ["convert"]])
def test_a_file_that_cannot_be_read_is_one_line_and_exit_1(
    name: str, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    path = str(bad_files(tmp_path)[name])
    argv = [*command, path, *([str(tmp_path / "out.pb")] if command == ["convert"] else [])]
    assert main(argv) == 1
    assert path in one_line(capsys)
    assert not (tmp_path / "out.pb").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_one_line(trace_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace_file.chmod(0)
    assert main(["summary", str(trace_file)]) == 1
    assert "permission" in one_line(capsys)


def test_a_mistyped_command_is_told_as_a_missing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sumary"]) == 1
    assert "sumary: no such file" in one_line(capsys)


def test_a_name_with_control_characters_does_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["summary", str(tmp_path / "\x1b[31mred\nline")]) == 1
    assert "\x1b" not in one_line(capsys)


@pytest.mark.parametrize("place", ["first", "last"])
def test_debug_shows_the_traceback(place: str, tmp_path: Path) -> None:
    argv = ["summary", str(tmp_path / "missing.pb")]
    done = run(*(["--debug", *argv] if place == "first" else [*argv, "--debug"]))
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "TraceFileError" in done.stderr


CRASH = """
import sys
import neuron_profile
neuron_profile.load = lambda *args, **kwargs: 1 / 0
from explorer_app.cli import main
sys.argv = ["neuron-explorer", "summary", "x", *sys.argv[1:]]
sys.exit(main.main())
"""


def test_an_error_of_our_own_is_one_line_too_and_says_how_to_see_more() -> None:
    done = run(python=["-c", CRASH])
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "internal error: ZeroDivisionError" in done.stderr
    assert "--debug" in done.stderr
    assert "Traceback" in run(python=["-c", CRASH, "--debug"]).stderr


def test_the_demo_without_torch_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["demo", "-o", str(tmp_path), "--no-serve"]) == 1
    assert "pip install 'neuron-profile[torch]'" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_a_closed_output_is_one_line(trace_file: Path) -> None:
    line = shlex.join(command("summary", trace_file))
    ended = subprocess.run(["sh", "-c", f"{line} >&-"], env=environment(), capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("neuron-explorer: standard output is closed")
    assert ended.stderr.count("\n") == 1
    quiet = subprocess.run(["sh", "-c", f"{line} 2>&-"], env=environment(), capture_output=True, text=True, check=False)
    assert quiet.returncode == 0
