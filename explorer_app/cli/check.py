"""`neuron-explorer check PATH...`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import no_cache_option, open_trace, paths_argument, title_of


@click.command(cls=Command)
@paths_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--strict", is_flag=True, help="Fail (exit 1) if anything was left out or repaired.")
@no_cache_option
def check(*, paths: tuple[Path, ...], as_json: bool, strict: bool, no_cache: bool) -> None:
    """Print what reading the trace repaired or left out."""
    report = open_trace(paths, cache=not no_cache).report
    if as_json:
        from explorer_app.reporters.json_text import write_json

        write_json(report.to_dict(), sys.stdout)
    else:
        from explorer_app.reporters.import_report import report_import

        report_import(report, sys.stdout)
    if strict and not report.clean:
        from explorer_app.reporters.import_report import sentence

        raise click.ClickException(f"{title_of(paths)}: {sentence(report)} (--strict)")
