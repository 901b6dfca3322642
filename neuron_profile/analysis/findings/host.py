"""A host that holds up the device: synchronisation, launching too slowly, starting up."""

from __future__ import annotations

import numpy as np

from neuron_profile.analysis.findings.context import Context
from neuron_profile.analysis.findings.rule import Evidence, Rule
from neuron_profile.analysis.sides import HOST
from trace_format import CATEGORIES
from trace_format import number_text as text

Array = np.ndarray

LEAST_SYNC_SHARE = 0.05
LEAST_HOST_SHARE = 0.15
LEAST_START_SHARE = 0.15
LONG_CALL_NS = 1_000_000
_RUNTIME, _COMPUTE = CATEGORIES.index("runtime"), CATEGORIES.index("compute")
_WAITS = r"(?:cuda|hip)\w*Synchronize|aten::(?:item|_local_scalar_dense|nonzero|is_nonzero)\b|.*::synchronize"
_STARTS = (
    r"(?:cuda|hip)(?:Free|Malloc|HostAlloc|HostMalloc|StreamCreate|DeviceGetStreamPriorityRange|GetDeviceProperties"
    r"|FuncGetAttributes|SetDevice)|(?:cu|hip)(?:Module|Library)Load|cuInit|hipInit"
)
LAUNCHES = r"(?:cuda|hip|cu)\w*Launch\w*|urEnqueueKernelLaunch|.*[lL]aunchKernel"


def host_sync(context: Context) -> Evidence | None:
    calls = context.named(_WAITS, np.flatnonzero(context.side == HOST))
    idle, waits = context.part("idle_sync_ns"), context.lengths_of(calls)
    cost = context.cost(np.minimum(idle, waits))
    if cost.share_ratio < LEAST_SYNC_SHARE or not context.is_usual(cost):
        return None
    names = ", ".join(f"{name} {text.count(count)} in all" for name, count, _ in context.counted_names(calls))
    waited, idled = context.cost(waits), context.cost(idle)
    lines = (
        (f"the host waits {text.duration(waited.per_step_ns)} {context.per_step} for the device, which then idles "
        f"{text.duration(idled.per_step_ns)} until the next work is launched: the lesser is {context.told(cost)}"),
        f"{text.count(context.median_count(calls))} such calls {context.per_step}: {names}",
    )  # fmt: skip
    title = f"The host waits for the device, which then idles: {cost.text}"
    return Evidence(title, cost, lines, context.longest(calls))


def host_bound(context: Context) -> Evidence | None:
    if not context.on_device:
        return None
    starting = context.lengths_of(_starting_up(context))
    cost = context.cost(np.maximum(context.part("idle_host_ns") - starting, 0))
    if cost.share_ratio < LEAST_HOST_SHARE or not context.is_usual(cost):
        return None
    slices = context.trace.slices
    launches = context.named(LAUNCHES, np.flatnonzero((slices.category == _RUNTIME) & (context.side == HOST)))
    kernels = context.device_work[slices.category[context.device_work] == _COMPUTE]
    lines = [f"the device idles {context.told(cost)} with nothing launched for it"]
    if len(launches) and len(kernels):
        half = text.duration(float(np.median(slices.dur_ns[kernels])))
        lines.append(f"{text.count(context.median_count(launches))} launches {context.per_step}; half of the "
                     f"{text.count(len(kernels))} kernels take less than {half}")  # fmt: skip
    if len(context.host_ops):
        busy = context.cost(context.lengths_of(context.host_ops))
        lines.append(f"operators run on the host for {text.duration(busy.per_step_ns)} {context.per_step} "
                     f"({text.ratio(busy.share_ratio)}); the rest is Python and what was not recorded")  # fmt: skip
    title = f"The device waits for the host: for {cost.text} nothing was launched"
    return Evidence(title, cost, tuple(lines), context.longest(launches))


def start_up(context: Context) -> Evidence | None:
    if not context.on_device:
        return None
    calls = _starting_up(context)
    cost = context.cost(np.minimum(context.lengths_of(calls), context.part("idle_host_ns")))
    if cost.share_ratio < LEAST_START_SHARE:
        return None
    names = context.counted_names(calls)
    lines = (
        "; ".join(f"{name} {text.count(count)} times, {text.duration(total)}" for name, count, total in names),
        f"{context.told(cost)} with nothing launched for the device",
    )
    title = f"The trace holds the start-up: {cost.text} of first calls and allocations"
    return Evidence(title, cost, lines, context.longest(calls))


def _starting_up(context: Context) -> Array:
    """Calls that initialise a device, load code, or ask it for memory: those that take long."""
    slices = context.trace.slices
    calls = context.named(_STARTS, np.flatnonzero((slices.category == _RUNTIME) & (context.side == HOST)))
    return calls[slices.dur_ns[calls] >= LONG_CALL_NS]


RULES = (
    Rule(
        "host-sync",
        "idle_sync_ns of the breakdown: gaps on the device that begin while the host waits for it",
        f"at least {LEAST_SYNC_SHARE:.0%} of the median step",
        "a wait costs nothing while the device is busy; what it costs is the gap after it",
        host_sync,
        "the lesser of the gaps and of the waits before them: without a wait the host is earlier by as much",
        "Take .item(), .cpu(), .nonzero(), print(tensor) and torch.*.synchronize() out of the step: keep losses on the "
        "device, fetch them every N steps; copy with non_blocking=True.",
    ),
    Rule(
        "host-bound",
        "idle_host_ns of the breakdown: gaps on the device before whose end the host had launched nothing",
        f"at least {LEAST_HOST_SHARE:.0%} of the median step",
        "every eager step has some gaps; what is left of small ones is not worth the work",
        host_bound,
        "all of these gaps: an upper bound, reached when the host is always ahead",
        "Launch less often and earlier: torch.compile(mode='reduce-overhead') or CUDA graphs, larger batches, fused "
        "or foreach optimizers; move Python work out of the step.",
        said_by=("recompile",),
    ),
    Rule(
        "start-up",
        f"runtime calls of {LONG_CALL_NS // 10**6} ms or more that initialise a device, load code or allocate, and "
        "nothing is launched",
        f"at least {LEAST_START_SHARE:.0%} of the median step",
        "torch keeps what it has allocated: after the first steps there are no such calls",
        start_up,
        "all of it: later steps do not have it",
        "Record later: torch.profiler.schedule(wait=1, warmup=2, ...). If it comes in every step, memory is short: see "
        "torch.cuda.memory_stats()['num_alloc_retries'].",
    ),
)
