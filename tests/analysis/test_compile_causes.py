"""Why things were compiled; every number worked out by hand."""

from __future__ import annotations

from pathlib import Path

from script import Script

from neuron_profile import analysis, load
from trace_format.tables import CACHE_RESULTS


class Compiles(Script):
    """Compiles of one rank over steps of 100 ns."""

    def __init__(self, steps: int = 4) -> None:
        super().__init__()
        host = self.track(rank=0)
        for step in range(steps):
            self.add(host, f"ProfilerStep#{step}", "annotation", step * 100, 100)
        self.line = self.track("torch.compile", kind="compile", rank=0)

    def compile(
        self, function: str, start: int, dur: int, *, trigger: str = "", cache: str = "miss", **args: object
    ) -> None:
        row = self.add(self.line, f"compile {function}", "compile", start, dur, args={"function": function, **args})
        self.builder["compiles"].append(
            1, slice=row, what=self.builder.string(function), cache=CACHE_RESULTS.index(cache), exit_status=0,
            trigger=self.builder.string(trigger),
        )  # fmt: skip

    def graph_break(self, ts: int, place: str) -> None:
        args = self.builder.pool.arg_sets.id(f'{{"place":"{place}","reason":"call to print"}}'.encode())
        self.builder["instants"].append(
            1, ts_ns=ts, track=self.line, name=self.builder.string("dynamo_graph_break_reason"), args=args
        )


def test_a_function_compiled_again_in_every_step_is_a_storm():
    script = Compiles()
    script.compile("forward", 10, 40, direction="forward")
    script.compile("forward", 55, 20, direction="backward")
    script.compile("forward", 110, 30, trigger="recompile: size of x", direction="forward")
    script.compile("forward", 210, 25, trigger="recompile: size of x", direction="forward")
    script.compile("other", 320, 5)
    frame = analysis.compile_causes(script.trace())
    assert frame.function.tolist() == ["forward", "other"]
    first, second = frame.iloc[0], frame.iloc[1]
    # 40 + 20 + 30 + 25; once forward and once backward would have been 60
    assert (first.compiles, first.dur_ns, first.first_ns) == (4, 115, 60)
    assert (first.recompiles, first.recompile_ns, first.reason, first.steps) == (2, 55, "size of x", 3)
    assert first.is_storm
    assert (second.recompiles, second.reason, second.steps, bool(second.is_storm)) == (0, "", 1, False)


def test_one_recompile_is_no_storm():
    script = Compiles()
    script.compile("f", 10, 10)
    script.compile("f", 110, 10, trigger="recompile: y")
    assert not analysis.compile_causes(script.trace()).is_storm[0]


def test_a_key_that_missed_twice_should_have_been_a_hit():
    script = Compiles()
    script.compile("f", 10, 10, fx_graph_cache_key="k1")
    script.compile("f", 110, 30, fx_graph_cache_key="k1")
    script.compile("f", 210, 20, fx_graph_cache_key="k1")
    script.compile("f", 310, 1, fx_graph_cache_key="k1", cache="hit")
    script.compile("g", 350, 10, fx_graph_cache_key="k2")
    frame = analysis.repeated_misses(script.trace())
    assert frame.to_dict("records") == [
        {"cache_key": "k1", "function": "f", "rank": 0, "misses": 3, "repeated": 2, "repeated_ns": 50}
    ]


def test_graph_breaks_are_counted_by_line():
    script = Compiles()
    for ts, place in ((10, "train.py:7"), (20, "model.py:3"), (110, "train.py:7")):
        script.graph_break(ts, place)
    frame = analysis.graph_breaks(script.trace())
    assert frame[["place", "count", "ts_ns"]].to_dict("records") == [
        {"place": "train.py:7", "count": 2, "ts_ns": 10},
        {"place": "model.py:3", "count": 1, "ts_ns": 20},
    ]
    assert set(frame.reason) == {"call to print"}


def test_a_trace_without_compiles_has_no_causes():
    trace = Script().trace()
    for function in (analysis.compile_causes, analysis.repeated_misses, analysis.graph_breaks):
        assert function(trace).empty


def test_the_recompiles_of_a_real_log_are_those_that_it_names(corpus: Path):
    """The log has graph 0/0 of one function once and 0/1 three times, each time with the same start and end."""
    trace = load(corpus / "dynamo_tlparse" / "T120_dedicated_log_torch_trace_rank_0.log")
    (row,) = analysis.compile_causes(trace).to_dict("records")
    assert (row["function"], row["compiles"]) == ("inner", 2)
    assert row["recompiles"] == 1
