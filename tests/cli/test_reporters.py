"""What the reporters write to a stream."""

from __future__ import annotations

import io

from command_line import small_trace

from explorer_app.reporters.hotspots import report_hotspots
from explorer_app.reporters.import_report import report_import
from explorer_app.reporters.summary import report_summary
from neuron_profile.analysis import hotspots, summarize
from trace_format import CATEGORIES, ImportReport, TraceBuilder


def text(report: object, *args: object) -> str:
    stream = io.StringIO()
    assert callable(report)
    report(*args, stream)
    return stream.getvalue()


def test_a_blank_line_divides_the_device_from_the_host() -> None:
    lines = [line.split() for line in text(report_hotspots, hotspots(small_trace())).splitlines()]
    assert lines == [
        ["name", "category", "count", "total", "self", "mean", "p50", "p95", "max", "share"],
        ["gemm", "compute", "1", *["40", "ns"] * 6, "100", "%"],
        [],
        ["aten::mm", "host_op", "1", *["60", "ns"] * 6, "100", "%"],
    ]


def test_a_long_name_is_cut_and_the_numbers_are_whole() -> None:
    lines = text(report_hotspots, hotspots(small_trace("k" * 500))).splitlines()
    assert all(len(line) <= 120 for line in lines)
    (cut,) = (line for line in lines if line.startswith("kkk"))
    assert "…" in cut
    assert cut.rstrip().endswith("%")


def test_device_work_that_was_attributed_by_time_or_not_at_all_is_told() -> None:
    # the kernel has no ids, and begins while mm is under way
    lines = text(report_hotspots, hotspots(small_trace(), by="op")).splitlines()
    assert lines[-1] == "40 ns of the device's work was attributed by time alone: it carries no ids."
    builder = TraceBuilder()
    stream = builder.track("stream 7", kind="stream", device=0)
    builder["slices"].append(
        1, track=stream, name=builder.string("gemm"), category=CATEGORIES.index("compute"), ts_ns=5, dur_ns=40
    )
    lines = text(report_hotspots, hotspots(builder.finish(), by="op")).splitlines()
    assert lines[-1] == "40 ns of the device's work (100 %) could not be attributed."


def test_a_trace_without_work_says_so() -> None:
    assert text(report_hotspots, hotspots(TraceBuilder().finish())) == "no work in this trace\n"
    assert "no events" in text(report_summary, summarize(TraceBuilder().finish()))


def test_the_summary_tells_peak_memory_and_what_it_leaves_out() -> None:
    builder = TraceBuilder()
    for rank in (0, 1):
        track = builder.track(f"rank {rank}", kind="host_thread", rank=rank)
        total = [2_000_000, 3_000_000] if rank == 0 else [-1, -1]
        builder["memory"].append(
            ts_ns=[1, 2], device=builder.string("cuda:0"), delta_bytes=[500, 1_000_000], total_bytes=total, track=track
        )
    shown = text(
        report_summary, summarize(builder.finish(metadata={"device_model": "trn2", "rank": 0, "world_size": 2}))
    )
    # rank 1 recorded no totals: 500 and then 1,000,500 bytes
    assert "3.00 MB on rank 0 cuda:0; 1.00 MB on rank 1 cuda:0, since the start of the trace" in shown
    assert "trn2" in shown
    assert "rank 0 of 2" in shown
    assert "Steps" not in shown


def test_the_summary_tells_who_holds_the_memory_at_the_highest_peak() -> None:
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    name = builder.string("aten::mm")
    builder["slices"].append(1, track=track, name=name, category=CATEGORIES.index("host_op"), ts_ns=0, dur_ns=10)
    for device, size, before in (("cpu", 500, 0), ("cuda:0", 3000, 1000)):
        builder["memory"].append(
            ts_ns=[1], device=builder.string(device), delta_bytes=[size], total_bytes=[size + before], track=track,
            address=[7], category=builder.string("gradient"),
        )  # fmt: skip
    shown = text(report_summary, summarize(builder.finish()))
    at = shown.splitlines().index(next(line for line in shown.splitlines() if line.startswith("Held at the peak")))
    lines = [line.split() for line in shown.splitlines()[at : at + 4]]
    assert lines == [
        ["Held", "at", "the", "peak", "on", "cuda:0"],
        ["made", "by", "what", "for", "count", "bytes", "share", "of", "peak"],
        ["aten::mm", "gradient", "1", "3.00", "kB", "75.0", "%"],
        ["(before", "the", "window)", "unknown", "–", "1.00", "kB", "25.0", "%"],
    ]


def test_a_device_without_a_name_is_left_out_of_the_summary() -> None:
    builder = TraceBuilder()
    builder["memory"].append(ts_ns=[1, 2], delta_bytes=[500, 500], total_bytes=[500, 1000])
    (line,) = [line for line in text(report_summary, summarize(builder.finish())).splitlines() if "Peak memory" in line]
    assert line.split() == ["Peak", "memory", "1.00", "kB"]


def test_the_import_report_counts_by_cause_most_frequent_first() -> None:
    report = ImportReport(source_events=1_000_000)
    report.left_out.update({"without a time": 3, "of an unknown phase": 20})
    report.repaired["ended before it began"] = 2
    lines = [line.strip() for line in text(report_import, report).splitlines() if line.strip()]
    assert lines[0] == "kept 999,977 of 1,000,000 source events, left out 23, repaired 2"
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "Left out", "cause", "of an unknown phase", "without a time", "Repaired", "cause", "ended before it began",
    ]  # fmt: skip


def test_a_long_cause_is_shown_whole() -> None:
    report = ImportReport(source_events=1)
    report.repaired[" ".join(["word"] * 60)] = 1
    assert text(report_import, report).count("word") == 60


def test_a_trace_of_nothing_but_neffs_names_them_and_what_shows_them() -> None:
    builder = TraceBuilder()
    for number in range(7):
        builder["neffs"].append(1, name=builder.string(f"m{number}.neff"))
    found = summarize(builder.finish())
    (line,) = (line for line in text(report_summary, found).splitlines() if line.startswith("NEFFs"))
    assert "m0.neff, m1.neff, m2.neff, m3.neff, m4.neff and 2 more; neuron-explorer neff FILE" in line
    assert found.to_dict()["neffs"] == [f"m{number}.neff" for number in range(7)]
