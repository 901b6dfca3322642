"""The token that shows a request to come from whoever saw the terminal, and from no one else on this machine.

It is in the address that the terminal prints; the browser that opens it gets it as a cookie, and goes on without it in
the address. Several explorers on one machine share the browser's cookies, so each has a cookie of its own name.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from urllib.parse import urlencode

import flask
from werkzeug.wrappers import Response as ResponseBase

from explorer_app.web.security import guard

PARAMETER = "token"
_RANDOM_BYTES = 18
_NAME_LETTERS = 8
_TOLD = "open the whole address that the terminal printed: it holds the token without which nothing is shown"


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(_RANDOM_BYTES)


def require_token(server: flask.Flask, token: str) -> None:
    """Answer only who brings `token`, as a cookie or in the address; who brings it in the address gets the cookie."""
    name = f"neuron-explorer-{hashlib.sha256(token.encode()).hexdigest()[:_NAME_LETTERS]}"

    def refuse_without_token() -> ResponseBase | None:
        request = flask.request
        given = request.args.get(PARAMETER)
        if given is not None and _same(given, token):
            rest = urlencode([(key, value) for key, value in request.args.items(multi=True) if key != PARAMETER])
            path = f"/{request.path.lstrip('/')}"  # "//host/" would lead elsewhere
            answer = flask.redirect(f"{path}?{rest}" if rest else path)
            # Lax: a link from elsewhere may open the explorer, a foreign page may not ask it anything
            answer.set_cookie(name, token, httponly=True, samesite="Lax")
            return answer
        if not _same(request.cookies.get(name, ""), token):
            flask.abort(403, _TOLD)
        return None

    guard(server, refuse_without_token)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())
