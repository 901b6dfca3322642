"""Questions about a trace, answered with the analysis functions.

python examples/analysis.py trace.pb
"""

import sys

from neuron_profile import analysis, load

trace = load(sys.argv[1])

# How long is a step, and what is it made of? The parts add up to the steps to the nanosecond.
steps = analysis.steps(trace)
print(f"{len(steps)} steps, median {steps['dur_ns'].median() / 1e6:.2f} ms (found by: {steps.attrs['found_by']})")
for device in analysis.summarize(trace).to_dict()["breakdown"]["by_device"]:
    parts = {name: ns for name, ns in device.items() if name.endswith("_ns") and name != "total_ns" and ns}
    assert sum(parts.values()) == device["total_ns"]
    print(f"  device {device['device']}:", ", ".join(f"{name[:-3]} {ns / 1e6:.2f} ms" for name, ns in parts.items()))

# What would make it shorter? Ranked by the milliseconds that a fix would return to each step.
for finding in analysis.findings(trace):
    print(f"{finding.recoverable_ns / 1e6:10.2f} ms  {finding.title}")
    print(f"               {finding.advice}")

# Which operations take the time? Work of the device comes first, then that of the host.
for row in analysis.hotspots(trace, top=5).itertuples():
    print(f"{row.self_ns / 1e6:10.2f} ms  {row.share_ratio:6.1%}  p95 {row.p95_ns / 1e3:8.1f} us  {row.name}")

# Which chain of work was the median step's length, and what would halving a part of it return?
path = analysis.critical_path(trace)
for row in path.returns(top=3).itertuples():
    print(f"{row.path_ns / 1e6:10.2f} ms on the path, halved {row.halved_ns / 1e6:.2f} ms less: {row.name}")

# What moves the bytes, and how fast? Where there is no record the bytes follow from the shapes.
for row in analysis.movers(trace, top=5).itertuples():
    source = "estimated" if row.estimated_ratio else "recorded"
    print(f"{row.bytes / 1e6:10.2f} MB  {row.bytes_per_s / 1e9:6.2f} GB/s  {row.name} ({source})")

# The same of a part of it: any window is a trace of its own.
if len(steps):
    last = steps.iloc[-1]
    part = analysis.cut(trace, last.start_ns, last.end_ns).trace
    print(f"in {last['name']}: {len(part.slices)} slices, {analysis.breakdown(part)['total_ns'].max() / 1e6:.2f} ms")
