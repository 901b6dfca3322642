"""The served command as a user runs it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import command, environment

from explorer_app.cli.main import main


@contextmanager
def served(*args: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command and the first line of its stdout; it is stopped at the end, whatever happens."""
    flags = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP} if sys.platform == "win32" else {}
    process = subprocess.Popen(
        command(*args), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **flags
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize("order", ["path first", "options first"])
def test_the_url_is_alone_on_stdout_answers_and_ctrl_c_ends_it_well(order: str, trace_file: Path) -> None:
    options = ["--no-browser", "--port", "0"]
    argv = [trace_file, *options] if order == "path first" else [*options, trace_file]
    with served(*argv) as (process, line):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", line)
        with urllib.request.urlopen(line.strip(), timeout=60) as answer:
            assert answer.status == 200
            assert b"<!DOCTYPE html>" in answer.read()
        process.send_signal(signal.CTRL_BREAK_EVENT if sys.platform == "win32" else signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert out == ""
        assert "Traceback" not in err
        assert process.returncode == 0


def test_a_port_in_use_is_one_line(trace_file: Path) -> None:
    with served(trace_file, "--no-browser", "--port", "0") as (_, line):
        port = line.strip().rstrip("/").rpartition(":")[2]
        done = subprocess.run(
            command(trace_file, "--no-browser", "--port", port), env=environment(), capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1


def test_a_browser_is_opened_only_if_wanted(trace_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = []
    monkeypatch.setattr("explorer_app.cli.serve.serve_trace", lambda trace, **options: wanted.append(options))
    assert main([str(trace_file), "--host", "localhost", "--port", "8123"]) == 0
    assert main([str(trace_file), "--no-browser"]) == 0
    assert wanted == [
        {"title": "run/trace.pb", "host": "localhost", "port": 8123, "browser": True},
        {"title": "run/trace.pb", "host": "127.0.0.1", "port": 0, "browser": False},
    ]


def test_several_paths_are_opened_as_one_job(trace_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr("neuron_profile.load", lambda paths, **options: opened.append(paths))
    monkeypatch.setattr("explorer_app.cli.serve.serve_trace", lambda trace, **options: opened.append(options["title"]))
    other = trace_file.with_name("other.json")
    assert main([str(trace_file), str(other)]) == 0
    assert opened == [(trace_file, other), "run/trace.pb and 1 more"]
