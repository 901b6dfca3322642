"""The entry point of `neuron-explorer`: what it is called with, and how it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import TracebackType

import click

from explorer_app.cli.check import check
from explorer_app.cli.command import DEFAULT, ExplorerGroup, Settings
from explorer_app.cli.convert import convert
from explorer_app.cli.demo import demo
from explorer_app.cli.diff import diff
from explorer_app.cli.hotspots import hotspots
from explorer_app.cli.neff import neff
from explorer_app.cli.report import report
from explorer_app.cli.run import run
from explorer_app.cli.serve import serve
from explorer_app.cli.simulate import simulate
from explorer_app.cli.summary import summary
from explorer_app.reporters.visible import visible
from neuron_profile._version import __version__
from trace_format.errors import NeuronProfileError

PROGRAM = "neuron-explorer"
OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


@click.group(cls=ExplorerGroup, context_settings={"max_content_width": 100})
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def cli() -> None:
    """Look at what a PyTorch program did on an accelerator.

    PATH is a trace.pb, a trace-event JSON as torch.profiler and many others write it, a Neuron profile (NTFF, with
    its NEFF beside it as a second PATH; JSON; Parquet), or a folder with the files of a session. Several PATHs, or a
    folder of several processes, are the ranks of one job.
    """


cli.add_command(serve, DEFAULT)
for command in (summary, hotspots, diff, report, convert, check, simulate, run, demo, neff):
    cli.add_command(command)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of the command: 0 ok, 1 failed or gate not met, 2 wrong usage. An error is one line on stderr."""
    settings = Settings()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - nobody listens, for as long as the process lives
    if sys.stdout is None:
        _say("standard output is closed, so there is nowhere to print to; leave it open or send it to a file")
        return FAILED
    if argv is None:
        _prepare_process(settings)
    try:
        code = cli.main(argv, prog_name=PROGRAM, standalone_mode=False, obj=settings)
        sys.stdout.flush()
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else PROGRAM
        _say(f"{error.format_message().rstrip('.')}; see {path.removesuffix(DEFAULT).strip()} --help")
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # the reader has seen enough; what is still buffered must not fail once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (NeuronProfileError, click.ClickException, OSError) as error:
        if settings.debug:
            raise
        _say(_message(error))
        return FAILED
    return code if isinstance(code, int) else OK


def _prepare_process(settings: Settings) -> None:
    """What only a process of our own may change."""
    # names in traces hold anything, lone surrogates included; a console may not know "µ"
    errors = [(stream, stream.errors) for stream in (sys.stdout, sys.stderr) if hasattr(stream, "reconfigure")]
    for stream, _ in errors:
        stream.reconfigure(errors="backslashreplace")

    def one_line(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if settings.debug:
            sys.__excepthook__(kind, error, traceback)
        else:
            _say(f"internal error: {kind.__name__}: {error}; run again with --debug and report what it prints")

    def give_back() -> None:
        for stream, before in errors:
            stream.reconfigure(errors=before)
        sys.excepthook = sys.__excepthook__

    sys.excepthook = one_line
    settings.give_back = give_back


def _message(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _say(message: str) -> None:
    print(f"{PROGRAM}: {visible(' '.join(message.split()))}", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
