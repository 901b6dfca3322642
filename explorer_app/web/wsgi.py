"""The WSGI application under the pages, before anything is put into it."""

from __future__ import annotations

from typing import Any, Final

import flask
from flask.json.provider import DefaultJSONProvider

MAX_REQUEST_BYTES: Final = 16 << 20  # a callback's state, never a file


class _Json(DefaultJSONProvider):
    """JSON whose nesting is no failure of the program but of who sent it."""

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The value of a text. Raises ValueError for what is no JSON or nested beyond what Python reads."""
        try:
            return super().loads(s, **kwargs)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def bare_server(name: str) -> flask.Flask:
    """A server that answers nothing yet.

    Flask would serve files of a folder `static` where the program was started; this one serves none.
    """
    server = flask.Flask(name, static_folder=None)
    server.json = _Json(server)
    server.config["MAX_CONTENT_LENGTH"] = MAX_REQUEST_BYTES
    return server
