"""Three questions about a trace, answered with the analysis functions.

python examples/analysis.py trace.pb
"""

import sys

from neuron_profile import analysis, load

trace = load(sys.argv[1])

# How long is a step?
steps = analysis.steps(trace)
print(f"{len(steps)} steps, median {steps['dur_ns'].median() / 1e6:.2f} ms (found by: {steps.attrs['found_by']})")

# Which operations take the time? Work of the device comes first, then that of the host.
for row in analysis.hotspots(trace, top=5).itertuples():
    print(f"{row.self_ns / 1e6:10.2f} ms  {row.share_ratio:6.1%}  {row.name}")

# What moves the bytes, and how fast? Where there is no record the bytes follow from the shapes.
for row in analysis.movers(trace, top=5).itertuples():
    source = "estimated" if row.estimated_ratio else "recorded"
    print(f"{row.bytes / 1e6:10.2f} MB  {row.bytes_per_s / 1e9:6.2f} GB/s  {row.name} ({source})")
