"""`neuron-explorer convert IN... OUT`."""

from __future__ import annotations

from pathlib import Path

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import open_trace
from explorer_app.cli.progress import Progress
from trace_format.errors import TraceFileError


@click.command(cls=Command)
@click.argument("paths", metavar="IN... OUT", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--no-python", is_flag=True, help="Leave out Python frames, most of a trace recorded with stacks.")
@click.option("--force", is_flag=True, help="Overwrite OUT if it exists.")
def convert(*, paths: tuple[Path, ...], no_python: bool, force: bool) -> None:
    """Write a trace as .pb, .json, .json.gz or .pftrace: OUT's suffix."""
    from trace_format.exporters import SUFFIXES, export_file, not_written

    *sources, target = paths
    if not sources:
        raise click.UsageError("Missing argument 'OUT'", click.get_current_context())
    # said now, not after minutes of reading
    if not target.name.lower().endswith(SUFFIXES):
        raise click.BadParameter(f"{target.name!r} ends in none of {', '.join(SUFFIXES)}", param_hint="OUT")
    if target.exists() and not force:
        raise TraceFileError("exists already; choose another name, or overwrite it with --force", path=target)
    trace = open_trace(sources, cache=False)
    if no_python:
        from trace_format.without_python import without_python

        trace = without_python(trace)
    with Progress(f"writing {target.name}"):
        export_file(trace, target, force=force)
    from explorer_app import format as fmt
    from explorer_app.reporters.import_report import sentence
    from explorer_app.reporters.visible import visible

    if not trace.report.clean:
        click.echo(
            f"{visible(str(sources[0]))}: {sentence(trace.report)}; neuron-explorer check says of what", err=True
        )
    missing = [f"{fmt.count(rows)} {what}" for what, rows in not_written(trace, target).items()]
    if missing:
        click.echo(f"{visible(target.name)} has no place for {', '.join(missing)}; .pb and .json have", err=True)
    click.echo(f"wrote {visible(str(target))}: {fmt.size(target.stat().st_size)}", err=True)
