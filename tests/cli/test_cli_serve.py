"""The served command as a user runs it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from command_line import command, environment

from explorer_app.cli.main import main
from explorer_app.cli.opening import title_of
from explorer_app.cli.serving import Address
from explorer_app.web.library import key_of


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
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{24}\n", line)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(line.partition("?")[0], timeout=60)
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(line.strip(), timeout=60) as answer:
            assert answer.status == 200
            assert "token" not in answer.url
            assert b"<!DOCTYPE html>" in answer.read()
        process.send_signal(signal.CTRL_BREAK_EVENT if sys.platform == "win32" else signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert out == ""
        assert "Traceback" not in err
        assert process.returncode == 0


def test_a_port_in_use_is_one_line(trace_file: Path) -> None:
    with served(trace_file, "--no-browser", "--port", "0") as (_, line):
        port = str(urlsplit(line.strip()).port)
        done = subprocess.run(
            command(trace_file, "--no-browser", "--port", port), env=environment(), capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1


def test_a_browser_is_opened_only_if_wanted(trace_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = []
    monkeypatch.setattr("explorer_app.cli.serve.serve_trace", lambda _, paths, address, **__: wanted.append(address))
    assert main([str(trace_file), "--host", "localhost", "--port", "8123"]) == 0
    assert main([str(trace_file), "--no-browser", "--token", "none"]) == 0
    assert wanted == [
        Address(host="localhost", port=8123, browser=True, token=None),
        Address(host="127.0.0.1", port=0, browser=False, token="none"),
    ]


def test_several_paths_are_opened_as_one_job(trace_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr("neuron_profile.load", lambda paths, **options: opened.append(paths))
    monkeypatch.setattr("explorer_app.cli.serve.serve_trace", lambda trace, paths, *_, **__: opened.append(paths))
    other = trace_file.with_name("other.json")
    assert main([str(trace_file), str(other)]) == 0
    assert opened == [(trace_file, other), (trace_file, other)]
    assert title_of([trace_file, other]) == "run/trace.pb and 1 more"


def test_compare_opens_the_page_that_compares(trace_file: Path) -> None:
    base = trace_file.with_name("base.pb")
    base.write_bytes(trace_file.read_bytes())
    with served(trace_file, "--no-browser", "--compare", str(base)) as (_, line):
        address = urlsplit(line.strip())
        assert address.path == "/compare"
        assert parse_qs(address.query)["base"] == [key_of(str(base.absolute()))]
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(line.strip(), timeout=60) as answer:
            assert answer.status == 200
            assert urlsplit(answer.url).path == "/compare"  # the token is gone from the address, the base is not
            assert urlsplit(answer.url).query == f"base={key_of(str(base.absolute()))}"
