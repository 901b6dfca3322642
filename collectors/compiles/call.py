"""How neuronx-cc was called."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trace_format.importers.neuronx_cc.messages import what_is_made

COMPILER = "neuronx-cc"
_WORDS_BEFORE = 4  # among which the compiler's name stands: an interpreter and its options may come first
_LOG = "log-neuron-cc.txt"  # AWS Neuron docs, neuronx-cc CLI reference: the default of --logfile
_LONGEST_COMMAND = 4096


@dataclass(frozen=True, slots=True)
class CompilerCall:
    """A command line of the compiler and the directory it ran in. Options as AWS's reference of its CLI names them."""

    argv: tuple[str, ...]
    directory: Path

    @property
    def command(self) -> str:
        """As a shell has it; cut off where it is very long."""
        return shlex.join(self.argv)[:_LONGEST_COMMAND]

    @property
    def what(self) -> str:
        """The module that is compiled, else the file that is made, else ""."""
        return what_is_made(self.command)

    @property
    def target(self) -> str:
        """trn1, trn2, inf2, …; "" where it is not named."""
        return self._option("--target")

    @property
    def output(self) -> Path | None:
        """The NEFF that is made; None where it is not named."""
        named = self._option("--output")
        return self.directory / named if named else None

    @property
    def log(self) -> Path:
        return self.directory / (self._option("--logfile") or _LOG)

    def _option(self, name: str) -> str:
        for word, following in zip(self.argv, (*self.argv[1:], ""), strict=True):
            if word == name:
                return following
            if word.startswith(f"{name}="):
                return word[len(name) + 1 :]
        return ""


def is_compiler_call(argv: Sequence[str]) -> bool:
    """Whether a process with this command line is the compiler at work, and not a shell that will start it."""
    words = argv[:_WORDS_BEFORE]
    if "-c" in words:  # of a shell or an interpreter: what follows is a program
        return False
    return "compile" in argv and any(os.path.basename(word) == COMPILER for word in words)
