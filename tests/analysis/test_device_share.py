"""How much of a host slice's time the device worked for it."""

from __future__ import annotations

import numpy as np
import pytest

from neuron_profile.analysis import device_share
from trace_format import CATEGORIES, Trace, TraceBuilder


def traced(*, correlated: bool = True, simulated: bool = False) -> Trace:
    """Two launches in an op of 100 ns in a step of 400 ns; a kernel of 30 and one of 50 ns; 20 ns of other work."""
    builder = TraceBuilder()
    main = builder.track("main", kind="host_thread", pid=1, tid=1)
    stream = builder.track("stream 7", kind="stream", device=0, simulated=simulated)
    rows = [
        (main, "step", "annotation", 0, 400, -1),
        (main, "aten::mm", "host_op", 100, 100, -1),
        (main, "launch", "runtime", 110, 10, 1),
        (main, "launch", "runtime", 130, 10, 2),
        (main, "open", "host_op", 300, -1, -1),
        (stream, "gemm", "compute", 200, 30, 1),
        (stream, "add", "compute", 240, 50, 2),
        (stream, "orphan", "compute", 300, 20, 9),
    ]
    for track, name, category, start, dur, launch in rows:
        correlation = launch + 50 if track == stream and not correlated else launch
        builder["slices"].append(
            1, track=track, ts_ns=start, dur_ns=dur, name=builder.string(name),
            category=CATEGORIES.index(category), correlation=correlation,
        )  # fmt: skip
    return builder.finish()


def test_device_work_counts_for_its_launch_and_for_all_around_it() -> None:
    share = dict(zip(traced().slices.text("name"), device_share(traced()).tolist(), strict=True))
    # 30 + 50 ns of device work: of a step of 400 ns a fifth, of an op of 100 ns 0.8; the last launch's 50 of 10 ns
    assert (share["step"], share["aten::mm"], share["launch"]) == pytest.approx((0.2, 0.8, 5.0))
    assert np.isnan([share["open"], share["gemm"], share["orphan"]]).all()


@pytest.mark.parametrize("options", [{"correlated": False}, {"simulated": True}], ids=["no launch", "simulated"])
def test_without_measured_work_of_a_known_launch_every_share_is_unknown(options: dict[str, bool]) -> None:
    assert np.isnan(device_share(traced(**options))).all()


def test_an_empty_trace_has_no_shares() -> None:
    assert device_share(TraceBuilder().finish()).shape == (0,)
