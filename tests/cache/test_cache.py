"""A large file is imported once; what lies in the cache is what the file says, or it is not used."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from trace_differences import differences

from trace_format import NeuronProfileError, Trace, UnsupportedFormatError, cache
from trace_format.cache import FOLDER_VARIABLE, LIMIT_VARIABLE, load_cached
from trace_format.importers import load_file


@pytest.fixture(autouse=True)
def everything_is_worth_keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_WORTH_KEEPING_BYTES", 1)


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Path]]:
    """What lies in the cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return lambda: sorted(folder.iterdir()) if folder.is_dir() else []


@pytest.fixture
def imports(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were really imported."""
    seen: list[str] = []

    def counted(path: Path, **rest: object) -> Trace:
        seen.append(Path(path).name)
        return load_file(path, **rest)

    monkeypatch.setattr(cache, "load_file", counted)
    return seen


def write(path: Path, *names: str) -> Path:
    """A trace-event file with an operator of each name, one event without a time, and one that did not finish."""
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5, "args": {"Ev Idx": i}}
        for i, name in enumerate(names)
    ]
    events.append({"ph": "X", "cat": "cpu_op", "name": "untimed", "pid": 1, "tid": 1, "dur": 5})
    events.append({"ph": "X", "cat": "cpu_op", "name": "open", "pid": 1, "tid": 1, "ts": 1000})
    path.write_text(json.dumps({"schemaVersion": 1, "host_name": "h", "traceEvents": events}))
    return path


def test_the_second_opening_does_not_import(
    tmp_path: Path, entries: Callable[[], list[Path]], imports: list[str]
) -> None:
    path = write(tmp_path / "a.json", "aten::mm", "aten::add")
    first, again = load_cached(path), load_cached(path)
    assert imports == ["a.json"]
    assert [entry.suffix for entry in entries()] == [".pb"]
    assert differences(first, again) == []
    assert again.report.to_dict()["left_out"] == {"event without a time": 1}
    assert again.metadata["sources"][0]["path"] == "a.json"


def test_a_trace_from_the_cache_equals_the_imported_one(corpus: Path, entries: Callable[[], list[Path]]) -> None:
    files = sorted(f for f in corpus.glob("*/*.json*") if f.stat().st_size < 60_000)
    kept = 0
    for path in files:
        try:
            imported = load_file(path)
        except NeuronProfileError:
            continue
        load_cached(path)
        kept += 1
        assert len(entries()) == kept, path
        assert differences(imported, load_cached(path)) == [], path
    assert kept


def test_a_file_that_changed_is_imported_again(
    tmp_path: Path, entries: Callable[[], list[Path]], imports: list[str]
) -> None:
    path = write(tmp_path / "a.json", "aten::mm")
    load_cached(path)
    before = path.stat()
    write(path, "aten::bmm")  # one byte longer
    assert load_cached(path).slices.text("name")[0] == "aten::bmm"
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    load_cached(path)
    assert imports == ["a.json"] * 3


def test_a_file_that_is_written_to_while_it_is_read_is_not_kept(
    tmp_path: Path, entries: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.json", "aten::mm")

    def grows(path: Path, **rest: object) -> Trace:
        trace = load_file(path)
        write(path, "aten::mm", "aten::add")
        return trace

    monkeypatch.setattr(cache, "load_file", grows)
    load_cached(path)
    assert entries() == []


def test_another_version_of_the_importers_imports_again(
    tmp_path: Path, entries: Callable[[], list[Path]], imports: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.json", "aten::mm")
    load_cached(path)
    monkeypatch.setattr(cache, "_importer_version", lambda: "a later one")
    load_cached(path)
    assert imports == ["a.json"] * 2


def _cut_short(entry: Path) -> None:
    entry.write_bytes(entry.read_bytes()[:-40])


def _flip_a_bit_of_a_block(entry: Path) -> None:
    data = bytearray(entry.read_bytes())
    data[len(data) * 2 // 3] ^= 4
    entry.write_bytes(bytes(data))


def _empty(entry: Path) -> None:
    entry.write_bytes(b"")


def _replace_by_a_folder(entry: Path) -> None:
    entry.unlink()
    entry.mkdir()


@pytest.mark.parametrize("damage", [_cut_short, _flip_a_bit_of_a_block, _empty])
def test_a_damaged_entry_is_made_anew(
    damage: Callable[[Path], None], tmp_path: Path, entries: Callable[[], list[Path]], imports: list[str]
) -> None:
    path = write(tmp_path / "a.json", *(f"aten::op_{i * i}" for i in range(300)))
    first = load_cached(path)
    damage(entries()[0])
    assert differences(first, load_cached(path)) == []
    assert differences(first, load_cached(path)) == []
    assert imports == ["a.json"] * 2


def test_an_entry_that_cannot_be_read_or_replaced_is_no_failure(
    tmp_path: Path, entries: Callable[[], list[Path]], imports: list[str]
) -> None:
    path = write(tmp_path / "a.json", "aten::mm")
    load_cached(path)
    _replace_by_a_folder(entries()[0])
    assert len(load_cached(path).slices) == 2
    assert imports == ["a.json"] * 2


def test_a_folder_that_cannot_be_written_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "file" / "below"))
    path = write(tmp_path / "a.json", "aten::mm")
    with caplog.at_level(logging.DEBUG, "trace_format.cache"):
        assert len(load_cached(path).slices) == 2
    assert [record.levelname for record in caplog.records] == ["DEBUG"]


def test_what_was_not_used_for_longest_goes_first(
    tmp_path: Path, entries: Callable[[], list[Path]], imports: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [write(tmp_path / name, "aten::mm") for name in ("a.json", "b.json", "c.json")]
    for age, path in ((3, files[0]), (2, files[1])):
        before = set(entries())
        load_cached(path)
        (entry,) = set(entries()) - before
        os.utime(entry, ns=(0, entry.stat().st_mtime_ns - age * 10**9))
    load_cached(files[0])  # used now: b is the oldest
    size = sum(entry.stat().st_size for entry in entries())
    monkeypatch.setenv(LIMIT_VARIABLE, str(size + 10))
    load_cached(files[2])
    assert len(entries()) == 2
    imports.clear()
    for path in (files[0], files[2], files[1]):
        load_cached(path)
    assert imports == ["b.json"]


def test_what_a_killed_process_left_goes_when_it_is_a_day_old(
    tmp_path: Path, entries: Callable[[], list[Path]]
) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    old, new = folder / f"{'0' * 40}.pb.partial-1", folder / f"{'1' * 40}.pb.partial-2"
    for file in (old, new):
        file.write_bytes(b"x")
    os.utime(old, (0, 0))
    load_cached(write(tmp_path / "a.json", "aten::mm"))
    assert not old.exists()
    assert new.exists()


def test_a_limit_of_zero_keeps_nothing(
    tmp_path: Path, entries: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    load_cached(write(tmp_path / "a.json", "aten::mm"))
    assert entries() == []


def test_a_limit_that_is_no_number_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "10G")
    with pytest.raises(NeuronProfileError, match=r"NPROF_CACHE_BYTES is '10G'; set it to a number of bytes"):
        load_cached(write(tmp_path / "a.json", "aten::mm"))


def test_small_files_and_trace_pb_are_not_kept(
    tmp_path: Path, entries: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from trace_format import write_trace

    path = write(tmp_path / "a.json", "aten::mm")
    write_trace(load_file(path), tmp_path / "trace.pb")
    load_cached(tmp_path / "trace.pb")
    monkeypatch.setattr(cache, "_WORTH_KEEPING_BYTES", path.stat().st_size + 1)
    load_cached(path)
    assert entries() == []


def test_what_is_no_trace_says_so_and_is_not_kept(tmp_path: Path, entries: Callable[[], list[Path]]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a trace")
    with pytest.raises(UnsupportedFormatError):
        load_cached(path)
    with pytest.raises(NeuronProfileError, match="no such file"):
        load_cached(tmp_path / "missing.json")
    assert entries() == []


def test_several_at_once_get_the_same_trace(tmp_path: Path, entries: Callable[[], list[Path]]) -> None:
    path = write(tmp_path / "a.json", *(f"aten::op_{i}" for i in range(50)))
    expected, found = load_file(path), []
    threads = [threading.Thread(target=lambda: found.append(load_cached(path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [differences(expected, trace) for trace in found] == [[]] * 4
    assert differences(expected, load_cached(path)) == []


def test_files_that_are_not_of_the_cache_are_neither_counted_nor_removed(
    tmp_path: Path, entries: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    theirs = [folder / "run.pb", folder / "model.pbtxt", folder / ("0" * 40 + ".pb.bak"), folder / "x.pb.partial-7"]
    for path in theirs:
        path.write_bytes(b"x" * 10_000)
        os.utime(path, (0, 0))
    monkeypatch.setenv(LIMIT_VARIABLE, "9000")
    load_cached(write(tmp_path / "a.json", "aten::mm"))
    assert set(theirs) < set(entries())
    assert len(entries()) == len(theirs) + 1


def test_another_file_under_the_same_name_size_and_time_is_imported(
    tmp_path: Path, entries: Callable[[], list[Path]], imports: list[str]
) -> None:
    first, second = write(tmp_path / "a.json", "aten::mm"), write(tmp_path / "b.json", "aten::bm")
    for path in (first, second):
        os.utime(path, ns=(10**18, 10**18))
    load_cached(first)
    second.replace(first)
    assert "aten::bm" in load_cached(first).slices.text("name")
    assert imports == ["a.json", "a.json"]


def test_an_entry_that_may_only_be_read_is_used(
    tmp_path: Path, entries: Callable[[], list[Path]], imports: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.json", "aten::mm")
    load_cached(path)

    def refuse(_: Path) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(cache.os, "utime", refuse)
    load_cached(path)
    assert imports == ["a.json"]


def test_an_entry_over_the_limit_costs_the_others_nothing(
    tmp_path: Path, entries: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    load_cached(write(tmp_path / "small.json", "aten::mm"))
    (small,) = entries()
    monkeypatch.setenv(LIMIT_VARIABLE, str(small.stat().st_size))
    load_cached(write(tmp_path / "large.json", *(f"aten::op{i}" for i in range(2000))))
    assert entries() == [small]


def test_without_a_home_there_is_no_cache(tmp_path: Path, imports: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(*_: object, **__: object) -> str:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv(FOLDER_VARIABLE)
    monkeypatch.setattr(cache.platformdirs, "user_cache_dir", homeless)
    path = write(tmp_path / "a.json", "aten::mm")
    load_cached(path), load_cached(path)
    assert imports == ["a.json", "a.json"]
