"""What is inside a NEFF, as its readers hand it on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from trace_format.importers.neff.debug_info import DebugChain, InstructionOrigin
from trace_format.importers.neff.header import NeffHeader

SLOT_BYTES = 64


@dataclass(frozen=True, slots=True)
class NeffTensor:
    """One tensor that the program names.

    `kind`: input, output, weight, spill (a buffer in HBM for what does not fit on the core), else the compiler's own
    word (virtual, tmp-buf, pointer). None and "": not told.
    """

    name: str
    kind: str
    bytes: int | None = None
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    layout: str = ""  # the compiler's word for the order of dimensions ("NC")
    var_id: int | None = None


@dataclass(frozen=True, slots=True)
class DmaQueue:
    """One DMA queue of a subgraph; `owner` is the engine that starts its transfers."""

    name: str
    type: str  # in, out, data, dynamic, ...
    owner: str
    num_queues: int | None = None
    semaphores: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineProgram:
    """The compiled instructions of one engine: slots of 64 bytes, the place of a slot is its compiler pc."""

    code: bytes
    debug: DebugChain | None = None  # None: compiled without debug information

    @property
    def slots(self) -> int:
        return len(self.code) // SLOT_BYTES

    def origin(self, compiler_pc: int) -> InstructionOrigin | None:
        """Where the instruction at this place comes from, None where that is not told."""
        return self.debug.origin(compiler_pc) if self.debug else None


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What runs on one physical core: a logical core of two (LNC 2) runs sg00 and sg01."""

    name: str
    programs: Mapping[str, EngineProgram]  # by engine: Tensor, Vector, Scalar, GpSimd, Sync
    queues: tuple[DmaQueue, ...] = ()
    cc_streams: int | None = None  # streams of collectives

    def to_dict(self) -> dict[str, Any]:
        """All of it but the programs' code, as JSON has it."""
        return {
            "name": self.name,
            "instructions": {engine: program.slots for engine, program in self.programs.items()},
            "dma_queues": [{**asdict(queue), "semaphores": list(queue.semaphores)} for queue in self.queues],
            "cc_streams": self.cc_streams,
        }


@dataclass(frozen=True, slots=True)
class NeffContents:
    """What a NEFF says about itself. None and "": not told, or not readable (then `problems` says why)."""

    header: NeffHeader
    size_bytes: int  # of the file
    hash_ok: bool | None  # None: the package is of a version whose hash is not known
    compiler_version: str = ""
    target: str = ""  # the core's code name: sunda, cayman, mariana
    tensors: tuple[NeffTensor, ...] = ()
    subgraphs: tuple[Subgraph, ...] = ()
    hlo_macs: int | None = None  # multiply-accumulates of the HLO
    traffic_bytes: int | None = None  # the compiler's estimate of what moves to and from HBM
    metrics: Mapping[str, float] = field(default_factory=dict)  # what else the compiler measured
    members: int = 0  # files in the archive
    not_read: Mapping[str, int] = field(default_factory=dict)  # bytes of the members that hold nothing of this
    refused: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names of members not read, by cause
    problems: tuple[str, ...] = ()  # what is wrong with the file, or missing in it

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that a user should know before trusting it, each in one line."""
        refused = (
            f"not read of the archive, {len(names)} x {cause}: {', '.join(names[:3])}"
            for cause, names in self.refused.items()
        )
        return (*self.problems, *refused)

    @property
    def name(self) -> str:
        return self.header.name

    @property
    def uuid(self) -> str:
        """32 hexadecimal digits."""
        return self.header.uuid

    @property
    def hash(self) -> str:
        """32 hexadecimal digits."""
        return self.header.hash

    @property
    def lnc(self) -> int:
        """Physical cores in a logical one."""
        return self.header.lnc

    @property
    def has_debug_info(self) -> bool | None:
        """Whether instructions can be traced back to the compiler's; None where no program was read."""
        programs = self._programs()
        return any(program.debug is not None for program in programs) if programs else None

    @property
    def has_model_debug_info(self) -> bool | None:
        """Whether instructions can be traced back to HLO or to a layer of the model; None where no program was read."""
        programs = self._programs()
        return any(p.debug is not None and p.debug.reaches_the_model for p in programs) if programs else None

    @property
    def sizes(self) -> dict[str, int | None]:
        """Bytes of the file, of its programs, and of the tensors of each kind that a user thinks of."""
        programs = self._programs()
        return {
            "file": self.size_bytes,
            "programs": sum(len(program.code) for program in programs) if programs else None,
            "inputs": self.tensor_bytes("input"),
            "outputs": self.tensor_bytes("output"),
            "weights": self.weight_bytes,
            "spill": self.spill_bytes,
        }

    @property
    def weight_bytes(self) -> int | None:
        return self.tensor_bytes("weight")

    @property
    def spill_bytes(self) -> int | None:
        return self.tensor_bytes("spill")

    def to_dict(self) -> dict[str, Any]:
        """All of it but the programs' code, as JSON has it; None for what is not told."""
        header = self.header
        return {
            "name": header.name,
            "uuid": header.uuid,
            "hash": header.hash,
            "hash_ok": self.hash_ok,
            "package_version": header.package_version,
            "neff_version": header.version,
            "build_version": header.build_version or None,
            "compiler_version": self.compiler_version or None,
            "target": self.target or None,
            "lnc": header.lnc,
            "num_tpb": header.num_tpb,
            "requested_tpb_count": header.requested_tpb_count,
            "features": list(header.features),
            "sizes_bytes": self.sizes,
            "hlo_macs": self.hlo_macs,
            "traffic_bytes": self.traffic_bytes,
            "metrics": dict(self.metrics),
            "debug_info": {"instructions": self.has_debug_info, "model": self.has_model_debug_info},
            "tensors": [_tensor_dict(tensor) for tensor in self.tensors],
            "subgraphs": [graph.to_dict() for graph in self.subgraphs],
            "archive": {
                "members": self.members,
                "not_read_bytes": sum(self.not_read.values()),
                "refused": {cause: list(names) for cause, names in self.refused.items()},
            },
            "warnings": list(self.warnings),
        }

    def tensor_bytes(self, *kinds: str) -> int | None:
        """The bytes of all tensors of these kinds together, 0 for none; None where no tensor at all is told of."""
        if not self.tensors:
            return None
        return sum(tensor.bytes or 0 for tensor in self.tensors if tensor.kind in kinds)

    def _programs(self) -> list[EngineProgram]:
        return [program for graph in self.subgraphs for program in graph.programs.values()]


def _tensor_dict(tensor: NeffTensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "kind": tensor.kind,
        "shape": None if tensor.shape is None else list(tensor.shape),
        "dtype": tensor.dtype or None,
        "layout": tensor.layout or None,
        "bytes": tensor.bytes,
    }
