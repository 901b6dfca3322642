"""By what slices are coloured: the column of the wire, and the legend."""

from __future__ import annotations

from typing import Any

import numpy as np
from one_step import one_step, row_of
from test_timeline_routes import client_of

from explorer_app.web.timeline.colors import NO_COLOR, Coloring
from trace_format import CATEGORIES, Trace, TraceBuilder


def test_names_have_colours_of_their_own_and_the_legend_names_them_by_time() -> None:
    trace = one_step()
    legend = client_of(trace).get("/_trace/colors?by=name").json
    # of their own: the step 10 - 3 - 1 = 6 ms, gemm 3, linear 3 - 0.5, relu and the copy 1, the launch 0.5
    assert [entry["text"] for entry in legend["entries"][:3]] == ["train_step#0", "gemm", "aten::linear"]
    assert len({entry["color"] for entry in legend["entries"]}) == len(legend["entries"]) == 7
    colors = Coloring(trace, "name").of(np.arange(7))
    assert colors[row_of(trace, "gemm")] == legend["entries"][1]["color"]


def test_shares_of_the_device_are_in_classes_and_unknown_is_none() -> None:
    trace = one_step()
    legend = client_of(trace).get("/_trace/colors?by=share").json
    assert (legend["palette"], len(legend["entries"])) == ("share", 6)
    colors = Coloring(trace, "share").of(np.arange(7))
    # gemm works 3 ms: of the step's 10 ms 30 %, as long as linear, 6 times as long as its launch; for relu nothing
    wanted = {"train_step#0": 2, "aten::linear": 5, "cudaLaunchKernel": 5, "aten::relu": 0}
    assert {name: int(colors[row_of(trace, name)]) for name in wanted} == wanted
    assert {int(colors[row_of(trace, name)]) for name in ("gemm", "Memcpy HtoD", "waiting")} == {NO_COLOR}


def with_modules() -> Trace:
    builder = TraceBuilder()
    main = builder.track("main", kind="host_thread", pid=1, tid=1)
    for name, category, start, dur in (
        ("nn.Module: Linear_0", "python", 0, 100), ("aten::mm", "host_op", 10, 50), ("aten::add", "host_op", 200, 10),
    ):  # fmt: skip
        builder["slices"].append(
            1, track=main, ts_ns=start, dur_ns=dur, name=builder.string(name), category=CATEGORIES.index(category)
        )
    return builder.finish()


def test_what_is_in_a_module_has_its_colour_and_the_rest_none() -> None:
    trace = with_modules()
    module, inside, outside = Coloring(trace, "module").of(np.arange(3)).tolist()
    assert module == inside != NO_COLOR == outside
    legend = client_of(trace).get("/_trace/colors?by=module").json
    assert [entry["text"] for entry in legend["entries"]] == ["Linear_0"]


def test_a_trace_without_modules_or_device_work_says_so_in_the_legend() -> None:
    builder = TraceBuilder()
    builder["slices"].append(1, track=builder.track("main", kind="host_thread"), ts_ns=0, dur_ns=1)
    client: Any = client_of(builder.finish())
    assert "no modules were recorded" in client.get("/_trace/colors?by=module").json["note"]
    assert "no device work" in client.get("/_trace/colors?by=share").json["note"]
    assert client.get("/_trace/colors?by=luck").status_code == 400
    empty = client_of(TraceBuilder().finish())
    for by in ("name", "module", "share"):
        assert empty.get(f"/_trace/colors?by={by}").json["entries"] == []
