"""What the pages are made of, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import constructed
import neuron_runs
import numpy as np
import pytest
from callback_requests import grouping_request, page_request
from dash import dcc
from dash.development.base_component import Component
from explorer_of import explorer_of

from explorer_app.web import shell
from explorer_app.web.chart import plain, value_axis
from explorer_app.web.links import slice_href, timeline_href
from explorer_app.web.page import Page
from explorer_app.web.pages import PAGES, device
from explorer_app.web.pages.hotspots.rows import hotspot_rows
from explorer_app.web.pages.overview.captured import captured_facts
from explorer_app.web.pages.overview.step_times import steps_card
from explorer_app.web.view import whole_view
from neuron_profile.analysis import slowest
from trace_format import CATEGORIES, Trace, TraceBuilder

TRACES = {
    "three steps": constructed.three_steps, "hostile": constructed.hostile, "empty": constructed.empty,
    "long names": constructed.long_names, "unfinished": constructed.unfinished, "ranks": lambda: constructed.ranks(4),
    "neuron device": lambda: neuron_runs.attention().trace(),
}  # fmt: skip


def components(node: Any) -> Iterator[Component]:
    if isinstance(node, (list, tuple)):
        for part in node:
            yield from components(part)
    elif isinstance(node, Component):
        yield node
        for name in node._prop_names:
            yield from components(getattr(node, name, None))


def graphs(node: Any) -> list[dict[str, Any]]:
    """The properties of all graphs, those that the browser is still to make included."""
    found = []
    for component in components(node):
        if isinstance(component, dcc.Graph):
            found.append(component.to_plotly_json()["props"])
        data = getattr(component, "data", None)
        if isinstance(data, dict) and data.get("type") == "Graph":
            found.append(data["props"])
    return found


def text_of(node: Any) -> str:
    if isinstance(node, (list, tuple)):
        return " ".join(map(text_of, node))
    if isinstance(node, Component):
        return text_of(getattr(node, "children", None))
    return "" if node is None else str(node)


@pytest.fixture(params=TRACES)
def trace(request: pytest.FixtureRequest) -> Trace:
    return TRACES[request.param]()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_page_draws_every_trace_under_its_question(page: Page, trace: Trace) -> None:
    drawn = shell.page_in_shell(page, page.layout(whole_view(trace)))
    headings = [c.children for c in components(drawn) if type(c).__name__ == "H1"]
    assert headings == [page.question]
    assert page.question.endswith("?")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_chart_offers_to_send_data_anywhere(page: Page, trace: Trace) -> None:
    for graph in graphs(page.layout(whole_view(trace))):
        config = graph["config"]
        assert config["showSendToCloud"] is False
        assert config["plotlyServerURL"] == ""
        assert config["displaylogo"] is False


def test_the_walk_over_layouts_finds_the_charts() -> None:
    trace = constructed.three_steps()
    found = {page.name: len(graphs(page.layout(whole_view(trace)))) for page in PAGES}
    assert (found["Overview"], found["Timeline"], found["Hotspots"]) == (1, 0, 0)
    assert found["Memory"] > 0
    assert len(graphs(device.PAGE.layout(whole_view(neuron_runs.attention().trace())))) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_component_takes_text_for_markup(page: Page) -> None:
    for component in components(page.layout(whole_view(constructed.hostile()))):
        assert not isinstance(component, (dcc.Markdown, dcc.ConfirmDialog))
        assert getattr(component, "dangerously_allow_html", None) is None
        assert getattr(component, "dangerously_allow_code", None) is None


def test_paths_and_names_are_distinct_and_the_first_page_is_at_the_root() -> None:
    assert PAGES[0].path == "/"
    assert len({page.path for page in PAGES}) == len({page.name for page in PAGES}) == len(PAGES)


def test_nothing_is_loaded_from_elsewhere() -> None:
    app = explorer_of(constructed.three_steps(), title="three steps")
    index = app.server.test_client().get("/").get_data(as_text=True)
    assert "//" not in index.replace("http://www.w3.org", "").split("<body>")[0].replace("/assets//", "")
    assert app.scripts.config.serve_locally
    assert app.css.config.serve_locally


@pytest.mark.parametrize("title", ["<script>alert(1)</script>", "</title><script>alert(1)</script>", "a & b.json"])
def test_a_file_name_is_text_in_the_served_page(title: str) -> None:
    app = explorer_of(constructed.empty(), title=title)
    index = app.server.test_client().get("/").get_data(as_text=True)
    assert "<script>alert" not in index


def test_the_overview_says_what_a_clean_import_and_an_unclean_one_did() -> None:
    unclean = text_of(shell.banners(constructed.three_steps()))
    assert "Of the file's 30 events, 2 left out and 1 repaired." in unclean
    clean = text_of(shell.banners(constructed.empty()))
    assert "left out" not in clean


def test_a_simulated_track_is_announced_on_every_page() -> None:
    builder = TraceBuilder()
    builder.track("Tensor", kind="engine", simulated=1)
    assert "simulated, not measured" in text_of(shell.banners(builder.finish()))
    assert "simulated" not in text_of(shell.banners(constructed.empty()))


def test_a_page_that_fails_says_so_and_the_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Page(path="/hotspots", name="Hotspots", question="Which?", layout=lambda trace: 1 / 0)
    monkeypatch.setattr("explorer_app.web.app.PAGES", (PAGES[0], failing))
    client = explorer_of(constructed.three_steps(), title="t").server.test_client()

    def show(path: str) -> str:
        return client.post("/_dash-update-component", json=page_request(path)).get_data(as_text=True)

    assert "could not be worked out" in show("/hotspots")
    assert "ZeroDivisionError" not in show("/hotspots")
    assert "What bounds my step, and what would fixing it return?" in show("/")
    assert "There is no such page" in show("/elsewhere")


def test_what_is_unknown_about_a_capture_is_a_dash() -> None:
    facts = dict(captured_facts(constructed.empty()))
    assert facts == {
        "Host": "–", "Process": "–", "Ranks": "–", "Device": "–", "PyTorch": "–", "Started": "–", "Events": "0",
        "Numbers": "–", "Recorded": "–", "Recorded by": "–",
    }  # fmt: skip


def test_a_device_that_was_estimated_is_named_as_such_beside_one_that_was_there() -> None:
    builder = TraceBuilder()
    builder.metadata["simulated"] = {"generation": "trn2"}
    assert dict(captured_facts(builder.finish()))["Device"] == "trn2 NeuronCore (simulated)"
    builder.metadata["device_model"] = "NVIDIA T4"
    assert dict(captured_facts(builder.finish()))["Device"] == "NVIDIA T4; trn2 NeuronCore (simulated)"


def test_facts_of_a_capture_come_from_wherever_the_trace_says_them() -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    builder["slices"].append(ts_ns=[1_700_000_000_000_000_000], dur_ns=[5], track=track, name=builder.string("op"))
    source = {"format": "trace-event-json", "producer": "torch.profiler (Kineto)", "clock": "unix", "torch": "2.9"}
    devices = [{"name": "A100"}, {"name": "A100"}, {"name": "T4"}]
    builder.metadata.update(
        rank=3,
        world_size=8,
        recording={"asked": {"with_stack": True, "with_flops": False}, "turned_on": ["record_shapes"]},
        sources=[source],
        source_metadata={"host_name": "gpu-7", "deviceProperties": devices},
    )
    facts = dict(captured_facts(builder.finish()))
    assert facts["Host"] == "gpu-7"
    assert facts["Ranks"] == "rank 3 of 8"
    assert facts["Device"] == "2 × A100, T4"
    assert facts["PyTorch"] == "2.9"
    assert facts["Started"] == "2023-11-14 22:13:20 UTC"  # 1.7e9 seconds after the epoch
    assert facts["Recorded"] == "shapes, stacks; turned on by the capture: shapes"
    assert facts["Source"] == "trace-event-json, from torch.profiler (Kineto), unix clock"


def test_a_link_to_a_slice_shows_it_with_a_margin_and_selects_it() -> None:
    assert timeline_href(whole_view(constructed.empty()), 1000, 2000, slice_id=7) == "/timeline?t0=900&t1=2100&slice=7"
    assert timeline_href(whole_view(constructed.empty()), 1000, 1001) == "/timeline?t0=999&t1=1002"
    assert slice_href(whole_view(constructed.empty()), -1) == ""


def test_the_slowest_call_is_the_longest_of_its_name_side_and_category() -> None:
    trace = constructed.three_steps()
    row = slowest(trace, "gemm_kernel", by="name", side="device", category="compute")
    assert int(trace.slices.dur_ns[row]) == 7_000_000
    assert slowest(trace, "gemm_kernel", by="name", side="host") == -1
    assert slowest(trace, "host_op", by="category", side="host") == int(trace.slices.dur_ns.tolist().index(4_000_000))


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [
        (12.0, [0, 2.5, 5, 7.5, 10, 12.5]),  # up to 12.6
        (0.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (4e9, [0, 1e9, 2e9, 3e9, 4e9]),  # up to 4.2e9, a sixth of it is 0.7e9
    ],
)
def test_an_axis_has_round_ticks(largest: float, ticks: list[float]) -> None:
    axis = value_axis(largest, lambda value: f"{value:.2f} ms")
    assert axis["tickvals"] == pytest.approx(ticks)
    assert axis["ticktext"][0] == "0"
    assert axis["range"][1] >= largest


def test_ticks_are_written_without_zeros_that_say_nothing() -> None:
    assert value_axis(4.0, lambda value: f"{value:.2f} ms")["ticktext"] == ["0", "1 ms", "2 ms", "3 ms", "4 ms"]
    assert value_axis(400.0, lambda value: f"{value:.0f} ms")["ticktext"] == [
        "0",
        "100 ms",
        "200 ms",
        "300 ms",
        "400 ms",
    ]


def test_text_in_charts_is_no_markup() -> None:
    assert plain("<a href='x'>&</a>") == "&lt;a href='x'&gt;&amp;&lt;/a&gt;"


def test_a_long_run_is_drawn_as_a_line_that_keeps_its_longest_step() -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    dur_ns = np.full(50_000, 1000)
    dur_ns[12_345] = 9000
    builder["slices"].append(
        ts_ns=constructed.START_NS + np.r_[0, np.cumsum(dur_ns)[:-1]], dur_ns=dur_ns, track=track,
        name=builder.pool.strings.ids(f"ProfilerStep#{n}" for n in range(50_000)),
        category=CATEGORIES.index("annotation"),
    )  # fmt: skip
    (graph,) = graphs(steps_card(builder.finish()))
    (curve,) = graph["figure"]["data"]
    assert curve["type"] == "scatter"
    assert len(curve["x"]) <= 2000
    assert curve["y"][curve["x"].index(12_345)] == 9000


def grouped(trace: Trace, by: Any) -> list[dict[str, Any]]:
    """What the Hotspots page puts into its parts for a grouping, in the order in which it declares them."""
    outputs, body = grouping_request(by)
    answer = explorer_of(trace, title="t").server.test_client().post("/_dash-update-component", json=body)
    found = answer.json["response"]
    return [{what: found[name][what]} for name, what in outputs]


def text_of_json(node: Any) -> str:
    """The text of components as they travel to the browser."""
    if isinstance(node, list):
        return " ".join(map(text_of_json, node))
    return text_of_json(node["props"].get("children")) if isinstance(node, dict) else str(node or "")


def layout_of(name: str, trace: Trace) -> Any:
    return next(page for page in PAGES if page.name == name).layout(whole_view(trace))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_text_on_a_page_is_longer_than_a_reader_wants(page: Page) -> None:
    drawn = page.layout(whole_view(constructed.long_names()))
    texts = [part for c in components(drawn) for part in (getattr(c, "children", None),) if isinstance(part, str)]
    # all of the metadata, behind its fold, is meant to be whole
    folded = [c.children for c in components(drawn) if type(c).__name__ == "Pre"]
    assert max((len(text) for text in texts if text not in folded), default=0) <= 400
    titles = [str(getattr(c, "title", "")) for c in components(drawn)]
    assert max(map(len, titles)) <= 2100


def test_what_has_no_name_is_called_so() -> None:
    assert "(no name)" in text_of(layout_of("Overview", constructed.long_names()))


def test_slices_that_did_not_finish_have_no_known_time() -> None:
    trace = constructed.unfinished()
    overview = text_of(layout_of("Overview", trace))
    assert "most of the time" not in overview
    assert "0 ns" not in overview
    assert "No slice on the host finished" in overview
    assert "No slice on the host finished" in text_of(layout_of("Hotspots", trace))
    (row,) = hotspot_rows(trace, "name")
    assert (row["self_ns"], row["total_ns"], row["max_ns"], row["share_ratio"], row["count"]) == (None,) * 4 + (1,)


def test_one_thing_is_not_called_many() -> None:
    text = text_of(layout_of("Overview", constructed.unfinished()))
    assert "1 slice on 1 track" in text
    assert "1 slices" not in text


def test_of_several_ranks_only_the_slowest_of_each_step_is_coloured() -> None:
    (graph,) = graphs(steps_card(constructed.ranks(4)))
    bars = graph["figure"]["data"]
    assert [bar["name"] for bar in bars] == ["rank 0", "rank 1", "rank 2", "rank 3"]
    slow = [[color == "var(--np-accent)" for color in bar["marker"]["color"]] for bar in bars]
    # 13 ms: rank 1 in step 0, rank 2 in step 1, rank 3 in step 2
    assert slow == [[False] * 3, [True, False, False], [False, True, False], [False, False, True]]
    assert bars[1]["customdata"][0] == ("<b>ProfilerStep#0</b><br>rank 1, 13.0 ms (13,000,000 ns), the slowest rank")


@pytest.mark.parametrize(("ranks", "steps", "columns"), [(12, 3, 3), (2, 1000, 334)])
def test_many_ranks_or_long_runs_are_strips_that_keep_the_longest_step(ranks: int, steps: int, columns: int) -> None:
    trace = constructed.ranks(ranks, steps=steps)
    (graph,) = graphs(steps_card(trace))
    (strip,) = graph["figure"]["data"]
    assert (len(strip["z"]), len(strip["z"][0])) == (ranks, columns)
    assert strip["y"][1] == "rank 1"
    # rank 1 takes 10 + (7 + step) % ranks ms; 1000 steps are merged three by three
    assert strip["z"][1][0] == max((10 + (7 + s) % ranks) * 10**6 for s in range(1 if steps == 3 else 3))
    assert "slowest: rank" in text_of(steps_card(trace))


def test_memory_of_several_ranks_marks_the_one_with_the_highest_peak() -> None:
    graph = next(g for g in graphs(layout_of("Memory", constructed.ranks(4))) if g["id"]["chart"] == "memory")
    curves = graph["figure"]["data"]
    assert [curve["line"]["color"] for curve in curves] == ["var(--np-dim)"] * 3 + ["var(--np-accent)"]
    assert [curve.get("showlegend", True) for curve in curves] == [False] * 3 + [True]


def test_a_device_without_a_name_is_not_named() -> None:
    builder = TraceBuilder()
    builder["memory"].append(ts_ns=[0, 1], delta_bytes=[5, 5], total_bytes=[5, 10])
    trace = builder.finish()
    assert "At most 10 B are allocated, 1 ns after the start." in text_of(layout_of("Memory", trace))
    assert "unnamed" not in text_of(layout_of("Overview", trace))


def test_the_axis_of_a_chart_has_the_unit_of_the_header() -> None:
    builder = TraceBuilder()
    builder["memory"].append(ts_ns=[0, 2 * 10**18], device=builder.string("cpu"), total_bytes=[5, 10])
    (graph,) = graphs(layout_of("Memory", builder.finish()))
    axis = graph["figure"]["layout"]["xaxis"]
    assert axis["title"]["text"] == "time since the start (h)"
    assert axis["range"][1] == pytest.approx(2e9 / 3600)


@pytest.mark.parametrize(
    ("by", "heading", "answer"),
    [
        ("name", "Operation", "On the device:  gemm_kernel , 17.0 ms of its own, 73.9 % of the device's time."),
        ("category", "Category", "On the device:  compute , 17.0 ms of its own"),
        ("category", "Category", "On the host:  host_op , 15.0 ms of its own, 100 % of the host's time."),
        ("track", "Track", "On the device:  stream 7 , 17.0 ms of its own"),
        ("module", "Module", "Unknown: this trace does not tell its modules."),
    ],
)
def test_the_heading_and_the_answer_are_those_of_the_grouping(by: str, heading: str, answer: str) -> None:
    _, columns, _, said, question = grouped(constructed.three_steps(), by)
    assert columns["columnDefs"][0]["headerName"] == heading
    assert answer in text_of_json(said["children"])
    assert question["children"].startswith(f"Which {'operations' if by == 'name' else by.removesuffix('y')}")


def test_the_overview_divides_the_steps_into_parts_that_add_up() -> None:
    shown = text_of(PAGES[0].layout(whole_view(constructed.three_steps())))
    # of 33 ms: gemm 17; all_reduce 4.5, the second under the gemm; copies 1.5; nothing says who launched the rest
    assert "Its largest part is compute: 51.5 %." in shown
    for part in (
        "compute 17.0 ms 51.5 %", "collectives, nothing computed 3.00 ms 9.09 %",
        "copies, nothing else done 1.50 ms 4.55 %", "idle: cause unknown 11.5 ms 34.8 %",
    ):  # fmt: skip
        assert part in shown
    assert "33.0 ms of 3 steps" in " ".join(shown.split())
