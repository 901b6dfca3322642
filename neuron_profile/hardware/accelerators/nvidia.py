"""NVIDIA's accelerators: dense rates from its datasheets, which since Ampere print twice as much "with sparsity"."""

from __future__ import annotations

from typing import Final

from neuron_profile.hardware.accelerators.product import Product, product

_VOLTA = "NVIDIA V100 datasheet"
_AMPERE = "NVIDIA A100 datasheet"
_HOPPER = "NVIDIA H100 datasheet, halved where it counts sparsity"
_H200 = "NVIDIA H200 datasheet, halved where it counts sparsity"
_BLACKWELL = "NVIDIA Blackwell datasheet, halved where it counts sparsity"
_TURING = "NVIDIA Turing architecture whitepaper"
_ADA = "NVIDIA Ada architecture whitepaper"
_GA102 = "NVIDIA Ampere GA102 architecture whitepaper"

# What all A100 share, what all V100 of a form share, and so on.
_A100: Final = {"fp64": 19.5, "fp32": 19.5, "tf32": 156, "bf16": 312, "fp16": 312,
                "int8": 624}  # fmt: skip
_HOPPER_SXM: Final = {"fp64": 67, "fp32": 67, "tf32": 494.5, "bf16": 989.5, "fp16": 989.5,
                      "fp8": 1979, "int8": 1979}  # fmt: skip
_HOPPER_NVL: Final = {"fp64": 60, "fp32": 60, "tf32": 417.5, "bf16": 835.5, "fp16": 835.5,
                      "fp8": 1670.5, "int8": 1670.5}  # fmt: skip
_V100_SXM2: Final = {"fp64": 7.8, "fp32": 15.7, "fp16": 125}
_V100_PCIE: Final = {"fp64": 7, "fp32": 14, "fp16": 112}

# name, names reported, source, streaming multiprocessors, GB/s of memory, GB/s of links, [GB of memory,] TFLOP/s
PRODUCTS: Final[tuple[Product, ...]] = (
    product("V100 SXM2", r"V100-SXM[23](-\d+GB)?(-LS)?", _VOLTA, 80, 900, 300, **_V100_SXM2),
    product("V100 PCIe", r"V100-PCIE-\d+GB", _VOLTA, 80, 900, 32, **_V100_PCIE),
    product("V100S PCIe", r"V100S-PCIE-32GB", _VOLTA, 80, 1134, 32, fp64=8.2, fp32=16.4, fp16=130),
    product("T4", r"T4", _TURING, 40, 320, 32, fp32=8.1, fp16=65, int8=130),
    # the name does not tell the Founders Edition, whose clock is the higher, from the reference card
    product("GeForce RTX 2080 Ti", r"GeForce RTX 2080 Ti", f"{_TURING}, Founders Edition",
            68, 616, fp32=14.2, fp16=56.9, int8=227.7),
    # 40 GB: 1555 GB/s in either form. A100-PG509 is a board of that size. 80 GB: the form decides.
    product("A100 40 GB", r"A100-(SXM4|PCIE)-40GB", _AMPERE, 108, 1555, 600, **_A100),
    product("A100 40 GB", r"A100-PG509-\d+", _AMPERE, 108, 1555, 600, (30, 50), **_A100),
    product("A100 SXM4 80 GB", r"A100-SXM4-80GB|A100-SXM-80GB", _AMPERE, 108, 2039, 600, **_A100),
    product("A100 PCIe 80 GB", r"A100 80GB PCIe|A100-PCIE-80GB", _AMPERE, 108, 1935, 600, **_A100),
    product("A30", r"A30", "NVIDIA A30 datasheet", 56, 933, 200, fp64=10.3, fp32=10.3, tf32=82,
            bf16=165, fp16=165, int8=330),
    product("A40", r"A40", "NVIDIA A40 datasheet", 84, 696, 112.5, fp32=37.4, tf32=74.8, bf16=149.7,
            fp16=149.7, int8=299.3),
    product("A10", r"A10", "NVIDIA A10 datasheet", 72, 600, 64, fp32=31.2, tf32=62.5, bf16=125,
            fp16=125, int8=250),
    product("A10G", r"A10G", "NVIDIA A10G datasheet (published by AWS)", 80, 600, 64, fp32=35,
            tf32=35, bf16=70, fp16=70, int8=140),
    product("RTX A6000", r"RTX A6000", _GA102, 84, 768, 112.5, fp32=38.7, tf32=77.4, bf16=154.8,
            fp16=154.8, int8=309.7),
    product("GeForce RTX 3090", r"GeForce RTX 3090", _GA102, 82, 936, fp32=35.6, tf32=35.6, bf16=71,
            fp16=71, int8=284),
    product("L4", r"L4", "NVIDIA L4 datasheet, halved where it counts sparsity", 58, 300, 64,
            fp32=30.3, tf32=60, bf16=121, fp16=121, fp8=242.5, int8=242.5),
    product("L40", r"L40", "NVIDIA L40 datasheet", 142, 864, 64, fp32=90.5, tf32=90.5, bf16=181.05,
            fp16=181.05, fp8=362, int8=362),
    product("L40S", r"L40S", "NVIDIA L40S datasheet", 142, 864, 64, fp32=91.6, tf32=183,
            bf16=362.05, fp16=362.05, fp8=733, int8=733),
    product("GeForce RTX 4090", r"GeForce RTX 4090", _ADA, 128, 1008, fp32=82.6, tf32=82.6, bf16=165.2,
            fp16=165.2, fp8=330.3, int8=660.6),
    product("H100 SXM", r"H100 80GB HBM3|H100 SXM5?( 80GB)?", _HOPPER, 132, 3350, 900, **_HOPPER_SXM),
    product("H100 PCIe", r"H100 PCIe", "NVIDIA H100 PCIe datasheet of 2022, halved where it counts sparsity",
            114, 2000, 600, fp64=51, fp32=51, tf32=378, bf16=756.5, fp16=756.5, fp8=1513, int8=1513),
    product("H100 NVL", r"H100 NVL", _HOPPER, 132, 3900, 600, **_HOPPER_NVL),
    product("H200 SXM", r"H200", _H200, 132, 4800, 900, **_HOPPER_SXM),
    product("H200 NVL", r"H200 NVL", _H200, 132, 4800, 900, **_HOPPER_NVL),
    product("B200", r"B200", f"{_BLACKWELL}, HGX B200", 148, 7700, 1800, fp64=37, fp32=75, tf32=1100,
            bf16=2250, fp16=2250, fp8=4500, int8=4500, fp4=9000),
    product("GB200", r"GB200", f"{_BLACKWELL}, GB200 NVL72", 152, 8000, 1800, fp64=40, fp32=80,
            tf32=1250, bf16=2500, fp16=2500, fp8=5000, int8=5000, fp4=10000),
)  # fmt: skip
