"""Every real trace-event file opens with the counts, times and names of the independently computed facts."""

from __future__ import annotations

import gzip
import os
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from trace_format import Trace
from trace_format.importers import load_file

FOLDER = Path(os.environ.get("NPROF_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
GROUPS = ("kineto", "kineto_multirank", "accel_other", "chrome_trace", "viztracer", "rocm_rpd", "broken")
KINETO = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.glob("kineto/*"))


def _is_trace(facts: dict[str, Any]) -> bool:
    return bool(facts.get("fmt") == "trace-event-json" and "ph" in facts)


def _all_traces() -> list[str]:
    path = FOLDER / "facts.json"
    facts = msgspec.json.decode(path.read_bytes()) if path.exists() else {}
    return [name for name, fact in facts.items() if name.split("/")[0] in GROUPS and _is_trace(fact)]


def _base_us(path: Path) -> Decimal:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    found = msgspec.json.decode(data)
    return Decimal(found.get("baseTimeNanoseconds", 0) if isinstance(found, dict) else 0) / 1000


def _us(nanoseconds: int) -> Decimal:
    return Decimal(nanoseconds) / 1000


@pytest.mark.parametrize("name", _all_traces())
def test_every_event_is_counted(name: str, corpus: Path, corpus_facts: dict[str, Any]) -> None:
    trace = load_file(corpus / name)
    report = trace.report.to_dict()
    assert report["source_events"] == corpus_facts[name]["events"]
    assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]


@pytest.mark.parametrize("name", KINETO)
def test_a_kineto_trace_opens_with_the_reference_facts(name: str, corpus: Path, corpus_facts: dict[str, Any]) -> None:
    facts, trace = corpus_facts[name], load_file(corpus / name)
    assert trace.report.to_dict()["left_out"] == {}
    phases = Counter(facts["ph"])
    assert len(trace.slices) == phases["X"] == facts["X"]
    assert len(trace.instants) + len(trace.memory) == phases["i"]
    base = _base_us(corpus / name)
    ends_ns = trace.slices.ts_ns + np.maximum(trace.slices.dur_ns, 0)
    assert _us(int(trace.slices.ts_ns.min())) - base == Decimal(facts["X_ts_min"])
    assert _us(int(ends_ns.max())) - base == Decimal(facts["X_end_max"])
    assert _top_five(trace, facts["top5"]) == {
        category: sorted((Decimal(total), count) for _, total, count in rows)
        for category, rows in facts["top5"].items()
    }


def _top_five(trace: Trace, wanted: dict[str, Any]) -> dict[str, list[tuple[Decimal, int]]]:
    """Total duration and count of the names the facts list, by category; the five largest totals are checked too."""
    totals: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    counts: dict[tuple[str, str], int] = Counter()
    slices = trace.slices
    rows = zip(slices.text("source_category"), slices.text("name"), slices.dur_ns.tolist(), strict=True)
    for category, name, dur_ns in rows:
        totals[category][name] += max(dur_ns, 0)
        counts[category, name] += 1
    out = {}
    for category, listed in wanted.items():
        source = "" if category == "(none)" else category
        names = [name for name, _, _ in listed]
        largest = sorted(totals[source].values(), reverse=True)[: len(names)]
        assert sorted(totals[source][name] for name in names) == sorted(largest)
        out[category] = sorted((_us(totals[source][name]), counts[source, name]) for name in names)
    return out
