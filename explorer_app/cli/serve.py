"""`neuron-explorer PATH...`: look at a trace in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import no_cache_option, open_trace, paths_argument, title_of
from explorer_app.cli.serving import LOOPBACK, serve_trace


@click.command(cls=Command)
@paths_argument
@click.option("--host", default=LOOPBACK, show_default=True, metavar="H", help="Address to serve on.")
@click.option(
    "--port", default=0, type=click.IntRange(0, 65535), metavar="N", help="Port to serve on; 0, the default, is any."
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@no_cache_option
def serve(*, paths: tuple[Path, ...], host: str, port: int, no_browser: bool, no_cache: bool) -> None:
    """Serve the web interface for a trace and open it in the browser."""
    trace = open_trace(paths, cache=not no_cache)
    serve_trace(trace, title=title_of(paths), host=host, port=port, browser=not no_browser)
