"""`neuron-explorer summary PATH...`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import no_cache_option, open_trace, paths_argument


@click.command(cls=Command)
@paths_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@no_cache_option
def summary(*, paths: tuple[Path, ...], as_json: bool, no_cache: bool) -> None:
    """Print the verdict on a trace, and the numbers behind it, on one screen."""
    trace = open_trace(paths, cache=not no_cache)
    from neuron_profile.analysis import summarize

    found = summarize(trace)
    if as_json:
        from explorer_app.reporters.json_text import write_json

        write_json(found.to_dict(), sys.stdout)
    else:
        from explorer_app.reporters.summary import report_summary

        report_summary(found, sys.stdout)
