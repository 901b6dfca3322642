"""The verdict: its order, its JSON, and the table of its rules."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training import MS, Training

from neuron_profile.analysis import findings, summarize
from neuron_profile.analysis.findings import RULES
from trace_format import CATEGORIES, Trace, TraceBuilder

DEFINITIONS = Path(__file__).resolve().parents[2] / "docs" / "definitions.md"


def slow_and_copying() -> Training:
    """Steps of 100 ms: 20 loading, 30 copying to another layout."""
    script = Training(4, 100)
    for at in script.starts:
        script.host("enumerate(DataLoader)#x.__next__", at, 20, "annotation")
        script.host("aten::copy_", at + 20, 30)
        script.host("aten::mm", at + 50, 50)
    return script


def test_what_returns_most_comes_first() -> None:
    found = findings(slow_and_copying().trace())
    assert [(one.rule, one.recoverable_ns) for one in found] == [
        ("layout-copies", 30 * MS), ("slow-data-loading", 20 * MS),
    ]  # fmt: skip


def test_a_finding_is_frozen_and_becomes_plain_json() -> None:
    found = findings(slow_and_copying().trace())[0]
    with pytest.raises(FrozenInstanceError):
        found.rule = "other"  # type: ignore[misc]
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["rule"] == "layout-copies"
    assert told["share_ratio"] == pytest.approx(0.3)
    assert told["rank"] is None
    assert (told["steps_seen"], told["steps"]) == (4, 4)


def test_a_finding_leads_to_slices_and_to_a_step() -> None:
    trace = slow_and_copying().trace()
    found = findings(trace)[0]
    names = {trace.pool.strings[int(trace.slices.name[row])] for row in found.slices}
    assert names == {"aten::copy_"}
    assert (found.start_ns, found.end_ns) in {(n * 100 * MS, (n + 1) * 100 * MS) for n in range(4)}


def test_a_trace_without_events_has_no_findings() -> None:
    assert findings(TraceBuilder().finish()) == ()


def test_the_summary_has_them_and_ranks_only_where_there_are_several() -> None:
    told = summarize(slow_and_copying().trace()).to_dict()
    assert [one["rule"] for one in told["findings"]] == ["layout-copies", "slow-data-loading"]
    assert "ranks" not in told
    script = Training(2, 100, ranks=(0, 1))
    for rank in (0, 1):
        for at in script.starts:
            script.host("aten::mm", at, 100, rank=rank)
    assert summarize(script.trace()).to_dict()["ranks"] == {"straggler": None, "clock_residual_ns": {}}


def test_rules_have_ids_of_their_own_and_know_each_other() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert {other for rule in RULES for other in rule.said_by} <= set(ids)


def test_the_documentation_has_every_rule_with_what_the_table_says() -> None:
    section = DEFINITIONS.read_text().split("## Findings")[1].split("\n## ")[0]
    rows = {line.split("`")[1]: line for line in section.splitlines() if line.startswith("| `")}
    assert list(rows) == [rule.id for rule in RULES]
    for rule in RULES:
        for said in (rule.looks_at, rule.speaks_when, rule.estimate):
            assert said in rows[rule.id]


def test_unknown_shares_are_no_numbers() -> None:
    assert all(math.isfinite(one.share_ratio) for one in findings(slow_and_copying().trace()))


@st.composite
def trainings(draw: st.DrawFn) -> Trace:
    """Steps of some ranks with any slices at all, some of them unfinished or outside of the steps."""
    ranks = draw(st.sampled_from([(-1,), (0,), (0, 1), (0, 1, 5)]))
    script = Training(draw(st.integers(0, 4)), draw(st.sampled_from([0, 0.001, 10])), ranks=ranks)
    for _ in range(draw(st.integers(0, 30))):
        name = draw(st.sampled_from([
            "aten::item", "aten::copy_", "aten::_to_copy", "Optimizer.step#SGD.step", "cudaStreamSynchronize",
            "cudaFree", "enumerate(DataLoader)#x.__next__", "gloo:all_reduce", "aten::mm",
        ]))  # fmt: skip
        start, dur = draw(st.floats(0, 50)), draw(st.sampled_from([0, 0.001, 1, 30, -1 / MS]))
        rank, category = draw(st.sampled_from(ranks)), draw(st.sampled_from(CATEGORIES))
        called = draw(st.none() | st.floats(0, 50))
        if draw(st.booleans()):
            row = script.host(name, start, dur, category, rank=rank)
        else:
            row = script.work(start, dur, called=called, name=name, category=category, rank=rank)
        if name == "gloo:all_reduce":
            script.collective(row, rank=rank)
        if category == "compile":
            script.builder["compiles"].append(1, slice=row)
        if draw(st.booleans()):
            script.builder["memory"].append(
                1, ts_ns=round(start * MS), delta_bytes=draw(st.integers(-(10**9), 10**9)), total_bytes=-1, address=1
            )
    return script.trace()


@given(trainings())
def test_any_trace_has_findings_that_can_be_told(trace: Trace) -> None:
    found = findings(trace)
    assert len(found) <= 5
    json.dumps([one.to_dict() for one in found], allow_nan=False)
    assert all(0 <= row < len(trace.slices) for one in found for row in one.slices)
    times = [one.recoverable_ns for one in found]
    assert times == sorted(times, reverse=True)
