"""The block about Neuron devices in the summary; `neuron_runs.attention` has the rows behind its numbers."""

from __future__ import annotations

import io

from neuron_runs import US, Profile, attention

from explorer_app.reporters.summary import report_summary
from neuron_profile.analysis import summarize


def report(profile: Profile) -> str:
    stream = io.StringIO()
    report_summary(summarize(profile.trace()), stream)
    return stream.getvalue()


def words(line: str) -> list[str]:
    return [part.strip() for part in line.split("  ") if part.strip()]


def test_engines_dma_and_utilisations_stand_with_their_peaks_and_sources() -> None:
    said = report(attention()).splitlines()
    assert "Neuron device: attention, 10.0 µs, 2 physical cores, trn2.48xlarge" in said
    tensor = next(line for line in said if line.startswith("Tensor"))
    assert words(tensor) == ["Tensor", "4.50 µs", "45.0 %", "3.00 µs", "4", "6.00 µs"]
    lines = {line.split()[0]: line for line in said if line and line.split()[0] in ("DMA", "HBM", "MFU", "HFU", "MBU")}
    # 99328 bytes in 2.25 µs; 98304 bytes of HBM in 10 µs
    assert lines["DMA"].endswith("active 2.25 µs, 22.5 % of the run; 99.3 kB moved, 44.1 GB/s while active")
    assert lines["HBM"].endswith("9.83 GB/s; 65.5 kB read, 32.8 kB written")
    assert lines["MFU"].endswith("0.509 % of 157 TFLOP/s (AWS Neuron docs, Trainium2 architecture guide for NKI)")
    assert "1.37 % of 716 GB/s (" in lines["MBU"]


def test_several_executions_have_a_line_each() -> None:
    profile = attention()
    profile.run(20 * US, total_time_ps=30 * US, neff="attention", index=1)
    said = report(profile)
    assert "Neuron device: 2 executions, 40.0 µs" in said
    first, second = (next(line for line in said.splitlines() if f"run {number}" in line) for number in (1, 2))
    assert words(first)[1:4] == ["10.0 µs", "45.0 %", "22.5 %"]
    assert words(second)[1:4] == ["30.0 µs", "0 %", "0 %"]


def test_what_is_unknown_is_a_dash_and_an_unknown_peak_says_so() -> None:
    said = report(attention(instance_type="", knows_transposes=False))
    assert "–  of a peak that is not known" in said or "– of a peak that is not known" in said
    assert "0 %" not in next(line for line in said.splitlines() if line.startswith("MFU"))


def test_names_from_the_file_cannot_drive_the_terminal() -> None:
    assert "\x1b" not in report(attention(neff="evil\x1b[31m", warnings=["\x1b]0;pwned"]))


def test_hotspots_count_pipelined_instructions_whole_and_leave_waits_out() -> None:
    from neuron_profile.analysis import hotspots

    frame = hotspots(attention().trace()).set_index("name")
    # the MATMULs of [0, 2) and [1, 3) overlap and none called the other; five are in the trace, 2 + 2 + 2 + 0.5 + 1
    assert (frame.loc["MATMUL", "total_ns"], frame.loc["MATMUL", "self_ns"]) == (7500, 7500)
    assert "EVENT_SEMAPHORE" not in frame.index
    assert frame["share_ratio"].sum() == 1
    assert frame.attrs["host_self_ns"] == 0
