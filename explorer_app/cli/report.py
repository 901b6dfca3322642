"""`neuron-explorer report PATH... -o report.html`."""

from __future__ import annotations

from pathlib import Path

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import no_cache_option, open_trace, paths_argument, title_of
from explorer_app.cli.progress import Progress

_REDACTED_TITLE = "A trace"


@click.command(cls=Command)
@paths_argument
@click.option(
    "-o", "target", metavar="FILE", type=click.Path(path_type=Path), default=Path("report.html"), show_default=True,
    help="Where to write.",
)  # fmt: skip
@click.option(
    "--redact", is_flag=True,
    help="Replace paths, hosts and names of functions, modules and files outside torch.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@no_cache_option
def report(*, paths: tuple[Path, ...], target: Path, redact: bool, force: bool, no_cache: bool) -> None:
    """Write the verdict on a trace, its tables, charts and a step of its timeline as one HTML file.

    The file needs no network and no JavaScript: it can be mailed, attached to a ticket, or printed.
    """
    from trace_format.partial_file import PartialFile

    file = PartialFile(target, force=force)  # said now, not after minutes of reading
    try:
        trace, title = open_trace(paths, cache=not no_cache), title_of(paths)
        with Progress(f"writing {target.name}"):
            from explorer_app.reporters.report import write_report

            if redact:
                from trace_format.redaction import redacted

                trace, title = redacted(trace), _REDACTED_TITLE
            write_report(trace, title, file.write, redacted=redact)
        file.finish()
    finally:
        file.abandon()
    from explorer_app import format as fmt
    from explorer_app.reporters.visible import visible

    click.echo(f"wrote {visible(str(target))}: {fmt.size(target.stat().st_size)}", err=True)
