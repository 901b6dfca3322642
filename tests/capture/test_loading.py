"""load() opens a file, a directory, or the ranks of a job; what is none of these is one clear line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from neuron_profile import NeuronProfileError, load
from trace_format import Trace, TraceBuilder, TraceFileError, write_trace

UNIX = [{"format": "test", "clock": "unix"}]


def small_trace(*, start_ns: int = 100, rank: int | None = None, **metadata: Any) -> Trace:
    """One process, one thread, a slice of 10 ns at `start_ns` with a nested one, a flow between them, an allocation."""
    builder = TraceBuilder()
    process = builder.track("python", pid=7, rank=-1 if rank is None else rank)
    thread = builder.track("thread", kind="host_thread", parent=process, pid=7, tid=8)
    args = builder.pool.arg_sets.id(b'{"rank": %d}' % (rank or 0))
    stack = builder.pool.stack_id(["outer", f"inner {rank}"])
    first = builder["slices"].append(
        ts_ns=[start_ns, start_ns + 1], dur_ns=[10, 5], track=thread, name=builder.pool.strings.ids(["a", f"b{rank}"]),
        args=args, stack=stack,
    )  # fmt: skip
    builder["flows"].append(from_slice=[first], to_slice=[first + 1], kind=builder.string("k"))
    builder["memory"].append(ts_ns=[start_ns], device=builder.string("cpu"), delta_bytes=[64], track=[thread])
    builder.report.source_events = 4
    builder.report.left_out["lost"] = 1
    return builder.finish(metadata={"rank": rank, "host": "h", "pid": 7, "sources": UNIX, **metadata})


def save(folder: Path, trace: Trace) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "trace.pb"
    write_trace(trace, path)
    return path


def chrome(path: Path, events: list[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def complete(name: str) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": 1, "tid": 2, "ts": 5, "dur": 1}


def test_a_file_is_its_trace(tmp_path: Path):
    trace = load(save(tmp_path, small_trace()))
    assert trace.slices.text("name") == ["a", "bNone"]


def test_a_directory_with_one_trace_is_that_trace(tmp_path: Path):
    save(tmp_path / "host_pid_7" / "100", small_trace())
    assert load(str(tmp_path)).metadata["pid"] == 7
    assert "ranks" not in load(tmp_path).metadata


def test_the_export_beside_a_trace_and_files_that_are_none_are_passed_over(tmp_path: Path):
    folder = save(tmp_path / "host_pid_7" / "100", small_trace()).parent
    chrome(folder / "trace.json", [complete("from the export")])
    (tmp_path / "config.json").write_text('{"lr": 1e-3}')
    (tmp_path / "ntrace.pb").write_bytes(b"\x01\x02\x03")
    assert load(tmp_path).slices.text("name") == ["a", "bNone"]


def test_a_directory_with_one_foreign_trace_is_that_trace(tmp_path: Path):
    chrome(tmp_path / "run" / "worker.json", [complete("only")])
    assert load(tmp_path).slices.text("name") == ["only"]


@pytest.mark.parametrize("what", ["missing", "directory without a trace", "empty list", "empty path"])
def test_where_there_is_nothing_to_open_one_line_says_so(what: str, tmp_path: Path):
    (tmp_path / "notes.txt").write_text("hello")
    target: Any = {
        "missing": tmp_path / "nonesuch", "directory without a trace": tmp_path, "empty list": [], "empty path": "",
    }[what]  # fmt: skip
    with pytest.raises(NeuronProfileError) as refused:
        load(target)
    assert "\n" not in str(refused.value)


def test_ranks_become_one_trace_told_apart_by_rank(tmp_path: Path):
    for rank, start_ns in ((1, 105), (0, 100)):
        save(tmp_path / f"rank{rank}", small_trace(start_ns=start_ns, rank=rank, pid=70 + rank, world_size=2))
    trace = load(tmp_path)
    slices = trace.slices
    ranks = trace.tracks.rank[slices.track].tolist()
    assert sorted(zip(ranks, slices.ts_ns.tolist(), slices.text("name"), strict=True)) == [
        (0, 100, "a"), (0, 101, "b0"), (1, 105, "a"), (1, 106, "b1"),
    ]  # fmt: skip
    assert [trace.pool.args(i) for i in slices.args.tolist()] == [{"rank": rank} for rank in ranks]
    assert [trace.pool.frames(i) for i in slices.stack.tolist()] == [("outer", f"inner {rank}") for rank in ranks]
    flows = trace.flows
    joined = [
        (slices.text("name")[a], slices.text("name")[b]) for a, b in zip(flows.from_slice, flows.to_slice, strict=True)
    ]
    assert sorted(joined) == [("a", "b0"), ("a", "b1")]
    assert trace.tracks.parent.tolist() == [-1, 0, -1, 2]
    assert trace.memory.ts_ns.tolist() == [100, 105]
    assert trace.tracks.rank[trace.memory.track].tolist() == [0, 1]
    assert trace.report.to_dict() == {"source_events": 8, "kept": 6, "left_out": {"lost": 2}, "repaired": {}}
    assert trace.metadata["world_size"] == 2
    assert trace.metadata["ranks_stated"] is True
    assert [(r["rank"], r["pid"]) for r in trace.metadata["ranks"]] == [(0, 70), (1, 71)]
    assert [source["rank"] for source in trace.metadata["sources"]] == [0, 1]
    assert "rank" not in trace.metadata


def test_a_list_is_a_job_too(tmp_path: Path):
    paths = [save(tmp_path / str(rank), small_trace(rank=rank)) for rank in (4, 2)]
    assert {r["rank"] for r in load(paths).metadata["ranks"]} == {4, 2}


def test_ranks_that_nobody_states_are_numbered_and_the_trace_says_so(tmp_path: Path):
    paths = [save(tmp_path / name, small_trace()) for name in ("first", "second")]
    trace = load(paths)
    assert trace.metadata["ranks_stated"] is False
    assert sorted(set(trace.tracks.rank.tolist())) == [0, 1]


REFUSALS: dict[str, tuple[list[Trace], str]] = {
    "clocks that cannot be related": (
        [small_trace(rank=0), small_trace(rank=1, sources=[{"clock": "boot"}])], "clock 'boot'",
    ),
    "a trace that names no clock": ([small_trace(rank=0), small_trace(rank=1, sources=[])], "clock 'unknown'"),
    "two of one rank": ([small_trace(rank=3), small_trace(rank=3)], "both say they are rank 3"),
    "one that states no rank among others": ([small_trace(rank=0), small_trace()], "does not say which rank"),
    "windows one after the other": ([small_trace(), small_trace(start_ns=10**9)], "windows or runs.*explorer diff A B"),
    "ranks one after the other": (
        [small_trace(rank=0), small_trace(rank=1, start_ns=10**9)], "ranks do not overlap.*explorer diff A B",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("traces", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_traces_that_are_not_ranks_of_one_job_are_refused(traces: list[Trace], reason: str, tmp_path: Path):
    paths = [save(tmp_path / str(i), trace) for i, trace in enumerate(traces)]
    with pytest.raises(NeuronProfileError, match=reason) as refused:
        load(paths)
    assert str(tmp_path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_rank_that_cannot_be_read_is_named_in_the_report(tmp_path: Path):
    write_trace(small_trace(rank=0), tmp_path / "r0.pb")
    write_trace(small_trace(rank=1), tmp_path / "r1.pb")
    (tmp_path / "r2.json").write_bytes(b"")
    whole = (tmp_path / "r1.pb").read_bytes()
    (tmp_path / "r3.pb").write_bytes(whole[:30] + b"\xff" + whole[31:])
    (tmp_path / "settings.json").write_text('{"batch": 8}')
    trace = load(tmp_path)
    assert len(trace.slices) == len(small_trace(rank=0).slices) + len(small_trace(rank=1).slices)
    causes = list(trace.report.repaired)
    assert [cause.split(": ")[0] for cause in causes] == ["file passed over"] * 2
    assert "r2.json" in causes[0]
    assert "r3.pb" in causes[1]


def test_a_file_named_twice_is_refused(tmp_path: Path):
    write_trace(small_trace(rank=0), tmp_path / "r0.pb")
    with pytest.raises(TraceFileError, match=r"r0\.pb: is named twice"):
        load([tmp_path / "r0.pb", tmp_path / "." / "r0.pb"])


def test_an_export_beside_its_trace_is_not_a_second_rank(tmp_path: Path):
    write_trace(small_trace(rank=0), tmp_path / "step.pb")
    (tmp_path / "step.json").write_text('{"traceEvents": []}')
    (tmp_path / "step.json.gz").write_bytes(b"")
    assert len(load(tmp_path).slices) == len(small_trace(rank=0).slices)


def test_a_folder_of_more_files_than_a_job_has_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("neuron_profile.loading._MOST_FILES", 2)
    for name in ("a.json", "b.json", "c.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(TraceFileError, match="more than 2 files that may be traces"):
        load(tmp_path)
