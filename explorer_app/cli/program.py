"""A Python program, run in this process as `python` would run it."""

from __future__ import annotations

import builtins
import importlib.machinery
import io
import os
import runpy
import sys
import types
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import click

_OURS = frozenset(function.__code__.co_filename for function in (runpy.run_path, runpy.run_module))


@dataclass(frozen=True, slots=True)
class Program:
    """A script, or with `is_module` a module by name, and the arguments it is given."""

    name: str
    arguments: Sequence[str]
    is_module: bool = False

    def check(self) -> None:
        """Raise ClickException where there is no such script."""
        if not self.is_module and not Path(self.name).exists():
            raise click.ClickException(f"{self.name}: there is no such script; for a module write -m {self.name}")

    def run(self) -> int:
        """The exit code of the program, which has ended as `python` would have let it: a traceback for an exception.

        Raises KeyboardInterrupt where that is what ended it.
        """
        sys.argv = [self.name, *self.arguments]
        if not sys.flags.safe_path:
            sys.path[0] = os.getcwd() if self.is_module else os.path.dirname(os.path.realpath(self.name))
        try:
            if self.is_module:
                runpy.run_module(self.name, run_name="__main__", alter_sys=True)
            else:
                _run_script(self.name)
        except SystemExit as end:
            return _exit_code(end.code)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - shown as Python would, and told by the exit code
            error.__traceback__ = _without_ours(error.__traceback__)
            sys.excepthook(type(error), error, error.__traceback__)
            return 1
        return 0


def _run_script(name: str) -> None:
    path = os.path.abspath(name)
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        runpy.run_path(name, run_name="__main__")
        return
    # As runpy does it, but the module stays for what runs when the process ends, and argv is as it was given.
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    with io.open_code(path) as file:
        source = file.read()
    exec(compile(source, path, "exec"), main.__dict__)  # noqa: S102 - it is what we are asked to run


def _exit_code(code: object) -> int:
    """What Python makes of the argument of SystemExit."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)  # noqa: T201
    return 1


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the program's own first line on."""
    while traceback is not None and _is_ours(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    return traceback


def _is_ours(file_name: str) -> bool:
    return file_name in _OURS or os.path.abspath(file_name) == os.path.abspath(__file__)
