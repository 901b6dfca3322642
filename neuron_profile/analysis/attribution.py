"""The module, source line or operator that each slice belongs to, whether it ran on the host or the device."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable

import numpy as np

from neuron_profile.analysis.enclosing import Enclosing
from neuron_profile.analysis.launches import launching_slice
from neuron_profile.analysis.recorded_calls import distinct_calls
from neuron_profile.analysis.sides import HOST, side_of_slices
from neuron_profile.hardware.call import Tensor, parse_call
from trace_format import CATEGORIES, Trace

Array = np.ndarray

OUTSIDE_MODULES = "(outside any module)"
OUTSIDE_SOURCE = "(no line of your own)"
NO_OPERATOR = "(launched by no recorded operator)"

_PYTHON, _HOST_OP = CATEGORIES.index("python"), CATEGORIES.index("host_op")
_MODULE = "nn.Module: "  # how torch's Python tracer names a call of a module
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


def by_module(trace: Trace) -> tuple[Array, list[str]] | None:
    """The innermost nn.Module around each slice: index into the returned texts; None where none was recorded."""
    strings = trace.pool.strings.values
    modules = _slices_named(trace, lambda name: name.startswith(_MODULE))
    if len(modules) == 0:
        return None
    module = Enclosing(trace.slices, modules).innermost(_on_host(trace))
    return _texts(trace, module, OUTSIDE_MODULES, lambda name: strings[name].removeprefix(_MODULE))


def by_source(trace: Trace) -> tuple[Array, list[str]] | None:
    """The innermost line of the user's own code around each slice; None where neither stacks nor frames are.

    From the slice's own recorded stack, else from the Python frames on its track.
    """
    slices, strings, stacks = trace.slices, trace.pool.strings, trace.pool.stacks
    frames = _slices_named(trace, own_frame)
    has_stacks = bool((slices.stack > 0).any())
    if len(frames) == 0 and not has_stacks:
        return None
    host = _on_host(trace)
    frame_rows = Enclosing(slices, frames).innermost(host)
    names = np.where(frame_rows >= 0, slices.name[np.maximum(frame_rows, 0)], 0)
    if has_stacks:
        innermost = np.zeros(len(stacks), np.int64)
        own = {i: own_frame(text) for i, text in enumerate(strings.values)}
        for i, stack in enumerate(stacks.values):
            innermost[i] = next((frame for frame in reversed(stack) if own[frame]), 0)
        of_stack = innermost[np.where(host >= 0, slices.stack[np.maximum(host, 0)], 0)]
        names = np.where(of_stack > 0, of_stack, names)
    return _number(names, lambda name: strings[name] if name else OUTSIDE_SOURCE)


def by_operator(trace: Trace) -> tuple[Array, list[str]]:
    """The operator behind each slice, with the shapes it was given; -1 for what is no operator's work.

    On the host an operator counts for itself; device work counts for the innermost operator that launched it.
    """
    slices = trace.slices
    side = side_of_slices(trace)
    operators = np.flatnonzero((slices.category == _HOST_OP) & (side == HOST))
    of_slice = np.full(len(slices), -1, np.int64)
    calls = distinct_calls(trace, operators)
    labels, texts = _number(calls.of_row, dict(enumerate(call_text(*call) for call in calls)).__getitem__)
    of_slice[operators] = labels
    device = np.flatnonzero(side < HOST)
    if len(device):
        launched_by = launching_slice(trace)[device]
        known = launched_by >= 0
        operator = np.full(len(device), -1, np.int64)
        operator[known] = Enclosing(slices, operators).innermost(launched_by[known])
        texts.append(NO_OPERATOR)
        of_slice[device] = np.where(operator >= 0, of_slice[np.maximum(operator, 0)], len(texts) - 1)
    return of_slice, texts


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


def _on_host(trace: Trace) -> Array:
    """The row on the host that stands for each slice: itself, or what launched it; -1 for neither."""
    side = side_of_slices(trace)
    return np.where(side == HOST, np.arange(len(side)), launching_slice(trace))


def _slices_named(trace: Trace, fits: Callable[[str], bool]) -> Array:
    """Rows of Python frames whose name fits."""
    slices, strings = trace.slices, trace.pool.strings.values
    rows = np.flatnonzero(slices.category == _PYTHON)
    chosen = np.zeros(len(strings), bool)
    for name in np.unique(slices.name[rows]).tolist():
        chosen[name] = fits(strings[name])
    return rows[chosen[slices.name[rows]]]


def _texts(trace: Trace, rows: Array, none: str, text: Callable[[int], str]) -> tuple[Array, list[str]]:
    """Labels from the names of the slices `rows`, `none` where a row is -1."""
    names = np.where(rows >= 0, trace.slices.name[np.maximum(rows, 0)].astype(np.int64), -1)
    return _number(names, lambda name: text(name) if name >= 0 else none)


def _number(keys: Array, text: Callable[[int], str]) -> tuple[Array, list[str]]:
    """Keys as indices into their distinct texts; keys with the same text become one."""
    used, of_row = np.unique(keys, return_inverse=True)
    found: dict[str, int] = {}
    number = np.array([found.setdefault(label, len(found)) for label in _each(used, text)], np.int64)
    return (number[of_row] if len(used) else np.zeros(0, np.int64)), list(found)


def _each(keys: Array, text: Callable[[int], str]) -> Iterable[str]:
    return (text(key) for key in keys.tolist())
