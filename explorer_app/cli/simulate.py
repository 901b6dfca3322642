"""`neuron-explorer simulate IN -o OUT`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from explorer_app.cli.command import Command
from explorer_app.cli.opening import open_trace
from explorer_app.cli.progress import Progress
from trace_format.errors import NeuronProfileError, TraceFileError

_MICROSECONDS: Any = {"metavar": "US", "type": click.FloatRange(0, 1_000_000), "show_default": True}


@click.command(cls=Command)
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.option(
    "-o", "target", metavar="OUT", type=click.Path(path_type=Path), required=True,
    help="Where to write; the suffix tells the format: .pb .json .json.gz .pftrace.",
)  # fmt: skip
@click.option(
    "--device", type=click.Choice(["trn1", "trn2", "trn3", "inf2"]), default="trn2", show_default=True,
    help="The generation of NeuronCore.",
)  # fmt: skip
@click.option(
    "--lnc", type=click.Choice(["1", "2"]), default="1", show_default=True,
    help="Physical cores that make a logical one.",
)  # fmt: skip
@click.option(
    "--eager-gap",
    help="From an operator on the host to its start on the device, where they are queued.",
    default=20.0,
    **_MICROSECONDS,
)
@click.option("--sync-gap", help="The same after the host waited for the device.", default=130.0, **_MICROSECONDS)
@click.option("--neff-fixed", help="What running a NEFF takes besides its operators.", default=10.0, **_MICROSECONDS)
@click.option("--force", is_flag=True, help="Overwrite OUT if it exists.")
def simulate(
    *, source: Path, target: Path, device: str, lnc: str, eager_gap: float, sync_gap: float, neff_fixed: float,
    force: bool,
) -> None:  # fmt: skip
    """Add an estimate of what a NeuronCore would have done with the operators of a trace.

    Works on any trace with shapes (record_shapes=True). The times are estimates, a factor of two either way, and are
    marked as simulated wherever they are shown.
    """
    from explorer_app.reporters.visible import visible
    from explorer_app.simulation_text import simulation_size, simulation_text
    from neuron_profile import simulation
    from trace_format.exporters import SUFFIXES, export_file

    if not target.name.lower().endswith(SUFFIXES):
        raise click.BadParameter(f"{target.name!r} ends in none of {', '.join(SUFFIXES)}", param_hint="-o")
    try:
        settings = simulation.Settings(
            generation=device, lnc=int(lnc), eager_gap_ns=round(eager_gap * 1000), sync_gap_ns=round(sync_gap * 1000),
            neff_fixed_ns=round(neff_fixed * 1000),
        )  # fmt: skip
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if target.exists() and not force:
        raise TraceFileError("exists already; choose another name, or overwrite it with --force", path=target)
    trace = open_trace([source], cache=False)
    try:
        simulated = simulation.simulate(trace, settings)
    except simulation.SimulationError as error:
        raise NeuronProfileError(f"{source}: {error}") from error
    with Progress(f"writing {target.name}"):
        export_file(simulated, target, force=force)
    click.echo(f"not measured: {simulation_text(simulated.metadata)}", err=True)
    click.echo(f"wrote {visible(str(target))}: {simulation_size(simulated.metadata)}", err=True)
