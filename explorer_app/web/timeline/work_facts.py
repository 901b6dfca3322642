"""The part of the details about what a slice did: bytes, FLOPs, rates, what the device could do, its collective."""

from __future__ import annotations

import math
from typing import Any, Final

from dash import dcc, html

from explorer_app import format as fmt
from explorer_app.web.links import page_href
from explorer_app.web.names import label, named
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis import SliceWork

Facts = list[tuple[str, Any]]

_RECORDED: Final = "recorded"
_MEMORY_PATH: Final = "/memory"
_COLLECTIVES_PATH: Final = "/collectives"
_FROM_SHAPES: Final = "Worked out from the shapes of its operator's arguments, this slice's part by time"


def work(view: View, details: dict[str, Any]) -> tuple[Facts, list[Any]]:
    """What a slice of the whole trace did, as facts, and links to its operator and to the page that tells more."""
    found = analysis.slice_work(view.whole, details["id"])
    facts = _facts(details, found)
    out: list[Any] = []
    if found and found.operator >= 0 and found.operator != details["id"]:
        out.append(_launched_by(view, found.operator))
    if any(name == "Bytes" for name, _ in facts):
        out.append(_more(view, "Memory", _MEMORY_PATH))
    return facts, out


def collective(view: View, details: dict[str, Any]) -> tuple[Facts, list[Any]]:
    """What is worked out of the collective of a slice, and a link to the page that tells more; nothing without one."""
    found = analysis.slice_collective(view.whole, details["id"])
    if found is None:
        return [], []
    facts: Facts = [("Operation", label(found.op)), ("Message", _size(found.message_bytes))]
    if found.ranks > 0:
        facts.append(("Ranks", fmt.count(found.ranks)))
    why = "Message over the shortest of the ranks' parts, which waited least, times the factor of nccl-tests"
    rate = found.busbw_bytes_per_s
    facts.append(("Bus bandwidth", fmt.UNKNOWN if math.isnan(rate) else html.Span(fmt.bandwidth(rate), title=why)))
    for name, ns in (("Waiting", found.wait_ns), ("Exposed", found.exposed_ns)):
        facts.append((name, html.Span(fmt.duration(ns), title=fmt.exact(ns, "ns")) if ns >= 0 else fmt.UNKNOWN))
    return facts, [_more(view, "Collectives", _COLLECTIVES_PATH)]


def _facts(details: dict[str, Any], found: SliceWork | None) -> Facts:
    size, flops, dur = details["bytes"], details["flops"], details["dur"]
    size_est = flops_est = False
    if found and size is None and not math.isnan(found.bytes):
        size, size_est = found.bytes, found.bytes_source != _RECORDED
    if found and flops is None and not math.isnan(found.flops):
        flops, flops_est = found.flops, found.flops_source != _RECORDED
    facts: Facts = []
    if size is not None:
        facts.append(("Bytes", _told(fmt.size(round(size)), fmt.exact(round(size), "bytes"), estimated=size_est)))
        if dur:
            rate = size / dur * 1e9
            peak = found.peak_bytes_per_s if found else math.nan
            facts += _rate("Bandwidth", fmt.bandwidth, rate, "bytes/s", peak, found, estimated=size_est)
    if flops is not None:
        facts.append(("Operations", _told(fmt.flops(flops), fmt.exact(flops, "FLOP"), estimated=flops_est)))
        if dur:
            rate = flops / dur * 1e9
            peak = found.peak_flops_per_s if found else math.nan
            facts += _rate("Rate", fmt.flop_rate, rate, "FLOP/s", peak, found, estimated=flops_est)
    return facts


def _rate(
    name: str, show: Any, rate: float, unit: str, peak: float, found: SliceWork | None, *, estimated: bool
) -> Facts:
    facts: Facts = [(name, _told(show(rate), fmt.exact(rate, unit), estimated=estimated))]
    if found and peak > 0:
        of_type = f"{found.dtype} " if unit == "FLOP/s" else ""
        words = f"{fmt.ratio(rate / peak)} of {show(peak)} {of_type}".strip()
        facts.append((f"{name} of peak", html.Span(f"{words} ({label(found.peak_source)})")))
    return facts


def _told(text: str, exact: str, *, estimated: bool) -> html.Span:
    return html.Span(f"{text} est." if estimated else text, title=f"{exact}. {_FROM_SHAPES}" if estimated else exact)


def _size(nbytes: int) -> Any:
    return html.Span(fmt.size(nbytes), title=fmt.exact(nbytes, "bytes")) if nbytes >= 0 else fmt.UNKNOWN


def _launched_by(view: View, row: int) -> html.Button:
    name = named(view.whole.pool.strings[int(view.whole.slices.name[row])])
    return html.Button(["launched by ", html.B(name)], className="np-timeline-link", **{"data-slice": str(row)})


def _more(view: View, name: str, path: str) -> dcc.Link:
    return dcc.Link(f"More on {name}", href=page_href(view, path), className="np-timeline-link")
