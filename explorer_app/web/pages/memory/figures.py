"""The single numbers of the Memory page: how much of what the device can do was used."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from explorer_app import format as fmt
from explorer_app.web import subject
from explorer_app.web.card import figure
from explorer_app.web.names import label
from explorer_app.web.numbers import once
from explorer_app.web.pages.memory.channels import channel_name
from explorer_app.web.pages.memory.estimates import est
from explorer_app.web.view import View
from neuron_profile import analysis
from trace_format import Trace


def figures(view: View) -> list[Any]:
    """MBU, MFU and HFU of the device that worked longest, the highest bandwidth, and the peak of allocated memory."""
    trace = view.trace
    used = of_longest(once(analysis.utilisation, trace))
    out = [] if used is None else [_memory_used(used, trace), _flops_used(used, "mfu"), _flops_used(used, "hfu")]
    return [*out, *_highest(trace), *_peak(view)]


def of_longest(frame: pd.DataFrame) -> dict[Hashable, Any] | None:
    """The row of the whole window, of the device with most work; None where no ratio is known."""
    whole = frame[frame["step"] < 0] if (frame["step"] < 0).any() else frame
    if not whole[["mbu_ratio", "mfu_ratio", "hfu_ratio"]].notna().any(axis=None):
        return None
    return dict(whole.iloc[int(whole["device_ns"].to_numpy().argmax())])


def _place(row: dict[Hashable, Any]) -> str:
    if row["kind"] == "execution":
        return label(str(row["name"]), longest=40)
    return subject.device(row["rank"], f"device {row['device']}" if row["device"] >= 0 else "host")


def _memory_used(row: dict[Hashable, Any], trace: Trace) -> Any:
    estimated = float(row["kind"] == "step" and once(analysis.bytes_moved, trace).attrs["estimated_bytes"] > 0)
    peak, covered = row["peak_bytes_per_s"], row["bytes_coverage_ratio"]
    note = f"of {fmt.bandwidth(peak)}, {fmt.ratio(covered)} of its time known" if peak == peak else "peak unknown"
    what = f"bytes moved of what the memory can move. Bytes are known of {fmt.ratio(covered)} of the time of its work"
    return figure(f"MBU{est(estimated)}", fmt.ratio(row["mbu_ratio"]), note=note, exact=_about(row, "mbu", what))


def _flops_used(row: dict[Hashable, Any], name: str) -> Any:
    peak, covered = row["peak_flops_per_s"], row["flops_coverage_ratio"]
    dtypes = f" {row['dtypes']}" if row["dtypes"] else ""
    note = f"of {fmt.flop_rate(peak)}{dtypes}, {fmt.ratio(covered)} known" if peak == peak else "peak unknown"
    what = "all FLOPs" if name == "hfu" else "FLOPs without recomputation"
    about = _about(
        row, name,
        f"{what}, {row['flops_source'] or 'of unknown source'}, of what the device can do. FLOPs are known of "
        f"{fmt.ratio(covered)} of its time, the peak of {fmt.ratio(row['peak_coverage_ratio'])} of them",
    )  # fmt: skip
    estimated = est(1.0 if row["flops_source"] == "formula" else 0.0)
    return figure(f"{name.upper()}{estimated}", fmt.ratio(row[f"{name}_ratio"]), note=note, exact=about)


def _about(row: dict[Hashable, Any], name: str, what: str) -> str:
    value = row[f"{name}_ratio"]
    lines = [
        f"{name}_ratio = {value:.6g} ({what})" if value == value else f"{name}_ratio is unknown ({what})",
        f"Of {_place(row)} in {row['name']}, {fmt.duration(row['total_ns'])}",
        f"Peak: {label(row['peak_source']) or 'no source tells it'}",
        label(row["note"]),
    ]
    return "\n".join(line for line in lines if line)


def _highest(trace: Trace) -> list[Any]:
    frame = once(analysis.bandwidth_summary, trace)
    memory = frame[frame["direction"].isin(("memory", "unknown"))]
    if memory.empty:
        return []
    row = memory.iloc[int(memory["highest_bytes_per_s"].to_numpy().argmax())]
    share = row["highest_share_ratio"]
    note = f"{fmt.ratio(share)} of its peak" if share == share else "its peak is unknown"
    exact = (
        f"{fmt.exact(round(row['highest_bytes_per_s']), 'bytes/s')} in a bin of {fmt.duration(row['bin_ns'])}; "
        f"on average {fmt.bandwidth(row['average_bytes_per_s'])}"
    )
    name = channel_name(dict(row), frame)
    return [
        figure(
            f"Highest bandwidth{est(row['estimated_ratio'])}", fmt.bandwidth(row["highest_bytes_per_s"]),
            exact=exact, note=f"{name}, in {fmt.duration(row['bin_ns'])}: {note}",
        )
    ]  # fmt: skip


def _peak(view: View) -> list[Any]:
    memory = once(analysis.memory_timeline, view.trace)
    if memory.empty:
        return []
    peak = memory.iloc[int(memory["total_bytes"].to_numpy().argmax())]
    start_ns = view.whole.time_range_ns[0] if view.whole.time_range_ns else 0
    where = subject.device(peak["rank"], peak["device"])
    since = subject.since_the_start(memory.attrs["relative"], peak["rank"], peak["device"])
    note = f"{where}, {fmt.duration(int(peak['ts_ns']) - start_ns)} after the start".removeprefix(", ")
    note += " of the trace; what was allocated before is not in it" if since else ""
    total = peak["total_bytes"]
    return [figure("Most allocated", fmt.size(total), exact=fmt.exact(total, "bytes"), note=note)]
