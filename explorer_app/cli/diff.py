"""`neuron-explorer diff BASE NEW`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import no_cache_option, open_trace
from trace_format.errors import TraceFileError

if TYPE_CHECKING:
    from neuron_profile.analysis import Gate
    from trace_format import Trace

GATE_FAILED = 1


@click.command(cls=Command)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--runs", is_flag=True, help="BASE and NEW are folders of repeated runs of the same program.")
@click.option(
    "--fail-if", "conditions", multiple=True, metavar="EXPR",
    help="Exit 1 if this holds, e.g. 'step_time > +3%', 'peak_memory > 10GB', 'hotspot:aten::mm.self_time > +1ms'. "
    "May be given more than once.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a table fit for a pull request.")
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write the conditions as JUnit XML.")
@click.option("--force", is_flag=True, help="Overwrite the file of --junit if it exists.")
@no_cache_option
def diff(
    *, base: Path, new: Path, runs: bool, conditions: Sequence[str], as_json: bool, as_markdown: bool,
    junit: Path | None, force: bool, no_cache: bool,
) -> int:  # fmt: skip
    """Print what changed from one trace to another, and fail if it is too much."""
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown exclude each other", click.get_current_context())
    if junit is not None and junit.exists() and not force:
        raise TraceFileError("exists already; choose another name, or overwrite it with --force", path=junit)
    from neuron_profile import analysis

    gates = [_gate(text) for text in conditions]
    opened = [_runs(path, cache=not no_cache) if runs else [open_trace([path], cache=not no_cache)]
              for path in (base, new)]  # fmt: skip
    comparison = analysis.diff(*opened)
    verdicts = [gate.judge(comparison) for gate in gates]
    from explorer_app.reporters import diff as reporter

    if as_json:
        from explorer_app.reporters.json_text import write_json

        write_json({**comparison.to_dict(), "gates": [reporter.gate_record(v) for v in verdicts]}, sys.stdout)
    elif as_markdown:
        reporter.report_markdown(comparison, verdicts, sys.stdout)
    else:
        reporter.report_diff(comparison, verdicts, sys.stdout)
    if junit is not None:
        reporter.write_junit(verdicts, junit)
    for verdict in verdicts:
        if verdict.fails:
            click.echo(f"neuron-explorer: {reporter.gate_line(verdict)}", err=True)
    return GATE_FAILED if any(verdict.fails for verdict in verdicts) else 0


def _gate(text: str) -> Gate:
    """The condition. Raises BadParameter for one that says nothing."""
    from neuron_profile import analysis
    from neuron_profile.analysis.comparison import GateError

    try:
        return analysis.Gate.parse(text)
    except GateError as error:
        raise click.BadParameter(str(error), click.get_current_context(), param_hint="--fail-if") from error


def _runs(folder: Path, *, cache: bool) -> list[Trace]:
    """The runs in a folder: each trace or folder in it is one; where those are not ranks of a job, each trace below."""
    if not folder.is_dir():
        raise TraceFileError("is no folder of runs; name one, or leave --runs out", path=folder)
    from trace_format.merge import MergeError

    children = sorted(child for child in folder.iterdir() if not child.name.startswith("."))
    try:
        return [open_trace([child], cache=cache) for child in children] or _no_runs(folder)
    except MergeError:
        below = sorted(folder.rglob("trace.pb"))
        return [open_trace([path], cache=cache) for path in below] or _no_runs(folder)


def _no_runs(folder: Path) -> list[Trace]:
    raise TraceFileError("holds no trace; put one file or folder for each run in it", path=folder)
