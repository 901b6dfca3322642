"""The Hotspots page: the tree beside the grid; every number worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import constructed
import pytest
from explorer_of import explorer_of
from playwright.sync_api import Page, expect
from test_pages import graphs, text_of

from explorer_app.web.pages.hotspots.answer import answer
from explorer_app.web.pages.hotspots.rows import hotspot_rows, row_id_of
from explorer_app.web.pages.hotspots.shape import Shape
from explorer_app.web.pages.hotspots.tree import tree_drawn
from explorer_app.web.view import whole_view
from trace_format import CATEGORIES, Trace, TraceBuilder

MS = constructed.MS
START_NS = constructed.START_NS


def network(*, module: str = "Block_0") -> Trace:
    """A module that calls two operators, each of which launches a kernel; and a kernel whose launch is not known.

    In ms, on the host: main [0, 100) > module [10, 90) > mm [20, 50) > launch [25, 30); relu [60, 70) > launch
    [62, 64) in the module too.
    On the device: gemm 60, relu_kernel 30, stray 10: 100.
    """
    builder = TraceBuilder()
    main = builder.track("main", kind="host_thread")
    stream = builder.track("stream 7", kind="stream", device=0)
    for track, name, category, start_ms, dur_ms, correlation in (
        (main, "train.py(7): main", "python", 0, 100, 0), (main, f"nn.Module: {module}", "python", 10, 80, 0),
        (main, "aten::mm", "host_op", 20, 30, 0), (main, "cudaLaunchKernel", "runtime", 25, 5, 1),
        (main, "aten::relu", "host_op", 60, 10, 0), (main, "cudaLaunchKernel", "runtime", 62, 2, 2),
        (stream, "gemm", "compute", 100, 60, 1), (stream, "relu_kernel", "compute", 160, 30, 2),
        (stream, "stray", "compute", 190, 10, 99),
    ):  # fmt: skip
        builder["slices"].append(
            1, ts_ns=START_NS + start_ms * MS, dur_ns=dur_ms * MS, track=track, name=builder.string(name),
            category=CATEGORIES.index(category), **({"correlation": correlation} if correlation else {}),
        )  # fmt: skip
    return builder.finish()


def areas(trace: Trace, shape: Shape) -> dict[str, tuple[str, int, str]]:
    """Of each area the label of the one around it, its value, and its tooltip, by its own label."""
    (graph,) = graphs(tree_drawn(whole_view(trace), shape))
    (curve,) = graph["figure"]["data"]
    called = dict(zip(curve["ids"], curve["labels"], strict=True))
    return {
        label: (called.get(parent, ""), value, text)
        for label, parent, value, text in zip(
            curve["labels"], curve["parents"], curve["values"], curve["customdata"], strict=True
        )
    }


def test_areas_are_modules_operators_and_what_they_launched() -> None:
    found = areas(network(), Shape(show="icicle"))
    assert {label: (parent, value // MS) for label, (parent, value, _) in found.items()} == {
        "Device time": ("", 100), "Block_0": ("Device time", 90), "aten::mm": ("Block_0", 60),
        "gemm": ("aten::mm", 60), "aten::relu": ("Block_0", 30), "relu_kernel": ("aten::relu", 30),
        "(its launch w…ot recorded)": ("Device time", 10), "stray": ("(its launch w…ot recorded)", 10),
    }  # fmt: skip
    # mm launched 60 of the 90 ms of its module and of the 100 ms of the device; on the host it takes 30 ms
    assert found["aten::mm"][2] == (
        "<b>aten::mm</b><br>host op on the host, 1 call<br>66.7 % of what called it, 60.0 % of the whole<br>"
        "total 60.0 ms (60,000,000 ns), self 0 ns<br>host: 30.0 ms"
    )


def test_areas_sized_by_the_host_are_its_calls() -> None:
    found = areas(network(), Shape(show="treemap", tree="call", size="host"))
    assert {label: (parent, value // MS) for label, (parent, value, _) in found.items()} == {
        "Host time": ("", 100), "train.py(7): main": ("Host time", 100),
        "nn.Module: Block_0": ("train.py(7): main", 80), "aten::mm": ("nn.Module: Block_0", 30),
        "aten::relu": ("nn.Module: Block_0", 10), "cudaLaunchKernel": ("aten::relu", 2),
    }  # fmt: skip
    assert "device: 60.0 ms" in found["aten::mm"][2]


def test_what_the_tree_leaves_out_is_told() -> None:
    by_device = text_of(tree_drawn(whole_view(network()), Shape(show="icicle")))
    assert "Of 10.0 ms of the device's work (10.0 %) no launch is known." in by_device
    by_host = text_of(tree_drawn(whole_view(network()), Shape(show="icicle", size="host")))
    assert "20.0 ms of the host lie outside of modules and operators." in by_host  # main [0, 10) and [90, 100)


def test_a_device_alone_has_its_operations_at_the_top() -> None:
    builder = TraceBuilder()
    engine = builder.track("Tensor", kind="engine", device=0)
    builder["slices"].append(
        1, ts_ns=START_NS, dur_ns=8000, track=engine, name=builder.string("MATMUL"),
        category=CATEGORIES.index("compute"),
    )  # fmt: skip
    found = areas(builder.finish(), Shape(show="icicle"))
    assert {label: parent for label, (parent, _, _) in found.items()} == {"Device time": "", "MATMUL": "Device time"}


def test_a_trace_without_modules_shows_every_call_until_asked_for_modules() -> None:
    builder = TraceBuilder()
    main = builder.track("main", kind="host_thread")
    builder["slices"].append(
        1, ts_ns=START_NS, dur_ns=MS, track=main, name=builder.string("f"), category=CATEGORIES.index("python")
    )
    trace = builder.finish()
    assert set(areas(trace, Shape(show="icicle"))) == {"Host time", "f"}
    asked = text_of(tree_drawn(whole_view(trace), Shape(show="icicle", tree="module")))
    assert "Neither modules nor operators were recorded: look at every call instead." in asked
    assert "Nothing in this trace has time on the host." in text_of(
        tree_drawn(whole_view(constructed.empty()), Shape(show="icicle"))
    )


def test_names_are_no_markup_in_the_tree() -> None:
    found = areas(network(module="<img src=x>"), Shape(show="icicle"))
    assert found["&lt;img src=x&gt;"][2].startswith("<b>&lt;img src=x&gt;</b><br>")


def test_python_frames_do_not_head_the_answer_where_operators_are() -> None:
    # of its own: main 20, module 40, mm 25, launches 7, relu 8 ms; without the frames mm has 25 of 40
    trace = network()
    shown = " ".join(text_of(answer(trace, "name")).split())
    assert "On the host: aten::mm , 25.0 ms of its own, 62.5 % of the host's time without Python frames." in shown
    names = [row["name"] for row in hotspot_rows(trace, "name") if row["side"] == "host"]
    assert names == ["aten::mm", "aten::relu", "cudaLaunchKernel", "nn.Module: Block_0", "train.py(7): main"]


def test_an_answer_by_module_tells_what_belongs_to_none() -> None:
    shown = " ".join(text_of(answer(network(), "module")).split())
    assert "10.0 ms of the device's work (10.0 %) belongs to nothing that is known." in shown


def test_a_row_is_found_again_by_what_an_area_shows() -> None:
    trace = network()
    ids = {row["name"]: row["id"] for row in hotspot_rows(trace, "name")}
    assert row_id_of(trace, "name", name="gemm", side="device", category="compute") == ids["gemm"]
    assert row_id_of(trace, "name", name="gemm", side="host", category=None) == ""


@pytest.mark.parametrize(
    "asked", [None, 7, "icicle", {"show": "pie", "tree": ["call"], "size": {"a": 1}, "wide": "yes"}, {"show": None}]
)
def test_what_no_address_can_mean_shows_the_grid(asked: Any) -> None:
    assert Shape.of(asked) == Shape()


@pytest.fixture(scope="module")
def url(served: Callable[[Any], str]) -> str:
    return served(explorer_of(network(), title="network.json"))


def click(page: Page, label: str, **options: Any) -> None:
    """Click the area with this label, in its corner, where its text is."""
    area = page.locator("#np-hotspots-tree .slice", has_text=label).last
    box = area.locator("path").first.bounding_box()
    page.mouse.click(box["x"] + 6, box["y"] + 6, **options)


@pytest.mark.browser
def test_a_click_on_an_area_selects_its_row_and_leads_to_its_slowest_call(
    browser_page: Callable[..., Page], url: str
) -> None:
    page = browser_page()
    page.goto(f"{url}/hotspots")
    page.locator("#np-hotspots-show").get_by_text("Icicle", exact=True).click()
    page.wait_for_selector("#np-hotspots-tree .slice")
    assert page.url == f"{url}/hotspots?show=icicle"
    click(page, "gemm")
    said = page.locator("#np-hotspots-node-said")
    expect(said).to_contain_text("gemm60.0 ms on the device")
    said.get_by_role("link", name="Slowest call on the timeline").click()
    expect(page.locator("#np-timeline-details h2")).to_have_text("gemm")
    page.go_back()
    page.wait_for_selector("#np-hotspots-tree .slice")
    click(page, "Block_0")
    expect(said).to_contain_text("90.0 ms on the device")


@pytest.mark.browser
def test_a_double_click_goes_into_an_area_and_the_path_leads_back(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page()
    page.goto(f"{url}/hotspots?show=treemap&size=host&tree=call")
    areas_shown = page.locator("#np-hotspots-tree .slice")
    expect(areas_shown.filter(has_text="train.py(7): main")).to_be_visible()
    click(page, "aten::mm", click_count=2)
    expect(areas_shown.filter(has_text="aten::relu")).to_have_count(0)
    expect(areas_shown.filter(has_text="aten::mm")).to_be_visible()
    page.locator("#np-hotspots-tree .pathbar", has_text="Host time").click()
    expect(areas_shown.filter(has_text="aten::relu")).to_be_visible()


@pytest.mark.browser
def test_on_a_broad_window_the_icicle_stands_beside_the_grid(browser_page: Callable[..., Page], url: str) -> None:
    page = browser_page(width=1920, height=1080)
    page.goto(f"{url}/hotspots")
    page.wait_for_selector("#np-hotspots-tree .slice")
    grid, tree = page.locator("#np-hotspots").bounding_box(), page.locator("#np-hotspots-tree").bounding_box()
    assert grid["x"] + grid["width"] <= tree["x"]
    click(page, "relu_kernel")
    expect(page.locator("#np-hotspots .ag-row-selected [col-id=name]")).to_have_text("relu_kernel")
    expect(page.locator("#np-hotspots-chosen")).to_contain_text("30.0 ms self")
