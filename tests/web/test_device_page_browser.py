"""The Device page in a real browser; `neuron_runs.attention` has the rows that the numbers follow from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from explorer_of import explorer_of
from neuron_runs import US, attention
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(attention().trace(), title="attention.ntff"))


def figures(page: Page) -> dict[str, str]:
    labels, values = (page.locator(f".np-figure-{part}").all_inner_texts() for part in ("label", "value"))
    return dict(zip(labels, values, strict=True))


def rows_of_grid(page: Page, grid: str, *columns: str) -> list[list[str]]:
    page.wait_for_selector(f"#{grid} .ag-center-cols-container .ag-row")
    found = page.locator(f"#{grid} .ag-center-cols-container .ag-row").all()
    found.sort(key=lambda row: int(row.get_attribute("row-index") or 0))
    return [[row.locator(f'[col-id="{column}"]').inner_text() for column in columns] for row in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_the_numbers_worked_out_by_hand(
    browser_page: Callable[..., Page], url: str, scheme: str
) -> None:
    page = browser_page(color_scheme=scheme)
    page.goto(url)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Device").click()
    expect(page).to_have_url(f"{url}/device")
    expect(page.locator("main h1")).to_have_text("Which engine works, which waits?")
    expect(page.locator(".np-answer")).to_have_text(
        "attention ran 10.0 µs on nc4, nc5. The busiest engine is Tensor of nc4: it works 30.0 % of the time. "
        "Tensor of nc4 waits longest: 30.0 %. DMA is under way 22.5 % of the time."
    )
    # 8 and 12 MFLOP of the 1573 that two cores do in 10 µs; 98304 bytes of the 7.16 MB
    assert figures(page) == {
        "Run": "10.0 µs", "Anything active": "67.5 %", "MFU": "0.509 %", "HFU": "0.763 %", "MBU": "1.37 %",
    }  # fmt: skip
    engines = page.get_by_role("table", name="What the time of each engine went to").locator("tbody tr")
    told = [[text for text in row.split("\t") if text.strip()] for row in engines.all_inner_texts()]
    assert told[0] == ["nc4", "Tensor", "30.0 %", "30.0 %", "3"]
    assert told[1] == ["nc4", "Vector", "20.0 %", "20.0 %", "2"]
    assert told[5] == ["nc5", "Tensor", "20.0 %", "0 %", "1"]
    throttling = page.get_by_role("table", name="Throttling").locator("tbody tr").all_inner_texts()
    assert [row.split("\t") for row in throttling] == [
        ["nc4", "not limited", "6.00 µs", "60.0 %"], ["nc4", "at most 50.0 % of its rate", "2.00 µs", "20.0 %"],
    ]  # fmt: skip
    assert rows_of_grid(page, "np-queues", "queue", "class", "packets", "bytes", "active_ns", "bytes_per_s") == [
        ["qSyncDynamicHW", "hardware_dynamic", "2", "65.5 kB", "1.00 µs", "65.5 GB/s"],
        ["qGpSimdDynamic", "software_dynamic", "1", "32.8 kB", "1.00 µs", "32.8 GB/s"],
        ["Q14", "instruction", "1", "1.02 kB", "250 ns", "4.10 GB/s"],
    ]
    assert rows_of_grid(page, "np-waits", "engine", "opcode", "pc", "waited_ns", "operands") == [
        ["Tensor", "EVENT_SEMAPHORE", "9", "3.00 µs", "S[7]>=3"], ["Vector", "TENSOR_REDUCE", "12", "2.00 µs", ""],
    ]  # fmt: skip
    assert ["total_time", "10.0 µs", "1e-05 s", "computed"] in rows_of_grid(
        page, "np-metrics", "name", "shown", "exact", "source"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_the_strips_over_time_hold_the_work_of_each_engine(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/device")
    page.wait_for_selector(".np-device .js-plotly-plot")
    heat, named = page.evaluate(
        "(({data, layout}) => [data[0], layout.yaxis.ticktext])(document.querySelector('.np-device .js-plotly-plot'))"
    )
    assert named[:2] == ["nc4 Tensor", "nc4 Vector"]
    # 400 bins of 25 ns: Tensor of core 4 works for 3 µs, 120 of them
    assert (sum(heat["z"][0]), heat["z"][0][:120]) == (120, [1] * 120)


def test_a_double_click_on_a_queue_shows_its_longest_packet_on_the_timeline(
    browser_page: Callable[..., Page], url: str
) -> None:
    page = browser_page()
    page.goto(f"{url}/device")
    page.wait_for_selector("#np-queues .ag-center-cols-container .ag-row")
    page.locator('#np-queues [col-id="queue"]', has_text="qSyncDynamicHW").dblclick()
    expect(page.locator("main h1")).to_have_text("What happened when, and what caused it?")
    details = page.locator(".np-timeline-details")
    expect(details).to_contain_text("qSyncDynamicHW")
    expect(details).to_contain_text("600 ns")


def test_the_switch_leads_to_another_run_and_back(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    profile = attention()
    profile.run(20 * US, total_time_ps=30 * US, neff="attention", index=1)
    page = browser_page()
    page.goto(f"{served(explorer_of(profile.trace(), title='two.ntff'))}/device")
    switch = page.get_by_role("navigation", name="Which execution is shown")
    expect(switch.locator("[aria-current]")).to_have_text("nd0 nc4 · run 1")
    switch.get_by_role("link", name="nd0 nc4 · run 2").click()
    expect(page.locator(".np-answer")).to_contain_text("ran 30.0 µs")
    page.go_back()
    expect(page.locator(".np-answer")).to_contain_text("ran 10.0 µs")
