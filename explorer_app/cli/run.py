"""`neuron-explorer run script.py ARGS...`."""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer_app.cli.command import Command, Settings
from explorer_app.cli.config_option import config_parameters
from explorer_app.cli.program import Program
from explorer_app.reporters.visible import visible

if TYPE_CHECKING:
    from neuron_profile.program_capture import ProgramCapture, Seconds, Steps

_SKIPPED, _RECORDED = 2, 5
_EPILOG = """\b
neuron-explorer run train.py --epochs 3
neuron-explorer run --steps 10 --skip-steps 20 -m my_package.train
torchrun --nproc-per-node 4 -m explorer_app.cli.main run train.py
torchrun --nproc-per-node 4 --no-python neuron-explorer run train.py
neuron-explorer run --seconds 5 --wait 30 --config collectors=torch,host serve.py
"""


@click.command(cls=Command, epilog=_EPILOG, context_settings={"allow_interspersed_args": False})
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"How many training steps to record. [default: {_RECORDED}]",
)
@click.option(
    "--skip-steps", type=click.IntRange(min=0), metavar="N",
    help=f"How many steps to leave out before; 0 records from the first call of a module on. [default: {_SKIPPED}]",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(min=0, min_open=True), metavar="S",
    help="Record for so long, whatever steps there are: the main thread, or all with "
    "--config profile_all_threads=true.",
)  # fmt: skip
@click.option(
    "--wait", type=click.FloatRange(min=0), metavar="S",
    help="Seconds after which to begin; without --seconds, all that follows is recorded.",
)  # fmt: skip
@click.option("--with-stack", is_flag=True, help="Record Python stacks and modules too; steps take longer.")
@click.option(
    "-o", "output", type=click.Path(path_type=Path), metavar="DIR",
    help="Folder under which each process gets a directory. [default: profile_output]",
)  # fmt: skip
@click.option(
    "--config", "given", multiple=True, metavar="PARAMETER=VALUE",
    help="A parameter of NeuronConfig, such as collectors=torch,host or max_events_per_nc=100000; again for each. "
    "Or a .toml or .json file of them.",
)  # fmt: skip
@click.option("-m", "is_module", is_flag=True, help="PROGRAM is a module, as with python -m.")
@click.argument("program", metavar="PROGRAM")
@click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def run(
    settings: Settings, *, steps: int | None, skip_steps: int | None, seconds: float | None, wait: float | None,
    with_stack: bool, output: Path | None, given: tuple[str, ...], is_module: bool, program: str,
    arguments: tuple[str, ...],
) -> int:  # fmt: skip
    """Run a Python program as it is, and record some of its training steps.

    A step ends when the program's optimizer has stepped. A program that steps none is recorded for 10 seconds from
    its first call of a module on; --seconds records any other. Everything after PROGRAM goes to it, and its output
    and exit code are as without us. torch is imported before it: set what torch must find in the environment
    outside. Under torchrun each process leaves a trace of its own.
    """
    ran = Program(program, arguments, is_module=is_module)
    ran.check()
    capture = _capture(_window(steps, skip_steps, seconds, wait), given, output, with_stack=with_stack)
    settings.give_back()
    capture.start()
    try:
        code = ran.run()
    finally:
        capture.finish()
        if capture.here:
            by_steps = seconds is None and wait is None
            _tell(capture, by_steps=by_steps, skipped=_or(skip_steps, _SKIPPED), wanted=_or(steps, _RECORDED))
    if not capture.here:
        _leave_forked(code)
    return code


def _leave_forked(code: int) -> None:
    """End a child of the program as Python does, but without what torch's profiler does when a process ends.

    It waits for threads, which are in the parent: a program that has profiled, forks and exits hangs (torch 2.13).
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _window(steps: int | None, skip_steps: int | None, seconds: float | None, wait: float | None) -> Steps | Seconds:
    from neuron_profile.program_capture import Seconds, Steps

    if seconds is None and wait is None:
        return Steps(skip=_or(skip_steps, _SKIPPED), count=_or(steps, _RECORDED))
    if steps is not None or skip_steps is not None:
        raise click.UsageError("--steps and --skip-steps count steps, --seconds and --wait tell time; give one of both")
    return Seconds(wait=wait or 0.0, seconds=seconds)


def _or(given: int | None, default: int) -> int:
    return default if given is None else given


def _capture(
    window: Steps | Seconds, given: tuple[str, ...], output: Path | None, *, with_stack: bool
) -> ProgramCapture:
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        raise click.ClickException("run records with torch's profiler and needs torch: pip install torch")
    from neuron_profile import NeuronConfig
    from neuron_profile.program_capture import ProgramCapture

    parameters: dict[str, Any] = config_parameters(given)
    if output is not None:
        parameters["profile_output_dir"] = output
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            config = NeuronConfig(**parameters)
        except (RuntimeWarning, TypeError) as error:
            raise click.BadParameter(" ".join(str(error).split()), param_hint="--config") from error
    return ProgramCapture(config, window, with_stack=with_stack)


def _tell(capture: ProgramCapture, *, by_steps: bool, skipped: int, wanted: int) -> None:
    """Say in one line where the trace is, or why there is none."""
    if capture.traces:
        path = visible(str(capture.traces[-1]))
        made = capture.steps - skipped
        short = by_steps and not capture.made_way and capture.steps > 0 and made < wanted
        of = f" of {made} of {wanted} steps, as the program made {capture.steps}," if short else ""
        told = f"trace{of} in {path}; open it with: neuron-explorer {path}"
    elif capture.made_way:
        told = "no trace was written: the program runs a profiler itself"
    elif capture.met_thread:
        told = "no trace was written: the program works beside its main thread; add --config profile_all_threads=true"
    elif by_steps and 0 < capture.steps <= skipped:
        told = (
            f"no trace was written: the program made {capture.steps} steps and {skipped} are skipped; see --skip-steps"
        )
    elif by_steps and not capture.steps:
        told = "no trace was written: the program called no module and stepped no optimizer; use --seconds"
    else:
        told = "no trace was written: the warnings above say why"
    click.echo(f"neuron-explorer: {told}", err=True)
    sys.stderr.flush()
