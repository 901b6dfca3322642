"""What the Memory page tells of what memory is for and who holds it; numbers by hand."""

from __future__ import annotations

from explorer_app.web.pages.memory import layout
from explorer_app.web.pages.memory_holders import by_category, held_before, holders_card
from trace_format import CATEGORIES, Trace, TraceBuilder


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
    assert "'name': 'allocated on cpu'" not in str(layout(held()))
    assert "'name': 'allocated on cpu'" in str(layout(held(devices=("cpu", "cuda:0"))))


def test_what_was_there_before_is_told_beside_the_totals() -> None:
    (line,) = held_before(held())
    assert line.children == ("Not in the totals on cpu, because it was there before the recording: 2.00 MB parameter.")


def test_the_holders_of_the_peak_are_a_grid() -> None:
    shown = str(holders_card(held()))
    assert "aten::mm" in shown
    assert "'bytes': 300" in shown
    assert "Device" not in shown
    assert "'device': 'cuda:0'" in str(holders_card(held(devices=("cpu", "cuda:0"))))
    assert holders_card(TraceBuilder().finish()) is None
