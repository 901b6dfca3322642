"""Folders in which compiled programs are kept, as compiles and NEFFs."""

from __future__ import annotations

import os
from pathlib import Path

import neff_files as made
import pytest

from trace_format.errors import TraceFileError
from trace_format.importers.neuronx_cc import holds_compile_cache, read_compile_cache

NEFF = made.neff(made.small_members())


def module(root: Path, name: str, **files: bytes) -> Path:
    folder = root / "neuronxcc-2.13.72.0+78a426937" / name
    folder.mkdir(parents=True)
    for stem, data in files.items():
        (folder / stem.replace("_", ".")).write_bytes(data)
    return folder


def test_the_cache_of_torch_neuronx_and_jax(tmp_path: Path) -> None:
    module(tmp_path, "MODULE_1+a", model_neff=NEFF, model_done=b"", model_log=b"")
    module(tmp_path, "MODULE_2+a", model_hlo=b"x")
    module(tmp_path, "MODULE_3+a", model_done=b"", model_log=b"Failed compilation with ['neuronx-cc']: exit code 70\n")
    module(tmp_path, "MODULE_4+a", model_done=b"")
    module(tmp_path, "MODULE_5+a", model_neff=NEFF)
    trace = read_compile_cache(tmp_path)
    frame = trace.compiles.to_pandas()
    assert frame["what"].tolist() == [f"MODULE_{i}+a" for i in range(1, 6)]
    # whole; goes on; failed by its log; failed, since it ended without a program; not marked as ended
    assert frame["exit_status"].tolist() == [0, -1, 70, 1, -1]
    assert frame["neff"].tolist() == [0, -1, -1, -1, 1]
    assert set(frame["backend"]) == {"neuronx-cc"}
    assert set(frame["cache"]) == {"unknown"}
    assert trace.neffs.text("path") == [
        "neuronxcc-2.13.72.0+78a426937/MODULE_1+a/model.neff",
        "neuronxcc-2.13.72.0+78a426937/MODULE_5+a/model.neff",
    ]
    (source,) = trace.metadata["sources"]
    assert (source["layouts"], source["compiler_versions"]) == (["xla"], ["2.13.72.0+78a426937"])


def test_times_come_from_the_log_where_there_is_one(tmp_path: Path) -> None:
    log = b"2024-08-15T00:00:14Z INFO 38 [sg0000/T/A]: A finished after 2.500 seconds\n"
    log += b"2024-08-15T00:00:15Z INFO 38 [root]: Subcommand returned with exitcode=0\n"
    module(tmp_path, "MODULE_1+a", model_neff=NEFF, model_done=b"", model_log=log)
    trace = read_compile_cache(tmp_path)
    (row,) = trace.compiles.to_pandas().to_dict("records")
    assert (row["exit_status"], row["phases"]) == (0, '{"A": 2500000000}')
    # from the begin of its only pass, 11.5 s, to 15 s
    assert trace.slices.dur_ns[row["slice"]] == 3_500_000_000


def test_the_sharded_cache_and_that_of_vllm(tmp_path: Path) -> None:
    sharded = tmp_path / "ab" / "cd"
    sharded.mkdir(parents=True)
    (sharded / f"{'abcd1234' * 4}.neff").write_bytes(NEFF)
    hashed = tmp_path / ("f" * 32)
    hashed.mkdir()
    (hashed / "graph.neff").write_bytes(NEFF)
    (hashed / ".compilation_complete").write_bytes(b"")
    (tmp_path / "loose.neff").write_bytes(NEFF)
    trace = read_compile_cache(tmp_path)
    frame = trace.compiles.to_pandas()
    assert frame["what"].tolist() == ["abcd1234" * 4, "f" * 32]
    assert frame["exit_status"].tolist() == [0, 0]
    assert len(trace.neffs) == 3
    assert trace.metadata["sources"][0]["layouts"] == ["torch-neuronx", "vllm"]


def test_a_neff_that_cannot_be_read_is_counted_and_the_others_are_there(tmp_path: Path) -> None:
    module(tmp_path, "MODULE_1+a", model_neff=b"", model_done=b"")
    module(tmp_path, "MODULE_2+a", model_neff=NEFF, model_done=b"")
    trace = read_compile_cache(tmp_path)
    assert trace.compiles.exit_status.tolist() == [1, 0]
    assert trace.report.to_dict() == {
        "source_events": 4,
        "kept": 3,
        "left_out": {"NEFF that cannot be read: ends inside the header of a NEFF, after 0 bytes": 1},
        "repaired": {},
    }


def test_a_folder_is_known_as_a_cache_by_what_is_in_it(tmp_path: Path) -> None:
    assert not holds_compile_cache(tmp_path)
    (tmp_path / "loose.neff").write_bytes(NEFF)
    assert not holds_compile_cache(tmp_path)
    module(tmp_path, "MODULE_1+a")
    assert holds_compile_cache(tmp_path)
    assert holds_compile_cache(tmp_path / "neuronxcc-2.13.72.0+78a426937" / "MODULE_1+a")


def test_links_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    module(tmp_path, "MODULE_1+a", model_neff=NEFF, model_done=b"")
    os.symlink(tmp_path, tmp_path / "again")
    assert len(read_compile_cache(tmp_path).compiles) == 1


def test_no_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="is no folder"):
        read_compile_cache(tmp_path / "nothing")
