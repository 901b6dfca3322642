"""The groups of a device on the timeline in a real browser: what stands under them, and what folding hides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from explorer_of import explorer_of
from neuron_runs import attention
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

_SHOWN = "npTimeline.current().rows.rows.map((row) => row.track ? row.track.name : row.process.name)"
_TOGGLE = """(name) => {
    const timeline = npTimeline.current();
    timeline.toggle(timeline.rows.rows.find((row) => row.kind === 'process' && row.process.name === name));
}"""


def test_folding_a_group_hides_the_groups_in_it_and_showing_a_slice_opens_them(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    page = browser_page()
    page.goto(f"{served(explorer_of(attention().trace(), title='attention.ntff'))}/timeline")
    page.wait_for_selector("[data-mounted=true][data-marked=true][data-settled=true]")
    shown = page.evaluate(_SHOWN)
    assert shown[:7] == ["nd0 nc4", "Executions", "Core 4", "Tensor", "Vector", "GpSimd", "Throttle"]
    assert shown[-3:] == ["Semaphores", "Core 5", "Tensor"]  # semaphores begin folded
    page.evaluate(_TOGGLE, "Core 4")
    assert page.evaluate(_SHOWN) == ["nd0 nc4", "Executions", "Core 4", "Core 5", "Tensor"]
    page.evaluate(_TOGGLE, "nd0 nc4")
    assert page.evaluate(_SHOWN) == ["nd0 nc4"]
    lane = (
        """(name) => npTimeline.current().meta.processes.flatMap((p) => p.tracks).find((t) => t.name === name).lane"""
    )
    page.evaluate(f"npTimeline.current().rows.reveal(({lane})('Q14 · E64'))")
    assert "Q14 · E64" in page.evaluate(_SHOWN)
