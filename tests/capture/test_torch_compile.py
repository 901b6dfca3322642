"""What torch.compile compiles in a window: real compiles with inductor and with backends of our own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from collectors import Window
from collectors.compiles import torch_compile
from collectors.compiles.torch_compile import LOGGER, TorchCompile
from neuron_profile import NeuronConfig, NeuronProfiler, analysis, load
from trace_format import CATEGORIES, Trace, TraceBuilder

HERE = Path(__file__).name


@pytest.fixture(autouse=True)
def nothing_compiled_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def capture(tmp_path: Path) -> Callable[..., Trace]:
    """Records what functions do, each of them a step."""

    def record(*calls: Callable[[], Any]) -> Trace:
        config = NeuronConfig(profile_output_dir=tmp_path / "out", collectors=["torch", "compile"])
        schedule = torch.profiler.schedule(wait=0, warmup=0, active=len(calls), repeat=1)
        with torch.profiler.profile(experimental_config=config, schedule=schedule) as profile:
            for call in calls:
                call()
                profile.step()
        return load(config.trace_path)

    return record


def line_of(text: str) -> int:
    """The number of the only line of this file that ends with this text."""
    lines = Path(__file__).read_text().splitlines()
    (found,) = (number for number, line in enumerate(lines, 1) if line.endswith(text))
    return found


def args_of(trace: Trace, row: int) -> dict[str, Any]:
    return trace.pool.args(int(trace.slices.args[trace.compiles.slice[row]]))


def phases_within(trace: Trace, row: int) -> set[str]:
    """The names of the slices on the track of a compile, within its time."""
    slices, of = trace.slices, int(trace.compiles.slice[row])
    start, end = slices.ts_ns[of], slices.ts_ns[of] + slices.dur_ns[of]
    inside = (slices.track == slices.track[of]) & (slices.ts_ns >= start) & (slices.ts_ns + slices.dur_ns <= end)
    return {name for name, within in zip(slices.text("name"), inside.tolist(), strict=True) if within}


def of_ours(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
    return graph.forward


def test_each_compile_is_a_slice_around_its_phases_charged_to_the_step_that_waited(capture: Callable[..., Trace]):
    def wave(x):  # the first line of it
        return x.sin() + x.cos()

    compiled = torch.compile(wave, backend=of_ours)
    x, longer = torch.ones(3), torch.ones(4)
    trace = capture(lambda: compiled(x), lambda: compiled(x), lambda: compiled(longer))
    frame = analysis.compiles(trace)
    assert frame.what.tolist() == ["wave 0/0", "wave 0/1"]
    assert frame.step.tolist() == [0, 2]  # the step between them found it compiled
    assert frame.backend.tolist() == ["of_ours", "of_ours"]
    assert frame.operators.tolist() == [3, 3]  # sin, cos, add
    assert frame.exit_status.tolist() == [0, 0]
    assert frame.cache.tolist() == ["unknown", "unknown"]  # this backend asks no cache
    assert frame.direction.tolist() == ["forward", "forward"]
    first, again = frame.trigger.tolist()
    assert first.endswith(f"{HERE}:{line_of('# the first line of it')} wave")
    assert again == "recompile: 0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4"
    assert {"entire_frame_compile", "bytecode_tracing", "backend_compile"} <= phases_within(trace, 0)
    track = int(trace.slices.track[frame.slice[0]])
    assert (trace.tracks.text("name")[track], trace.tracks.text("kind")[track]) == ("torch.compile", "compile")
    process = int(trace.tracks.parent[track])
    assert trace.tracks.pid[process] == trace.metadata["pid"]
    phases = trace.pool.args(int(trace.compiles.phases[0]))
    assert 0 < phases["backend_compile"] <= phases["entire_frame_compile"] <= frame.dur_ns[0]
    charged = analysis.compile_time_by_step(trace)
    assert charged.step.tolist() == [0, 2]
    assert charged.dur_ns.tolist() == frame.dur_ns.tolist()
    assert trace.report.clean


def test_a_compile_stands_where_the_step_was_that_waited_for_it(tmp_path: Path):
    config = NeuronConfig(profile_output_dir=tmp_path, collectors=["torch", "compile"])
    compiled = torch.compile(lambda x: x * 2, backend=of_ours)
    with NeuronProfiler(config), torch.profiler.record_function("waits"):
        compiled(torch.ones(3))
    trace = load(config.trace_path)
    waits = trace.slices.text("name").index("waits")
    compile_ = int(trace.compiles.slice[0])
    start, end = (trace.slices.ts_ns + delta for delta in (0, trace.slices.dur_ns))
    assert start[waits] <= start[compile_]
    assert end[compile_] <= end[waits]


def test_inductor_misses_its_cache_first_and_finds_forward_and_backward_in_it_later(capture: Callable[..., Trace]):
    def loss(x, w):
        return (x @ w).relu().sum()

    def step():
        torch.compile(loss)(torch.ones(4, 8), torch.ones(8, 8, requires_grad=True)).backward()

    def warm():
        torch._dynamo.reset()
        step()

    trace = capture(step, warm)
    frame = analysis.compiles(trace)
    assert frame.what.tolist() == ["loss 0/0", "loss 0/0 backward", "loss 0/0"]
    assert frame.direction.tolist() == ["forward", "backward", "forward"]
    assert frame.cache.tolist() == ["miss", "miss", "hit"]  # with the forward, the backward was in the cache
    assert frame.backend.tolist() == ["inductor"] * 3
    assert frame.step.tolist() == [0, 0, 1]
    assert frame.operators.tolist() == [3, -1, 3]  # matmul, relu, sum; torch counts none for a backward
    cold, _, later = (args_of(trace, row) for row in range(3))
    assert cold["aotautograd_cache_key"] == later["aotautograd_cache_key"] != ""
    moments = trace.instants.text("name")
    assert [moments.count(f"fx_graph_cache_{result}") for result in ("miss", "hit")] == [2, 2]
    assert "inductor_compile" in phases_within(trace, 1)


def test_a_graph_break_is_told_with_its_line_and_what_follows_is_a_compile_of_its_own(capture: Callable[..., Trace]):
    def broken(x):
        y = x + 1
        torch._dynamo.graph_break()  # breaks here
        return y * 2

    trace = capture(lambda: torch.compile(broken, backend=of_ours)(torch.ones(3)))
    line = line_of("# breaks here")
    frame = analysis.compiles(trace)
    assert frame.what.tolist() == ["broken 0/0", f"torch_dynamo_resume_in_broken_at_{line} 1/0"]
    assert frame.graph_breaks.tolist() == [1, 0]
    row = trace.instants.text("name").index("dynamo_graph_break_reason")
    told = trace.pool.args(int(trace.instants.args[row]))
    assert told["place"].endswith(f"{HERE}:{line}")
    assert told["compile_id"] == "0/0"
    assert "graph_break()" in told["reason"]


def test_a_compile_that_fails_says_why(capture: Callable[..., Trace]):
    def refuses(graph, inputs):
        raise ValueError("too many\nwaves")

    def fails():
        with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
            torch.compile(lambda x: x.sin(), backend=refuses)(torch.ones(3))

    frame = analysis.compiles(capture(fails))
    assert frame.exit_status.tolist() == [1]
    assert frame.backend.tolist() == ["refuses"]
    assert frame.failure[0].startswith("BackendCompilerFailed: backend='refuses' raised:")
    assert "ValueError: too many" in frame.failure[0]


def test_a_backward_that_is_compiled_later_has_the_name_and_backend_of_its_forward(capture: Callable[..., Trace]):
    def tower(x):
        return x.exp().sum()

    x = torch.ones(3, requires_grad=True)
    trace = capture(lambda: torch.compile(tower, backend="aot_eager")(x).backward())
    frame = analysis.compiles(trace)
    assert frame.what.tolist()[0] == "tower 0/0"
    backward = frame[frame.direction == "backward"]
    assert set(backward.what) <= {"tower 0/0 backward"}
    assert set(frame.backend) == {"aot_eager"}


def test_what_was_under_way_when_the_window_began_has_a_row_without_a_slice(tmp_path: Path):
    window: list[NeuronProfiler] = []

    def opens_it(graph, inputs):
        window.append(NeuronProfiler(NeuronConfig(profile_output_dir=tmp_path, collectors=["compile"])))
        window[0].start()
        return graph.forward

    torch.compile(lambda x: x.sin(), backend=opens_it)(torch.ones(3))
    window[0].stop()
    trace = load(window[0].config.trace_path)
    frame = analysis.compiles(trace)
    assert (frame.slice[0], frame.dur_ns[0], frame.step[0]) == (-1, -1, -1)
    assert frame.graph.tolist() == [""]
    assert trace.compiles.text("what")[0].endswith(" 0/0")
    ends = {"backend_compile", "compile_attempt_0", "entire_frame_compile", "dynamo"}
    assert trace.report.left_out == {"end of a compile phase that began before the window": len(ends)}


def test_a_window_in_which_nothing_is_compiled_brings_nothing(capture: Callable[..., Trace]):
    trace = capture(lambda: torch.ones(3) + 1)
    assert len(trace.compiles) == 0
    assert "torch.compile" not in trace.tracks.text("name")


def test_what_torch_writes_out_beyond_what_is_kept_is_counted(
    capture: Callable[..., Trace], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(torch_compile, "_MOST_RECORDS", 3)
    trace = capture(lambda: torch.compile(lambda x: x.sin(), backend=of_ours)(torch.ones(3)))
    (cause,) = trace.report.left_out
    assert cause == "entry of torch.compile's log beyond what is kept of a window"
    assert trace.report.left_out[cause] > 3
    assert len(trace.compiles) == 1  # dynamo, entire_frame_compile and dynamo_start were kept
    assert analysis.compiles(trace).exit_status.tolist() == [-1]


def test_the_log_is_as_it_was_after_the_window():
    logger = logging.getLogger(LOGGER)
    theirs = logging.NullHandler()
    logger.addHandler(theirs)
    logger.setLevel(logging.ERROR)
    before = list(logger.handlers)
    collector = TorchCompile(Window())
    try:
        collector.start(lambda: 0)
        assert len(logger.handlers) == len(before) + 1
        collector.stop()
        assert logger.handlers == before
        assert logger.level == logging.ERROR
    finally:
        logger.removeHandler(theirs)
        logger.setLevel(logging.DEBUG)
    builder = TraceBuilder()
    collector.collect(builder, host="here", rank=0)
    assert len(builder.finish().slices) == 0


def test_a_phase_that_torch_records_as_an_operator_too_is_counted_once(capture: Callable[..., Trace]) -> None:
    @torch.compile(backend="aot_eager")
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return (x * 2).sum()

    trace = capture(lambda: doubled(torch.ones(3, requires_grad=True)).backward())
    names, categories = trace.slices.text("name"), trace.slices.category
    twins = {CATEGORIES[categories[row]] for row, name in enumerate(names) if name.endswith(" (dynamo_timed)")}
    assert twins == {"annotation"}  # there, but no work
    phases = {name for row, name in enumerate(names) if CATEGORIES[categories[row]] == "compile"}
    assert {"backend_compile", "create_aot_dispatcher_function"} <= phases
    top = set(analysis.hotspots(trace)["name"])
    assert "backend_compile" in top
    assert not any(name.endswith("(dynamo_timed)") for name in top)
    assert trace.report.source_events == trace.report.kept


def test_an_operator_named_like_a_phase_that_no_log_told_stays_one(tmp_path: Path) -> None:
    config = NeuronConfig(profile_output_dir=tmp_path)
    with torch.profiler.profile(experimental_config=config), torch._C._profiler._RecordFunctionFast("x (dynamo_timed)"):
        torch.ones(3)
    trace = load(config.trace_path)
    row = trace.slices.text("name").index("x (dynamo_timed)")
    assert CATEGORIES[trace.slices.category[row]] == "host_op"
