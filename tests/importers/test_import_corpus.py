"""Every real file opens with the counts, times and names of the independently computed facts, or is named."""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from trace_differences import differences

from trace_format import Trace
from trace_format.errors import NeuronProfileError
from trace_format.importers import load_file

FOLDER = Path(os.environ.get("NPROF_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
GROUPS = (
    "kineto", "kineto_multirank", "accel_other", "chrome_trace", "viztracer", "dynamo_tlparse", "rocm_rpd", "memory",
    "broken",
)  # fmt: skip
FILES = sorted(str(path.relative_to(FOLDER)) for group in GROUPS for path in FOLDER.glob(f"{group}/*"))
# What is no trace, or holds no events: the one line that says so.
NAMED = {
    "rocm_rpd/T100_matmul_result.rpd": "SQLite database",
    "broken/T127_another.log": "is empty",
    "broken/T268_incomplete-trace.json": "speedscope profile",
    "broken/T269_out-of-order-events.json": "speedscope profile",
    "broken/T277_n_array_extra_comma.json": "is JSON, but no trace",
    "broken/T278_n_number_NaN.json": "is JSON, but no trace",
    "broken/T279_n_number_infinity.json": "is JSON, but no trace",
    "broken/T281_n_structure_unclosed_array.json": "is JSON, but no trace",
    "broken/T282_n_structure_100000_opening_arrays.json": "is JSON, but no trace",
    "broken/T284_i_structure_UTF-8_BOM_empty_object.json": "is JSON, but no trace",
    "broken/T285_i_string_UTF-16LE_with_BOM.json": "is UTF-16 text",
}
# What the facts do not count because the reference reader refuses the file: counted by hand in its text.
ADDED = {
    "accel_other/T098_example_file.json": 441,  # 440 times "ph", and one more event that is cut off before it
    "broken/T265_simple-partial-trailing-comma.json": 6,
}
_SLICES_ELSEWHERE = set("BbS")  # phases whose slices are not among the reference's X events


def _facts() -> dict[str, Any]:
    path = FOLDER / "facts.json"
    return dict(msgspec.json.decode(path.read_bytes())) if path.exists() else {}


# Files all of whose slices come from X events, and whose facts are therefore about all of them.
COMPLETE = [
    name
    for name, fact in _facts().items()
    if name in FILES and fact.get("X") and "odd" in fact and not _SLICES_ELSEWHERE & set(fact["ph"])
]


def _decoded(path: Path) -> Any:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return msgspec.json.decode(data)


def _until_the_stop(path: Path) -> dict[tuple[str, str], int]:
    """By category and name, the ns that torch gives to events that had not finished when the profiler stopped.

    The facts count them as durations; they are none.
    """
    found: dict[tuple[str, str], int] = Counter()
    document = _decoded(path)
    for event in document["traceEvents"] if isinstance(document, dict) else document:
        said = event.get("args")
        if event.get("ph") == "X" and isinstance(said, dict) and said.get("finished") is False:
            found[event["cat"], event["name"]] += int(Decimal(str(event["dur"])) * 1000)
    return found


def _base_us(path: Path) -> Decimal:
    found = _decoded(path)
    return Decimal(found.get("baseTimeNanoseconds", 0) if isinstance(found, dict) else 0) / 1000


def _us(nanoseconds: int) -> Decimal:
    return Decimal(nanoseconds) / 1000


@pytest.mark.parametrize("name", [name for name in FILES if name not in NAMED])
def test_every_event_is_counted(name: str, corpus: Path, corpus_facts: dict[str, Any]) -> None:
    trace = load_file(corpus / name)
    report = trace.report.to_dict()
    wanted = ADDED.get(name, corpus_facts.get(name, {}).get("events"))
    assert wanted is None or report["source_events"] == wanted
    assert report["source_events"] > 0
    assert report["kept"] + sum(report["left_out"].values()) == report["source_events"]


@pytest.mark.parametrize("name", NAMED)
def test_what_is_no_trace_is_named_in_one_line(name: str, corpus: Path) -> None:
    with pytest.raises(NeuronProfileError, match=NAMED[name]) as raised:
        load_file(corpus / name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", COMPLETE)
def test_a_trace_opens_with_the_reference_facts(name: str, corpus: Path, corpus_facts: dict[str, Any]) -> None:
    facts, trace = corpus_facts[name], load_file(corpus / name)
    phases = Counter(facts["ph"])
    assert len(trace.slices) == phases["X"] == facts["X"]
    assert len(trace.instants) + len(trace.memory) == sum(phases[letter] for letter in "iInNOD")
    base = _base_us(corpus / name)
    ends_ns = trace.slices.ts_ns + np.maximum(trace.slices.dur_ns, 0)
    assert _same(_us(int(trace.slices.ts_ns.min())) - base, Decimal(facts["X_ts_min"]))
    assert _same(_us(int(ends_ns.max())) - base, Decimal(facts["X_end_max"]), 2)
    for category, found in _top_five(trace, facts["top5"], _until_the_stop(corpus / name)).items():
        wanted = sorted((Decimal(total), count) for _, total, count in facts["top5"][category])
        for (total, count), (wanted_total, wanted_count) in zip(found, wanted, strict=True):
            assert count == wanted_count
            assert _same(total, wanted_total, count)


def _same(found_us: Decimal, wanted_us: Decimal, roundings: int = 1) -> bool:
    """Equal; where the source has digits beyond the nanosecond, up to so many times half of one."""
    finer = int(wanted_us.as_tuple().exponent) < -3
    return abs(found_us - wanted_us) <= (Decimal("0.0005") * roundings if finer else 0)


def _top_five(
    trace: Trace, wanted: dict[str, Any], unfinished: dict[tuple[str, str], int]
) -> dict[str, list[tuple[Decimal, int]]]:
    """Total duration and count of the names the facts list, by category; the five largest totals are checked too."""
    totals: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    counts: dict[tuple[str, str], int] = Counter()
    slices = trace.slices
    rows = zip(slices.text("source_category"), slices.text("name"), slices.dur_ns.tolist(), strict=True)
    for category, name, dur_ns in rows:
        totals[category][name] += max(dur_ns, 0)
        counts[category, name] += 1
    for (category, name), dur_ns in unfinished.items():
        totals[category][name] += dur_ns
    out = {}
    for category, listed in wanted.items():
        source = "" if category == "(none)" else category
        names = [name for name, _, _ in listed]
        largest = sorted(totals[source].values(), reverse=True)[: len(names)]
        assert sorted(totals[source][name] for name in names) == sorted(largest)
        out[category] = sorted((_us(totals[source][name]), counts[source, name]) for name in names)
    return out


def test_a_memory_timeline_becomes_the_memory_table(corpus: Path) -> None:
    path = corpus / "memory" / "T029_memory_timeline.raw.gz"
    rows = msgspec.json.decode(gzip.decompress(path.read_bytes()))
    memory = load_file(path).memory
    began = min(ts for ts, *_ in rows if ts >= 0)
    assert memory.ts_ns.tolist() == [max(ts, began) for ts, *_ in rows]
    assert memory.delta_bytes.tolist() == [delta for _, _, delta, _ in rows]
    assert int(memory.total_bytes[-1]) == sum(delta for _, _, delta, _ in rows)


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("dynamo_tlparse/")])
def test_a_compile_log_becomes_compiles_and_their_phases(name: str, corpus: Path) -> None:
    text = (corpus / name).read_text()
    trace = load_file(corpus / name)
    assert len(trace.compiles) == len(re.findall(r'^V.*\{"compilation_metrics": ', text, re.MULTILINE))
    assert len(trace.slices) == len(re.findall(r'^\t"ph": "B"', text, re.MULTILINE))
    assert (trace.compiles.slice >= 0).all()
    spans = [trace.slices.text("name")[row] for row in trace.compiles.slice]
    assert set(spans) <= {"entire_frame_compile", "dynamo"}
    failed = len(re.findall(r'"compilation_metrics": .*"fail_type": "', text))
    assert int((trace.compiles.exit_status == 1).sum()) == failed


@pytest.mark.parametrize("chunk_bytes", [1 << 14, 1 << 17])
@pytest.mark.parametrize("group", ["chrome_trace", "accel_other", "viztracer"])
def test_where_a_file_is_cut_into_pieces_changes_nothing(
    group: str, chunk_bytes: int, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [name for name in FILES if name.startswith(group) and name not in NAMED and not name.endswith(".gz")]
    names = [name for name in names if "T098" not in name]  # damaged: how its mended arguments are spaced may differ
    whole = {name: load_file(corpus / name) for name in names}
    monkeypatch.setattr("trace_format.importers.trace_event_json.events.CHUNK_BYTES", chunk_bytes)
    for name in names:
        assert not differences(load_file(corpus / name), whole[name]), name
