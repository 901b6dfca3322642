"""The engines of a NeuronCore and the names that files have for them."""

from __future__ import annotations

ENGINES = ("Tensor", "Vector", "Scalar", "GpSimd", "Sync")

# The compiler and the runtime speak of PE, Activation (Act), Pool, DVE and SP; AWS's documents of the names above.
_ALIASES = {
    "pe": "Tensor", "tensor": "Tensor", "tensormatrix": "Tensor",
    "dve": "Vector", "vector": "Vector",
    "act": "Scalar", "activation": "Scalar", "scalar": "Scalar",
    "pool": "GpSimd", "gpsimd": "GpSimd",
    "sp": "Sync", "sync": "Sync",
}  # fmt: skip
_QUEUE_OWNERS = (("PE", "Tensor"), ("Act", "Scalar"), ("Pool", "GpSimd"), ("SP", "Sync"))


def engine_name(name: str) -> str:
    """The engine that a source calls `name`, one of `ENGINES`; `name` itself where none is known by it."""
    key = name.lower().removesuffix("engine").strip(" _-")
    return _ALIASES.get(key, name)


def queue_name(name: str) -> str:
    """The name of a DMA queue as AWS's profiler shows it: qPEDynamic is qTensorDynamic. qDve... stays as it is."""
    for short, long in _QUEUE_OWNERS:
        if name.startswith(f"q{short}"):
            return f"q{long}{name[1 + len(short) :]}"
    return name
