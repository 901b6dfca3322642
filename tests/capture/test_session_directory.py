"""A window's files go into the runtime's own directory for it, where there is one, else into one of ours."""

from __future__ import annotations

import os
import socket
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from neuron_profile import session_directory as module


def directory_of(output: Path, **named: Path) -> AbstractContextManager[Path]:
    made = module.runtime_directory([output], prepared_ns=1000, stopped_ns=3000, **named)
    return module.session_directory(output, made=made, started_ns=2000)


def session_directory(output: Path, **named: Path) -> Path:
    with directory_of(output, **named) as directory:
        return directory


def ours(output: Path) -> Path:
    return output / f"{socket.gethostname()}_pid_{os.getpid()}" / "2000"


def test_ours_is_named_by_host_process_and_start(tmp_path: Path):
    directory = session_directory(tmp_path / "not" / "yet")
    assert directory == ours(tmp_path / "not" / "yet")
    assert directory.is_dir()


def made_by_the_runtime(output: Path, pid: int, timestamp: str) -> Path:
    directory = output / f"i-0123456789abcdef0_pid_{pid}" / timestamp
    directory.mkdir(parents=True)
    return directory


def test_the_runtimes_directory_for_this_process_and_window_is_used(tmp_path: Path):
    made = made_by_the_runtime(tmp_path, os.getpid(), "1500")
    assert session_directory(tmp_path) == made


def test_directories_of_other_windows_processes_and_kinds_are_not(tmp_path: Path):
    made_by_the_runtime(tmp_path, os.getpid(), "999")
    made_by_the_runtime(tmp_path, os.getpid(), "3001")
    made_by_the_runtime(tmp_path, os.getpid(), "neffs")
    made_by_the_runtime(tmp_path, os.getpid() + 1, "1500")
    (tmp_path / f"i-0_pid_{os.getpid()}").write_text("a file")
    assert session_directory(tmp_path) == ours(tmp_path)


def test_one_that_has_its_trace_already_is_not(tmp_path: Path):
    (made_by_the_runtime(tmp_path, os.getpid(), "1500") / "trace.pb").touch()
    assert session_directory(tmp_path) == ours(tmp_path)


def test_where_two_would_do_neither_is_taken(tmp_path: Path):
    made_by_the_runtime(tmp_path, os.getpid(), "1500")
    made_by_the_runtime(tmp_path, os.getpid(), "2500")
    assert session_directory(tmp_path) == ours(tmp_path)


def test_one_in_another_folder_that_the_runtime_was_told_is_found(tmp_path: Path):
    made = made_by_the_runtime(tmp_path / "theirs", os.getpid(), "1500")
    folders = [tmp_path / "ours", tmp_path / "theirs", tmp_path / "theirs"]
    assert module.runtime_directory(folders, prepared_ns=1000, stopped_ns=3000) == made


def test_the_one_that_the_runtime_names_is_taken_where_two_would_do(tmp_path: Path):
    made = made_by_the_runtime(tmp_path, os.getpid(), "1500")
    made_by_the_runtime(tmp_path, os.getpid(), "2500")
    assert session_directory(tmp_path, named=made) == made


def test_one_that_is_named_but_of_another_window_process_or_time_is_not_taken(tmp_path: Path):
    old = tmp_path / "profiles"
    old.mkdir()
    os.utime(old, ns=(0, 900))
    for named in (
        made_by_the_runtime(tmp_path, os.getpid(), "999"),
        made_by_the_runtime(tmp_path, os.getpid() + 1, "1500"),
        tmp_path / "nowhere",
        old,
    ):
        assert session_directory(tmp_path, named=named) == ours(tmp_path)
    os.utime(old, ns=(0, 1000))
    assert session_directory(tmp_path, named=old) == old


def test_one_that_may_not_be_written_to_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = made_by_the_runtime(tmp_path, os.getpid(), "1500")
    monkeypatch.setattr(os, "access", lambda path, mode: path != made)  # the tests may run as root
    assert session_directory(tmp_path) == ours(tmp_path)


def test_one_that_stays_empty_because_the_writing_failed_goes_again(tmp_path: Path):
    with pytest.raises(OSError, match="full"), directory_of(tmp_path / "out") as directory:
        assert directory.is_dir()
        raise OSError("the disk is full")
    assert list((tmp_path / "out").iterdir()) == []


def test_one_that_has_something_in_it_stays_and_so_does_the_runtimes(tmp_path: Path):
    made = made_by_the_runtime(tmp_path / "runtime", os.getpid(), "1500")
    with pytest.raises(OSError, match="full"), directory_of(tmp_path / "runtime"):
        raise OSError("the disk is full")
    assert made.is_dir()
    with pytest.raises(OSError, match="full"), directory_of(tmp_path / "out") as directory:
        (directory / "trace.pb.partial").touch()
        raise OSError("the disk is full")
    assert [path.name for path in ours(tmp_path / "out").iterdir()] == ["trace.pb.partial"]


def test_a_folder_that_can_be_made_is_usable_and_a_file_in_the_way_is_not(tmp_path: Path):
    (tmp_path / "file").touch()
    assert module.why_unusable(tmp_path / "not" / "yet") == ""
    assert module.why_unusable(tmp_path) == ""
    assert module.why_unusable(tmp_path / "file" / "below") == f"{tmp_path / 'file'} is not a folder"
    assert not (tmp_path / "not").exists()


def test_a_folder_that_may_not_be_written_to_is_not_usable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)  # the tests may run as root
    assert module.why_unusable(tmp_path / "below") == f"{tmp_path} is not writable"
