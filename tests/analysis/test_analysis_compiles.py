"""Compiles, and the step that pays for each; every number worked out by hand."""

from __future__ import annotations

import pytest
from script import Script

from neuron_profile import analysis
from trace_format.tables import CACHE_RESULTS

COLUMNS = [
    "what", "function", "graph", "direction", "backend", "cache", "cache_key", "trigger", "operators", "graph_breaks",
    "exit_status", "failure", "neff", "start_ns", "dur_ns", "step", "rank", "slice",
]  # fmt: skip


class Compiling(Script):
    """Two steps, 100 to 200 and 200 to 300, on rank 3; compiles on a track of their own."""

    def __init__(self) -> None:
        super().__init__()
        host = self.track(rank=3)
        self.add(host, "ProfilerStep#7", "annotation", 100, 100)
        self.add(host, "ProfilerStep#8", "annotation", 200, 100)
        self.line = self.track("torch.compile", kind="compile", rank=3)

    def compile(self, what: str, start: int, dur: int, *, cache: str = "miss", **args: object) -> None:
        row = self.add(self.line, f"compile {what}", "compile", start, dur, args=args)
        self.row(what, slice=row, cache=cache)

    def row(self, what: str, *, cache: str = "unknown", **columns: int) -> None:
        self.builder["compiles"].append(
            1, what=self.builder.string(what), cache=CACHE_RESULTS.index(cache), exit_status=0, **columns
        )


def test_a_compile_is_charged_to_the_step_in_which_it_starts():
    script = Compiling()
    script.compile("late", 199, 50)  # ends in the step after
    script.compile("f 0/0", 120, 30, function="f", compile_id="0/0", direction="forward", operators=4, graph_breaks=1)
    script.compile("before", 10, 5)
    script.compile("f 0/1", 200, 40, cache="hit", fx_graph_cache_key="k1", failure="Unsupported: no")
    script.row("without a time")
    frame = analysis.compiles(script.trace())
    assert list(frame) == COLUMNS
    assert frame.what.tolist() == ["before", "f 0/0", "late", "f 0/1", "without a time"]
    assert frame.step.tolist() == [-1, 7, 7, 8, -1]
    assert frame.start_ns.tolist() == [10, 120, 199, 200, -1]
    assert frame.dur_ns.tolist() == [5, 30, 50, 40, -1]
    assert frame["rank"].tolist() == [3, 3, 3, 3, -1]
    assert frame.cache.tolist() == ["miss", "miss", "miss", "hit", "unknown"]
    assert frame.operators.tolist() == [-1, 4, -1, -1, -1]
    assert frame.graph_breaks.tolist() == [0, 1, 0, 0, 0]
    second, fourth = frame.iloc[1], frame.iloc[3]
    assert (second.function, second.graph, second.direction) == ("f", "0/0", "forward")
    assert (fourth.cache_key, fourth.failure) == ("k1", "Unsupported: no")
    assert frame.attrs["steps_found_by"] == "ProfilerStep"


def test_another_ranks_steps_do_not_pay():
    script = Compiling()
    other = script.track("torch.compile", kind="compile", rank=4)
    script.row("theirs", slice=script.add(other, "compile theirs", "compile", 150, 10))
    assert analysis.compiles(script.trace()).step.tolist() == [-1]


def test_time_in_which_two_compiles_run_counts_once():
    script = Compiling()
    script.compile("outer", 110, 50)  # to 160
    script.compile("inner", 120, 10, cache="hit")  # within it
    script.compile("beside", 150, 30)  # to 180: 20 of it beyond the first
    script.compile("apart", 190, 5)
    script.compile("endless", 196, -1)
    script.compile("in the next step", 250, 7)
    frame = analysis.compile_time_by_step(script.trace())
    assert frame.to_dict("list") == {
        "step": [7, 8], "rank": [3, 3], "count": [5, 1], "misses": [4, 1], "dur_ns": [50 + 20 + 5, 7],
    }  # fmt: skip


@pytest.mark.parametrize("call", [analysis.compiles, analysis.compile_time_by_step])
def test_a_trace_without_compiles_has_none(call):
    assert len(call(Script().trace())) == 0
    assert len(call(Compiling().trace())) == 0


def test_a_compile_that_a_log_tells_of_three_times_is_one():
    script = Compiling()
    for _ in range(3):
        script.compile("f 0/0", 120, 30, function="f")
    script.compile("f 0/0", 160, 30, function="f")  # once more: at another time
    script.row("without a time")
    script.row("without a time")  # nothing tells the two apart, and nothing says that they are one
    frame = analysis.compiles(script.trace())
    assert frame.start_ns.tolist() == [120, 160, -1, -1]
    assert frame.attrs["repeated"] == 2
    assert analysis.compile_time_by_step(script.trace())["count"].tolist() == [2]
