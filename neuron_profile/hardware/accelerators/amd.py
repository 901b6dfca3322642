"""AMD's accelerators: rates without sparsity from its datasheets, by matrix or vector units, whichever is faster."""

from __future__ import annotations

from typing import Final

from neuron_profile.hardware.accelerators.product import Product, product

_HALF = "half of it: a device is one of the two dies"
_MI300: Final = {"fp64": 163.4, "fp32": 163.4, "tf32": 653.7, "bf16": 1307.4, "fp16": 1307.4, "fp8": 2614.9,
                 "int8": 2614.9}  # fmt: skip

# name, names reported, source, compute units, GB/s of memory, GB/s of links, TFLOP/s
PRODUCTS: Final[tuple[Product, ...]] = (
    product("MI100", r"Instinct MI100", "AMD Instinct MI100 datasheet", 120, 1228.8, 276, fp64=11.5,
            fp32=46.1, bf16=92.3, fp16=184.6, int8=184.6),
    product("MI210", r"Instinct MI210", "AMD Instinct MI210 datasheet", 104, 1638.4, 300, fp64=45.3,
            fp32=45.3, bf16=181, fp16=181, int8=181),
    product("MI250, one die", r"Instinct MI250", f"AMD Instinct MI250 datasheet, {_HALF}", 104, 1638.4,
            fp64=45.25, fp32=45.25, bf16=181.05, fp16=181.05, int8=181.05),
    product("MI250X, one die", r"Instinct MI250X", f"AMD Instinct MI250X datasheet, {_HALF}", 110, 1638.4,
            fp64=47.85, fp32=47.85, bf16=191.5, fp16=191.5, int8=191.5),
    product("MI300A", r"Instinct MI300A", "AMD Instinct MI300A datasheet", 228, 5300, fp64=122.6,
            fp32=122.6, tf32=490.3, bf16=980.6, fp16=980.6, fp8=1961.2, int8=1961.2),
    # VF: the same device, handed whole to a virtual machine
    product("MI300X", r"Instinct MI300X( VF)?", "AMD Instinct MI300X datasheet", 304, 5300, 896,
            **_MI300),
    product("MI325X", r"Instinct MI325X( VF)?", "AMD Instinct MI325X datasheet", 304, 6000, 896,
            **_MI300),
    product("MI350X", r"Instinct MI350X( VF)?", "AMD Instinct MI350X datasheet", 256, 8000, 1075,
            fp64=72.1, fp32=144.2, bf16=2309.6, fp16=2309.6, fp8=4614, int8=4614, fp4=9228),
    product("MI355X", r"Instinct MI355X( VF)?", "AMD Instinct MI355X datasheet", 256, 8000, 1075,
            fp64=78.6, fp32=157.3, bf16=2516.6, fp16=2516.6, fp8=5033.2, int8=5033.2, fp4=10066.3),
)  # fmt: skip
