"""The living objects of some classes: found by looking at all objects, which takes a twentieth of a second."""

from __future__ import annotations

import gc
import sys
import sysconfig
import weakref
from itertools import compress
from typing import Any

# Where threads count references on their own, a count does not tell whether there are new objects.
_COUNTS_TELL = not sysconfig.get_config_var("Py_GIL_DISABLED")


class LivingObjects:
    """Finds the living objects of these classes and of all that derive from them, and holds none of them.

    Every object of a class written in Python refers to its class. While no class has more or fewer references than
    after the last look, and none of the objects found has gone, there are no others, and nothing is looked for. A
    reference that went just where an object came would hide that object until the next change.
    """

    def __init__(self, kinds: tuple[type, ...]) -> None:
        self._kinds = kinds
        self._references: dict[weakref.ref[type], int] = {}
        self._found: list[weakref.ref[Any]] = []

    def find(self) -> tuple[list[Any], ...]:
        """The living objects of each class, in the order in which they were given."""
        of_kind = [_with_subclasses(kind) for kind in self._kinds]
        classes = list(frozenset[type]().union(*of_kind))
        living = [known() for known in self._found]
        if any(one is None for one in living) or not _COUNTS_TELL or self._references != _references(classes):
            living = _all_of(frozenset(classes))
            self._found = [weakref.ref(one) for one in living]
            self._references = _references(classes)
        return tuple([one for one in living if type(one) in wanted] for wanted in of_kind)


def _references(classes: list[type]) -> dict[weakref.ref[type], int]:
    return {weakref.ref(one): sys.getrefcount(one) for one in classes}


def _all_of(classes: frozenset[type]) -> list[Any]:
    objects = gc.get_objects()  # a million of them
    return list(compress(objects, map(classes.__contains__, map(type, objects))))


def _with_subclasses(kind: type) -> frozenset[type]:
    """The class and all that derive from it."""
    found, more = {kind}, [kind]
    while more:
        derived: list[type] = type.__subclasses__(more.pop())
        more += [one for one in derived if one not in found]
        found.update(derived)
    return frozenset(found)
