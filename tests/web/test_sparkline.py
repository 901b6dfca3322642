"""Sparklines: which bars, and how high."""

from __future__ import annotations

import math

from explorer_app.web.sparkline import sparkline


def heights(values: list[float]) -> list[str]:
    made = sparkline(values, label="x")
    assert made is not None
    return [getattr(bar, "style", {}).get("height", "") for bar in made.children]


def test_bars_are_shares_of_the_largest() -> None:
    assert heights([1, 4, 3]) == ["25%", "100%", "75%"]


def test_what_is_unknown_has_no_bar_and_nothing_has_a_low_one() -> None:
    assert heights([2, math.nan, -1, 0]) == ["100%", "", "", "4%"]


def test_of_many_values_each_bar_is_the_largest_of_its_neighbours() -> None:
    values = [1.0] * 80
    values[3] = 2.0
    assert heights(values) == ["50%", "100%", *["50%"] * 38]  # pairs


def test_one_value_has_no_course() -> None:
    assert sparkline([5], label="x") is None
    assert sparkline([5, math.nan], label="x") is None
