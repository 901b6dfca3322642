"""The card that says what was captured: where, when, how, from which sources."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.card import card, facts
from explorer_app.web.names import label, lines
from trace_format import Trace

# torch.profiler's settings, as its traces and our captures name them
_SETTINGS: Final = {
    "record_shapes": "shapes", "with_flops": "FLOPs", "profile_memory": "memory", "with_stack": "stacks",
    "with_modules": "modules",
}  # fmt: skip
_YEARS: Final = range(2000, 2100)  # outside these a "unix" clock is none


def captured_card(trace: Trace) -> Any:
    """Facts about the capture; all else that its metadata holds is behind a fold."""
    shown = [facts(captured_facts(trace))]
    if trace.metadata:
        everything = html.Pre(lines(json.dumps(dict(trace.metadata), indent=2, default=str, ensure_ascii=False)))
        shown.append(html.Details([html.Summary("All metadata"), everything], className="np-fold"))
    return card("What was captured", *shown, area="captured")


def captured_facts(trace: Trace) -> list[tuple[str, str]]:
    """What the trace says about where, when and how it was recorded, as (name, value); "–" where it does not say."""
    metadata, theirs = trace.metadata, _mapping(trace.metadata.get("source_metadata"))
    sources = [source for source in metadata.get("sources") or [] if isinstance(source, Mapping)]
    events = trace.report.source_events or len(trace.slices) + len(trace.instants)
    return [
        ("Host", _text(metadata.get("host") or theirs.get("host_name"))),
        ("Process", _text(metadata.get("pid"))),
        ("Ranks", subject.ranks(trace) or fmt.UNKNOWN),
        ("Device", _device(metadata, theirs)),
        ("PyTorch", _first(sources, "torch") or _text(theirs.get("pytorch_version"))),
        ("Started", _started(trace, sources)),
        ("Events", fmt.count(events)),
        ("Numbers", _measured_or_simulated(trace)),
        ("Recorded", _settings(_mapping(metadata.get("recording")), theirs)),
        ("Recorded by", _text(metadata.get("created_by") or _first(sources, "producer"))),
        *(("Source", _times(number, source)) for source, number in Counter(map(_source, sources)).items()),
    ]


def _measured_or_simulated(trace: Trace) -> str:
    """Whether what the trace holds was measured, worked out by a model of a device, or both."""
    if not len(trace.slices):
        return fmt.UNKNOWN
    simulated = trace.tracks.simulated[trace.slices.track]
    if not simulated.any():
        return "measured"
    return "simulated" if simulated.all() else "measured; those of the estimated device are simulated"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return fmt.UNKNOWN if value in (None, "", -1) else label(str(value))


def _first(sources: list[Mapping[str, Any]], key: str) -> str:
    return next((label(str(source[key])) for source in sources if source.get(key)), "")


def _device(metadata: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """The device that took part, and the one that was estimated."""
    simulated = _mapping(metadata.get("simulated")).get("generation")
    there = _text(metadata.get("device_model") or _devices(theirs.get("deviceProperties")))
    if not simulated:
        return there
    estimated = label(f"{simulated} NeuronCore (simulated)")
    return estimated if there == fmt.UNKNOWN else f"{there}; {estimated}"


def _devices(properties: Any) -> str:
    """ "8 × NVIDIA A100-SXM4-80GB" from Kineto's list of the machine's devices."""
    if not isinstance(properties, list):
        return ""
    names = Counter(str(_mapping(entry).get("name") or "unnamed device") for entry in properties)
    return ", ".join(_times(number, name) for name, number in names.items())


def _times(number: int, name: str) -> str:
    return f"{number} × {name}" if number > 1 else name


def _started(trace: Trace, sources: list[Mapping[str, Any]]) -> str:
    span = trace.time_range_ns
    if span is None or not any(source.get("clock") == "unix" for source in sources):
        return fmt.UNKNOWN
    seconds = span[0] // 10**9
    year = 1970 + seconds / (365.2425 * 86400)
    if int(year) not in _YEARS:
        return fmt.UNKNOWN
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _settings(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """The settings that were on, and which of them our capture turned on: "shapes, stacks; turned on here: shapes"."""
    asked, added = _mapping(ours.get("asked")), ours.get("turned_on") or ()
    on = [name for key, name in _SETTINGS.items() if key in added or asked.get(key) or theirs.get(key)]
    turned_on = ", ".join(name for key, name in _SETTINGS.items() if key in added)
    said = ", ".join(on) or fmt.UNKNOWN
    return f"{said}; turned on by the capture: {turned_on}" if turned_on else said


def _source(source: Mapping[str, Any]) -> str:
    parts = [str(source.get("format") or "unknown format")]
    if source.get("producer"):
        parts.append(f"from {source['producer']}")
    parts.append(f"{source.get('clock') or 'unknown'} clock")
    return label(", ".join(parts))
