"""The errors of neuron-profile: one root, and children that say where they happened."""

from __future__ import annotations

import os


class NeuronProfileError(Exception):
    """Root of every error this project raises on purpose.

    The message is one line: what happened, where, and what to do.
    """


class TraceFileError(NeuronProfileError):
    """A file could not be read or written as asked.

    `path` is the file, `offset_bytes` the place in it (None: not at one place).
    """

    def __init__(self, message: str, *, path: str | os.PathLike[str], offset_bytes: int | None = None) -> None:
        where = os.fspath(path) if offset_bytes is None else f"{os.fspath(path)} at byte {offset_bytes}"
        super().__init__(f"{where}: {message}")
        self.path = os.fspath(path)
        self.offset_bytes = offset_bytes


class DamagedFileError(TraceFileError):
    """The file is of a known format, but its bytes contradict themselves."""


class UnsupportedFormatError(TraceFileError):
    """The file is of a format, or of a version of one, that is not read here."""


class LimitExceededError(TraceFileError):
    """Reading the file would need more than the limits allow; nothing was allocated."""
