"""The browser's number formats are those of `explorer_app.format`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import explorer_app.web
from explorer_app import format as fmt

pytestmark = pytest.mark.browser

SCRIPT = Path(explorer_app.web.__file__).parent / "assets" / "np_format.js"
FORMATS: dict[str, Callable[[float | None], str]] = {
    "duration": fmt.duration, "size": fmt.size, "bandwidth": fmt.bandwidth, "count": fmt.count, "ratio": fmt.ratio,
}  # fmt: skip
# around each change of unit, of the number of digits, and of notation
NUMBERS = [
    None, -1, 0, 1, 2.5, 7, 9.994, 9.996, 10, 12.345, 99.94, 99.96, 100, 999, 999.4, 999.5, 999.6, 1000, 1234, 12345,
    99950, 99960, 999499, 999500, 999600, 1_000_000, 1_843_211, 5e8, 999_500_000, 1e9, 61e9, 299.9e9, 300e9, 301e9,
    3599e9, 3.6e12, 1e15, 1.5e18, 1e21, -5, -1234, -2e6,
]  # fmt: skip
RATIOS = [None, 0, 1, 0.5, 0.417, 0.0052, 0.09994, 0.09996, 0.9994, 0.99951, 1e-5, 9e-6, -0.25, -9e-6, 12.5, -1]


def test_numbers_read_the_same_in_the_browser(browser_page: Callable[..., Any]) -> None:
    page = browser_page()
    page.goto("about:blank")
    page.add_script_tag(content=SCRIPT.read_text(encoding="utf-8"))
    cases = [[n, kind] for kind in ("duration", "size", "bandwidth") for n in NUMBERS]
    cases += [[n, "count"] for n in NUMBERS if n is None or float(n).is_integer()] + [[n, "ratio"] for n in RATIOS]
    cases += [[0.2, "count"]]
    shown = page.evaluate("cases => cases.map(([n, kind]) => np.format(n, kind))", cases)
    expected = [FORMATS[kind](n) for n, kind in cases]
    differing = [(case, s, e) for case, s, e in zip(cases, shown, expected, strict=True) if s != e]
    assert differing == []


def test_exact_values_read_the_same_in_the_browser(browser_page: Callable[..., Any]) -> None:
    page = browser_page()
    page.goto("about:blank")
    page.add_script_tag(content=SCRIPT.read_text(encoding="utf-8"))
    numbers = [None, -1, 0, 1234567, 2.5, 1234.5]
    assert page.evaluate("ns => ns.map(n => np.exact(n, 'ns'))", numbers) == [fmt.exact(n, "ns") for n in numbers]


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("1.5 ms", 1.5e6), ("2us", 2e3), ("2 µs", 2e3), ("3 s", 3e9), ("2 min", 120e9), ("2 MB", 2e6), ("1 GB/s", 1e9),
        ("5 %", 0.05), ("1,234", 1234), ("10k", 10_000), ("12", 12), ("", None), ("fast", None), ("1 parsec", None),
    ],
)  # fmt: skip
def test_filters_are_typed_with_units(browser_page: Callable[..., Any], typed: str, number: float | None) -> None:
    page = browser_page()
    page.goto("about:blank")
    page.add_script_tag(content=SCRIPT.read_text(encoding="utf-8"))
    assert page.evaluate("text => np.parse(text, 'duration')", typed) == number


def test_a_bare_number_is_per_cent_where_ratios_are_filtered(browser_page: Callable[..., Any]) -> None:
    page = browser_page()
    page.goto("about:blank")
    page.add_script_tag(content=SCRIPT.read_text(encoding="utf-8"))
    assert page.evaluate("np.parse('5', 'ratio')") == 0.05
