"""Serves the application on this machine until the user stops it."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Callable
from urllib.parse import urlencode

import dash

from explorer_app.web import access, security
from explorer_app.web.wsgi import MAX_REQUEST_BYTES
from trace_format import NeuronProfileError

THREADS = 8
_LAST_PORT = 65535
# What of an answer a client has not read waits in a temporary file; beyond this a thread waits with it, and as many
# paused downloads as there are threads would stop the server. Larger than any export (a million rows).
_MOST_UNREAD_BYTES = 4 << 30
_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised here, not bound to


def serve(
    app: dash.Dash,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    token: str | None = None,
    page: str = "",
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve `app` until interrupted (Ctrl-C), which returns normally.

    Port 0 is any free port. With a `token` only who brings it is answered (see `access`). `on_ready` is called once
    with the URL, token included, when connections are being accepted; that of `page`, a path and its query ("" for the
    first page).
    Raises NeuronProfileError where the address cannot be bound.
    """
    from waitress import create_server

    listener = _listen(host, port)
    security.allow_host(app.server, host)
    if token is not None:
        access.require_token(app.server, token)
    # its remarks on queue length are about capacity planning; one user's browser is no news
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    server = create_server(
        app.server,
        sockets=[listener],
        threads=THREADS,
        ident=None,
        max_request_body_size=MAX_REQUEST_BYTES,
        outbuf_high_watermark=_MOST_UNREAD_BYTES,
    )
    try:
        if on_ready is not None:
            join = "&" if "?" in page else "?"
            query = f"{join}{urlencode({access.PARAMETER: token})}" if token is not None else ""
            on_ready(_url(host, listener.getsockname()[1]) + page.lstrip("/") + query)
        server.run()
    finally:
        server.close()
        server.task_dispatcher.shutdown()


def _url(host: str, port: int) -> str:
    """The URL under which this machine's browser reaches a server bound to `host`."""
    name = host.strip("[]")
    name = _WILDCARDS.get(name, name)
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}/"


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= _LAST_PORT:
        raise NeuronProfileError(
            f"there is no port {port}: give one up to {_LAST_PORT} with --port, or 0 for any free one"
        )
    name = host.strip("[]")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise NeuronProfileError(f"cannot serve on {host}:{port}: no such address; give another with --host") from error
    listener = socket.socket(family, kind, protocol)
    # On POSIX this allows a port whose last connections linger; on Windows it would allow one that is in use.
    option = socket.SO_REUSEADDR if os.name == "posix" else socket.SO_EXCLUSIVEADDRUSE  # type: ignore[attr-defined,unused-ignore]
    listener.setsockopt(socket.SOL_SOCKET, option, 1)
    try:
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise NeuronProfileError(_refusal(host, port, error)) from error
    return listener


def _refusal(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use: give another with --port, or --port 0 for any free one"
    if error.errno == errno.EACCES:
        return f"not allowed to serve on port {port} of {host}: give one above 1023 with --port"
    return f"cannot serve on {host}:{port}: {error.strerror}; give another address with --host"
