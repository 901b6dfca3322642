"""What surrounds every page: header, navigation, banners, key help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash
import dash_mantine_components as dmc
from dash import ClientsideFunction, Input, Output, State, dcc, html

from explorer_app import format as fmt
from explorer_app.simulation_text import simulation_text
from explorer_app.web import subject, theme
from explorer_app.web.message import banner
from explorer_app.web.names import LONGEST_LABEL, label, named, tooltip
from explorer_app.web.page import Page
from trace_format import Trace

PRODUCT = "Neuron Explorer"

_KEYS_EVERYWHERE = (
    ("?", "show or hide this list"),
    ("Esc", "back out one level"),
    ("1 – 9", "go to a page, in the order of the navigation"),
)


def layout(trace: Trace, *, title: str, pages: Sequence[Page]) -> Any:
    """The application around its pages; the page itself is put into `np-page` as the address says."""
    main = dmc.AppShellMain(
        [
            *_banners(trace),
            html.P(id="np-busy", className="np-busy", hidden=True, role="status"),
            html.Div(id="np-page", className="np-host"),
        ],
        id="np-main",
    )
    return dmc.MantineProvider(
        [
            dcc.Location(id="np-url", refresh="callback-nav"),
            dcc.Store(id="np-scheme"),
            dcc.Store(id="np-about", data=_about(trace, title=title, pages=pages)),
            dmc.AppShell(
                [dmc.AppShellHeader(_header(trace, title=title, pages=pages)), main],
                header={"height": 48},
                padding=0,
                transitionDuration=0,
            ),
            _key_help(pages),
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


def register_callbacks(app: dash.Dash) -> None:
    """Mark the current page in the navigation and name it in the window's title."""
    app.clientside_callback(
        ClientsideFunction("np", "arrive"),
        Output("np-busy", "children"),
        Output("np-range", "children"),
        Input("np-url", "pathname"),
        Input("np-url", "hash"),
        State("np-about", "data"),
    )


def _about(trace: Trace, *, title: str, pages: Sequence[Page]) -> dict[str, Any]:
    """What the browser's part of the shell has to know."""
    return {
        "title": f"{named(title)} – {PRODUCT}",
        "range": subject.whole_range(trace),
        "pages": [{"path": page.path, "name": page.name} for page in pages],
    }


def _header(trace: Trace, *, title: str, pages: Sequence[Page]) -> html.Div:
    about = [part for part in (html.B(named(title), title=tooltip(title)), _part(subject.ranks(trace))) if part]
    about.append(html.Span(subject.whole_range(trace), id="np-range"))
    return html.Div(
        [
            html.Div([html.Span(className="np-mark"), PRODUCT], className="np-product"),
            html.Div(about, className="np-chip", role="note", **{"aria-label": "What is being looked at"}),
            html.Nav(
                [dcc.Link(page.name, href=page.path, className="np-nav-link") for page in pages],
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


def _part(text: str) -> Any:
    return html.Span(text) if text else None


def _banners(trace: Trace) -> list[Any]:
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
