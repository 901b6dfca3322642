"""`neuron-explorer neff FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from explorer_app.cli.command import Command


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def neff(*, file: Path, as_json: bool) -> None:
    """Print what is inside a NEFF (Neuron executable)."""
    from trace_format.importers.neff import read_neff_file

    contents = read_neff_file(file)
    if as_json:
        from explorer_app.reporters.json_text import write_json

        write_json(contents.to_dict(), sys.stdout)
    else:
        from explorer_app.reporters.neff import report_neff

        report_neff(contents, sys.stdout)
