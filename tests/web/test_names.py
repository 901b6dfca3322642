"""Names are shown so that a reader sees all that is in them, and no more than fits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import explorer_app.web
from explorer_app.web.names import in_sentence, lines, named, tooltip

SCRIPT = Path(explorer_app.web.__file__).parent / "assets" / "np_names.js"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("aten::mm", "aten::mm"),
        ("", "(no name)"),
        ("  ", "(no name)"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("two\nlines", "two\\nlines"),
        ("half \ud800", "half \\ud800"),
        ("שלום <b>", "שלום <b>"),
    ],
)
def test_nothing_in_a_name_is_invisible_and_none_is_empty(name: str, shown: str) -> None:
    assert named(name) == shown


def test_a_name_is_cut_to_what_its_place_can_show() -> None:
    assert named("x" * 401) == "x" * 399 + "…"
    assert named("x" * 400) == "x" * 400
    sentence = in_sentence("k" * 1_000_000)
    assert sentence.children == "k" * 59 + "…"
    assert sentence.title == "k" * 1999 + "…"
    assert tooltip("") == "(no name)"


def test_text_keeps_its_lines() -> None:
    assert lines("a\nb\u202ec") == "a\nb\\u202ec"


@pytest.mark.browser
def test_names_read_the_same_in_the_browser(browser_page: Callable[..., Any]) -> None:
    page = browser_page()
    page.goto("about:blank")
    page.add_script_tag(content=SCRIPT.read_text(encoding="utf-8"))
    # \\ud800 alone cannot travel to the browser in a test, so it is made there
    names = ["", " ", "aten::mm", "x" * 399, "x" * 400, "x" * 401, "\U0001f600" * 400, "\U0001f600" * 401, "a\tb\r\n"]
    names += [f"<{chr(code)}>" for code in (0, 0x1B, 0x7F, 0x9F, 0xA0, 0x61C, 0x200E, 0x2028, 0x202E, 0x2066, 0x2069)]
    assert page.evaluate("names => names.map((name) => np.named(name))", names) == [named(name) for name in names]
    assert page.evaluate("np.named('half \\ud800')") == named("half \ud800")
