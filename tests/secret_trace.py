"""A trace in which every text that a user gave tells of Acme, of jdoe or of the machine gpu-node-17."""

from __future__ import annotations

import json
from collections import Counter

from trace_format import CATEGORIES, Trace, TraceBuilder
from trace_format.report import ImportReport

# Whatever is looked for in lower case is in no public name.
SECRETS = ("acme", "jdoe", "gpu-node-17", "/home/")
PATH = "/home/jdoe/acme/model.py"


def secret_trace() -> Trace:
    """Two steps of 1 ms, each with Python frames, a module, operators, a kernel and a collective of Acme's."""
    builder = TraceBuilder()
    pool, string = builder.pool, builder.string
    process = builder.track("python acme_train.py (CPU)", kind="other", pid=7, host="gpu-node-17.acme.corp")
    host = builder.track("thread 9 (acme-worker)", kind="host_thread", parent=process, pid=7, tid=9)
    device = builder.track("acme stream", kind="stream", parent=process, device=0)
    counter = builder.track("acme counter", kind="counter", parent=process, unit="acmes")
    stack = pool.stack_id(
        [f"{PATH}(12): train_acme", "torch/nn/modules/module.py(1751): _call_impl", "nn.Module: AcmeBlock_0"]
    )

    def told(**values: object) -> int:
        return pool.arg_sets.id(json.dumps(values).encode())

    def add(track: int, name: str, category: str, start: int, dur: int, **columns: int) -> int:
        return builder["slices"].append(
            1, track=track, name=string(name), category=CATEGORIES.index(category), ts_ns=start, dur_ns=dur,
            stack=stack, source_category=string("acme_cat"), **columns,
        )  # fmt: skip

    for number, start in enumerate((0, 1_000_000)):
        add(host, f"ProfilerStep#{number}", "annotation", start, 1_000_000)
        add(host, f"acme_train_step {number}", "annotation", start + 1_000, 900_000)
        add(host, f"{PATH}(40): forward_acme", "python", start + 2_000, 800_000)
        add(host, "nn.Module: AcmeBlock_0", "python", start + 3_000, 700_000)
        add(host, "nn.Module: Linear_3", "python", start + 4_000, 600_000)
        shapes = told(**{"Input Dims": [[8, 8], [8, 8]], "Input type": ["float", "float"], "acme key": "acme value",
                         "note": f"see {PATH}", "count": 3})  # fmt: skip
        add(host, "aten::mm", "host_op", start + 5_000, 100_000, args=shapes)
        add(host, "acme_ops::fused_attention", "host_op", start + 150_000, 100_000)
        add(host, "AcmeFunctionBackward", "host_op", start + 300_000, 50_000)
        add(device, "void acme::secret_kernel<float>(float*)", "compute", start + 20_000, 400_000, bytes=4096)
        add(device, "void at::native::elementwise_kernel<4, acme::Functor>(int)", "compute", start + 450_000, 90_000)
        row = add(device, "ncclDevKernel_AllReduce_Sum_f32_RING_LL_acme(x)", "collective", start + 600_000, 200_000)
        builder["collectives"].append(
            1, slice=row, op=string("all_reduce"), dtype=string("float"), in_bytes=1024, out_bytes=1024,
            group=string("acme group"), group_ranks=string("[0, 1]"), rank=0, source=string("acme source"),
        )  # fmt: skip
    row = add(host, "compile acme_forward 0/0", "compile", 2_000_000, 5_000_000, args=told(
        function="acme_forward", compile_id="0/0", backend="acme_backend", failure=f"cannot read {PATH}",
    ))  # fmt: skip
    builder["neffs"].append(
        1, name=string("acme.neff"), path=string("/home/jdoe/acme.neff"), hash=string("acmehash"), uuid=string("acmeid")
    )
    builder["tensors"].append(1, neff=0, name=string("acme.weight"), kind=string("acme input"), shape=string("[2, 2]"))
    builder["compiles"].append(
        1, slice=row, what=string("acme_forward"), backend=string("acme_backend"), neff=0,
        trigger=string(f"recompile: 0/0: acme_batch.size()[0] == 8 at {PATH}:12"),
    )  # fmt: skip
    builder["instants"].append(1, ts_ns=5, track=host, name=string("acme moment"), args=told(where=PATH))
    builder["counters"].append(2, ts_ns=[0, 10], track=counter, value=[1.0, 2.0])
    builder["memory"].append(
        ts_ns=[10, 20], device=string("acme:0"), delta_bytes=[100, 50], total_bytes=[100, 150], address=[1, 2]
    )
    builder.report = ImportReport(100, Counter({f"event of {PATH} that cannot be read": 2}), Counter({"acme": 1}))
    metadata = {
        "host": "gpu-node-17.acme.corp", "pid": 7, "device_model": "acme accelerator", "created_by": "acme profiler",
        "acme": {"user": "jdoe"}, "argv": ["python", PATH],
        "sources": [{"format": "acme format", "path": PATH, "clock": "unix", "producer": "acme profiler"}],
        "source_metadata": {"deviceProperties": [{"name": "acme card"}], "traceName": PATH},
        "simulated": {"generation": "acme1", "notes": ["acme_ops::fused_attention has no rule"]},
    }  # fmt: skip
    return builder.finish(metadata=metadata)
