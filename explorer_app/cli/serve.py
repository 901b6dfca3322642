"""`neuron-explorer PATH...`: look at a trace in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import no_cache_option, open_trace, paths_argument
from explorer_app.cli.serving import LOOPBACK, Address, import_ahead, serve_trace


@click.command(cls=Command)
@paths_argument
@click.option("--host", default=LOOPBACK, show_default=True, metavar="H", help="Address to serve on.")
@click.option(
    "--port", default=0, type=click.IntRange(0, 65535), metavar="N", help="Port to serve on; 0, the default, is any."
)
@click.option(
    "--token", metavar="TOKEN",
    help="What the address must hold to be answered: a random one by default, 'none' for none.",
)  # fmt: skip
@click.option(
    "--compare", "base", metavar="BASE", type=click.Path(path_type=Path),
    help="Another trace, a file or the folder of a job: show what changed from it.",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@no_cache_option
def serve(
    *, paths: tuple[Path, ...], host: str, port: int, token: str | None, base: Path | None, no_browser: bool,
    no_cache: bool,
) -> None:  # fmt: skip
    """Serve the web interface for a trace and open it in the browser."""
    import_ahead()
    trace = open_trace(paths, cache=not no_cache)
    compared = None if base is None else (open_trace([base], cache=not no_cache), base)
    address = Address(host, port, token, not no_browser)
    serve_trace(trace, paths, address, base=compared, cache=not no_cache)
