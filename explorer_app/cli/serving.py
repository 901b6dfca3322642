"""Serving the web application of a trace from the command line."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from explorer_app.cli.opening import title_of

if TYPE_CHECKING:
    from trace_format import Trace

LOOPBACK = "127.0.0.1"
NO_TOKEN = "none"  # noqa: S105 - the word that switches tokens off
_THIS_MACHINE = (LOOPBACK, "localhost", "::1")


def import_ahead() -> None:
    """Begin to import what serving takes; reading a trace meanwhile takes little of the interpreter."""
    threading.Thread(
        target=importlib.import_module, args=("explorer_app.web.app",), name="imports", daemon=True
    ).start()


@dataclass(frozen=True, slots=True)
class Address:
    """Where and for whom the explorer answers.

    - `port`: 0 is any free one.
    - `token`: what a browser must bring to be answered; a random one for None, none for `NO_TOKEN`.
    - `browser`: whether a browser is opened.
    """

    host: str = LOOPBACK
    port: int = 0
    token: str | None = None
    browser: bool = True


def serve_trace(
    trace: Trace, paths: Sequence[Path], address: Address, *, base: tuple[Trace, Path] | None = None, cache: bool = True
) -> None:
    """Serve `trace`, which was opened from `paths`, until Ctrl-C.

    With a `base`, a trace and where it was opened, the URL leads to what changed from it.

    The URL goes to stdout, alone on its line, when the server answers. Other files below the folders of `paths` can be
    opened from the page; `cache` keeps what is imported then.
    """
    from explorer_app.lod.kept import place_of_lanes
    from explorer_app.web.timeline.preparation import sketch_ahead

    sketch_ahead(trace, place=place_of_lanes(paths) if cache else None)
    from explorer_app.web.access import new_token
    from explorer_app.web.app import create_app
    from explorer_app.web.library import Library
    from explorer_app.web.opening.folders import Folders
    from explorer_app.web.opening.routes import register_opening
    from explorer_app.web.server import serve
    from explorer_app.web.sources import allow_sources

    host = address.host
    wanted = None if address.token == NO_TOKEN else address.token or new_token()

    def ready(url: str) -> None:
        click.echo(url)
        sys.stdout.flush()
        if host not in _THIS_MACHINE:
            click.echo(
                f"Whoever reaches {host}{' and has this address' if wanted else ''} can see this trace.", err=True
            )
        click.echo("Press Ctrl-C to stop.", err=True)
        if address.browser and _has_screen():
            import webbrowser

            # some browsers keep the caller waiting until they are closed
            threading.Thread(target=webbrowser.open, args=(url,), name="browser", daemon=True).start()

    library = Library()
    library.add(trace, title=title_of(paths), source=str(paths[0].absolute()), paths=paths)
    page, given = "", list(paths)
    if base is not None:
        of_base, path = base
        page = f"compare?base={library.add(of_base, title=title_of([path]), source=str(path.absolute())).key}"
        given.append(path)
    app = create_app(library)
    register_opening(app.server, library, Folders(given), partial(_load, cache=cache))
    allow_sources(app.server, given, Path.cwd())
    serve(app, host=host, port=address.port, token=wanted, page=page, on_ready=ready)


def _load(path: Path, progress: Callable[[int, int], None], *, cache: bool) -> Trace:
    from explorer_app.lod.kept import place_of_lanes
    from explorer_app.web.timeline.data import keep_lanes_at
    from neuron_profile import load

    trace = load(path, progress=progress, cache=cache)
    keep_lanes_at(trace, place_of_lanes([path]) if cache else None)
    return trace


def _has_screen() -> bool:
    """Whether a browser would open a window; without a screen it would take over the terminal."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
