"""Who may talk to the local server: this machine's browser, on its own account, and nothing else.

A page on the internet can make a browser send requests to 127.0.0.1, directly or through a host name that
resolves to it (DNS rebinding). The trace behind this server is private, so every request is checked.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import flask
from werkzeug.wrappers import Response

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
_HOSTS_KEY = "NEURON_EXPLORER_HOSTS"
_ANY_ADDRESS_KEY = "NEURON_EXPLORER_ANY_ADDRESS"
_GUARDS_KEY = "neuron-explorer-guards"


def protect(server: flask.Flask, *, script_hashes: Sequence[str] = ()) -> None:
    """Refuse foreign requests to `server` and send the headers that keep its pages to themselves.

    `script_hashes` are the CSP hashes of the inline scripts that may run; no other inline script does,
    and no page may evaluate text as code.
    """
    server.config.setdefault(_HOSTS_KEY, LOOPBACK_HOSTS)
    server.config.setdefault(_ANY_ADDRESS_KEY, False)
    headers = _headers(script_hashes)

    def refuse_foreign_requests() -> None:
        request = flask.request
        if not _is_our_host(server, request.headers.get("Host", "")):
            flask.abort(403, "this server answers only under its own address")
        if not _is_same_origin(request):
            flask.abort(403, "this server answers only its own pages")
        if ".." in request.path.replace("\\", "/").split("/"):
            flask.abort(404)

    guard(server, refuse_foreign_requests)

    @server.after_request
    def add_headers(response: flask.Response) -> flask.Response:
        for name, value in headers.items():
            response.headers[name] = value
        return response


def guard(server: flask.Flask, check: Callable[[], Response | None]) -> None:
    """Let `check` look at each request before anything but the guards there are already, so that what it refuses, or
    answers itself, costs nothing more.
    """
    guards = server.extensions.setdefault(_GUARDS_KEY, [])
    server.before_request_funcs.setdefault(None, []).insert(len(guards), check)
    guards.append(check)


def allow_host(server: flask.Flask, host: str) -> None:
    """Answer requests addressed to `host` too, the name or address the user bound the server to.

    For an address that stands for all of the machine's (0.0.0.0, ::), any numeric address and the machine's
    own name are answered: neither can be made to point here by a foreign page.
    """
    names = {host.strip("[]").lower()}
    if _is_wildcard(host):
        server.config[_ANY_ADDRESS_KEY] = True
        names = {socket.gethostname().lower(), socket.getfqdn().lower()}
    server.config[_HOSTS_KEY] = server.config.get(_HOSTS_KEY, LOOPBACK_HOSTS) | names


def _is_our_host(server: flask.Flask, header: str) -> bool:
    name = _host_name(f"//{header}")
    if name is None:
        return False
    return name in server.config[_HOSTS_KEY] or (server.config[_ANY_ADDRESS_KEY] and _address(name) is not None)


def _is_same_origin(request: flask.Request) -> bool:
    """Whether a browser says the request comes from one of our pages or from the user's own hand.

    A browser tells by Origin and Sec-Fetch-Site; other programs send neither and are no browser to protect.
    """
    origin = request.headers.get("Origin")
    if origin is not None and _authority(origin) != request.headers.get("Host", "").lower():
        return False
    followed_a_link = (
        request.method == "GET"
        and request.headers.get("Sec-Fetch-Mode") == "navigate"
        and request.headers.get("Sec-Fetch-Dest") == "document"
    )
    return followed_a_link or request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")


def _host_name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _authority(origin: str) -> str | None:
    """The host and port of an origin; None for what is no origin."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _is_wildcard(host: str) -> bool:
    address = _address(host.strip("[]"))
    return address is not None and address.is_unspecified


def _headers(script_hashes: Sequence[str]) -> dict[str, str]:
    policy = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", *script_hashes]),
        "style-src": "'self' 'unsafe-inline'",  # the component libraries set style attributes and <style> elements
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
