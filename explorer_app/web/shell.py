"""What surrounds every page: header, navigation, banners, key help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash
import dash_mantine_components as dmc
from dash import ALL, ClientsideFunction, Input, Output, State, dcc, html

from explorer_app import format as fmt
from explorer_app.simulation_text import simulation_text
from explorer_app.web import subject, theme
from explorer_app.web.library import NotOpenError
from explorer_app.web.message import banner
from explorer_app.web.names import LONGEST_LABEL, label, named, tooltip
from explorer_app.web.page import Page
from explorer_app.web.view import Views
from trace_format import Trace

PRODUCT = "Neuron Explorer"
# What the address says (see `view`): all of it for callbacks, and its parts for what follows only one of them.
_STORES = ("np-view", "np-trace", "np-span", "np-about")

_KEYS_EVERYWHERE = (
    ("?", "show or hide this list"),
    ("Esc", "back out one level"),
    ("1 – 9", "go to a page, in the order of the navigation"),
)


def layout(*, pages: Sequence[Page]) -> Any:
    """The application around its pages; page, banners and chip are put into it as the address says."""
    main = dmc.AppShellMain(
        [
            # what assets/np_connection.js tells where the server does not answer
            html.Div(html.P(), id="np-lost", className="np-banner np-error", role="alert", hidden=True),
            html.Div(id="np-banners"),
            html.P(id="np-busy", className="np-busy", hidden=True, role="status"),
            html.Div(id="np-page", className="np-host"),
        ],
        id="np-main",
    )
    return dmc.MantineProvider(
        [
            dcc.Location(id="np-url", refresh="callback-nav"),
            dcc.Store(id="np-scheme"),
            *(dcc.Store(id=name) for name in _STORES),
            dcc.Store(id="np-pages", data=[{"path": page.path, "name": page.name} for page in pages]),
            dmc.AppShell(
                [dmc.AppShellHeader(_header(pages)), main],
                header={"height": 48},
                padding=0,
                transitionDuration=0,
            ),
            _key_help(pages),
            _opening(),
        ],
        defaultColorScheme="auto",
        theme={"fontFamily": theme.FONT, "fontFamilyMonospace": theme.MONO, "defaultRadius": "sm"},
    )


def page_in_shell(page: Page, content: Any) -> html.Div:
    """A page's heading and content."""
    classes = "np-page np-fill" if page.fills_height else "np-page"
    return html.Div([html.H1(page.question, id="np-question"), content], className=classes)


def page_not_found(path: str, pages: Sequence[Page]) -> html.Div:
    """What is shown under an address that no page has."""
    links = [part for page in pages for part in (dcc.Link(page.name, href=page.path), " ")]
    return html.Div(
        [html.H1("There is no such page"), html.P([f"Nothing is at {label(path)}. The pages are: ", *links])],
        className="np-page",
    )


def page_failed(page: Page, message: str) -> html.Div:
    """What is shown in place of a page that could not be worked out."""
    return html.Div([html.H1(page.question), banner(message, severity="error")], className="np-page")


def register_callbacks(app: dash.Dash, views: Views) -> None:
    """Read from the address what is being looked at, say so in the chip, and mark the page in the navigation."""
    app.clientside_callback(
        ClientsideFunction("np", "look"),
        Output("np-view", "data"),
        Output("np-trace", "data"),
        Output("np-span", "data"),
        Output({"np": "nav", "path": ALL}, "href"),
        Input("np-url", "search"),
        State("np-view", "data"),
        State({"np": "nav", "path": ALL}, "id"),
    )
    app.clientside_callback(
        ClientsideFunction("np", "arrive"),
        Output("np-busy", "children"),
        Input("np-url", "pathname"),
        Input("np-url", "hash"),
        Input("np-about", "data"),
        State("np-pages", "data"),
    )
    app.clientside_callback(
        ClientsideFunction("np", "tellSpan"),
        Output("np-range", "children"),
        Output("np-range-clear", "hidden"),
        Input("np-url", "pathname"),
        Input("np-span", "data"),
        Input("np-about", "data"),
    )

    @app.callback(
        Output("np-about", "data"),
        Output("np-file", "children"),
        Output("np-ranks", "children"),
        Output("np-banners", "children"),
        Input("np-trace", "data"),
    )
    def tell_subject(key: Any) -> tuple[Any, ...]:
        try:
            opened = views.of({"trace": key}).opened
        except NotOpenError as error:
            return (
                {"title": PRODUCT, "range": "", "start": None},
                "nothing open",
                None,
                banner(str(error), severity="error"),
            )
        trace, title = opened.trace, opened.title
        about = {
            "title": f"{named(title)} – {PRODUCT}",
            "range": subject.whole_range(trace),
            "start": None if trace.time_range_ns is None else str(trace.time_range_ns[0]),
        }
        return about, html.B(named(title), title=tooltip(title)), subject.ranks(trace) or None, banners(trace)


def _header(pages: Sequence[Page]) -> html.Div:
    about = [
        html.Span(id="np-file"),
        html.Button("▾", id="np-open-button", title="Open another trace", **{"aria-label": "Open another trace"}),
        html.Span(id="np-ranks"),
        html.Span(id="np-range"),
        html.Button("×", id="np-range-clear", className="np-chip-clear", hidden=True,
                    title="Look at the whole trace (Esc)", **{"aria-label": "Look at the whole trace"}),
    ]  # fmt: skip
    return html.Div(
        [
            html.Div([html.Span(className="np-mark"), PRODUCT], className="np-product"),
            html.Div(about, className="np-chip", role="note", **{"aria-label": "What is being looked at"}),
            html.Nav(
                [
                    dcc.Link(page.name, href=page.path, id={"np": "nav", "path": page.path}, className="np-nav-link")
                    for page in pages
                ],
                className="np-nav",
                **{"aria-label": "Pages"},
            ),
            html.Div(
                [
                    html.Button("?", id="np-keys-open", className="np-button", title="Keys (?)",
                                **{"aria-label": "Show the keys"}),
                    dmc.ColorSchemeToggle(
                        lightIcon=html.Span(className="np-icon np-sun"),
                        darkIcon=html.Span(className="np-icon np-moon"),
                        variant="subtle", className="np-button", **{"aria-label": "Switch between light and dark"},
                    ),
                ],
                className="np-tools",
            ),
        ],
        className="np-header",
    )  # fmt: skip


def banners(trace: Trace) -> list[Any]:
    out = []
    report = trace.report
    left_out, repaired = report.left_out.total(), report.repaired.total()
    if left_out or repaired:
        said = [f"{fmt.count(n)} {verb}" for n, verb in ((left_out, "left out"), (repaired, "repaired")) if n]
        words = f"Of the file's {fmt.counted(report.source_events, 'event')}, {' and '.join(said)}. "
        out.append(banner(words, dcc.Link("What and why", href="/#import")))
    if subject.is_simulated(trace):
        what = simulation_text(trace.metadata) or "they come from a model of the device"
        out.append(banner(label(f"Parts of this trace are simulated, not measured: {what}.", longest=LONGEST_LABEL)))
    return out


def _opening() -> html.Dialog:
    """The dialog in which another trace is opened; the browser fills it (assets/np_open.js)."""
    close = html.Button("Close", id="np-open-close", className="np-button")
    head = html.Div([html.H2("Open a trace"), close], className="np-card-head")
    return html.Dialog([head, html.Div(id="np-open-body")], id="np-open", className="np-open")


def _key_help(pages: Sequence[Page]) -> html.Dialog:
    """The keys of every page; the browser shows those of the page it is on, and those that work everywhere."""
    groups = [("", "Everywhere", _KEYS_EVERYWHERE), *((page.path, page.name, page.keys) for page in pages if page.keys)]
    body: list[Any] = []
    for path, name, keys in groups:
        rows = [part for key, what in keys for part in (html.Dt(html.Kbd(key)), html.Dd(what))]
        body.append(html.Section([html.H3(name), html.Dl(rows, className="np-key-list")], **{"data-page": path}))
    close = html.Button("Close", id="np-keys-close", className="np-button")
    return html.Dialog(
        [html.Div([html.H2("Keys"), close], className="np-card-head"), *body],
        id="np-keys",
        className="np-keys",
    )
