"""What the summary says first: no cause where none is known, and whose numbers they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer_app.cli.main import main
from trace_format import CATEGORIES, TraceBuilder, write_trace


def summary_of(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["summary", str(path)]) == 0
    return capsys.readouterr().out


def write(path: Path, *slices: tuple[str, str, int, int, int]) -> Path:
    """A trace of slices, each (name, category, rank, start, duration) in microseconds on a thread of its rank."""
    builder = TraceBuilder()
    for name, category, rank, start, dur in slices:
        track = builder.track(f"thread {rank}", kind="host_thread", pid=rank, tid=1, rank=rank)
        builder["slices"].append(
            ts_ns=[start * 1000], dur_ns=[dur * 1000], track=track, name=builder.string(name),
            category=CATEGORIES.index(category),
        )  # fmt: skip
    write_trace(builder.finish(), path)
    return path


def test_time_of_no_known_kind_has_no_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = summary_of(write(tmp_path / "a.pb", ("AllReduce-op534", "other", -1, 0, 100)), capsys)
    assert "Verdict: no time was recorded in which work could be told from waiting" in out
    assert "no rule found" not in out
    assert "went" not in out


def test_of_several_ranks_the_verdict_and_the_table_say_whose_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = [("aten::mm", 0, 10), ("aten::mm", 1, 10), ("aten::mm", 3, 90)]
    slices = [(name, "host_op", rank, 0, dur) for name, rank, dur in ranks]
    ends = [("aten::add", "host_op", rank, 99, 1) for _, rank, _ in ranks]
    out = summary_of(write(tmp_path / "a.pb", *slices, *ends), capsys)
    assert "Verdict on rank 3, which idles least: 91.0 % operators" in out
    assert "Where the 100 µs on rank 3 went" in out
    # idle 89 us on ranks 0 and 1, 9 us on rank 3: the one in the middle is of the first two
    finding = next(line for line in out.splitlines() if line.startswith("1. "))
    assert "89.0 µs (89.0 %)" in finding
    assert finding.endswith(", the typical one]")


@pytest.mark.parametrize(
    "path",
    [
        "accel_other/T092_hccl_0_2_1.json", "accel_other/T094_allreduce_tp4.json",
        "accel_other/T097_sample_flex_3062_job_4.json", "accel_other/T098_example_file.json",
        "rocm_rpd/T099_matmul_result.json", "viztracer/T241_fib.json", "memory/T029_memory_timeline.raw.gz",
    ],
)  # fmt: skip
def test_recorded_traces_without_a_known_category(corpus: Path, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = summary_of(corpus / path, capsys)
    assert "Verdict: no time was recorded in which work could be told from waiting" in out
