"""Kinds of trace events that become instants, and the argument that says which kind an instant was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Array = np.ndarray

# Phase -> what it means, in the words of the Trace Event Format.
_OBJECT_STATES = {"N": "created", "O": "snapshot", "D": "deleted"}
_MARKS = {
    "v": "process memory dump", "V": "global memory dump", "c": "clock sync", "(": "enter context",
    ")": "leave context", "=": "link",
}  # fmt: skip
OBJECTS, MARKS = "".join(_OBJECT_STATES), "".join(_MARKS)


def object_states(phases: Array) -> list[bytes]:
    """For each object event the member of its argument object that says what became of the object."""
    return _members("object", _OBJECT_STATES, phases)


def marks(phases: Array) -> list[bytes]:
    """For each event of a rare kind the member of its argument object that says which."""
    return _members("event", _MARKS, phases)


def with_members(args: Sequence[bytes], members: Sequence[bytes]) -> list[bytes]:
    """Argument objects as JSON text, each with one member more at its front."""
    return [_with_member(*pair) for pair in zip(args, members, strict=True)]


def _members(argument: str, words: Mapping[str, str], phases: Array) -> list[bytes]:
    return [f'"{argument}":"{words[chr(phase)]}"'.encode() for phase in phases.tolist()]


def _with_member(args: bytes, member: bytes) -> bytes:
    inner = args.strip()
    if inner[:1] == b"{":
        inner = inner[1:-1].strip()
    elif inner:
        inner = b"" if inner == b"null" else b'"args":%s' % inner
    return b"{%s,%s}" % (member, inner) if inner else b"{%s}" % member
