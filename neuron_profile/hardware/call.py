"""One call of an operator, as its recorded arguments tell it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from neuron_profile.hardware.dtypes import ASSUMED_ITEMSIZE, COMPUTE_TYPE, ITEMSIZE

# Some versions of torch wrote "Input dims".
_DIMS, _TYPES, _VALUES = ("Input Dims", "Input dims"), ("Input type",), ("Concrete Inputs",)
_STRIDES = ("Input Strides",)


_REMEMBERED = 4096  # calls: several questions are asked of each, and the windows of a training make the same ones


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: its shape, the bytes of one element, its strides in elements (None: not known), its element type.

    `dtype` is the type as torch wrote it, "" where it did not.
    """

    shape: tuple[int, ...]
    itemsize: int
    strides: tuple[int, ...] | None = field(default=None, compare=False)
    dtype: str = field(default="", compare=False)

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * self.itemsize


@dataclass(frozen=True)
class Call:
    """An operator's name and its positional arguments.

    An argument is a tensor, a list of tensors, or None for anything else; `values` has the text of
    arguments that are numbers, flags or lists of them, "" where it was not recorded.
    """

    name: str
    arguments: tuple[Tensor | tuple[Tensor, ...] | None, ...]
    values: tuple[str, ...] = ()

    @property
    def in_place(self) -> bool:
        """Whether the operator writes into its first argument (torch's naming rule: a trailing underscore)."""
        return self.name.endswith("_") and not self.name.endswith("__")

    @property
    def operator(self) -> str:
        """The name without the underscore of an in-place operator."""
        return self.name[:-1] if self.in_place else self.name

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors among the arguments, those in lists too, in order."""
        out: list[Tensor] = []
        for argument in self.arguments:
            if isinstance(argument, Tensor):
                out.append(argument)
            elif argument is not None:
                out.extend(argument)
        return tuple(out)

    @property
    def assumes_itemsize(self) -> bool:
        """Whether the element type of a list of tensors had to be assumed."""
        known = any(isinstance(argument, Tensor) for argument in self.arguments)
        return not known and bool(self.tensors)

    @property
    def compute_type(self) -> str:
        """The name of the type in which the call computes ("bf16"): that of its largest tensor which has one, else "".

        As torch's own analysis of profiles takes it (torch/_inductor/analysis/profile_analysis.py, convert_dtype).
        """
        typed = [t for t in self.tensors if t.dtype in COMPUTE_TYPE]
        return COMPUTE_TYPE[max(typed, key=lambda t: t.numel).dtype] if typed else ""

    def tensor(self, position: int) -> Tensor | None:
        """The tensor at this position, None where there is none."""
        argument = self.arguments[position] if position < len(self.arguments) else None
        return argument if isinstance(argument, Tensor) else None

    def list(self, position: int) -> tuple[Tensor, ...]:
        """The list of tensors at this position, empty where there is none."""
        argument = self.arguments[position] if position < len(self.arguments) else None
        return argument if isinstance(argument, tuple) else ()

    def numbers(self, position: int) -> tuple[int, ...] | None:
        """A recorded list of whole numbers, or one alone; None where there is none."""
        value = self._value(position)
        many = value if isinstance(value, list) else [value]
        if value is None or not all(type(v) is int for v in many):
            return None
        return tuple(many)

    def number(self, position: int) -> int | None:
        """A recorded whole number, None where there is none."""
        value = self._value(position)
        return value if type(value) is int else None

    def flag(self, position: int) -> bool | None:
        """A recorded flag, None where there is none."""
        text = self.values[position] if position < len(self.values) else ""
        return {"True": True, "False": False}.get(text)

    def _value(self, position: int) -> Any:
        text = self.values[position] if position < len(self.values) else ""
        try:
            return msgspec.json.decode(text) if text else None
        except msgspec.DecodeError:  # "True", "inf", a name
            return None


@lru_cache(maxsize=_REMEMBERED)
def parse_call(name: str, arg_set: bytes) -> Call | None:
    """The call that a recorded argument set describes; None where it has no shapes or they make no sense."""
    found = _parse(arg_set)
    return None if found is None else Call(name, *found)


@lru_cache(maxsize=_REMEMBERED)
def _parse(arg_set: bytes) -> tuple[tuple[Tensor | tuple[Tensor, ...] | None, ...], tuple[str, ...]] | None:
    """The arguments and values of an argument set; operators share many of them."""
    try:
        args = msgspec.json.decode(arg_set) if arg_set else None
    except msgspec.DecodeError:
        return None
    if not isinstance(args, dict):
        return None
    dims, types, values = _list(args, _DIMS), _list(args, _TYPES), _list(args, _VALUES)
    if dims is None or types is None or len(dims) != len(types):
        return None
    if not all(isinstance(dtype, str) for dtype in types):
        return None
    known = {ITEMSIZE[t] for d, t in zip(dims, types, strict=True) if t in ITEMSIZE and d}
    in_lists = max(known) if known else ASSUMED_ITEMSIZE
    strides = _list(args, _STRIDES) or []
    strides += [None] * (len(dims) - len(strides))
    try:
        arguments = tuple(
            _argument(d, t, s, in_lists) for d, t, s in zip(dims, types, strides[: len(dims)], strict=True)
        )
    except (TypeError, ValueError):
        return None
    return arguments, tuple(v if isinstance(v, str) else "" for v in values or ())


def _list(args: dict[str, Any], keys: tuple[str, ...]) -> list[Any] | None:
    found = next((args[key] for key in keys if key in args), None)
    return found if isinstance(found, list) else None


def _argument(dims: Any, dtype: str, strides: Any, in_lists: int) -> Tensor | tuple[Tensor, ...] | None:
    itemsize = ITEMSIZE.get(dtype)
    if itemsize is not None:
        shape = _shape(dims)
        return Tensor(shape, itemsize, _strides(strides, shape), dtype)
    if dtype == "TensorList":
        return tuple(Tensor(_shape(d), in_lists) for d in dims)
    return None


def _shape(dims: Any) -> tuple[int, ...]:
    if not isinstance(dims, list) or not all(type(size) is int and size >= 0 for size in dims):
        raise ValueError(f"not a shape: {dims!r}")
    return tuple(dims)


def _strides(strides: Any, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides of a tensor; None for what does not fit its shape."""
    if not isinstance(strides, list) or len(strides) != len(shape):
        return None
    return tuple(strides) if all(type(step) is int and step >= 0 for step in strides) else None
