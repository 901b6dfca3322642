"""`neuron-explorer demo`."""

from __future__ import annotations

from pathlib import Path

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import open_trace
from explorer_app.cli.serving import Address, serve_trace


@click.command(cls=Command)
@click.option(
    "-o", "output", type=click.Path(path_type=Path), default=Path("profile_output"), show_default=True, metavar="DIR",
    help="Folder under which the capture gets its directory.",
)  # fmt: skip
@click.option("--no-serve", is_flag=True, help="Capture only; do not open the explorer.")
def demo(*, output: Path, no_serve: bool) -> None:
    """Capture a small training run on the CPU here, and open it."""
    from explorer_app.demo import capture
    from explorer_app.reporters.visible import visible

    click.echo("Capturing training steps of a small transformer on the CPU ...", err=True)
    path = capture(output, say=lambda text: click.echo(visible(text), err=True))
    if no_serve:
        click.echo(path)
    else:
        click.echo(f"captured {visible(str(path))}", err=True)
        serve_trace(open_trace([path], cache=False), [path], Address())
