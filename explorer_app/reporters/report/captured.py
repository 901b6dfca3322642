"""The sections that say what was captured, and what the import left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from explorer_app import format as fmt
from explorer_app.reporters.import_report import sentence
from explorer_app.reporters.report.markup import Content, Markup, element, lines, named
from explorer_app.reporters.report.parts import facts, section, table
from explorer_app.simulation_text import simulation_text
from neuron_profile.analysis import Summary
from trace_format import ImportReport, Trace

_MOST_METADATA: Final = 20_000  # characters; some sources put whole files there


def captured(trace: Trace, summary: Summary) -> Markup:
    """Where, when and by what it was recorded; all else that the trace tells of itself is behind a fold."""
    metadata = summary.metadata
    sources = [source for source in metadata.get("sources") or [] if isinstance(source, Mapping)]
    ranks = sorted({rank for rank in trace.tracks.rank.tolist() if rank >= 0})
    rank, world_size = ranks[0] if ranks else metadata.get("rank"), metadata.get("world_size")
    alone = f"rank {rank} of {world_size}" if rank is not None and world_size is not None else rank
    window = summary.window_ns
    pairs: list[tuple[str, Content]] = [
        ("Host", _text(metadata.get("host"))),
        ("Process", _text(metadata.get("pid"))),
        ("Ranks", f"{len(ranks)} ranks" if len(ranks) > 1 else _text(alone)),
        ("Device", _text(metadata.get("device_model"))),
        ("Measured", "nothing" if window is None else fmt.duration(window[1] - window[0])),
        ("Slices", f"{fmt.count(len(trace.slices))} on {fmt.counted(len(trace.tracks), 'track')}"),
        ("Recorded by", _text(metadata.get("created_by") or next((s.get("producer") for s in sources), None))),
        *(("Source", _source(source)) for source in sources[:8]),
    ]
    if trace.tracks.simulated.any():
        pairs.append(("Simulated", f"the estimated device: {simulation_text(metadata) or 'its settings are not told'}"))
    everything = json.dumps(dict(metadata), indent=2, default=str, ensure_ascii=False)
    left = len(everything) - _MOST_METADATA
    cut = f"\n… and {fmt.count(left)} characters more" if left > 0 else ""
    whole = element("pre", lines(f"{everything[:_MOST_METADATA]}{cut}"))
    return section("What was captured", facts(pairs), element("details", element("summary", "All metadata"), whole))


def imported(report: ImportReport) -> Markup:
    """What the import kept, left out and repaired, cause by cause."""
    rows: list[tuple[Content, ...]] = [
        (named(cause), what, fmt.count(number))
        for what, causes in (("left out", report.left_out), ("repaired", report.repaired))
        for cause, number in (+causes).most_common()
    ]
    content = [element("p", f"{sentence(report).capitalize()}.")]
    if rows:
        content.append(
            table((("Cause", "wide"), ("What", "text"), ("Events", "number")), rows, "Left out and repaired")
        )
    return section("What the import did", *content)


def banners(trace: Trace, report: ImportReport) -> list[Markup]:
    """What a reader must know before the first number: losses, and numbers that were never measured."""
    out = []
    lost = sum((+report.left_out).values())
    if lost:
        out.append(f"The import left out {fmt.count(lost)} of {fmt.count(report.source_events)} events; see the end.")
    if trace.tracks.simulated.any():
        out.append(
            "Tracks marked “sim.” are an estimate of a device that did not take part; no measured number has them."
        )
    return [element("p", text, _class="banner") for text in out]


def _text(value: Any) -> Markup:
    return named(fmt.UNKNOWN if value in (None, "", -1) else str(value))


def _source(source: Mapping[str, Any]) -> Markup:
    parts = [str(source.get("format") or "unknown format")]
    parts += [f"from {source['producer']}"] if source.get("producer") else []
    return named(", ".join([*parts, f"{source.get('clock') or 'unknown'} clock"]))
