"""The Compile page; every number worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from explorer_of import explorer_of
from playwright.sync_api import Page, expect
from test_pages import text_of

from explorer_app.web.pages.compile import PAGE
from explorer_app.web.view import whole_view
from trace_format import CATEGORIES, Trace, TraceBuilder
from trace_format.tables import CACHE_RESULTS

MS = 1_000_000
HOSTILE = "<img src=x onerror=alert(1)>"


def two_steps() -> Trace:
    """Steps of 100 ms; in the first `forward` is compiled for 40 ms, in the second again for 30 ms.

    It breaks each time. The key of the second was missed before.
    """
    builder = TraceBuilder()
    host = builder.track("main", kind="host_thread", rank=0)
    line = builder.track("torch.compile", kind="compile", rank=0)

    def add(track: int, name: str, category: str, start_ms: int, dur_ms: int, **args: Any) -> int:
        return builder["slices"].append(
            1, track=track, name=builder.string(name), category=CATEGORIES.index(category), ts_ns=start_ms * MS,
            dur_ns=dur_ms * MS, args=builder.pool.arg_sets.id(json.dumps(args).encode()) if args else 0,
        )  # fmt: skip

    for step in range(2):
        add(host, f"ProfilerStep#{step}", "annotation", step * 100, 100)
    first, again = (
        add(line, f"compile forward {graph}", "compile", start, dur, function="forward", compile_id=graph,
            fx_graph_cache_key="k")
        for graph, start, dur in (("0/0", 10, 40), ("0/1", 120, 30))
    )  # fmt: skip
    for row, trigger in ((first, ""), (again, f"recompile: size of {HOSTILE}")):
        builder["compiles"].append(
            1, slice=row, what=builder.string("forward"), cache=CACHE_RESULTS.index("miss"), exit_status=0,
            trigger=builder.string(trigger),
        )  # fmt: skip
    told = builder.pool.arg_sets.id(b'{"place":"train.py:7","reason":"call to print"}')
    builder["instants"].append(
        2, ts_ns=[20 * MS, 130 * MS], track=line, name=builder.string("dynamo_graph_break_reason"), args=told
    )
    return builder.finish()


def test_the_page_says_what_compiling_cost_and_whether_it_was_needed() -> None:
    said = " ".join(text_of(PAGE.layout(whole_view(two_steps()))).split())
    assert "2 compiles of 1 function took 70.0 ms, paid by 2 of 2 steps." in said
    assert "1 recompile took 30.0 ms, which dynamic shapes or fixed inputs would save." in said
    assert "Cache hits 0 of 2" in said
    assert "Graph breaks 2 at 1 line" in said
    assert "forward 2 40.0 ms 30.0 ms" in said  # compiles, once, again
    assert "train.py:7 2 call to print" in said
    assert "Misses that should have been hits" in said


def test_without_compiles_the_page_says_what_would_fill_it() -> None:
    assert "A capture with NeuronConfig has" in text_of(PAGE.layout(whole_view(TraceBuilder().finish())))


@pytest.mark.browser
def test_a_double_click_on_a_compile_leads_to_its_slice(
    browser_page: Callable[..., Page], served: Callable[[Any], str]
) -> None:
    page = browser_page()
    page.goto(f"{served(explorer_of(two_steps(), title='compiles'))}/compile")
    second = page.locator(".ag-center-cols-container .ag-row").nth(1)
    expect(second.locator("[col-id=dur_ns]")).to_have_text("30.0 ms")
    expect(second.locator("[col-id=trigger]")).to_have_text(f"recompile: size of {HOSTILE}")
    second.locator("[col-id=what]").dblclick()
    expect(page.locator("#np-timeline-details h2")).to_have_text("compile forward 0/1")
