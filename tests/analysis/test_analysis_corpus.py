"""Hotspots of real traces against facts that were computed from the files by other means."""

from __future__ import annotations

import os
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from neuron_profile.analysis import (
    bandwidth,
    bytes_moved,
    hotspots,
    movers,
    range_summary,
    steps,
    summarize,
    time_by_category,
)
from trace_format import Trace
from trace_format.importers import load_file

CORPUS = Path(os.environ.get("NPROF_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
FILES = sorted(path.name for path in (CORPUS / "kineto").glob("*")) if CORPUS.is_dir() else []

# Kineto's categories, and what they are here. Annotations are no work, and cuda_sync is drawn beside the streams.
CATEGORIES = {
    "cpu_op": {"host_op"},
    "python_function": {"python"},
    "cuda_runtime": {"runtime"},
    "kernel": {"compute", "collective"},
    "gpu_memcpy": {"memcpy"},
    "gpu_memset": {"memset"},
}


@pytest.fixture(
    scope="module", params=FILES or [pytest.param("", marks=pytest.mark.skip("no corpus: set NPROF_CORPUS"))]
)
def kineto(request: pytest.FixtureRequest, corpus: Path, corpus_facts: dict[str, Any]) -> tuple[Trace, dict[str, Any]]:
    return load_file(corpus / "kineto" / request.param), corpus_facts[f"kineto/{request.param}"]


def test_the_five_names_with_most_time_of_each_category_are_those_of_the_facts(
    kineto: tuple[Trace, dict[str, Any]],
) -> None:
    trace, facts = kineto
    found = hotspots(trace).to_dict("records")
    for category, expected in facts["top5"].items():
        if category not in CATEGORIES:
            continue
        totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for row in found:
            if row["category"] in CATEGORIES[category]:
                totals[row["name"]][0] += row["total_ns"]
                totals[row["name"]][1] += row["count"]
        # each slice's duration is rounded to a nanosecond
        assert {name: totals[name] for name, _, _ in expected} == {
            name: [pytest.approx(int(Decimal(total) * 1000), abs=count), count] for name, total, count in expected
        }
        if category != "cuda_runtime":  # the driver's calls are runtime too, but not in this list
            fifth = sorted((total for total, _ in totals.values()), reverse=True)[: len(expected)][-1]
            assert fifth <= min(totals[name][0] for name, _, _ in expected)


def test_parts_of_a_real_trace_add_up(kineto: tuple[Trace, dict[str, Any]]) -> None:
    trace, _ = kineto
    frame, categories = hotspots(trace), time_by_category(trace)
    assert (frame["self_ns"] <= frame["total_ns"]).all()
    assert (frame["self_ns"] >= 0).all()
    for share in categories.groupby("side")["share_ratio"].sum():
        assert share == pytest.approx(1)
    assert categories["self_ns"].sum() == frame["self_ns"].sum()
    window = trace.time_range_ns
    assert window is not None
    whole = range_summary(trace, window[0], window[1] + 1)
    assert (
        whole[["total_ns", "self_ns", "count"]].sum().tolist() == frame[["total_ns", "self_ns", "count"]].sum().tolist()
    )
    for by in ("module", "source", "op", "track"):
        hotspots(trace, by=by)
    assert len(summarize(trace).to_dict()["steps"]) == len(steps(trace)) >= 1


def test_bytes_of_a_real_trace_are_counted_once(kineto: tuple[Trace, dict[str, Any]]) -> None:
    trace, _ = kineto
    moved = bytes_moved(trace)
    assert moved["slice"].is_unique
    assert movers(trace, top=None)["bytes"].sum() == moved["bytes"].sum()
    over_time = bandwidth(trace, bins=100)
    integral = (over_time["bytes_per_s"] * (over_time["end_ns"] - over_time["start_ns"]) / 1e9).sum()
    assert integral == pytest.approx(moved["bytes"].sum(), rel=1e-6)
