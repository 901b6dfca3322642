"""The web application over the open traces."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import dash
import flask
from dash import Input, Output, ctx, no_update

from explorer_app.web import chart, security, shell, theme
from explorer_app.web.answers import register_answers
from explorer_app.web.library import Library
from explorer_app.web.notes.routes import register_notes
from explorer_app.web.pages import PAGES
from explorer_app.web.timeline.routes import register_routes
from explorer_app.web.view import VIEW, Views
from explorer_app.web.wsgi import bare_server
from trace_format import NeuronProfileError

_log = logging.getLogger(__name__)

# The scheme is chosen before the first paint by a script of its own, so that a dark page never flashes white.
_FIRST_SCRIPT = "np_first.js"
_INDEX = """<!DOCTYPE html>
<html lang="en">
    <head>
        {%metas%}
        <title>{%title%}</title>
        <link rel="icon" type="image/svg+xml" href="/assets/np_mark.svg">
        <style>THEME</style>
        <script src="/assets/FIRST"></script>
        {%css%}
    </head>
    <body>
        <noscript>The explorer needs JavaScript.</noscript>
        {%app_entry%}
        <footer>
            {%config%}
            {%scripts%}
            {%renderer%}
        </footer>
    </body>
</html>"""


def create_app(library: Library) -> dash.Dash:
    """The application that shows the traces of `library`, the first where an address names none.

    Everything it needs is served from this machine. See `explorer_app.web.server` for serving it.
    """
    app = dash.Dash(
        "neuron_explorer",
        server=bare_server("neuron_explorer"),
        title=shell.PRODUCT,  # Dash puts it into the page as it is; the browser adds the file's name, as text
        update_title="",
        assets_folder=str(Path(__file__).parent / "assets"),
        assets_ignore=_FIRST_SCRIPT.replace(".", r"\."),
        index_string=_INDEX.replace("THEME", theme.css()).replace("FIRST", _FIRST_SCRIPT),
        serve_locally=True,
        compress=False,
        enable_mcp=False,
        suppress_callback_exceptions=True,  # a page's components exist only while it is shown
        add_log_handler=False,
    )
    views = Views(library)
    app.layout = shell.layout(pages=PAGES)
    shell.register_callbacks(app, views)
    chart.register_painting(app)
    register_routes(app.server, library)
    register_notes(app.server, library)
    for page in PAGES:
        page.register_callbacks(app, views)
    _register_page_switch(app, views)
    _give_back_memory(app.server, library)
    security.protect(app.server, script_hashes=app.csp_hashes())
    register_answers(app.server, pages=[page.path for page in PAGES], callbacks=app.callback_map)
    return app


def _give_back_memory(server: flask.Flask, library: Library) -> None:
    """After each answer, what it looked at of traces that lie in files leaves memory again."""

    @server.after_request
    def release(response: flask.Response) -> flask.Response:
        for opened in library.all():
            opened.trace.release()
        return response


def _register_page_switch(app: dash.Dash, views: Views) -> None:
    pages = {page.path: page for page in PAGES}
    failures: Counter[str] = Counter()

    @app.callback(
        Output("np-page", "children"),
        Input("np-url", "pathname"),
        Input("np-trace", "data"),
        Input("np-span", "data"),
        VIEW,
        running=[
            (Output("np-busy", "hidden"), False, True),
            (Output("np-page", "className"), "np-host np-stale", "np-host"),
        ],
    )
    def show_page(path: Any, _trace: Any, _span: Any, asked: Any) -> Any:
        if not isinstance(path, str | None):
            flask.abort(400, "the path of a page is text")
        page = pages.get((path or "/").rstrip("/") or "/")
        if page is None:
            return shell.page_not_found(path or "/", PAGES)
        if page.shows_whole and set(ctx.triggered_prop_ids) == {"np-span.data"}:
            return no_update
        try:
            return shell.page_in_shell(page, page.layout(views.of(asked)))
        except NeuronProfileError as error:
            return shell.page_failed(page, str(error))
        except Exception:  # noqa: BLE001 - the boundary of a web request: one page fails, the others stay
            failures[page.path] += 1
            if failures[page.path] == 1:
                _log.exception("the page %s could not be shown", page.path)
            return shell.page_failed(
                page,
                f"{page.name} could not be worked out: this is a bug. What happened is in the log of the terminal "
                "that serves this page; please report it with that log.",
            )
