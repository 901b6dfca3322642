"""The Memory page without a browser; every number worked out by hand, here or in `gpu_traces`."""

from __future__ import annotations

from typing import Any

import pytest
from gpu_traces import US, matmul_and_add
from test_pages import graphs, text_of

from explorer_app import format as fmt
from explorer_app.web.library import Library
from explorer_app.web.pages.memory import PAGE
from explorer_app.web.pages.memory.growth import growth_card
from explorer_app.web.pages.memory.holders import by_category, held_before, holders_card
from explorer_app.web.pages.memory.over_time import bandwidth_panels
from explorer_app.web.pages.memory.tensors import tensors, tensors_card
from explorer_app.web.time_panels import Curve, Limit, Panel
from explorer_app.web.view import Views, whole_view
from trace_format import CATEGORIES, Trace, TraceBuilder

MS = 1_000_000
HOSTILE = "<img src=x onerror=alert(1)>"


def shown(trace: Trace) -> str:
    return " ".join(text_of(PAGE.layout(whole_view(trace))).split())


def chart(trace: Trace, label: str) -> dict[str, Any]:
    (found,) = [graph["figure"] for graph in graphs(PAGE.layout(whole_view(trace))) if graph["id"]["chart"] == label]
    return dict(found)


def held(*, devices: tuple[str, ...] = ("cpu",), category: str = "gradient") -> Trace:
    """On each device 300 bytes of aten::mm, of which 100 are freed, and 20 without a category."""
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread", pid=1)
    name = builder.string("aten::mm")
    builder["slices"].append(1, track=track, name=name, category=CATEGORIES.index("host_op"), ts_ns=0, dur_ns=10)
    for device in devices:
        builder["memory"].append(
            ts_ns=[1, 2, 3, 8], delta_bytes=[100, 200, 20, -100], total_bytes=[100, 300, 320, 220], track=track,
            device=builder.string(device), address=[1, 2, 3, 1],
            category=[builder.string(text) for text in (category, category, "", "")],
        )  # fmt: skip
    return builder.finish(metadata={"memory_held": {"cpu": {"parameter": 2_000_000}}})


def growing() -> Trace:
    """Eight steps of 10 ms; each allocates 1000 bytes in aten::empty and frees nothing: it ends 1000 bytes higher."""
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread", pid=1)
    for step in range(8):
        for name, category, start, dur in (
            (f"ProfilerStep#{step}", "annotation", 0, 10),
            ("aten::empty", "host_op", 1, 2),
        ):
            builder["slices"].append(
                1, track=track, name=builder.string(name), category=CATEGORIES.index(category),
                ts_ns=(10 * step + start) * MS, dur_ns=dur * MS,
            )  # fmt: skip
        builder["memory"].append(
            ts_ns=[(10 * step + 2) * MS], delta_bytes=[1000], total_bytes=[1000 * (step + 1)], track=track,
            device=builder.string("cpu"), address=[step + 1],
        )  # fmt: skip
    return builder.finish()


def test_the_answer_says_what_share_of_its_peak_the_memory_uses() -> None:
    said = shown(matmul_and_add())
    assert "The memory moves 41.0 GB/s est. on average, 2.01 % of its peak, and at most 58.9 % in 1.01 µs." in said
    # in 1110 us: 41.36 MB of 2.26 GB, and 17.18 GFLOP, which take 55 us at the peak
    assert "MBU est. 1.83 % of 2.04 TB/s" in said
    assert "HFU est. 4.96 % of 312 TFLOP/s" in said
    assert "Highest bandwidth est. 1.20 TB/s memory, in 1.01 µs: 58.9 % of its peak" in said


def test_each_channel_has_its_share_of_the_peak_and_its_coverage() -> None:
    said = shown(matmul_and_add())
    # memory is active for 110 us; 1,058,816 bytes of copies for 120 us
    assert "memory 41.4 MB est. 41.0 GB/s 376 GB/s 1.20 TB/s 2.04 TB/s 58.9 % 0 ns 100 %" in said
    assert "host to device 1.06 MB 1.05 GB/s 8.82 GB/s 10.5 GB/s – – – 100 %" in said


def test_the_bandwidth_stands_below_the_line_of_its_peak() -> None:
    memory, link = bandwidth_panels(matmul_and_add())
    (limit,) = memory.limits
    assert limit.value == 2039e9
    assert limit.text.startswith("peak 2.04 TB/s (")
    assert "NVIDIA A100 datasheet" in limit.text
    assert memory.draws(limit)
    assert max(memory.curves[0].values) == pytest.approx(1.2e12)
    assert link.curves[0].name == "host to device"
    assert not link.limits


def test_a_limit_far_above_the_curves_is_told_and_not_drawn() -> None:
    curve = Curve("a", [0, 1], [10.0, 0.0], ["", ""], "var(--np-accent)")
    panel = Panel("rates", fmt.bandwidth, [curve], limits=[Limit(200, "near"), Limit(201, "far")])
    assert [panel.draws(limit) for limit in panel.limits] == [True, False]
    assert panel.top == 200


def test_the_roofline_says_what_bounds_the_operators_and_leads_to_their_slices() -> None:
    trace = matmul_and_add()
    # 10 of 110 us
    assert "9.09 % of the time of operators is bound by memory, 90.9 % by compute." in shown(trace)
    figure = chart(trace, "roofline")
    points = {drawn["name"]: drawn for drawn in figure["data"] if drawn["mode"] == "markers"}
    assert points["bound by compute"]["x"] == pytest.approx([2 * 1024 * 2048 * 4096 / 29_360_128])
    assert points["bound by compute"]["y"] == pytest.approx([17.1799e13], rel=1e-4)
    assert points["bound by memory"]["x"] == pytest.approx([1 / 12])
    text, href = points["bound by compute"]["customdata"][0]
    assert "aten::mm [1024, 2048] [2048, 4096]" in text
    assert "29.4 MB est." in text
    longest = trace.pool.strings.find("kernel 1")
    assert href.endswith(f"slice={trace.slices.name.tolist().index(longest)}")
    roofs = [drawn for drawn in figure["data"] if drawn["mode"] == "lines+text"]
    assert sorted(roof["y"][-1] for roof in roofs) == [19.5e12, 312e12]
    bf16 = next(roof for roof in roofs if roof["y"][-1] == 312e12)
    assert bf16["x"][1] == pytest.approx(312e12 / 2039e9)


def test_names_from_a_trace_are_text_in_the_roofline() -> None:
    builder = TraceBuilder()
    builder["slices"].append(
        1, track=builder.track("stream 7", kind="stream", device=0), name=builder.string(HOSTILE), ts_ns=0,
        dur_ns=1000, category=CATEGORIES.index("compute"), flops=1e6, bytes=1000,
    )  # fmt: skip
    (point,) = [drawn for drawn in chart(builder.finish(), "roofline")["data"] if drawn["mode"] == "markers"]
    assert (point["x"], point["y"]) == ([1000.0], [1e12])
    assert point["customdata"][0][0].startswith("<b>&lt;img src=x onerror=alert(1)&gt;</b>")


def test_small_copies_are_warned_of_with_what_larger_ones_would_save() -> None:
    said = shown(matmul_and_add())
    assert (
        "Small transfers, host to device: 10 transfers (90.9 %) are smaller than 64 KiB: they take 16.7 % of the time "
        "for 0.967 % of the bytes. Of the 20.0 µs in which one was under way, larger ones would save about 19.0 µs"
    ) in said
    figure = chart(matmul_and_add(), "transfers")
    (bars,) = figure["data"]
    assert dict(zip(bars["x"], bars["y"], strict=True)) == {
        **dict.fromkeys(bars["x"], 0), "1 KiB": 10, "1 MiB": 1,
    }  # fmt: skip


def test_memory_that_grows_is_told_with_who_keeps_it() -> None:
    said = " ".join(text_of(growth_card(growing())).split())
    assert "Memory grows by 1.00 kB a step" in said
    assert "Allocations that were never freed are 100 % of it." in said
    assert "aten::empty" in said
    assert growth_card(held()) is None


def test_a_chosen_range_is_what_the_axis_shows() -> None:
    trace = matmul_and_add()
    library = Library.holding(trace, title="t")
    view = Views(library).of({"trace": "", "from": str(290 * US), "to": str(1000 * US)})
    (figure,) = [g["figure"] for g in graphs(PAGE.layout(view)) if g["id"]["chart"] == "memory"]
    assert figure["layout"]["xaxis"]["range"] == pytest.approx([0.29, 1.0])
    assert figure["layout"]["xaxis"]["maxallowed"] == pytest.approx(1.11)
    assert figure["layout"]["meta"]["np_unit_ns"] == MS
    assert figure["layout"]["meta"]["np_before_ns"] == 0


def test_the_tensors_of_a_neff_are_a_grid_by_size() -> None:
    builder = TraceBuilder()
    neff = builder["neffs"].append(1, name=builder.string("model.neff"))
    for name, kind, nbytes in (("x", "input", 4096), ("w", "weight", 1 << 20), ("?", "output", -1)):
        builder["tensors"].append(
            1, neff=neff, name=builder.string(name), kind=builder.string(kind), shape=builder.string("[32, 32]"),
            dtype=builder.string("float32"), bytes=nbytes,
        )  # fmt: skip
    trace = builder.finish()
    frame = tensors(trace)
    assert frame["name"].tolist() == ["w", "x", "?"]
    assert frame["bytes"].tolist()[:2] == [1048576, 4096]
    assert "3 tensors of 1 NEFF, 1.05 MB" in text_of(tensors_card(trace))
    assert tensors_card(TraceBuilder().finish()) is None


def test_categories_stand_one_on_the_other() -> None:
    panel = by_category(held())
    assert panel.stacked
    assert panel.title == "Allocated on cpu, by what it is for"
    assert [(curve.name, list(curve.values)) for curve in panel.curves] == [
        ("gradient", [100, 300, 300, 200, 200]),
        ("unknown", [0, 0, 20, 20, 20]),
    ]
    assert panel.largest == 320


def test_where_no_category_is_known_there_are_no_curves() -> None:
    assert not by_category(held(category="")).curves
    assert not by_category(TraceBuilder().finish()).curves


def test_of_one_device_the_parts_take_the_place_of_the_whole_and_of_several_stand_beside_it() -> None:
    assert "'name': 'allocated on cpu, since the start of the trace'" not in str(PAGE.layout(whole_view(held())))
    assert "'name': 'allocated on cpu, since the start of the trace'" in str(
        PAGE.layout(whole_view(held(devices=("cpu", "cuda:0"))))
    )


def test_what_was_there_before_is_told_beside_the_totals() -> None:
    (line,) = held_before(held())
    assert line.children == ("Not in the totals on cpu, because it was there before the recording: 2.00 MB parameter.")


def test_the_holders_of_the_peak_are_a_grid() -> None:
    said = str(holders_card(held()))
    assert "aten::mm" in said
    assert "'bytes': 300" in said
    assert "Device" not in said
    assert "'device': 'cuda:0'" in str(holders_card(held(devices=("cpu", "cuda:0"))))
    assert holders_card(TraceBuilder().finish()) is None
