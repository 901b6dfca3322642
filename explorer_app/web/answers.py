"""What the server answers where a request cannot be met: one plain line with a true status, never a page of HTML."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import flask
from dash.exceptions import DependencyException
from werkzeug.exceptions import HTTPException

from explorer_app.web.library import NotOpenError
from explorer_app.web.names import label

_log = logging.getLogger(__name__)

_CALLBACKS: Final = "/_dash-update-component"
_MARK: Final = Path(__file__).parent / "assets" / "np_mark.svg"
_ANY_PATH: Final = "/<path:path>"  # Dash's route for everything that no other route takes
_NO_PAGES: Final = ("/_", "/assets/")
_LONGEST_PATH: Final = 200


def register_answers(server: flask.Flask, *, pages: Collection[str], callbacks: Mapping[str, Any]) -> None:
    """Answer what is not there with 404, what cannot be meant with 400, a failure with 500 and a line in the log.

    `pages` are the paths of the pages; any other path of the application shows that there is no such page. `callbacks`
    are Dash's, by the outputs that the browser may ask for.
    """
    failures: Counter[str] = Counter()

    @server.get("/favicon.ico")
    def favicon() -> flask.Response:
        return flask.send_file(_MARK, mimetype="image/svg+xml")

    @server.before_request
    def refuse_what_is_not_there() -> None:
        request = flask.request
        if request.path == _CALLBACKS and request.method == "POST" and not _is_callback(request, callbacks):
            flask.abort(400, "this is no request for a part of a page")
        rule = request.url_rule
        if rule is not None and rule.rule == _ANY_PATH and request.path.startswith(_NO_PAGES):
            flask.abort(404, _nothing_at(request))

    @server.after_request
    def tell_that_there_is_no_page(response: flask.Response) -> flask.Response:
        request = flask.request
        rule = request.url_rule
        is_page = (request.path.rstrip("/") or "/") in pages
        if rule is not None and rule.rule == _ANY_PATH and response.status_code == 200 and not is_page:
            response.status_code = 404
        return response

    @server.errorhandler(HTTPException)
    def refuse(error: HTTPException) -> flask.Response:
        return _line(error.code or 500, error.description or error.name)

    @server.errorhandler(DependencyException)
    def refuse_what_no_component_has(_: DependencyException) -> flask.Response:
        # Dash raises it for a file that none of its component libraries registered, and lists them all
        return _line(404, _nothing_at(flask.request))

    @server.errorhandler(NotOpenError)
    def refuse_what_is_not_open(error: NotOpenError) -> flask.Response:
        return _line(404, str(error))

    @server.errorhandler(Exception)
    def fail(error: Exception) -> flask.Response:
        # the boundary of a web request: one answer fails, the server stays
        where = str(flask.request.url_rule)
        failures[where] += 1
        if failures[where] == 1:
            _log.error("the request for %s could not be answered", where, exc_info=error)
        return _line(500, "this could not be worked out; what happened is in the log of the terminal that serves it")


def _nothing_at(request: flask.Request) -> str:
    return f"nothing is at {label(request.path, longest=_LONGEST_PATH)}"


def _line(status: int, text: str) -> flask.Response:
    return flask.Response(f"{' '.join(text.split())}\n", status=status, mimetype="text/plain")


def _is_callback(request: flask.Request, callbacks: Mapping[str, Any]) -> bool:
    """Whether the body has the parts of a callback request that Dash takes for granted."""
    body: Any = request.get_json(silent=True)
    return (
        isinstance(body, dict)
        and isinstance(body.get("output"), str)
        and body["output"] in callbacks
        and isinstance(body.get("outputs"), (dict, list))
        and _are_properties(body.get("inputs"), like=callbacks[body["output"]]["inputs"])
        and _are_properties(body.get("state", []), like=callbacks[body["output"]]["state"])
        and _are_texts(body.get("changedPropIds", []))
    )


def _are_properties(given: Any, *, like: Sequence[Any] | None = None) -> bool:
    """A list of properties of components, as many as `like` has.

    Those of a pattern of ids are lists in turn, their ids objects.
    """
    if like is not None and (not isinstance(given, list) or len(given) != len(like)):
        return False
    return isinstance(given, list) and all(
        isinstance(part.get("id"), (str, dict)) and isinstance(part.get("property"), str)
        if isinstance(part, dict)
        else isinstance(part, list) and all(isinstance(inner, dict) and _are_properties([inner]) for inner in part)
        for part in given
    )


def _are_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(part, str) for part in given)
