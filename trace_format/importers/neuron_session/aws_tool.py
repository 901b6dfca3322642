"""Asks AWS's own viewer, where it is installed, for what only it can read: the runtime's files without a schema."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trace_format.errors import NeuronProfileError

# AWS Neuron docs, neuron-explorer: where the package aws-neuronx-tools puts it
_USUAL_PLACE = "/opt/aws/neuron/bin/neuron-explorer"
PLACE_VARIABLE, DEADLINE_VARIABLE = "NPROF_NEURON_EXPLORER", "NPROF_NEURON_EXPLORER_SECONDS"
_DEADLINE_S = 300.0
_GRACE_S = 5.0
_SAID_LENGTH = 200


class AwsToolError(NeuronProfileError):
    """AWS's viewer could not convert a session."""


def aws_tool() -> Path | None:
    """The viewer that is installed (`NPROF_NEURON_EXPLORER` names another); None where there is none."""
    place = Path(os.environ.get(PLACE_VARIABLE) or _USUAL_PLACE)
    return place if place.is_file() and os.access(place, os.X_OK) else None


@contextmanager
def converted(tool: Path, session: Path) -> Iterator[list[Path]]:
    """The JSON files that the viewer makes of a session's folder, in a folder that goes away afterwards.

    Raises AwsToolError where it fails, or takes longer than `NPROF_NEURON_EXPLORER_SECONDS` (300).
    """
    with tempfile.TemporaryDirectory(prefix="nprof-") as output:
        _run([os.fspath(tool), "view", "-d", os.fspath(session.absolute()), "--output-format", "json"], Path(output))
        yield sorted(Path(output).rglob("*.json"))


def _run(command: list[str], folder: Path) -> None:
    deadline_s = _deadline_s()
    try:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise AwsToolError(f"{command[0]} could not be started: {error.strerror}") from error
    with process:
        try:
            said, complained = process.communicate(timeout=deadline_s)
        except subprocess.TimeoutExpired as error:
            _end(process)
            message = f"{command[0]} took longer than {deadline_s:g} s ({DEADLINE_VARIABLE}) and was ended"
            raise AwsToolError(message) from error
        except BaseException:
            _end(process)
            raise
    if process.returncode:
        lines = (complained or said).decode("utf-8", "replace").strip().splitlines()
        why = lines[-1][:_SAID_LENGTH] if lines else "it said nothing"
        raise AwsToolError(f"{command[0]} failed with exit status {process.returncode}: {why}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the process to end, and make it end where it does not; its pipes are emptied meanwhile."""
    process.terminate()
    try:
        process.communicate(timeout=_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _deadline_s() -> float:
    given = os.environ.get(DEADLINE_VARIABLE, "")
    try:
        seconds = float(given) if given else _DEADLINE_S
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e6:
        raise AwsToolError(f"{DEADLINE_VARIABLE} is {given!r}; set it to a number of seconds")
    return seconds
