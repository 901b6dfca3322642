"""Each example runs as its first lines say and leaves the traces it names."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_profile import load
from trace_format import Trace

Python = Callable[..., "subprocess.CompletedProcess[str]"]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def paths_in(output: str) -> list[Path]:
    return [Path(line.split()[-1]) for line in output.splitlines() if line.endswith("trace.pb")]


def test_capture_leaves_three_steps(python: Python):
    (path,) = paths_in(python(str(EXAMPLES / "capture.py")).stdout)
    trace = load(path)
    steps = [name for name in trace.slices.text("name") if name.startswith("ProfilerStep#")]
    assert steps == ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"]
    assert "aten::addmm" in trace.slices.text("name")


def assert_two_ranks(traces: list[Trace]) -> None:
    assert sorted(trace.metadata["rank"] for trace in traces) == [0, 1]
    for trace in traces:
        assert trace.metadata["world_size"] == 2
        assert trace.metadata["source_metadata"]["distributedInfo"]["backend"] == "gloo"
        assert {"c10d::allreduce_", "gloo:all_reduce"} <= set(trace.slices.text("name"))


def test_ddp_leaves_a_trace_of_each_rank_and_they_open_as_one_job(python: Python, tmp_path: Path):
    python(str(EXAMPLES / "ddp.py"))
    ranks = [load(path) for path in tmp_path.glob("profile_output/*/*/trace.pb")]
    assert_two_ranks(ranks)
    job = load(tmp_path / "profile_output")
    assert set(job.tracks.rank.tolist()) == {0, 1}
    assert len(job.slices) == sum(len(rank.slices) for rank in ranks)


def test_ddp_runs_under_torchrun(python: Python, tmp_path: Path):
    python("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(EXAMPLES / "ddp.py"))
    assert_two_ranks([load(path) for path in tmp_path.glob("profile_output/*/*/trace.pb")])


@pytest.mark.parametrize("first", ["first call", "later call"])
def test_compile_leaves_a_trace_of_the_compiling_call_and_of_a_later_one(first: str, python: Python):
    output = python(str(EXAMPLES / "compile.py")).stdout
    (path,) = paths_in("\n".join(line for line in output.splitlines() if line.startswith(first)))
    names = load(path).slices.text("name")
    assert first in names
    assert any(name.startswith("Torch-Compiled Region") for name in names)
