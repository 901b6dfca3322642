"""The part of the details about a slice's operation: how long all its slices took, and those of the other ranks."""

from __future__ import annotations

from typing import Any, Final

from dash import html

from explorer_app import format as fmt
from neuron_profile import analysis
from trace_format import Trace

_TALLEST_PX: Final = 48


def distribution(trace: Trace, row: int) -> list[Any]:
    """A histogram of the durations of all slices of the same name with this one marked; nothing where it is alone."""
    found = analysis.duration_distribution(trace, row)
    if found.count < 2:
        return []
    if found.bin < 0:
        said = f"It did not finish; {fmt.counted(found.count, 'other call')} did."
    else:
        others = fmt.counted(found.count - 1, "other call")
        said = f"Longer than {fmt.ratio(found.longer_than_ratio)} of the {others}."
    tallest = int(found.counts.max())
    edges = found.edges_ns.tolist()
    bars = []
    for number, count in enumerate(found.counts.tolist()):
        span = f"{fmt.duration(edges[number])} to {fmt.duration(edges[number + 1])}"
        # a bin that is not empty is seen
        height = max(round(_TALLEST_PX * count / tallest), 2) if count else 0
        bars.append(
            html.Span(
                html.Span(style={"height": f"{height}px"}),
                title=f"{span}: {fmt.counted(count, 'call')}",
                className="np-timeline-own" if number == found.bin else None,
            )
        )
    scale = "bins of equal ratio" if found.is_log else ""
    ends = [html.Span(text) for text in (fmt.duration(found.least_ns), scale, fmt.duration(found.most_ns))]
    facts = [("Median", fmt.duration(found.median_ns)), ("95th percentile", fmt.duration(found.p95_ns))]
    return [
        html.H3("All calls of this operation"),
        html.P(said, className="np-timeline-said"),
        html.Div(bars, className="np-timeline-histogram", role="img", **{"aria-label": f"Durations. {said}"}),
        html.Div(ends, className="np-timeline-ends"),
        html.Dl([part for name, value in facts for part in (html.Dt(name), html.Dd(value))], className="np-facts"),
        html.Div([_go("Shortest", found.shortest), _go("Longest", found.longest)], className="np-timeline-both"),
    ]


def on_ranks(trace: Trace, row: int) -> list[Any]:
    """The same slice on each rank, where the trace holds several and the slice is on more than one."""
    found = analysis.same_on_ranks(trace, row)
    if len(found) < 2:
        return []
    where = f"in step {found.attrs['step']}" if found.attrs["step"] >= 0 else "in the trace"
    longest = max(int(found["dur_ns"].max()), 1)
    rows = []
    for one in found.to_dict("records"):
        took = fmt.duration(one["dur_ns"]) if one["dur_ns"] >= 0 else fmt.UNKNOWN
        skew = "this one" if one["slice"] == row else _later(one["skew_ns"])
        share = max(one["dur_ns"], 0) / longest
        bar = html.Span(html.Span(style={"width": f"{100 * share:.1f}%"}), className="np-bar")
        rows.append(
            html.Li(
                html.Button(
                    [html.Span(f"rank {one['rank']}"), bar, html.Span(took), html.Span(skew)],
                    className="np-timeline-rank",
                    **{"data-slice": str(one["slice"]), "aria-current": "true" if one["slice"] == row else "false"},
                )
            )
        )
    note = (
        f"Call {fmt.count(found.attrs['number'] + 1)} of this name {where}: on {len(found)} of "
        f"{fmt.counted(found.attrs['ranks'], 'rank')}. Starts are told by the clocks as they were recorded."
    )
    return [html.H3("On each rank"), html.Ol(rows), html.P(note, className="np-timeline-said np-dim")]


def _later(skew_ns: int) -> str:
    if not skew_ns:
        return "same start"
    return f"{fmt.duration(abs(skew_ns))} {'later' if skew_ns > 0 else 'earlier'}"


def _go(what: str, row: int) -> html.Button:
    return html.Button(f"{what} call", className="np-timeline-link", **{"data-slice": str(row)})
