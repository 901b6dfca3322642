"""How fast the parts of one physical NeuronCore work: what an estimate of the time of an operator rests on.

Each number's source stands beside it. Four kinds of source are named:

- *AWS docs*: the AWS Neuron documentation, by the name of the page;
- *NKI stubs*: the cost notes in the docstrings of the NKI releases 2.2x, since removed from the documentation;
- *profiles*: measured on public profiles of trn2 (attention, convolution, transpose, addition) and inf2 (matmul);
- *inferred*: taken over from another generation, or worked out from those above.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from neuron_profile.hardware.peaks import Peaks, peaks_of

GENERATIONS: Final = ("trn1", "trn2", "trn3", "inf2")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoreModel:
    """One generation of NeuronCore. Times in ns, clocks in cycles per ns, rates in bytes per ns.

    Two are equal only where they are the same object: what was worked out for one is quickly found again.


    - `fitted`: intervals of instructions are `N` plus these fixed cycles; else the documented `max(64, N)`.
    - `ramp_ns`: how long the Tensor engine works at half speed after it was idle; 0: it does not.
    - `packet_floor_ns`, `store_floor_ns`: the least time of a DMA packet to SBUF, and of one below 512 bytes to HBM.
    - `load_fixed_ns`: from a DMA instruction to the first byte, and from the last byte to who waits for it;
      `store_fixed_ns` the first of these alone.
    - `hbm_rate`: one core's share of its HBM stack.
    """

    peaks: Peaks
    vector_ghz: float
    scalar_ghz: float
    gpsimd_ghz: float
    fitted: bool
    # cycles on the Tensor engine relative to bf16, by bytes of an element
    fp32_cycles: int = 4  # NKI stubs; profiles of trn2: 428 ns for N=512, in two passes
    fp32_transpose_cycles: int = 2  # profiles of trn2; inferred for the others
    fp8_cycles: float = 0.5
    least_matmul_cycles: int = 64  # AWS docs, nki.isa.nc_matmul; NKI stubs
    ramp_ns: float = 3413.0
    # from the end of an engine's interval until others see its result, and a semaphore's way (profiles of trn2)
    tensor_latency_ns: float = 163.0
    scalar_latency_ns: float = 110.0
    vector_latency_ns: float = 85.0
    semaphore_ns: float = 35.0
    # fixed cycles of an instruction (profiles of trn2)
    scalar_copy_cycles: int = 59
    activation_psum_cycles: int = 172
    activation_sbuf_cycles: int = 222
    vector_copy_cycles: int = 56
    vector_reduce_cycles: int = 67
    tensor_tensor_cycles: int = 72
    tensor_scalar_cycles: int = 124
    reciprocal_cycles: int = 57
    gpsimd_cycles: int = 150  # NKI stubs, nki.isa.iota and affine_select
    transpose_floor_ns: float = 59.0  # of a 128 x 128 transpose on the Tensor engine; profiles of trn2
    table_load_ns: float = 1283.0  # of a function that the Scalar engine did not compute before; profiles of trn2
    dma_engine_rate: float
    packet_fixed_ns: float
    packet_rate: float
    packet_floor_ns: float = 15.0  # profiles of trn2: 256 bytes HBM to SBUF
    store_floor_ns: float = 38.0  # profiles of trn2: 256 to 512 bytes SBUF to HBM
    element_read_ns: float = 2.0  # profiles of trn2 (one kernel): pieces of 2 to 4 bytes, per DMA engine
    element_write_ns: float = 32.0
    issue_ns: float = 565.0  # between DMA instructions of one hardware queue; profiles of trn2, AWS docs: about 600 ns
    software_issue_ns: float = 582.0  # the same of a queue that GpSimd fills; profiles of trn2
    load_fixed_ns: float
    store_fixed_ns: float
    reread_ns: float = 380.0  # profiles of trn2: last byte to who waits for it
    hbm_rate: float

    @property
    def generation(self) -> str:
        return self.peaks.family

    @property
    def sbuf_bytes(self) -> int:
        return self.peaks.sbuf_bytes

    @property
    def tensor_ghz(self) -> float:
        return self.peaks.tensor_ghz

    @property
    def dma_engines(self) -> int:
        return self.peaks.dma_engines_per_core


def core_model(generation: str) -> CoreModel:
    """The model of a generation, one of `GENERATIONS`. Raises ValueError for another name."""
    try:
        return _MODELS[generation]
    except KeyError:
        raise ValueError(f"no NeuronCore of generation {generation!r} is known: {', '.join(GENERATIONS)}") from None


def _peaks(generation: str) -> Peaks:
    found = peaks_of(generation)
    if found is None:
        raise ValueError(f"no peaks are known of {generation!r}")
    return found


_NC_V2 = CoreModel(
    peaks=_peaks("trn1"),
    # AWS docs, "Trainium/Inferentia2 Architecture Guide for NKI"
    vector_ghz=1.12, scalar_ghz=1.4, gpsimd_ghz=1.4,
    fitted=False,
    fp8_cycles=1.0,
    ramp_ns=0.0,  # none seen in profiles of inf2
    tensor_latency_ns=160.0,  # profiles of inf2
    table_load_ns=368.0,  # profiles of inf2
    # AWS docs, "DMA bandwidth guide": 272 GB/s a core; the packet as in profiles of inf2
    dma_engine_rate=17.0, packet_fixed_ns=5.7, packet_rate=27.1,
    issue_ns=650.0, software_issue_ns=650.0,  # profiles of inf2: queues that GpSimd fills
    load_fixed_ns=590.0, store_fixed_ns=880.0,  # profiles of inf2
    hbm_rate=410.0,  # hbm_ddr_bandwidth in profiles of inf2
)  # fmt: skip
_NC_V3 = CoreModel(
    peaks=_peaks("trn2"),
    # AWS docs, "Trainium2 Architecture Guide for NKI"; the slopes in profiles of trn2 are one cycle per element
    vector_ghz=0.96, scalar_ghz=1.2, gpsimd_ghz=1.2,
    fitted=True,
    # AWS docs, "DMA bandwidth guide": 368 GB/s a core; profiles of trn2: 256 to 4096 bytes within 1 ns
    dma_engine_rate=23.0, packet_fixed_ns=5.3, packet_rate=27.1,
    load_fixed_ns=1680.0, store_fixed_ns=1300.0,  # profiles of trn2; AWS docs: "~1300 ns semaphore-to-start"
    hbm_rate=358.0,  # half of the 716 GB/s of a stack, hbm_ddr_bandwidth in profiles of trn2
)  # fmt: skip
_MODELS: Final = {
    "trn1": _NC_V2,
    "inf2": replace(_NC_V2, peaks=_peaks("inf2")),
    "trn2": _NC_V3,
    # AWS docs, "Trainium3 Architecture Guide for NKI", for clocks and DMA; all else inferred from trn2
    "trn3": replace(
        _NC_V3, peaks=_peaks("trn3"), vector_ghz=1.2, dma_engine_rate=33.0, packet_fixed_ns=6.0, packet_rate=38.4,
        hbm_rate=600.0,
    ),
}  # fmt: skip
