"""The Device page without a browser: what it says of runs whose numbers are worked out by hand."""

from __future__ import annotations

import constructed
import pytest
from explorer_of import explorer_of
from gpu_traces import matmul_and_add
from neuron_runs import US, Profile, attention
from test_pages import graphs, text_of

from explorer_app.metric_text import exact_text, metric_text
from explorer_app.web.pages.device import PAGE
from explorer_app.web.pages.device.metrics import metric_rows
from explorer_app.web.pages.device.page import of_run
from explorer_app.web.view import whole_view
from neuron_profile.analysis.neuron_device import device_metrics
from trace_format import CATEGORIES, TraceBuilder
from trace_format.importers.neuron_device.tracks import DeviceTracks


def test_without_a_device_the_page_says_why_and_what_would_fill_it() -> None:
    said = text_of(PAGE.layout(whole_view(TraceBuilder().finish())))
    assert said.startswith("No device")
    assert "ProfileMode.DEVICE" in said


def test_a_simulated_device_answers_with_estimates_and_says_so_at_every_number() -> None:
    """One NEFF of 100 us, in which Tensor works 25 and 4 kB come in."""
    builder = TraceBuilder()
    tracks = DeviceTracks(builder, "trn2 NeuronCore", first_core=0, simulated=True)
    name = builder.string("aten::mm")
    for track, start, dur, category, nbytes in (
        (tracks.executions(), 0, 100 * 1000, "annotation", -1),
        (tracks.engine(0, "Tensor"), 20 * 1000, 25 * 1000, "compute", -1),
        (tracks.queue(0, "loads", -1), 10 * 1000, 5 * 1000, "dma", 4000),
    ):
        builder["slices"].append(
            1, ts_ns=start, dur_ns=dur, track=track, name=name, category=CATEGORIES.index(category), bytes=nbytes
        )
    said = " ".join(text_of(PAGE.layout(whole_view(builder.finish()))).split())
    assert "By the estimate the busiest engine is Tensor: it works 25.0 % of the time" in said
    assert "Most time takes aten::mm , 100 % of it" in said
    for heading in ("Span", "NEFFs run", "Operators", "HBM traffic", "Engines and DMA", "Over time", "Works and waits"):
        assert f"{heading}, sim." in said
    assert "4.00 kB" in said


def test_of_streams_the_page_says_how_long_a_device_works_and_what_it_waits_for() -> None:
    # three steps of 33 ms: 17 compute, 3 only collectives, 1.5 only copies, 11.5 nothing whose launch is known
    said = " ".join(text_of(PAGE.layout(whole_view(constructed.three_steps()))).split())
    assert "Rank 0 device 0 works 65.2 % of the time. Why it idles is mostly unknown (34.8 % of the time)." in said
    assert "Computes 51.5 %" in said
    assert "Only communicates 9.09 %" in said
    assert "Only copies 4.55 %" in said
    assert "rank 0 device 0 51.5 % 9.09 % 4.55 % 34.8 %" in said


def test_a_gap_of_a_device_leads_to_the_timeline_and_says_who_launched_what_ends_it() -> None:
    trace = matmul_and_add()
    said = " ".join(text_of(PAGE.layout(whole_view(trace))).split())
    # idle from 400 to 1000 us; the kernel that ends it was launched at 10 us, before the gap
    assert "600 µs device 0 launched, but not begun kernel 1 cudaLaunchKernel" in said
    assert "Device 0 works" in said


def test_the_strips_of_streams_hold_the_work_of_each() -> None:
    (graph,) = graphs(PAGE.layout(whole_view(constructed.three_steps())))
    figure = graph["figure"]
    assert figure["layout"]["yaxis"]["ticktext"] == ["rank 0 device 0", "stream 7", "stream 8", "stream 9"]
    (heat,) = figure["data"]
    # 400 bins of 82.5 us in 33 ms; gemm works 17 ms
    assert sum(heat["z"][1]) * 82.5e-3 == pytest.approx(17)
    assert heat["zmax"] == 1


def test_measured_and_simulated_devices_of_a_trace_are_told_apart() -> None:
    builder = TraceBuilder()
    stream = builder.track("stream 7", kind="stream", device=0)
    tracks = DeviceTracks(builder, "trn2 NeuronCore", first_core=0, simulated=True)
    for track, name, category, dur in ((stream, "gemm", "compute", 40), (tracks.executions(), "neff", "annotation", 90),
                                       (tracks.engine(0, "Tensor"), "mm", "compute", 30)):  # fmt: skip
        builder["slices"].append(
            1, ts_ns=0, dur_ns=dur * 1000, track=track, name=builder.string(name), category=CATEGORIES.index(category)
        )
    said = " ".join(text_of(PAGE.layout(whole_view(builder.finish()))).split())
    assert said.index("Device 0 works") < said.index("The simulated device, sim.") < said.index("By the estimate")


def test_the_metrics_say_whether_the_source_reported_them() -> None:
    (found,) = device_metrics(attention(reported={"mbu_estimated_percent": 0.5}).trace()).executions
    rows = {row["name"]: row for row in metric_rows(found)}
    assert (rows["mbu_estimated_percent"]["shown"], rows["mbu_estimated_percent"]["source"]) == ("50.0 %", "reported")
    assert (rows["total_time"]["shown"], rows["total_time"]["exact"]) == ("10.0 µs", "1e-05 s")
    assert (rows["total_time"]["group"], rows["total_time"]["source"]) == ("Run", "computed")
    assert rows["hbm_read_bytes"]["shown"] == "65.5 kB"
    assert "notes" not in rows


@pytest.mark.parametrize(
    ("name", "value", "shown", "exact"),
    [
        ("dma_active_time", 2.25e-6, "2.25 µs", "2.25e-06 s"),
        ("throttle_active_nc0_time_ns", 2000, "2.00 µs", "2,000 ns"),
        ("mfu_estimated_percent", 0.035, "3.50 %", "0.035"),
        ("hardware_flops", 12_000_000, "12.0 MFLOP", "12,000,000 FLOP"),
        ("peak_flops_per_core", 78.6432e12, "78.6 TFLOP/s", "78643200000000 FLOP/s"),
        ("hbm_bytes_per_s", 716e9, "716 GB/s", "716000000000 bytes/s"),
        ("static_dma_size", 1024, "1.02 kB", "1,024 bytes"),
        ("mm_arithmetic_intensity", 81.38, "81.4 FLOP/B", "81.38 FLOP/byte"),
        ("event_count", 7, "7", "7"),
        ("instance_type", "trn2.48xlarge", "trn2.48xlarge", "trn2.48xlarge"),
    ],
)
def test_the_name_of_a_metric_tells_its_unit(name: str, value: object, shown: str, exact: str) -> None:
    assert (metric_text(name, value), exact_text(name, value)) == (shown, exact)


def test_a_wrong_peak_is_said_above_the_numbers() -> None:
    said = text_of(of_run(whole_view(attention(hbm_bytes_per_s=1e9).trace()), 0))
    assert said.index("the peak is wrong") < said.index("MBU")


def test_a_run_of_which_nothing_was_recorded_is_drawn() -> None:
    profile = Profile()
    profile.run(total_time_ps=US, instance_type="")
    said = text_of(PAGE.layout(whole_view(profile.trace())))
    for part in ("No instructions", "Nothing over time", "No packets", "No waits", "peak unknown"):
        assert part in said


def test_the_address_chooses_among_several_runs_and_anything_else_is_the_first() -> None:
    profile = attention()
    profile.run(20 * US, total_time_ps=30 * US, neff="attention", index=1)
    trace = profile.trace()
    app = explorer_of(trace, title="two.ntff")
    client = app.server.test_client()

    def shown(search: str) -> str:
        request = {
            "output": "np-device.children", "outputs": {"id": "np-device", "property": "children"},
            "inputs": [{"id": "np-url", "property": "search", "value": search}], "changedPropIds": [],
            "state": [
                {"id": "np-url", "property": "pathname", "value": "/device"},
                {"id": "np-view", "property": "data", "value": None},
            ],
        }  # fmt: skip
        return str(client.post("/_dash-update-component", json=request).get_data(as_text=True))

    assert "ran 30.0" in shown("?execution=1")
    for search in ("", "?execution=0", "?execution=9", "?execution=x", "?execution=-1"):
        assert "ran 10.0" in shown(search), search


def test_runs_of_several_neffs_are_told_apart_in_the_switch() -> None:
    alike = attention()
    alike.run(20 * US, total_time_ps=30 * US, neff="attention", index=1)
    assert "nd0 nc4 · run 1 nd0 nc4 · run 2" in text_of(of_run(whole_view(alike.trace()), 0))
    two = attention()
    two.run(20 * US, total_time_ps=30 * US, neff="softmax")
    assert "attention · nd0 nc4 · run 1 softmax · nd0 nc4 · run 1" in text_of(of_run(whole_view(two.trace()), 0))
