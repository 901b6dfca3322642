"""What is no trace is named in one line; the name of a file decides nothing."""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
from pathlib import Path

import pytest

from trace_format import TraceBuilder, write_trace
from trace_format.errors import NeuronProfileError, TraceFileError, UnsupportedFormatError
from trace_format.importers import load_file


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty"),
        (b"hello, world\n", "is text, but no JSON"),
        (b"<!DOCTYPE html><html></html>", "is HTML or XML"),
        (pickle.dumps([1, 2]), "is a Python pickle"),
        (b"PK\x03\x04rest", "is a zip archive"),
        (b"\x00\x01\x02\x03\x80", "is of no known format"),
        (b"\xff\xfe[\x00]\x00", "is UTF-16 text"),
        ("[]".encode("utf-32"), "is UTF-32 text"),
        (b"\0\0\xfe\xff" + "[]".encode("utf-32-be"), "is UTF-32 text"),
        (b'{"traceEvents": {}}', 'its "traceEvents" is no list'),
        (b'{"traceEvents": [null, 5]}', "is JSON, but no trace"),
        (b'{"schemaVersion": 1, "traceEv', "ends before its list of events begins"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
        (b'{"nodes": [], "schema": "1.0.1"}', "is an execution trace"),
        (b'{"$schema": "https://www.speedscope.app/file-format-schema.json"}', "is a speedscope profile"),
        (b'{"a": 1}', "is JSON, but no trace"),
        (b"[1, 2, 3]", "is JSON, but no trace"),
        (b'[{"a": 1}]', "is JSON, but no trace"),
        (b"[" * 100_000, "is JSON, but no trace"),
        (b"{1: 2}", "is not valid JSON"),
    ],
)
def test_what_is_no_trace_is_named(content: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(TraceFileError, match=what) as raised:
        load_file(path)
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_sqlite_database_is_named(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.json") as database:
        database.execute("create table t (a)")
    with pytest.raises(UnsupportedFormatError, match="SQLite"):
        load_file(tmp_path / "t.json")


def test_a_missing_file_a_directory_and_a_forbidden_file_are_one_line_each(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="no such file"):
        load_file(tmp_path / "nothing.json")
    with pytest.raises(UnsupportedFormatError, match="is a directory"):
        load_file(tmp_path)
    locked = tmp_path / "locked.json"
    locked.write_text("[]")
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(TraceFileError, match="may not be read"):
        load_file(locked)


def test_trace_pb_is_told_by_its_content(tmp_path: Path) -> None:
    builder = TraceBuilder()
    builder.track("a")
    write_trace(builder.finish(), tmp_path / "trace.json")
    assert load_file(tmp_path / "trace.json").tracks.text("name") == ["a"]


def test_progress_is_told_in_bytes_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"ph": "X", "ts": 1, "dur": 1, "name": "x" * 1000}] * 3000))
    told: list[tuple[int, int]] = []
    load_file(path, progress=lambda done, total: told.append((done, total)))
    size = path.stat().st_size
    assert told[-1] == (size, size)
    assert len(told) > 2


@pytest.mark.parametrize("group", ["perfetto_bin", "xplane", "et_chakra", "speedscope"])
def test_foreign_files_of_the_corpus_are_refused_in_one_line(group: str, corpus: Path) -> None:
    words = {
        "perfetto_bin": "Perfetto", "xplane": "XPlane", "et_chakra": "execution trace|tar archive",
        "speedscope": "speedscope",
    }  # fmt: skip
    paths = sorted((corpus / group).iterdir())
    assert paths
    for path in paths:
        with pytest.raises(NeuronProfileError, match=words[group]) as raised:
            load_file(path)
        assert "\n" not in str(raised.value)
