"""What a window finds in the caches of NEFFs and what it puts there: real folders, in the layouts there are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collectors import Budget, Window, audit_events
from collectors.neff_cache import folders as neff_cache_folders
from collectors.neff_cache.caches import NeffCaches
from neuron_profile import NeuronConfig, NeuronProfiler, analysis, load
from trace_format import Trace, TraceBuilder

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "neuron"))
import neff_files

LONG_AGO_NS = 1_600_000_000 * 10**9
NATIVE = "ab/cd/abcd0123456789ef.neff"
MODULE = "neuronxcc-2.23.6484.0/MODULE_123+abc/model.neff"


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for caches; none of those that this machine may have is looked at."""
    for name in (*neff_cache_folders._FOLDERS, "NEURON_CC_FLAGS", "VLLM_CACHE_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        neff_cache_folders, "_FOLDERS", dict.fromkeys(neff_cache_folders._FOLDERS, str(tmp_path / "nowhere"))
    )
    yield tmp_path
    assert not audit_events._listeners


def put(path: Path, *, old: bool = False, uuid: int = 1) -> Path:
    """A NEFF; `old`: as if it had been there for long, last read long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(neff_files.neff(neff_files.small_members(), uuid=bytes([uuid]) * 16))
    if old:
        os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))
    return path


def started(folder: Path | None) -> NeffCaches:
    collector = NeffCaches(Window(neff_cache_dir=folder))
    collector.start(time.time_ns)
    return collector


def collected(collector: NeffCaches) -> Trace:
    collector.stop()
    builder = TraceBuilder()
    collector.collect(builder, host="here", rank=0)
    return collector.refine(builder.finish())


def results(trace: Trace) -> dict[str, str]:
    """What each NEFF was, by the end of its path."""
    assert trace.compiles.neff.tolist() == list(range(len(trace.neffs)))
    paths = ["/".join(path.split("/")[-3:]) for path in trace.neffs.text("path")]
    return dict(zip(paths, trace.compiles.text("cache"), strict=True))


@pytest.mark.parametrize(("place", "what"), [(NATIVE, "abcd0123456789ef"), (MODULE, "MODULE_123+abc")])
def test_what_is_new_is_a_miss_and_what_was_read_a_hit(place: str, what: str, caches: Path) -> None:
    there, not_needed = put(caches / place, old=True), put(caches / "ff/ff/ffffffffffff.neff", old=True, uuid=2)
    collector = started(caches)
    begin_ns = time.time_ns()
    there.read_bytes()
    end_ns = time.time_ns()
    put(caches / "12/34/123456789abc.neff", uuid=3)
    trace = collected(collector)
    found = results(trace)
    assert found == {"/".join(place.split("/")[-3:]): "hit", "12/34/123456789abc.neff": "miss"}
    assert str(not_needed) not in trace.neffs.text("path")
    hit = trace.compiles.text("cache").index("hit")
    assert trace.compiles.text("what")[hit] == what
    assert trace.compiles.text("backend") == ["neuronx-cc"] * 2
    assert trace.neffs.text("uuid")[hit] == "01" * 16  # its header was read
    assert (trace.tensors.neff == hit).sum() == 4  # and the rest of it: x, bias, y and the weight
    moment = trace.instants.text("name").index("NEFF cache hit")
    assert begin_ns <= trace.instants.ts_ns[moment] <= end_ns
    assert trace.report.clean


def test_a_hit_of_other_code_shows_in_the_time_of_the_file(caches: Path) -> None:
    there, touched = put(caches / NATIVE, old=True), put(caches / "12/34/1234.neff", old=True)
    collector = started(caches)
    now_ns = time.time_ns()
    os.utime(there, ns=(now_ns, LONG_AGO_NS))  # read
    os.utime(touched, ns=(LONG_AGO_NS, now_ns))  # its time set, as caches do that throw the oldest away
    assert results(collected(collector)) == {NATIVE: "hit", "12/34/1234.neff": "hit"}


def test_what_came_from_elsewhere_is_unknown(caches: Path) -> None:
    elsewhere = put(caches / "elsewhere.neff", old=True)
    folder = caches / "cache"
    folder.mkdir()
    collector = started(folder)
    shutil.copy2(elsewhere, folder / "here.neff")  # with its old time
    assert results(collected(collector)) == {f"{caches.name}/cache/here.neff": "unknown"}


def test_where_there_are_too_many_to_look_at_before_what_is_touched_is_unknown(
    caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(caches / "12/34/1234.neff", old=True)
    put(caches / "56/78/5678.neff", old=True)
    monkeypatch.setattr(neff_cache_folders, "_MOST_AT_START", 1)
    collector = started(caches)
    put(caches / "9a/bc/9abc.neff")
    assert set(results(collected(collector)).items()) >= {("9a/bc/9abc.neff", "unknown")}


def test_caches_that_cannot_be_looked_through_in_time_are_told(caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collector = started(caches)
    put(caches / "12/34/1234.neff")
    monkeypatch.setattr(collector, "budget", Budget(seconds=0))
    trace = collected(collector)
    assert trace.report.repaired == {"caches of NEFFs too large to look through: uses may be missing": 1}


def test_a_folder_within_another_is_looked_at_once(caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = caches / "inner"
    inner.mkdir()
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(inner))
    collector = started(caches)
    put(inner / NATIVE)
    assert results(collected(collector)) == {NATIVE: "miss"}


def test_a_link_to_a_cache_is_the_cache(caches: Path) -> None:
    folder = caches / "real"
    there = put(folder / NATIVE, old=True)
    link = caches / "link"
    link.symlink_to(folder, target_is_directory=True)
    collector = started(link)
    (link / NATIVE).read_bytes()
    trace = collected(collector)
    assert results(trace) == {NATIVE: "hit"}
    assert trace.neffs.text("path") == [str(there)]


def test_a_folder_that_the_window_makes_has_misses(caches: Path) -> None:
    folder = caches / "later"
    collector = started(folder)
    put(folder / NATIVE)
    assert results(collected(collector)) == {NATIVE: "miss"}


def test_what_is_written_after_the_window_is_not_its(caches: Path) -> None:
    collector = started(caches)
    collector.stop()
    collector._stopped_ns -= 10**9
    put(caches / NATIVE)
    builder = TraceBuilder()
    collector.collect(builder, host="", rank=0)
    assert len(builder.finish().neffs) == 0


def test_a_file_that_is_no_neff_is_counted(caches: Path) -> None:
    collector = started(caches)
    (caches / "bad.neff").write_bytes(b"no")
    trace = collected(collector)
    assert len(trace.neffs) == 0
    assert trace.compiles.neff.tolist() == [-1]
    assert trace.report.to_dict()["kept"] == 0
    (cause,) = trace.report.left_out
    assert cause.startswith("NEFF that cannot be read: ")


def test_a_large_neff_is_read_to_its_header(caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collectors.neff_cache.files._LARGEST_READ_WHOLE", 100)
    collector = started(caches)
    put(caches / NATIVE, uuid=9)
    trace = collected(collector)
    assert trace.neffs.text("uuid") == ["09" * 16]
    assert trace.neffs.text("name") == ["small.neff"]
    assert len(trace.tensors) == 0


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TORCH_NEURONX_NEFF_CACHE_DIR", "{}"),
        ("NEURON_COMPILE_CACHE_URL", "{}"),
        ("NEURON_COMPILE_CACHE_URL", "file://{}"),
        ("NEURON_CC_FLAGS", "-O1 --cache_dir={} --model-type x"),
        ("NEURON_CC_FLAGS", "--cache_dir '{}'"),
        ("NEURON_CC_FLAGS", "--cache_dir {} 'unbalanced"),
    ],
)
def test_the_settings_of_the_caches_say_where_they_are(
    variable: str, value: str, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = caches / "mine"
    folder.mkdir()
    monkeypatch.setenv(variable, value.format(folder))
    collector = started(None)
    put(folder / NATIVE)
    trace = collected(collector)
    assert results(trace) == {NATIVE: "miss"}
    (source,) = trace.metadata["sources"]
    assert list(source["folders"]) == [str(folder)]
    assert source["folders"][str(folder)]["access_times"] in ("each", "relatime", "never")


def test_a_cache_elsewhere_than_on_a_disk_is_left_alone(caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", "s3://bucket/cache")
    collector = started(None)
    trace = collected(collector)
    assert len(trace.neffs) == 0
    assert "sources" not in trace.metadata


def wrapper(folder: Path, cache: Path) -> str:
    """What the wrapper of neuronx-cc does: compile into a folder of its own, then put the NEFF into the cache."""
    return f"""
import pathlib, shutil, subprocess
made = pathlib.Path({str(folder)!r}) / "model.MODULE_123+abc.neff"
subprocess.run(["neuronx-cc", "compile", "model.MODULE_123+abc.hlo_module.pb", "--target", "trn1", "--output", made],
               check=True)
cached = pathlib.Path({str(cache)!r}) / {MODULE!r}
cached.parent.mkdir(parents=True)
shutil.move(made, cached)
"""


@pytest.fixture
def stand_in(caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A neuronx-cc on the PATH that takes 0.3 s to make its NEFF."""
    program = caches / "bin" / "neuronx-cc"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nsleep 0.3\ncp "$FOLDER/small.neff" "$6"\n')
    program.chmod(0o755)
    neff_files.save(caches, neff_files.neff(neff_files.small_members()))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FOLDER", str(caches))


@pytest.mark.usefixtures("stand_in")
def test_a_run_of_the_compiler_and_what_it_left_in_the_cache_are_one_compile(caches: Path) -> None:
    pytest.importorskip("torch")
    cache = caches / "cache"
    cache.mkdir()
    config = NeuronConfig(
        profile_output_dir=caches / "out", collectors=["compilers", "neff_cache"], neff_cache_dir=cache
    )
    with NeuronProfiler(config):
        subprocess.run([sys.executable, "-c", wrapper(caches, cache)], check=True, timeout=60)
    trace = load(config.trace_path)
    frame = analysis.compiles(trace)
    assert frame.what.tolist() == ["MODULE_123+abc"]
    assert frame.cache.tolist() == ["miss"]
    assert frame.dur_ns[0] >= 300_000_000
    assert trace.neffs.text("path")[frame.neff[0]] == str(cache / MODULE)
    assert trace.report.clean


@pytest.mark.usefixtures("stand_in")
def test_a_backend_of_torch_compile_that_calls_the_compiler_or_finds_its_neff_is_told_it(caches: Path) -> None:
    torch = pytest.importorskip("torch")
    cached = caches / "cache" / NATIVE
    cached.parent.mkdir(parents=True)

    def neuron_like(graph: Any, inputs: Any) -> Any:
        if not cached.exists():
            made = str(caches / "made.neff")
            subprocess.run(["neuronx-cc", "compile", "graph.hlo", "--target", "trn1", "--output", made], check=True)
            shutil.move(made, cached)
        cached.read_bytes()
        return graph.forward

    def capture(width: int) -> Trace:
        config = NeuronConfig(profile_output_dir=caches / "out", neff_cache_dir=caches / "cache")
        with NeuronProfiler(config):
            compiled(torch.ones(width))
        trace: Trace = load(config.trace_path)
        return trace

    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x * 2, backend=neuron_like)
    cold, warm = capture(3), capture(4)
    torch._dynamo.reset()
    made, run = analysis.compiles(cold).to_dict("records")
    assert (made["backend"], run["backend"], run["cache"]) == ("neuron_like", "neuronx-cc", "miss")
    assert cold.neffs.text("path") == [str(cached)]
    assert (made["neff"], run["neff"]) == (0, 0)
    assert made["start_ns"] < run["start_ns"] < run["start_ns"] + run["dur_ns"] <= made["start_ns"] + made["dur_ns"]
    (charged,) = analysis.compile_time_by_step(cold).to_dict("records")
    assert (charged["count"], charged["dur_ns"]) == (2, made["dur_ns"])  # the run lies within: counted once
    again, hit = analysis.compiles(warm).to_dict("records")
    assert again["trigger"].startswith("recompile: ")
    assert (again["neff"], hit["neff"], hit["cache"]) == (0, 0, "hit")
