"""Documents with some of their values replaced by odd ones, for property tests."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.sampled_from([2**31, 2**62, 2**63, -1, 0, 10**400]),
    st.floats(), st.text(max_size=4), st.just([]), st.just({}), st.just([{}, 1]), st.just({"a": [1]}),
    st.sampled_from(["-5", "99999999999999999999", "\ud800", "nan"]),
)  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a document, outermost first."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        keys = list(inner) if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        found += [(inner, key) for key in keys]
        waiting += [inner[key] for key in keys]
    return found


@st.composite
def with_odd_values(draw: st.DrawFn, document: Any) -> Any:
    """The document (a fresh one each time, from `document()`) with up to six values replaced."""
    value = document()
    for _ in range(draw(st.integers(1, 6))):
        every = places(value)
        container, key = every[draw(st.integers(0, len(every) - 1))]
        container[key] = deepcopy(draw(ODD))  # what is drawn twice must not come to lie within itself
    return value
