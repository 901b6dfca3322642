"""The step that stands for the others."""

from __future__ import annotations

from script import Script

from neuron_profile import analysis
from trace_format import Trace


def steps_of(*durations: int) -> Trace:
    script = Script()
    track, start = script.track(rank=0), 0
    for number, dur in enumerate(durations):
        script.add(track, f"ProfilerStep#{number}", "annotation", start, dur)
        start += dur
    return script.trace()


def test_it_is_the_one_in_the_middle_by_duration() -> None:
    assert analysis.median_step(steps_of(30, 10, 20)) == (40, 60)


def test_of_an_even_number_it_is_the_shorter_of_the_two_in_the_middle() -> None:
    assert analysis.median_step(steps_of(40, 10, 20, 30)) == (50, 70)


def test_of_several_alike_it_is_the_first() -> None:
    assert analysis.median_step(steps_of(10, 10, 10, 10)) == (0, 10)


def test_a_trace_without_time_has_none() -> None:
    assert analysis.median_step(Script().trace()) is None
