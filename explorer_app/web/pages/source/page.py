"""The answer and the cards of the Source page."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs

import dash
from dash import Input, Output, State, dcc, html, no_update

from explorer_app import format as fmt
from explorer_app.web.grid import SORT_KEY, row_id
from explorer_app.web.links import page_href
from explorer_app.web.message import empty
from explorer_app.web.names import in_sentence, label
from explorer_app.web.numbers import once
from explorer_app.web.page import Page
from explorer_app.web.pages.source.files import PATH, files_card, files_of, short
from explorer_app.web.pages.source.lines import GRID, lines_card
from explorer_app.web.pages.source.slices import slices_card
from explorer_app.web.recording_advice import advice
from explorer_app.web.sources import SourceText, source_text
from explorer_app.web.view import VIEW, View, Views
from neuron_profile import analysis

_MOST_DIGITS: Final = 9
_NOT_OWN: Final = (
    "What was recorded ran in no code of your own: only in torch, in Python itself or in installed packages."
)


def layout(view: View) -> Any:
    """The line that takes most time, the files, and a place for the file that the address names (`?file=…&line=…`)."""
    lines = once(analysis.source_lines, view.trace)
    if lines.empty:
        return empty("No source lines", advice(view.trace, "source lines") if "why" in lines.attrs else _NOT_OWN)
    return html.Div(
        [html.P(_answer(view), className="np-answer"),
         html.Div(html.P("Reading the file…", className="np-dim", role="status"), id="np-source"),
         dcc.Store(id="np-source-file")]
    )  # fmt: skip


def register_callbacks(app: dash.Dash, views: Views) -> None:
    """Show the file that the address names, and the slices of the line that is chosen in it."""

    @app.callback(
        Output("np-source", "children"), Output("np-source-file", "data"), Input("np-url", "search"),
        State("np-url", "pathname"), VIEW,
    )  # fmt: skip
    def show(search: Any, path: Any, asked: Any) -> Any:
        if not isinstance(path, str) or path.rstrip("/") != PATH:
            return no_update, no_update
        view = views.of(asked)
        if once(analysis.source_lines, view.trace).empty:
            return no_update, no_update
        file, line = asked_for(view, search if isinstance(search, str) else "")
        return of_file(view, file, source_text(app.server, view.whole, file), line), file

    @app.callback(
        Output("np-source-slices", "children"), Input(GRID, "selectedRows"), State("np-source-file", "data"), VIEW,
        prevent_initial_call=True,
    )  # fmt: skip
    def tell(chosen: Any, file: Any, asked: Any) -> Any:
        if not (isinstance(chosen, list) and chosen and isinstance(file, str)):
            return no_update
        return slices_card(views.of(asked), file, _line(row_id(chosen[0], "id")))


def asked_for(view: View, search: str) -> tuple[str, int]:
    """The file and line that an address names; without them the file with most time, and its line with most."""
    given = parse_qs(search.removeprefix("?"))
    lines = once(analysis.source_lines, view.trace)
    file = given.get("file", [""])[0] or str(files_of(view.trace)["file"].iloc[0])
    line = _line(given.get("line", [""])[0])
    mine = lines[lines["file"] == file]
    return file, line if line > 0 or mine.empty else int(mine["line"].iloc[0])


def of_file(view: View, file: str, source: SourceText, line: int) -> html.Div:
    """The files, the lines of one, and the slices of a line of it."""
    return html.Div(
        [
            files_card(view, file),
            lines_card(view, file, source, line),
            html.Div(slices_card(view, file, line), id="np-source-slices"),
        ],
        className="np-source",
    )


def _line(text: str) -> int:
    """A number of a line, -1 for none."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS else -1


def _answer(view: View) -> list[Any]:
    lines = once(analysis.source_lines, view.trace)
    words: list[Any] = []
    for side, column, whole_ns in (
        ("device", "device_ns", lines.attrs["device_self_ns"]), ("host", "self_ns", lines.attrs["host_self_ns"]),
    ):  # fmt: skip
        first = lines.iloc[int(lines[column].to_numpy().argmax())]
        if not first[column]:
            continue
        href = page_href(view, PATH, file=first["file"], line=int(first["line"]))
        words += [
            f"On the {side}: ",
            dcc.Link(in_sentence(f"{short(first['file'])}:{first['line']}"), href=href),
            f" ({label(first['function'], longest=40)}), {fmt.duration(first[column])}, ",
            f"{fmt.ratio(first[column] / whole_ns)} of the {side}'s time. ",
        ]
    unknown_ns = lines.attrs["unknown_ns"]
    if unknown_ns:
        words.append(f"{fmt.duration(unknown_ns)} belong to no line of your own.")
    return words


PAGE = Page(
    path=PATH,
    name="Source",
    question="Which line?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=(
        ("Click a file", "show its lines"),
        ("Click a line", "show its slices"),
        ("Click a slice", "show it on the timeline"),
        SORT_KEY,
    ),
)
