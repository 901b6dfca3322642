"""The choice of the base, the answer, and the cards of the Compare page."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs

import dash
from dash import ClientsideFunction, Input, Output, State, dcc, html, no_update

from explorer_app import format as fmt
from explorer_app.comparison_text import interval, signed
from explorer_app.web.card import figure
from explorer_app.web.grid import row_id
from explorer_app.web.library import Library, NotOpenError, Opened
from explorer_app.web.links import page_href
from explorer_app.web.message import banner, empty
from explorer_app.web.names import label, named, tooltip
from explorer_app.web.page import Page
from explorer_app.web.pages.compare.operations import CHOSEN, GRID, NO_CHOICE, href_of, operations_card, told_of
from explorer_app.web.pages.compare.parts import parts_card
from explorer_app.web.pages.compare.sides import Sides
from explorer_app.web.pages.compare.timelines import CANVASES, timelines_card
from explorer_app.web.pages.compare.verdict import verdict
from explorer_app.web.view import VIEW, View, Views
from trace_format import NeuronProfileError

_PATH: Final = "/compare"
_LONGEST_TITLE: Final = 48
_NOTHING: Final = (
    "Choose a base above, open one, or start with one: neuron-explorer NEW --compare BASE. What changed from it to the "
    "trace that is shown, and whether that is more than noise, is then told here."
)


def layout(view: View) -> Any:
    """A place for the comparison with the base that the address names (`?base=KEY`)."""
    return html.Div(
        [html.Div(html.P("Comparing…", className="np-dim", role="status"), id="np-compare"),
         dcc.Store(id="np-compare-mounted")]
    )  # fmt: skip


def register_callbacks(app: dash.Dash, views: Views) -> None:
    """Compare with the base that the address names, lead from operations to slices, and start the timelines."""

    @app.callback(Output("np-compare", "children"), Input("np-url", "search"), State("np-url", "pathname"), VIEW)
    def show(search: Any, path: Any, asked: Any) -> Any:
        if not isinstance(path, str) or path.rstrip("/") != _PATH:
            return no_update
        view = views.of(asked)
        try:
            base = _base(views, search, view)
        except NotOpenError as error:
            return [choice(view, views.library, None), banner(str(error), severity="error")]
        if base is None:
            return [choice(view, views.library, None), empty("Nothing to compare with", _NOTHING)]
        return [choice(view, views.library, base.opened), *compared(Sides(base, view))]

    @app.callback(
        Output(CHOSEN, "children"), Input(GRID, "selectedRows"), State("np-url", "search"), VIEW,
        prevent_initial_call=True,
    )  # fmt: skip
    def tell(chosen: Any, search: Any, asked: Any) -> Any:
        view = views.of(asked)
        base = _base(views, search, view)
        if base is None or not (isinstance(chosen, list) and chosen):
            return NO_CHOICE
        return told_of(Sides(base, view), row_id(chosen[0], "id"))

    @app.callback(
        Output("np-url", "href", allow_duplicate=True), Input(GRID, "cellDoubleClicked"), State("np-url", "search"),
        VIEW, prevent_initial_call=True,
    )  # fmt: skip
    def go(clicked: Any, search: Any, asked: Any) -> Any:
        view = views.of(asked)
        base = _base(views, search, view)
        return (href_of(Sides(base, view), row_id(clicked, "rowId")) if base else "") or no_update

    app.clientside_callback(
        ClientsideFunction("npCompare", "mount"), Output("np-compare-mounted", "data"), Input(CANVASES, "id")
    )


def _base(views: Views, search: Any, view: View) -> View | None:
    """The whole trace that the address names as the base, None for none. Raises NotOpenError."""
    asked = parse_qs((search if isinstance(search, str) else "").removeprefix("?")).get("base", [""])[0]
    return views.of({"trace": asked}) if asked and asked != view.opened.key else None


def choice(view: View, library: Library, base: Opened | None) -> html.Div:
    """The open traces, each a link that makes it the base, and a button that opens another."""
    others = [each for each in library.all() if each is not view.opened]
    links = [
        html.Span(
            dcc.Link(named(each.title, longest=_LONGEST_TITLE), href=page_href(view, _PATH, base=each.key),
                     title=tooltip(each.title)),
            **{"aria-current": "true"} if each is base else {},
        )
        for each in others
    ]  # fmt: skip
    shown = html.Nav(links, className="np-switch", **{"aria-label": "What to compare with"}) if links else None
    swap = base and dcc.Link("swap", href=_swapped(library, view.opened, base), className="np-note")
    opening = html.Button("Open a base…", className="np-button", **{"data-open-as": "base"})
    return html.Div(["Base:", shown, opening, swap], className="np-compare-choice")


def _swapped(library: Library, shown: Opened, base: Opened) -> str:
    first = base is library.first
    return page_href(View(base, base.trace, is_first=first), _PATH, base=shown.key)


def compared(sides: Sides) -> list[Any]:
    """The answer, the single numbers and the cards; in words where the two cannot be compared."""
    try:
        comparison = sides.comparison
    except NeuronProfileError as error:
        return [empty("These two cannot be compared", label(str(error)))]
    ranged = sides.new.range_ns is not None
    notes = [*comparison.notes, *(["of the new trace only the chosen range is looked at"] if ranged else [])]
    return [
        html.P(verdict(comparison), className="np-answer"),
        html.Div(_figures(sides), className="np-figures"),
        *([html.P(f"Note: {label('; '.join(notes))}.", className="np-dim np-compare-note")] if notes else []),
        html.Div(
            [parts_card(sides), operations_card(sides), timelines_card(sides)], className="np-compare"
        ),
    ]  # fmt: skip


def _figures(sides: Sides) -> list[Any]:
    comparison = sides.comparison
    of, changed = comparison.step_time, comparison.operations
    sure = "real" if of.is_real else "may be noise"
    return [
        figure("Base", fmt.duration(of.base), exact=fmt.exact(of.base, "ns"),
               note=f"median of {fmt.counted(of.base_samples, 'step')}"),
        figure("New", fmt.duration(of.new), exact=fmt.exact(of.new, "ns"),
               note=f"median of {fmt.counted(of.new_samples, 'step')}"),
        figure("Change", signed(of.ratio) if of.difference else "none", exact=fmt.exact(of.difference, "ns"),
               note="too few steps to know their noise" if of.is_point else f"{sure}; 95 % interval {interval(of)}"),
        figure("Operations changed", fmt.count(len(changed)), note="by over 2 % of itself and 0.1 % of the step"),
    ]  # fmt: skip


PAGE = Page(
    path=_PATH,
    name="Compare",
    question="What changed, is it real?",
    layout=layout,
    register_callbacks=register_callbacks,
    keys=(
        ("Click a row", "see where it is in both traces"),
        ("Double click a row", "show its slowest call on the timeline"),
        ("W S, Ctrl + wheel", "zoom both timelines"),
        ("A D, drag", "move both"),
        ("Click a slice", "select it"),
    ),
)
