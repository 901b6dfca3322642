"""The answer, the single numbers, and the cards of the Collectives page."""

from __future__ import annotations

import math
from typing import Any, Final

import dash
from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import figure
from explorer_app.web.grid import SELECT_KEY, SORT_KEY, lead_to_timeline, slice_of_row
from explorer_app.web.message import empty
from explorer_app.web.names import in_sentence
from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from explorer_app.web.pages.collectives.by_size import scatter_card, strip_card
from explorer_app.web.pages.collectives.every import GRID, every_card
from explorer_app.web.pages.collectives.kinds import kind_text
from explorer_app.web.pages.collectives.ranks import heat_card, ranks_card
from explorer_app.web.recording_advice import advice
from explorer_app.web.view import View, Views
from neuron_profile import analysis
from trace_format import Trace

_NOT_RECORDED: Final = (
    "No collective was recorded in this window. Collectives come with the kernels of NCCL, with torch's "
    "record_param_comms and with a capture by NeuronConfig of a job that uses torch.distributed."
)
_NOT_TIMED: Final = "How long they took is not known: only the calls on the host were recorded."


def layout(view: View) -> Any:
    """What collectives cost a step, which kinds do, and which rank the others wait for."""
    trace = view.trace
    if once(analysis.collective_spans, trace).empty:
        world = trace.metadata.get("world_size")
        several = isinstance(world, int) and world > 1
        return empty("No collectives", _NOT_RECORDED if several or view.range_ns else advice(trace, "ranks"))
    cards = [
        every_card(trace), scatter_card(view), strip_card(view), heat_card(view), ranks_card(trace),
    ]  # fmt: skip
    return html.Div(
        [
            html.P(_answer(trace), className="np-answer"),
            html.Div(_figures(trace), className="np-figures"),
            html.Div([card for card in cards if card is not None], className="np-collectives"),
        ]
    )


def register_callbacks(app: dash.Dash, views: Views) -> None:
    """Lead from a row to the longest of its slices."""
    lead_to_timeline(app, views, GRID, _slice_of_row)


def _slice_of_row(view: View, row_id: str) -> int:
    return slice_of_row(view, once(analysis.collectives, view.trace), row_id)


def _answer(trace: Trace) -> list[Any]:
    kinds = once(analysis.exposed_collectives, trace)
    words: list[Any] = []
    if not kinds.attrs["timed"]:
        words.append(f"{fmt.counted(_made(trace), 'collective')}. {_NOT_TIMED} ")
    elif len(kinds):
        first, every = kinds.iloc[0], f"in {_step_words(kinds)}"
        if first["exposed_ns"] > 0:
            words += [
                in_sentence(kind_text(first["op"], int(first["message_bytes"]))),
                f" costs most: {fmt.duration(first['exposed_ns'])} {every} in which nothing is computed, ",
                f"of {fmt.duration(first['total_ns'])} that it takes. ",
            ]
            if len(kinds) > 1:
                words.append(f"All together {fmt.duration(kinds['exposed_ns'].sum())} are exposed. ")
        else:
            words.append(f"Every collective is hidden under compute: {fmt.duration(kinds['total_ns'].sum())} {every}. ")
    late = once(analysis.collective_skew, trace).straggler
    if late is not None:
        words.append(
            f"The others wait for rank {late.rank}: {fmt.duration(late.wait_ns)} each in all, as it came last to "
            f"{fmt.count(late.times_last)} of {fmt.counted(late.collectives, 'collective')}"
        )
        if late.after:
            words += [", having spent more time in ", in_sentence(late.after)]
        words.append(".")
    return words


def _step_words(kinds: Any) -> str:
    return "the window of a rank" if kinds.attrs["found_by"] == "window" else "a step"


def _made(trace: Trace) -> int:
    return int(once(analysis.collective_spans, trace)["collective"].nunique())


def _figures(trace: Trace) -> list[Any]:
    kinds, frame = once(analysis.exposed_collectives, trace), once(analysis.collectives, trace)
    skew = once(analysis.collective_skew, trace)
    exposed_ns, total_ns = float(kinds["exposed_ns"].sum()), float(kinds["total_ns"].sum())
    timed = kinds.attrs["timed"]
    busbw, linked = frame["busbw_bytes_per_s"].max(), frame["link_ratio"].max()
    late, outliers = skew.straggler, int(frame["outliers"].sum())
    per = "a window" if kinds.attrs["found_by"] == "window" else "a step"
    return [
        figure(f"Exposed in {per}", fmt.duration(exposed_ns) if timed else fmt.UNKNOWN,
               exact=fmt.exact(exposed_ns, "ns"), note=f"mean of {fmt.counted(kinds.attrs['steps'], per[2:])}"),
        figure("Under compute", fmt.ratio(1 - exposed_ns / total_ns) if timed and total_ns else fmt.UNKNOWN,
               note=f"of {fmt.duration(total_ns)} in {per}" if timed else ""),
        figure("Collectives", fmt.count(_made(trace)),
               note=f"{fmt.counted(outliers, 'outlier')}, in {fmt.counted(len(kinds), 'kind')}"),
        figure("Largest bus bandwidth", fmt.bandwidth(busbw), exact=fmt.exact(busbw, "B/s"),
               note="the link's rate is unknown" if math.isnan(linked) else f"at most {fmt.ratio(linked)} of the link"),
        figure("Waited for", f"rank {late.rank}" if late else fmt.UNKNOWN,
               note=f"{fmt.duration(late.wait_ns)} in all by each of the others" if late else _no_straggler(trace)),
    ]  # fmt: skip


def _no_straggler(trace: Trace) -> str:
    return "nobody" if len(once(analysis.collective_skew, trace).collectives) else "not all ranks are in this trace"


PAGE = Page(
    path="/collectives",
    name="Collectives",
    question="Which collective, which rank?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=(
        SELECT_KEY,
        ("Double click a row", "show the longest of them on the timeline"),
        ("Click a point", "show it on the timeline"),
        SORT_KEY,
    ),
)
