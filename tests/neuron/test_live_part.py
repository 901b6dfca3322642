"""The part of a trace that was recorded is told from what files of a session brought, or nothing is claimed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trace_format import Trace, TraceBuilder
from trace_format.importers.neuron_session.live_part import HELD, LIVE, described, live_part
from trace_format.merge import append_trace


def part(name: str, *, slices: int, memory: int = 0, **metadata: Any) -> TraceBuilder:
    """Slices on a track, each with a flow from the one before, and allocations."""
    builder = TraceBuilder()
    track = builder.track(name)
    builder["slices"].append(slices, ts_ns=range(100, 100 + slices), dur_ns=1, name=builder.string(name), track=track)
    builder["flows"].append(slices - 1, from_slice=range(slices - 1), to_slice=range(1, slices))
    builder["memory"].append(memory, ts_ns=range(memory), delta_bytes=8)
    builder.carry(f"{name}_table", {"value": np.full(slices, 1.5)}, rows=slices)
    builder.report.source_events = slices + memory + 1
    builder.report.left_out[f"{name} lost"] = 1
    builder.report.repaired[f"{name} mended"] = 2
    builder.metadata |= metadata
    return builder


def joined(memory_of_files: int = 0) -> tuple[Trace, Trace]:
    """A recorded trace, and the same with that of a file behind it."""
    live = part("host", slices=5, memory=3, sources=[{"format": "live", "clock": "unix"}], device_model=None).finish()
    builder = TraceBuilder()
    append_trace(builder, live, {})
    append_trace(builder, part("device", slices=4, memory=memory_of_files).finish(), {})
    sources = [{"format": "live", "clock": "unix"}, {"format": "ntff", "clock": "device"}]
    trace = builder.finish(metadata={"sources": sources, "device_model": "trn2", "pid": 7})
    return live, replace(trace, metadata={**trace.metadata, HELD: ["a.ntff"], LIVE: described(live, trace)})


def test_the_part_has_its_rows_its_sources_and_its_counts():
    live, trace = joined()
    assert len(trace.slices) == 9
    trace.report.repaired["said at the end"] += 1
    found = live_part(trace)
    assert found is not None
    assert {name: len(table) for name, table in found.tables().items()} == {
        name: len(table) for name, table in live.tables().items()
    }
    assert found.slices.text("name") == ["host"] * 5
    assert found.slices.ts_ns.tolist() == [100, 101, 102, 103, 104]
    assert found.flows.to_slice.tolist() == [1, 2, 3, 4]
    assert found.extra["host_table"].stored()["value"].tolist() == [1.5] * 5
    assert dict(found.metadata) == {"sources": [{"format": "live", "clock": "unix"}], "device_model": None, "pid": 7}
    assert found.report.to_dict() == {
        "source_events": 9, "kept": 8, "left_out": {"host lost": 1},
        "repaired": {"host mended": 2, "said at the end": 1},
    }  # fmt: skip


def test_it_cannot_be_told_where_the_files_rows_lie_between():
    _, trace = joined(memory_of_files=2)
    assert live_part(trace) is None


def test_a_trace_that_says_nothing_of_it_has_no_such_part():
    live, _ = joined()
    assert live_part(live) is None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_a_damaged_description_is_refused_or_gives_a_trace_that_can_stand_alone(data: st.DataObject):
    _, trace = joined()
    told = {key: dict(value) for key, value in trace.metadata[LIVE].items()}
    place = told[data.draw(st.sampled_from(sorted(told)))]
    if data.draw(st.booleans()):
        place[data.draw(st.sampled_from(sorted(place)))] = data.draw(ANYTHING)
    else:
        told[data.draw(st.sampled_from(sorted(told)))] = data.draw(ANYTHING)
    found = live_part(replace(trace, metadata={**trace.metadata, LIVE: told}))
    if found is not None:
        builder = TraceBuilder()
        append_trace(builder, found, {})
        again = builder.finish()
        assert len(again.slices) == len(found.slices)
        assert 0 <= again.report.kept <= again.report.source_events
