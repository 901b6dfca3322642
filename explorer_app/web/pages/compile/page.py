"""The answer, the single numbers, and the cards of the Compile page."""

from __future__ import annotations

from typing import Any

import dash
from dash import html

from explorer_app import format as fmt
from explorer_app.web.card import figure
from explorer_app.web.grid import SELECT_KEY, SORT_KEY, lead_to_timeline, slice_of_row
from explorer_app.web.message import empty
from explorer_app.web.names import in_sentence
from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from explorer_app.web.pages.compile.by_step import steps_card
from explorer_app.web.pages.compile.causes import breaks_card, functions_card, misses_card
from explorer_app.web.pages.compile.every import GRID, every_card
from explorer_app.web.view import View, Views
from neuron_profile import analysis
from trace_format import Trace

_NO_COMPILES = (
    "Nothing was compiled in this window, or nothing recorded it. A capture with NeuronConfig has torch.compile's "
    "graphs, "
    "neuronx-cc processes and NEFF caches; of another program open torch.compile's log (TORCH_TRACE)."
)


def layout(view: View) -> Any:
    """What was compiled, by step, by function, and each compile."""
    trace = view.trace
    if once(analysis.compiles, trace).empty:
        return empty("No compiles", _NO_COMPILES)
    cards = [steps_card(view), functions_card(trace), misses_card(trace), breaks_card(view), every_card(trace)]
    return html.Div(
        [
            html.P(_answer(trace), className="np-answer"),
            html.Div(_figures(trace), className="np-figures"),
            html.Div([card for card in cards if card is not None], className="np-compile"),
        ]
    )


def register_callbacks(app: dash.Dash, views: Views) -> None:
    """Lead from a compile to its slice."""
    lead_to_timeline(app, views, GRID, _slice_of_row)


def _slice_of_row(view: View, row_id: str) -> int:
    return slice_of_row(view, once(analysis.compiles, view.trace), row_id)


def compiling_ns(trace: Trace) -> int:
    """The time in which something was compiled, whatever the step."""
    return int(once(analysis.compile_time_by_step, trace)["dur_ns"].sum())


def _answer(trace: Trace) -> list[Any]:
    frame, causes = once(analysis.compiles, trace), once(analysis.compile_causes, trace)
    counted = f"{fmt.counted(len(frame), 'compile')} of {fmt.counted(len(causes), 'function')}"
    words: list[Any] = [f"{counted} took {fmt.duration(compiling_ns(trace))}{_of_steps(trace)}. "]
    storms = causes[causes["is_storm"]]
    avoidable_ns = int(causes["recompile_ns"].sum())
    if len(storms):
        first = storms.iloc[0]
        words += [in_sentence(first["function"]), f" is compiled anew in {fmt.counted(int(first['steps']), 'step')}: "]
    if avoidable_ns:
        words.append(
            f"{fmt.counted(int(causes['recompiles'].sum()), 'recompile')} took {fmt.duration(avoidable_ns)}, which "
            "dynamic shapes or fixed inputs would save."
        )
    else:
        words.append("Nothing was compiled a second time.")
    return words


def _of_steps(trace: Trace) -> str:
    steps = once(analysis.steps, trace)
    if steps.empty or steps.attrs["found_by"] == "window":
        return ""
    charged = once(analysis.compile_time_by_step, trace)
    paid = int((charged["step"] >= 0).sum())
    return f", paid by {paid} of {fmt.counted(len(steps), 'step')}"


def _figures(trace: Trace) -> list[Any]:
    frame, causes = once(analysis.compiles, trace), once(analysis.compile_causes, trace)
    asked = frame[frame["cache"] != "unknown"]
    hits = int((asked["cache"] == "hit").sum())
    failed = int((frame["exit_status"] > 0).sum())
    breaks = once(analysis.graph_breaks, trace)
    busy_ns = compiling_ns(trace)
    again = int(causes["recompiles"].sum())
    return [
        figure("Compiling", fmt.duration(busy_ns), exact=fmt.exact(busy_ns, "ns"), note="something was being compiled"),
        figure("Compiles", fmt.count(len(frame)), note=f"{fmt.count(failed)} failed" if failed else "none failed"),
        figure("Recompiles", fmt.count(again), note=f"{fmt.duration(int(causes['recompile_ns'].sum()))} for them"),
        figure("Cache hits", f"{hits} of {len(asked)}" if len(asked) else fmt.UNKNOWN,
               note="of compiles that asked a cache" if len(asked) else "no cache was asked"),
        figure("Graph breaks", fmt.count(int(breaks["count"].sum())), note=f"at {fmt.counted(len(breaks), 'line')}"),
    ]  # fmt: skip


PAGE = Page(
    path="/compile",
    name="Compile",
    question="What did compiling cost, and was it needed?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=(
        SELECT_KEY,
        ("Double click a row", "show the compile on the timeline"),
        SORT_KEY,
    ),
)
