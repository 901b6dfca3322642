"""How the changes of a comparison are written."""

from __future__ import annotations

import pytest

from explorer_app.comparison_text import moved, signed


@pytest.mark.parametrize(
    ("ratio", "said"),
    [(0.031, "+3.1 %"), (-1, "-100.0 %"), (9.99, "+999.0 %"), (51, "×52"), (5241.853, "×5,243"), (float("inf"), "new")],
)
def test_a_large_change_is_told_as_a_multiple(ratio: float, said: str) -> None:
    assert signed(ratio) == said


def test_no_difference_has_no_sign() -> None:
    assert (moved(1_200_000), moved(-1_200_000), moved(-0.2)[0]) == ("+1.20 ms", "-1.20 ms", "0")
