"""Who sees little, or has no mouse, can use every page: axe (https://github.com/dequelabs/axe-core) and the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import constructed
import pytest
from axe_playwright_python.sync_playwright import Axe
from explorer_of import explorer_of
from playwright.sync_api import Page, expect

from explorer_app.web.pages import PAGES
from neuron_profile import load

pytestmark = pytest.mark.browser

HEIGHTS = {1280: 800, 2560: 1440}
EVERY_LOOK = tuple((width, scheme) for width in HEIGHTS for scheme in ("light", "dark"))
NEURON = "neuron_bin/T180_fused_exec_2.ntff"
GPU = "kineto/T048_profile_trace_rank_0.json.gz"
EVERY_PAGE = pytest.mark.parametrize("where", PAGES, ids=lambda page: page.name)

# Text of the charts' axes and legends against what lies behind it, which axe does not judge: [[text, ratio], …].
FAINT_CHART_TEXTS = """() => {
    const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
    const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const color = parse(getComputedStyle(at).backgroundColor);
            if (color.length === 3 || color[3] === 1) return color;
        }
        return [255, 255, 255];
    };
    const texts = '.xtick text, .ytick text, .legendtext, .xtitle, .ytitle';
    return [...document.querySelectorAll(texts)].map((text) => {
        const [a, b] = [luminance(parse(getComputedStyle(text).fill)), luminance(behind(text.closest('.np-chart')))];
        return [text.textContent, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
    }).filter(([, ratio]) => ratio < 4.5);
}"""
# What is drawn and has no words: a chart, a canvas or a picture without a name, unless hidden from who does not see it.
WITHOUT_WORDS = """() => [...document.querySelectorAll('canvas, svg, img, .np-chart')]
    .filter((e) => e.checkVisibility() && !e.closest('[aria-hidden=true], .ag-root-wrapper, #js-plotly-tester'))
    .filter((e) => !e.closest('[aria-label], [aria-labelledby], [title], [alt]'))
    .map((e) => e.outerHTML.slice(0, 120))"""
# Everything that a key must reach and none has; a grid is one stop, inside it the arrows lead on.
UNREACHED = """() => {
    const all = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    return [...document.querySelectorAll(all)].filter((e) => e.checkVisibility({visibilityProperty: true})
        && !e.disabled && e.tabIndex >= 0 && !e.dataset.reached && !e.closest('.ag-root-wrapper, dialog:not([open])'))
        .map((e) => e.outerHTML.slice(0, 140));
}"""
# Whether the window itself has the focus, else what has it, where nothing shows that it has.
FOCUSED = """() => {
    const e = document.activeElement;
    if (e === document.body) return { isWindow: true };
    e.dataset.reached = 'true';
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(e);
    const isShown = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
        || getComputedStyle(e, '::after').borderTopStyle !== 'none' || Boolean(e.closest('.ag-root-wrapper'));
    return { isWindow: false, unseen: isShown ? null : e.outerHTML.slice(0, 140) };
}"""
MOST_STOPS = 600
SLOW_MS = 90_000  # two thousand points and five grids, on a machine that does much else


def opened(page: Page, url: str, where: Any) -> None:
    """Goes to a page and waits until it has drawn all that it draws."""
    page.goto(url + where.path)
    expect(page.locator("main h1")).to_have_text(where.question)
    page.wait_for_load_state("networkidle")
    page.wait_for_function(
        """() => [...document.querySelectorAll('.np-grid')].every((each) => each.querySelector('.ag-header-cell'))
        && [...document.querySelectorAll('.np-chart')].every((chart) => chart.querySelector('.main-svg'))
        && [...document.querySelectorAll('#np-timeline-canvas')].every((each) => each.dataset.settled === 'true')""",
        timeout=SLOW_MS,
    )
    for grid in page.locator(".np-grid:visible").all():  # one that was never in view has cells that are not yet shown
        grid.scroll_into_view_if_needed()
        expect(grid.locator(".ag-delay-render")).to_have_count(0)
    page.evaluate("scrollTo(0, 0)")


def judge(page: Page, url: str, where: Any, looks: Sequence[tuple[int, str]]) -> None:
    """Fails for what axe finds, what scrolls sideways, and what has no words, at these (width, scheme)."""
    opened(page, url, where)
    for width, scheme in looks:
        page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", scheme)
        page.wait_for_function(f"() => !({FAINT_CHART_TEXTS})().length")  # charts take the scheme a moment later
        found = Axe().run(page).response["violations"]
        told = [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]
        assert told == [], f"{where.name} at {width}, {scheme}"
        assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width]
    assert page.evaluate(WITHOUT_WORDS) == []
    expect(page.locator("h1")).to_have_count(1)
    expect(page.locator("main h1")).to_have_count(1)


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(constructed.three_steps(), title="three_steps.json"))


@pytest.fixture(scope="module")
def empty_url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(constructed.empty(), title="empty.pb"))


@pytest.fixture(scope="module")
def gpu_url(served: Callable[[Any], str], corpus: Path) -> str:
    return served(explorer_of(load(corpus / GPU, cache=False), title="gpu"))


@pytest.fixture(scope="module")
def neuron_url(served: Callable[[Any], str], corpus: Path) -> str:
    return served(explorer_of(load(corpus / NEURON, cache=False), title="neuron"))


@EVERY_PAGE
@pytest.mark.parametrize(
    ("trace", "looks"),
    [
        ("gpu_url", EVERY_LOOK), ("neuron_url", [(1280, "light"), (2560, "dark")]), ("url", [(1280, "dark")]),
        ("empty_url", [(1280, "light")]),
    ],
    ids=["of a GPU", "of a NeuronCore", "of three steps", "empty"],
)  # fmt: skip
def test_axe_finds_nothing_and_no_page_scrolls_sideways(
    browser_page: Callable[..., Page], request: pytest.FixtureRequest, trace: str, looks: Any, where: Any
) -> None:
    judge(browser_page(reduced_motion="reduce"), request.getfixturevalue(trace), where, looks)


@EVERY_PAGE
def test_tab_reaches_every_control_and_shows_where_it_is(
    browser_page: Callable[..., Page], gpu_url: str, where: Any
) -> None:
    page = browser_page(reduced_motion="reduce")
    opened(page, gpu_url, where)
    unseen = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused["isWindow"]:
            break
        unseen.append(focused["unseen"])
    assert focused["isWindow"], "Tab leads round and round"
    assert page.evaluate(UNREACHED) == []
    assert [each for each in unseen if each] == []


@pytest.mark.parametrize(("opener", "dialog"), [("#np-keys-open", "#np-keys"), ("#np-open-button", "#np-open")])
def test_a_dialog_keeps_the_focus_until_it_is_closed_and_gives_it_back(
    browser_page: Callable[..., Page], url: str, opener: str, dialog: str
) -> None:
    page = browser_page()
    page.watch.ignore_console.append("404")  # nothing can be opened where no folder was given
    opened(page, url, PAGES[0])
    page.locator(opener).focus()
    page.keyboard.press("Enter")
    expect(page.locator(dialog)).to_be_visible()
    assert Axe().run(page).response["violations"] == []
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate(
            f"document.activeElement === document.body || Boolean(document.activeElement.closest('{dialog}'))"
        )
    page.keyboard.press("Escape")
    expect(page.locator(dialog)).to_be_hidden()
    expect(page.locator(opener)).to_be_focused()
