"""Opens a device profile of AWS Neuron and says which engine works, how fast DMA is, and how close to the peaks it is.

python examples/open_ntff.py profile.ntff [program.neff]
"""

import sys

from neuron_profile import load
from neuron_profile.analysis import neuron_device

trace = load(sys.argv[1:])

for run in neuron_device.runs_of(trace):
    print(f"{run.name}: {run.total_ps / 1e6:.2f} µs on cores {', '.join(map(str, run.cores))}")

    # Which engine works, which waits for a semaphore?
    for row in neuron_device.engine_utilisation(trace, run).itertuples():
        print(f"  core {row.core}  {row.engine:7}  works {row.active_ratio:6.1%}  waits {row.waiting_ratio:6.1%}")

    # How fast are the DMA queues while they are active?
    for row in neuron_device.dma_queues(trace, run).itertuples():
        print(f"  core {row.core}  {row.queue:20}  {row.bytes:>9} bytes  {row.bytes_per_s / 1e9:7.2f} GB/s")

# AWS's metrics by AWS's names: seconds, bytes and fractions. What the file does not tell is not there.
total = neuron_device.device_metrics(trace).total
if total is not None:
    for name in (
        "total_time", "total_active_time_percent", "dma_active_time_percent", "hbm_read_bytes", "hbm_write_bytes",
        "hfu_estimated_percent", "mfu_estimated_percent", "mbu_estimated_percent",
    ):  # fmt: skip
        print(f"{name}: {total.values.get(name, 'unknown')}")
    print(f"peaks: {total.values.get('peaks_source', 'unknown')}")
