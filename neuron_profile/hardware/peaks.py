"""What each generation of NeuronCore can do at most: the peaks that utilisations are fractions of, with sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from trace_format.importers.neuron_device.clocks import core_clocks, family

_KIB: Final = 1 << 10
_MIB: Final = 1 << 20
_GIB: Final = 1 << 30
_TFLOPS: Final = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """The peaks of a generation; sizes in bytes, rates in bytes or floating-point operations per second.

    - `tensor_flops`: of one core's Tensor engine, worked out as AWS's profiler does: 2 x rows x columns x clock.
    - `flops_by_dtype`: of one core's Tensor engine, as the documents round it.
    - `hbm_bytes_per_s`: what AWS's profiler takes the memory of a logical core for: one HBM stack.
    - `hbm_bytes_per_s_per_core`: the chip's divided by its cores.
    - `source`, `hbm_source`: where these numbers are published; `hbm_source` is that of `hbm_bytes_per_s`.
    """

    family: str
    core_name: str
    tensor_rows: int
    tensor_cols: int
    tensor_ghz: float
    others_ghz: float
    flops_by_dtype: Mapping[str, float]
    sbuf_bytes: int
    psum_bytes: int
    dma_engines_per_core: int
    cores_per_chip: int
    hbm_stacks: int
    hbm_bytes: int
    hbm_bytes_per_s_per_chip: float
    hbm_bytes_per_s: float
    source: str
    hbm_source: str

    @property
    def tensor_flops(self) -> float:
        return tensor_flops(self.tensor_rows, self.tensor_cols, self.tensor_ghz)

    @property
    def hbm_bytes_per_s_per_core(self) -> float:
        return self.hbm_bytes_per_s_per_chip / self.cores_per_chip


def tensor_flops(rows: int, cols: int, clock_ghz: float) -> float:
    """FLOP/s of a Tensor engine: each of its rows x columns multiplies and adds once in a cycle.

    AWS Neuron docs, profile schema reference: max_ops = 2 x PE elements x clock.
    """
    return rows * cols * 2 * clock_ghz * 1e9


def peaks_of(instance_type: str) -> Peaks | None:
    """The peaks of the NeuronCores in an EC2 instance type ("trn2.48xlarge"); None for one that is not known."""
    return _BY_FAMILY.get(family(instance_type))


def _peaks(name: str, **numbers: object) -> Peaks:
    clocks = core_clocks(name)
    if clocks is None:
        raise ValueError(f"no clocks are known of {name!r}")
    # 128 x 128 processing elements and 2 MiB of PSUM (128 partitions of 16 KiB, 8 banks) and 16 DMA engines to a core
    # in all generations. AWS Neuron docs, the NKI architecture guides.
    common = {
        "family": name, "tensor_rows": 128, "tensor_cols": 128, "tensor_ghz": clocks.tensor_ghz,
        "others_ghz": clocks.others_ghz, "psum_bytes": 2 * _MIB, "dma_engines_per_core": 16,
    }  # fmt: skip
    return Peaks(**{**common, **numbers})  # type: ignore[arg-type]


def _dtypes(**tflops: float) -> Mapping[str, float]:
    return MappingProxyType({name: value * _TFLOPS for name, value in tflops.items()})


# 820 GB/s a chip in two stacks. AWS Neuron docs, "Trainium/Inferentia2 Architecture Guide for NKI", "Trainium
# Architecture", "Inferentia2 Architecture"; profiles of inf2 state the same 410 GB/s as hbm_ddr_bandwidth.
_NC_V2 = {
    "core_name": "NeuronCore-v2",
    "flops_by_dtype": _dtypes(bf16=92, fp16=92, tf32=92, cfp8=92, fp32=23),
    "sbuf_bytes": 128 * 192 * _KIB, "cores_per_chip": 2, "hbm_stacks": 2, "hbm_bytes": 32 * _GIB,
    "hbm_bytes_per_s_per_chip": 820e9, "hbm_bytes_per_s": 410e9,
    "source": "AWS Neuron docs, Trainium/Inferentia2 architecture guide for NKI",
    "hbm_source": "AWS Neuron docs, Trainium/Inferentia2 architecture guide for NKI: 820 GB/s in 2 stacks",
}  # fmt: skip
_BY_FAMILY: Final[dict[str, Peaks]] = {
    "trn1": _peaks("trn1", **_NC_V2),
    "inf2": _peaks("inf2", **_NC_V2),
    # The documents say 2.9 TB/s a chip in four stacks (725 GB/s each); AWS's profiler itself divides by 716 GB/s.
    "trn2": _peaks(
        "trn2", core_name="NeuronCore-v3",
        flops_by_dtype=_dtypes(bf16=79, fp16=79, tf32=79, fp8=158, fp32=20, bf16_sparse=316),
        sbuf_bytes=128 * 224 * _KIB, cores_per_chip=8, hbm_stacks=4, hbm_bytes=96 * _GIB,
        hbm_bytes_per_s_per_chip=2.9e12, hbm_bytes_per_s=716e9,
        source="AWS Neuron docs, Trainium2 architecture guide for NKI",
        hbm_source="hbm_ddr_bandwidth in AWS's profiles of trn2 (neuron-profile 2.28)",
    ),
    "trn3": _peaks(
        "trn3", core_name="NeuronCore-v4",
        flops_by_dtype=_dtypes(bf16=79, fp16=79, tf32=79, mxfp8=315, mxfp4=315, fp32=20, bf16_sparse=315),
        sbuf_bytes=128 * 256 * _KIB, cores_per_chip=8, hbm_stacks=4, hbm_bytes=144 * _GIB,
        hbm_bytes_per_s_per_chip=4.9e12, hbm_bytes_per_s=4.9e12 / 4,
        source="AWS Neuron docs, Trainium3 architecture guide for NKI",
        hbm_source="AWS Neuron docs, Trainium3 architecture: 4.9 TB/s in 4 stacks",
    ),
}  # fmt: skip
