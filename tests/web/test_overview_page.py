"""The Overview; every number worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import constructed
import pytest
from explorer_of import explorer_of
from playwright.sync_api import Page, expect
from test_pages import components, graphs, text_of

from explorer_app.web.library import Library
from explorer_app.web.pages import PAGES
from explorer_app.web.pages.overview import PAGE, explained
from explorer_app.web.pages.overview.explained import page_explaining
from explorer_app.web.view import Views, whole_view
from neuron_profile.analysis.findings import RULES
from trace_format import CATEGORIES, Trace, TraceBuilder

MS = constructed.MS
START_NS = constructed.START_NS


def said(trace: Trace) -> str:
    return " ".join(text_of(PAGE.layout(whole_view(trace))).split())


def steps_of(
    durations_ms: list[float], *, rank: int = 0, builder: TraceBuilder | None = None, busy: float = 0.5
) -> TraceBuilder:
    """Steps one after the other, in each of which the device computes at first: half of it, or what `busy` says."""
    builder = builder or TraceBuilder()
    main = builder.track("main", kind="host_thread", pid=rank + 1, rank=rank)
    stream = builder.track("stream 7", kind="stream", pid=rank + 1, device=0, rank=rank)
    at = 0.0
    for number, length in enumerate(durations_ms):
        for track, name, category, dur in (
            (main, f"ProfilerStep#{number}", "annotation", length), (stream, "gemm", "compute", length * busy),
        ):  # fmt: skip
            builder["slices"].append(
                1, ts_ns=START_NS + round(at * MS), dur_ns=round(dur * MS), track=track, name=builder.string(name),
                category=CATEGORIES.index(category),
            )  # fmt: skip
        at += length
    return builder


def trend(trace: Trace) -> list[dict[str, Any]]:
    """The curves of the breakdown by step."""
    return next(
        graph["figure"]["data"]
        for graph in graphs(PAGE.layout(whole_view(trace)))
        if graph["figure"]["layout"].get("barmode") == "stack"
    )


def test_the_verdict_comes_first_with_its_size_its_evidence_and_what_to_try() -> None:
    # in steps of 10, 12 and 11 ms 1.5, 0 and 1.5 ms in an all_reduce with nothing computed: median 1.5 of 11 ms
    shown = said(constructed.three_steps())
    assert (
        "A step takes 11.0 ms (median of 3). Its largest part is compute: 51.5 %. "
        "Fixing the first finding would return about 1.50 ms of each (13.6 %)." in shown
    )
    assert "Collectives run and nothing is computed meanwhile: 1.50 ms (13.6 %)" in shown
    assert "1.50 ms per step (13.6 %, in 2 of 3 steps)" in shown
    assert "Try: Start collectives earlier" in shown
    assert "In 2 of 3 steps. The clearest example on the timeline · More on Collectives" in shown
    assert shown.index("Verdict") < shown.index("Where the time went") < shown.index("Top operations")


def test_the_clearest_example_is_a_slice_of_the_whole_trace_where_only_a_range_is_looked_at() -> None:
    trace = constructed.three_steps()
    views = Views(Library.holding(trace, title="t"))
    last = {"from": str(START_NS + 22 * MS), "to": str(START_NS + 33 * MS)}
    links = [
        c.href for c in components(PAGE.layout(views.of(last)))
        if getattr(c, "children", None) == "The clearest example on the timeline"
    ]  # fmt: skip
    # the third all_reduce, which begins 8 ms into the third step
    names, starts = trace.slices.text("name"), trace.slices.ts_ns.tolist()
    row = next(i for i, at in enumerate(starts) if at == START_NS + 30 * MS and names[i].startswith("nccl"))
    assert links[0].rpartition("slice=")[2] == str(row)


def test_where_no_rule_found_anything_the_page_says_what_was_looked_at() -> None:
    shown = said(steps_of([10, 10, 10], busy=1).finish())
    assert "No rule found anything to improve." in shown
    assert f"Nothing stands out {len(RULES)} rules looked at this trace" in shown
    assert "slow-data-loading : data_loading_ns" in shown


def test_every_rule_that_a_page_explains_is_a_rule_and_the_page_is_there() -> None:
    assert set(explained._OF_RULE) <= {rule.id for rule in RULES}
    there = {(page.name, page.path) for page in PAGES}
    assert {tuple(page) for rule in RULES if (page := page_explaining(rule.id))} <= there
    assert page_explaining("no such rule") is None


def test_the_bars_of_the_steps_add_up_to_the_steps() -> None:
    curves = trend(constructed.three_steps())
    assert curves[0]["x"] == ["step 0", "step 1", "step 2"]
    heights = [sum(curve["y"][number] for curve in curves) for number in range(3)]
    assert heights == [10 * MS, 12 * MS, 11 * MS]
    compute = next(curve for curve in curves if curve["name"] == "compute")
    assert compute["y"] == [5 * MS, 7 * MS, 5 * MS]
    # a click on the second looks at [10, 22) ms
    assert compute["customdata"][1] == ["<b>step 1</b>, 12.0 ms<br>compute: 7.00 ms, 58.3 %", 10 * MS, 22 * MS]


def test_of_many_steps_each_bar_is_the_mean_of_a_few() -> None:
    curves = trend(steps_of([2, 4, 6] * 50).finish())  # 150 steps in 75 pairs: 2 4, 6 2, 4 6, ...
    compute, idle = curves
    assert compute["x"][:2] == ["steps 0–1", "steps 2–3"]
    assert compute["y"][:3] == [1.5 * MS, 2 * MS, 2.5 * MS]  # half of the means 3, 4, 5
    assert idle["y"] == compute["y"]
    assert compute["customdata"][1][1:] == [6 * MS, 14 * MS]
    assert "Step times" in said(steps_of([2, 4, 6] * 50).finish())


def test_of_one_step_of_several_ranks_there_is_a_bar_for_each() -> None:
    builder = steps_of([10])
    curves = trend(steps_of([8], rank=1, builder=builder).finish())
    assert curves[0]["x"] == ["rank 0", "rank 1"]
    assert curves[0]["y"] == [5 * MS, 4 * MS]
    # both idle half of it: of equals the first
    assert "10.0 ms of 1 step, of rank 0, the one of 2 devices that idles least" in said(
        steps_of([8], rank=1, builder=steps_of([10])).finish()
    )


def test_figures_have_their_course_over_the_steps() -> None:
    drawn = PAGE.layout(whole_view(constructed.three_steps()))
    sparks = {c.title: c for c in components(drawn) if getattr(c, "className", "") == "np-spark"}
    heights = [bar.style["height"] for bar in sparks["The duration of each step"].children]
    assert heights == ["83%", "100%", "92%"]  # 10, 12 and 11 of 12 ms
    shown = said(constructed.three_steps())
    assert "Device busy 65.2 % computing 51.5 %" in shown  # 17 + 3 + 1.5 of 33 ms
    assert "Collectives, exposed 1.50 ms 9.09 % of the time" in shown  # 1.5, 0, 1.5 ms: 3 of 33
    assert "Memory, peak 3.00 MB" in shown
    # totals 1, 3 and 2 MB from 1, 12 and 23 ms on; the last step begins with 3
    peaks = [bar.style["height"] for bar in sparks["The peak in each step"].children]
    assert peaks == ["33%", "100%", "100%"]


def test_a_compiled_program_alone_is_not_said_to_have_steps() -> None:
    builder = TraceBuilder()
    builder["neffs"].append(1, name=builder.string("matmul.neff"))
    shown = said(builder.finish())
    assert "This is 1 compiled program, matmul.neff, and no run: nothing here has taken any time." in shown
    assert "Nothing to judge" in shown
    assert "step" not in shown.lower()


def test_a_profile_of_a_device_alone_is_not_said_to_lack_steps() -> None:
    builder = TraceBuilder()
    engine = builder.track("Tensor", kind="engine", device=0)
    builder["slices"].append(
        1, ts_ns=START_NS, dur_ns=8000, track=engine, name=builder.string("MATMUL"),
        category=CATEGORIES.index("compute"),
    )  # fmt: skip
    shown = said(builder.finish())
    assert "What was recorded takes 8.00 µs. Its largest part is compute: 100 %." in shown
    assert "no step" not in shown


def test_what_only_a_python_profiler_saw_is_not_divided_into_parts() -> None:
    builder = TraceBuilder()
    main = builder.track("main", kind="host_thread")
    builder["slices"].append(
        1, ts_ns=START_NS, dur_ns=MS, track=main, name=builder.string("f"), category=CATEGORIES.index("python")
    )
    shown = said(builder.finish())
    assert "Neither a device nor torch's operators were recorded" in shown
    assert "Where the time went" not in shown
    assert "f python host 1.00 ms 100 % 1" in shown


def test_a_log_of_compiles_alone_leads_to_the_page_about_them() -> None:
    builder = TraceBuilder()
    line = builder.track("torch.compile", kind="compile")
    builder["slices"].append(
        1, ts_ns=START_NS, dur_ns=MS, track=line, name=builder.string("compile f"),
        category=CATEGORIES.index("compile"),
    )  # fmt: skip
    shown = said(builder.finish())
    assert "It tells of compiling alone: what that cost is on the page Compile." in shown
    assert "Where the time went" not in shown


def test_the_time_of_a_simulated_device_stands_apart_and_is_marked() -> None:
    builder = steps_of([10, 10])
    builder.metadata["simulated"] = {"generation": "trn2", "mode": "eager", "uncertainty": "±2x"}
    engine = builder.track("Tensor", kind="engine", device=0, simulated=1)
    for at_ms, dur_ms in ((0, 3), (4, 1)):
        builder["slices"].append(
            1, ts_ns=START_NS + at_ms * MS, dur_ns=dur_ms * MS, track=engine, name=builder.string("matmul"),
            category=CATEGORIES.index("compute"),
        )  # fmt: skip
    shown = said(builder.finish())
    assert "A NeuronCore's time, sim. 5.00 ms trn2 ±2x · Device" in shown
    assert "an engine works 4.00 ms 80.0 %" in shown
    assert "20.0 ms of 2 steps" in shown  # what was measured is not mixed with it
    assert "measured; those of the estimated device are simulated" in shown


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(constructed.three_steps(), title="three_steps.json"))


@pytest.mark.browser
def test_a_click_on_a_step_looks_at_it_on_every_page_and_escape_at_all(
    browser_page: Callable[..., Page], url: str
) -> None:
    page = browser_page()
    page.goto(url)
    page.wait_for_selector("#np-breakdown-steps .bars .point")
    # of the first part, compute, the second bar: the step of 12 ms that begins after 10
    box = page.locator("#np-breakdown-steps .trace.bars").first.locator(".point").nth(1).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".np-answer")).to_contain_text("A step takes 12.0 ms (the only one marked).")
    assert page.url == f"{url}/?from={START_NS + 10 * MS}&to={START_NS + 22 * MS}"
    expect(page.locator("#np-range")).to_have_text("12.0 ms from 10.0 ms")
    page.get_by_role("link", name="Hotspots").click()
    expect(page.locator('#np-hotspots .ag-row[row-index="0"] [col-id="self_ns"]')).to_have_text("7.00 ms")
    page.go_back()
    expect(page.locator(".np-answer")).to_contain_text("A step takes 12.0 ms")
    page.keyboard.press("Escape")
    expect(page.locator(".np-answer")).to_contain_text("A step takes 11.0 ms (median of 3).")


@pytest.mark.browser
def test_verdict_and_breakdown_fit_one_screen_and_lead_on(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(url)
    finding = page.locator(".np-finding").first
    expect(finding.locator(".np-bar-number")).to_have_text("13.6 %")
    for part in (finding, page.get_by_role("table", name="Parts of the steps"), page.locator("#np-breakdown-steps")):
        box = part.bounding_box()
        assert box["y"] + box["height"] <= 800
    finding.locator("summary").click()
    expect(finding.locator(".np-finding-evidence")).not_to_be_visible()
    finding.locator("summary").click()
    finding.get_by_role("link", name="The clearest example on the timeline").click()
    expect(page.locator("#np-timeline-details h2")).to_have_text("ncclDevKernel_AllReduce")
