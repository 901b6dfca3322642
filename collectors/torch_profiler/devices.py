"""The accelerators of this process, as torch describes them."""

from __future__ import annotations

from typing import Any

# torch's name of a property -> the key in the JSON that torch.profiler exports (libkineto/src/DeviceProperties.cpp)
_KEYS = {
    "name": "name",
    "total_memory": "totalGlobalMem",
    "major": "computeMajor",
    "minor": "computeMinor",
    "max_threads_per_block": "maxThreadsPerBlock",
    "max_threads_per_multi_processor": "maxThreadsPerMultiprocessor",
    "regs_per_multiprocessor": "regsPerMultiprocessor",
    "warp_size": "warpSize",
    "multi_processor_count": "numSms",
}


def device_properties(device: str | None) -> list[dict[str, Any]]:
    """What torch says of each accelerator of this kind, under the keys of torch.profiler's own JSON.

    `device` is torch's name of the kind ("cuda"; None for none). Empty where there are none, where torch cannot
    describe them, and where the process has not used them: to ask would set them up.
    """
    import torch

    backend = getattr(torch, device or "", None)
    is_used, count, describe = (
        getattr(backend, name, None) for name in ("is_initialized", "device_count", "get_device_properties")
    )
    if is_used is None or count is None or describe is None or not is_used():
        return []
    try:
        return [{"id": number} | _described(describe(number)) for number in range(count())]
    except RuntimeError:  # a device that fell off the bus
        return []


def _described(properties: Any) -> dict[str, Any]:
    values = {key: getattr(properties, name, None) for name, key in _KEYS.items()}
    return {key: value for key, value in values.items() if isinstance(value, str | int)}
