"""The module, source line or operator that each slice belongs to, whether it ran on the host or the device."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from neuron_profile.analysis.derived import kept_with_the_trace
from neuron_profile.analysis.launches.enclosing import Enclosing, innermost_around
from neuron_profile.analysis.launches.host_slices import host_slice, host_slices_of
from neuron_profile.analysis.recorded_calls import distinct_calls
from neuron_profile.analysis.sides import HOST, side_of_slices
from neuron_profile.hardware.call import Tensor, parse_call
from trace_format import CATEGORIES, Trace

Array = np.ndarray

OUTSIDE_MODULES = "(outside any module)"
OUTSIDE_SOURCE = "(no line of your own)"
NO_OPERATOR = "(launched by no recorded operator)"
NO_LAUNCH = "(its launch was not recorded)"

_PYTHON, _HOST_OP = CATEGORIES.index("python"), CATEGORIES.index("host_op")
_OUTSIDE, _UNKNOWN = -1, -2  # in the place of a name
MODULE = "nn.Module: "  # how torch's Python tracer names a call of a module
_FRAME = re.compile(r"(?P<path>.+\.py)\((?P<line>\d+)\): .+")
_INSTALLED = re.compile(r"(^|[/\\])(site-packages|dist-packages|lib[/\\]python3(\.\d+)?)[/\\]|^<")
# torch cuts the paths of installed packages down to the package; ours are on the stack when a capture starts and stops
_NOT_OWN = frozenset({"torch", "functorch", "torchgen", "neuron_profile", "collectors", "trace_format"})


def own_frame(frame: str) -> bool:
    """Whether a stack frame ("train.py(12): step") is neither Python's, nor torch's, nor ours, nor installed.

    Installed packages other than torch whose paths were cut down to the package cannot be told from the user's own.
    """
    found = _FRAME.fullmatch(frame)
    if found is None or _INSTALLED.search(found["path"]):
        return False
    top = re.split(r"[/\\]", found["path"])[0].removesuffix(".py")
    return top not in _NOT_OWN and top not in sys.stdlib_module_names


@kept_with_the_trace
def own_frames(trace: Trace) -> Array:
    """The rows of the recorded calls of the user's own functions."""
    return _slices_named(trace, own_frame)


@kept_with_the_trace
def around_own_frames(trace: Trace) -> Enclosing:
    """Tells the innermost call of one of the user's own functions around a slice."""
    return Enclosing(trace.slices, own_frames(trace))


@dataclass(frozen=True, slots=True)
class Attributed:
    """What each of some slices belongs to: index into `texts`, -1 for a slice that does not count.

    `unattributed`: the index of the text for work of the device that belongs to nothing known.
    """

    of_slice: Array
    texts: list[str]
    unattributed: int


def by_module(trace: Trace, rows: Array | None = None) -> Attributed | None:
    """The innermost nn.Module around each slice, of `rows` where given; None where none was recorded."""
    modules = _slices_named(trace, lambda name: name.startswith(MODULE))
    if len(modules) == 0:
        return None
    host, module = _innermost(trace, modules, rows)
    names = np.where(module >= 0, trace.slices.name[module].astype(np.int32), np.int32(_OUTSIDE))
    return _named(trace, names, host, OUTSIDE_MODULES, lambda name: name.removeprefix(MODULE))


def by_source(trace: Trace, rows: Array | None = None) -> Attributed | None:
    """The innermost line of the user's own code around each slice; None where neither stacks nor frames are.

    Of `rows` where given. From the slice's own recorded stack, else from the Python frames on its track.
    """
    slices, strings, stacks = trace.slices, trace.pool.strings, trace.pool.stacks
    frames = own_frames(trace)
    has_stacks = bool((slices.stack > 0).any())
    if len(frames) == 0 and not has_stacks:
        return None
    if rows is None:
        host = host_slice(trace)
        frame = around_own_frames(trace).innermost(host)
    else:
        host, frame = _innermost(trace, frames, rows)
    names = np.where(frame >= 0, slices.name[frame].astype(np.int32), np.int32(_OUTSIDE))
    if has_stacks:
        innermost = np.zeros(len(stacks), np.int32)
        own = {i: own_frame(text) for i, text in enumerate(strings.values)}
        for i, stack in enumerate(stacks.values):
            innermost[i] = next((frame for frame in reversed(stack) if own[frame]), 0)
        of_stack = innermost[np.where(host >= 0, slices.stack[host], 0)]
        names = np.where(of_stack > 0, of_stack, names)
    return _named(trace, names, host, OUTSIDE_SOURCE, str)


def by_operator(trace: Trace) -> Attributed:
    """The operator behind each slice, with the shapes it was given; -1 for what is no operator's work.

    On the host an operator counts for itself; device work counts for the innermost operator that launched it.
    """
    slices = trace.slices
    side = side_of_slices(trace)
    operators = np.flatnonzero((slices.category == _HOST_OP) & (side == HOST))
    of_slice = np.full(len(slices), -1, np.int32)
    calls = distinct_calls(trace, operators)
    labels, texts = _number(calls.of_row, dict(enumerate(call_text(*call) for call in calls)).__getitem__)
    of_slice[operators] = labels
    texts.append(NO_OPERATOR)
    device = np.flatnonzero(side < HOST)
    if len(device):
        operator = Enclosing(slices, operators).innermost(host_slice(trace)[device])
        of_slice[device] = np.where(operator >= 0, of_slice[operator], len(texts) - 1)
    return Attributed(of_slice, texts, len(texts) - 1)


def call_text(name: str, arg_set: bytes) -> str:
    """An operator with the shapes of its tensors: "aten::mm [16, 32] [32, 64]"."""
    call = parse_call(name, arg_set)
    if call is None:
        return name
    shown = (
        _shape(argument) if isinstance(argument, Tensor) else f"({' '.join(map(_shape, argument))})"
        for argument in call.arguments
        if argument  # neither a number nor an empty list
    )
    return " ".join([name, *shown])


def _shape(tensor: Tensor) -> str:
    return str(list(tensor.shape))


def _innermost(trace: Trace, chosen: Array, rows: Array | None) -> tuple[Array, Array]:
    """The host slice of each slice, of `rows` where given, and the innermost chosen one around it; -1 for none."""
    if rows is None:
        host = host_slice(trace)
        return host, Enclosing(trace.slices, chosen).innermost(host)
    host = host_slices_of(trace, rows)
    is_chosen = np.zeros(len(trace.slices), bool)
    is_chosen[chosen] = True
    return host, innermost_around(trace.slices, host, is_chosen)


def _slices_named(trace: Trace, fits: Callable[[str], bool]) -> Array:
    """Rows of Python frames whose name fits."""
    slices, strings = trace.slices, trace.pool.strings.values
    rows = np.flatnonzero(slices.category == _PYTHON)
    chosen = np.zeros(len(strings), bool)
    for name in np.unique(slices.name[rows]).tolist():
        chosen[name] = fits(strings[name])
    return rows[chosen[slices.name[rows]]]


def _named(trace: Trace, names: Array, host: Array, outside: str, text: Callable[[str], str]) -> Attributed:
    """What the names (ids of strings) say, `outside` where they are `_OUTSIDE`; nothing of work without a host."""
    strings = trace.pool.strings.values
    names[host < 0] = _UNKNOWN
    special = {_OUTSIDE: outside, _UNKNOWN: NO_LAUNCH}
    of_slice, texts = _number(names, lambda name: text(strings[name]) if name >= 0 else special[name])
    return Attributed(of_slice, texts, texts.index(NO_LAUNCH) if NO_LAUNCH in texts else -1)


def _number(keys: Array, text: Callable[[int], str]) -> tuple[Array, list[str]]:
    """Keys, from `_UNKNOWN` on, as indices into their distinct texts; keys with the same text become one."""
    if len(keys) == 0:
        return np.zeros(0, np.int32), []
    place = keys - _UNKNOWN
    used = np.zeros(int(place.max()) + 1, bool)
    used[place] = True
    found: dict[str, int] = {}
    number = np.zeros(len(used), np.int32)
    for key in np.flatnonzero(used).tolist():
        number[key] = found.setdefault(text(key + _UNKNOWN), len(found))
    return number[place], list(found)
