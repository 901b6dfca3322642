"""`neuron-explorer hotspots PATH...`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import no_cache_option, open_trace, paths_argument

# those of neuron_profile.analysis.GROUPINGS, which would import pandas
GROUPINGS = ("name", "category", "module", "track", "source", "op")
_ROWS_ON_A_SCREEN = 20


@click.command(cls=Command)
@paths_argument
@click.option("--by", type=click.Choice(GROUPINGS), default="name", show_default=True, help="What a row is.")
@click.option(
    "--top", type=click.IntRange(1), metavar="N",
    help=f"Print the first N rows.  [default: {_ROWS_ON_A_SCREEN}; all with --json and --csv]",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")
@no_cache_option
def hotspots(*, paths: tuple[Path, ...], by: str, top: int | None, as_json: bool, as_csv: bool, no_cache: bool) -> None:
    """Print where the time goes, the device's work first."""
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other", click.get_current_context())
    for_programs = as_json or as_csv
    trace = open_trace(paths, cache=not no_cache)
    from neuron_profile import analysis

    frame = analysis.hotspots(trace, by=by, top=top if top or for_programs else _ROWS_ON_A_SCREEN)
    if for_programs and frame.attrs.get("why"):
        click.echo(frame.attrs["why"], err=True)
    if as_json:
        from explorer_app.reporters.json_text import write_json

        write_json(analysis.records(frame), sys.stdout)
    elif as_csv:
        from explorer_app.reporters.hotspots import write_csv

        write_csv(frame, sys.stdout)
    else:
        from explorer_app.reporters.hotspots import report_hotspots

        report_hotspots(frame, sys.stdout)
