"""Serving the web application of a trace from the command line."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trace_format import Trace

LOOPBACK = "127.0.0.1"
_THIS_MACHINE = (LOOPBACK, "localhost", "::1")


def serve_trace(trace: Trace, *, title: str, host: str = LOOPBACK, port: int = 0, browser: bool = True) -> None:
    """Serve `trace` until Ctrl-C. The URL goes to stdout, alone on its line, when the server answers."""
    from explorer_app.web.app import create_app
    from explorer_app.web.server import serve

    def ready(url: str) -> None:
        click.echo(url)
        sys.stdout.flush()
        if host not in _THIS_MACHINE:
            click.echo(f"Whoever reaches {host} can see this trace.", err=True)
        click.echo("Press Ctrl-C to stop.", err=True)
        if browser and _has_screen():
            import webbrowser

            # some browsers keep the caller waiting until they are closed
            threading.Thread(target=webbrowser.open, args=(url,), name="browser", daemon=True).start()

    serve(create_app(trace, title=title), host=host, port=port, on_ready=ready)


def _has_screen() -> bool:
    """Whether a browser would open a window; without a screen it would take over the terminal."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
