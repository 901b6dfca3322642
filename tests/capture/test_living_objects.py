"""Living objects of some classes are found, and not looked for again where there can be no others."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from collectors.living_objects import LivingObjects


class Base:
    pass


class Derived(Base):
    pass


class Other:
    pass


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often all objects were looked at so far."""
    count, look = [0], gc.get_objects

    def counted() -> list[Any]:
        count[0] += 1
        return look()

    monkeypatch.setattr(gc, "get_objects", counted)
    return lambda: count[0]


def test_objects_of_derived_classes_are_found_by_kind() -> None:
    one, two, three = Base(), Derived(), Other()
    bases, others = LivingObjects((Base, Other)).find()
    assert set(bases) == {one, two}
    assert others == [three]


def test_all_objects_are_looked_at_once_where_nothing_changed(looks: Callable[[], int]) -> None:
    kept = [Base(), Derived()]
    living = LivingObjects((Base,))
    for _ in range(5):
        assert set(living.find()[0]) == set(kept)
    assert looks() == 1


@pytest.mark.parametrize(
    "another", [lambda one: type(one)(), copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_an_object_is_found_however_it_came(another: Callable[[Base], Base], looks: Callable[[], int]) -> None:
    first = Derived()
    living = LivingObjects((Base,))
    assert living.find() == ([first],)
    second = another(first)
    assert set(living.find()[0]) == {first, second}
    assert looks() == 2


def test_an_object_that_replaced_another_is_found() -> None:
    kept = [Derived()]
    living = LivingObjects((Base,))
    living.find()
    kept[0] = Derived()
    assert living.find() == (kept,)


def test_objects_of_a_class_that_is_new_are_found() -> None:
    living = LivingObjects((Base,))
    assert living.find() == ([],)
    late = type("Late", (Derived,), {})()
    assert living.find() == ([late],)


def test_nothing_is_kept_alive() -> None:
    living = LivingObjects((Base,))
    one = Base()
    assert living.find() == ([one],)
    del one
    assert living.find() == ([],)
