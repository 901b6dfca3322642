"""The Collectives page; every number worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from constructed import HOSTILE
from explorer_of import explorer_of
from playwright.sync_api import Page, expect
from test_pages import components, graphs, text_of

from explorer_app.web.pages.collectives import PAGE
from explorer_app.web.pages.collectives.ranks import _strongest_ns, heat_card
from explorer_app.web.pages.overview.figures import figures
from explorer_app.web.view import whole_view
from trace_format import CATEGORIES, Trace, TraceBuilder

MS = 1_000_000
KERNEL = f"nccl {HOSTILE[0]}"


def late_rank(*, op: str = "all_reduce") -> Trace:
    """Two ranks on one host, two steps of 100 ms, in each an all_reduce of 12 MB that rank 1 comes to 20 ms late.

    Step s: rank 0 is in it from 100 s + 30 to 100 s + 60 ms, rank 1 from 50 to 60: 30 and 10 ms, nothing computed. In
    the first, rank 1 computes until 55 ms: 5 of its 10 ms are hidden. So a step of a rank has
    (30 + 5 + 30 + 10) / 4 = 18.75 ms exposed of (30 + 10) / 2 = 20 ms. Bandwidth: 12 MB in 10 ms, 1.2 GB/s, times
    2 (n - 1) / n = 1 on the bus.
    """
    builder = TraceBuilder()
    builder.metadata.update(world_size=2, ranks=[{"rank": rank, "host": "a"} for rank in range(2)])
    for rank in range(2):
        host = builder.track("main", kind="host_thread", pid=rank, rank=rank)
        compute, lane = (
            builder.track(name, kind="stream", rank=rank, device=rank, pid=rank) for name in ("compute", "nccl")
        )

        def add(track: int, name: str, category: str, start_ms: int, dur_ms: int) -> int:
            return builder["slices"].append(
                1, track=track, name=builder.string(name), category=CATEGORIES.index(category), ts_ns=start_ms * MS,
                dur_ns=dur_ms * MS,
            )  # fmt: skip

        for step in range(2):
            add(host, f"ProfilerStep#{step}", "annotation", step * 100, 100)
            come = step * 100 + (50 if rank else 30)
            row = add(lane, KERNEL, "collective", come, step * 100 + 60 - come)
            builder["collectives"].append(
                1, slice=row, op=builder.string(op), dtype=builder.string("Float"), in_bytes=12_000_000,
                out_bytes=12_000_000, group=builder.string("0"), group_ranks=builder.string(json.dumps([0, 1])),
                rank=rank, seq=step, source=builder.string("kernel"),
            )  # fmt: skip
        if rank:
            add(compute, "gemm", "compute", 10, 45)
    return builder.finish()


def test_the_page_says_which_collective_costs_a_step_and_which_rank_the_others_wait_for() -> None:
    said = " ".join(text_of(PAGE.layout(whole_view(late_rank()))).split())
    assert "all_reduce of 12.0 MB costs most: 18.8 ms in a step in which nothing is computed," in said
    assert "of 20.0 ms that it takes." in said
    # rank 0 waits 20 ms in each of the two
    assert "The others wait for rank 1: 40.0 ms each in all, as it came last to 2 of 2 collectives" in said
    assert "Exposed in a step 18.8 ms mean of 4 steps" in said
    assert "Under compute 6.25 %" in said  # 5 of 80 ms
    assert "Largest bus bandwidth 1.20 GB/s the link's rate is unknown" in said


def test_the_heat_map_marks_who_came_late() -> None:
    (graph,) = graphs(heat_card(whole_view(late_rank())))
    (strip,) = graph["figure"]["data"]
    assert strip["y"] == ["rank 0", "rank 1"]
    assert strip["z"] == [[0, 0], [20 * MS, 20 * MS]]
    assert strip["text"][1][0].startswith("rank 1: 20.0 ms after the first")
    assert "slice=" in strip["customdata"][1][0]


def test_many_ranks_and_collectives_keep_the_latest_of_each_mark() -> None:
    ranks, number = 64, 2000
    builder = TraceBuilder()
    builder.metadata.update(world_size=ranks, ranks=[{"rank": rank, "host": "a"} for rank in range(ranks)])
    members = builder.string(json.dumps(list(range(ranks))))
    for rank in range(ranks):
        lane = builder.track("nccl", kind="stream", rank=rank, device=0, pid=rank)
        come = np.arange(number, dtype=np.int64) * 10_000
        come[1234] += 777 if rank == 17 else 0
        first = builder["slices"].append(
            number, track=lane, name=builder.string("nccl"), category=CATEGORIES.index("collective"), ts_ns=come,
            dur_ns=np.arange(number, dtype=np.int64) * 10_000 + 5000 - come,
        )  # fmt: skip
        builder["collectives"].append(
            number, slice=first + np.arange(number), op=builder.string("all_reduce"), in_bytes=1000, out_bytes=1000,
            group=builder.string("0"), group_ranks=members, rank=rank, seq=np.arange(number),
            source=builder.string("kernel"),
        )  # fmt: skip
    (graph,) = graphs(heat_card(whole_view(builder.finish())))
    (strip,) = graph["figure"]["data"]
    assert len(strip["z"]) == ranks
    assert len(strip["z"][0]) == 125  # 2000 in marks of 16
    assert strip["z"][17][1234 // 16] == 777
    assert sum(value > 0 for line in strip["z"] for value in line) == 1


def test_without_collectives_the_page_says_what_would_fill_it() -> None:
    assert "This run had one process" in text_of(PAGE.layout(whole_view(TraceBuilder().finish())))
    builder = TraceBuilder()
    builder.metadata["world_size"] = 8
    assert "No collective was recorded" in text_of(PAGE.layout(whole_view(builder.finish())))


def test_names_are_text_in_the_charts() -> None:
    trace = late_rank(op=HOSTILE[1])
    drawn = json.dumps([graph["figure"] for graph in graphs(PAGE.layout(whole_view(trace)))])
    assert "<img" not in drawn
    assert "&lt;img" in drawn
    assert len(list(components(PAGE.layout(whole_view(trace))))) > 0


@pytest.mark.browser
def test_a_row_and_a_point_lead_to_their_slices(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    page = browser_page()
    url = served(explorer_of(late_rank(), title="ranks"))
    page.goto(f"{url}/collectives")
    row = page.locator("#np-collectives .ag-center-cols-container .ag-row").first
    expect(row.locator("[col-id=op]")).to_have_text("all_reduce")
    expect(row.locator("[col-id=exposed_ns]")).to_have_text("75.0 ms")  # 30 + 5 + 30 + 10
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    row.locator("[col-id=op]").dblclick()
    expect(page.locator("#np-timeline-details h2")).to_have_text(KERNEL)
    page.goto(f"{url}/collectives")
    chart = page.get_by_role("img", name="How long after the first")
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".heatmaplayer image")).to_have_count(1)
    box = chart.locator(".nsewdrag").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.75)  # rank 1, the second one
    expect(page.locator("#np-timeline-details h2")).to_have_text(KERNEL)
    assert "slice=" in page.url


def test_a_rank_that_is_late_every_time_has_the_strongest_colour_alone() -> None:
    # of 64 ranks that come to 4 collectives rank 37 is 500 late, one in 64 and so above the 98th percentile; others 45
    told = pd.DataFrame({"rank": np.repeat(np.arange(64), 4)})
    told["late_ns"] = np.where(told["rank"] == 37, 500, 45)
    assert _strongest_ns(told) == 500


def test_the_overview_says_who_arrives_last_and_what_that_costs_a_step() -> None:
    # rank 0 waits 20 ms for rank 1 in each of two steps of 100
    said = " ".join(text_of(figures(late_rank())).split())
    assert "Last to arrive 1 rank; the others wait 20.0 ms a step (20.0 %), on average; last in 2 of 2" in said
