"""Makes NEFFs to the layout that is documented: header, gzipped tar archive, definitions, programs, debug files."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import struct
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

UUID = bytes(range(0x10, 0x20))
ENGINES = ("PE", "Activation", "Pool", "DVE", "SP")
# In the small NEFF: slots of each engine's program in sg00.
SLOTS = {"PE": 5, "Activation": 3, "Pool": 2, "DVE": 4, "SP": 1}
COMPILER = "2.23.6484.0+3b612583"


def header(payload: bytes, **fields: Any) -> bytes:
    """The 1024 bytes in front of an archive. `fields` replace those of a sound header, by the names of neff.h."""
    values = {
        "pkg_version": 2, "header_size": 1024, "data_size": len(payload), "neff_version_major": 2,
        "neff_version_minor": 1, "build_version": b"", "num_tpb": 1, "hash": hash_in_words(payload), "uuid": UUID,
        "name": b"small.neff", "requested_tpb_count": 1, "tpb_per_node": bytes([1]), "feature_bits": 0, "lnc_size": 1,
    } | fields  # fmt: skip
    packed = struct.pack("<5Q128sI32s16s256sI64sQI", *values.values())
    return packed + bytes(1024 - len(packed))


def hash_in_words(payload: bytes) -> bytes:
    """The MD5 of an archive as NEFFs have it: each word of four bytes turned round."""
    digest = hashlib.md5(payload).digest()
    return struct.pack("<4I", *struct.unpack(">4I", digest))


def archive(members: Mapping[str, bytes] | Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """A gzipped tar archive of these members, in their order."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in members.items() if isinstance(members, Mapping) else members:
            if isinstance(info, str):
                info = tarfile.TarInfo(info)
            info.size = len(data) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(out.getvalue(), mtime=0)


def neff(members: Mapping[str, bytes] | Iterable[tuple[tarfile.TarInfo, bytes]], **fields: Any) -> bytes:
    """A NEFF of these members; `fields` as for `header`."""
    payload = archive(members)
    return header(payload, **fields) + payload


def small_members(
    *, lnc: int = 1, debug: bool = False, hlo: bool = False, spills: bool = False, stats: bool = False
) -> dict[str, bytes]:
    """The members of a small NEFF: two inputs, an output, a weight, two DMA queues, five engines.

    Its sizes: inputs 32768 + 512, output 65536, weight 1024; with `spills` 2 x 524288 of spill and 4096 more of
    another virtual variable. With `lnc` 2 there is a second core which names the same tensors and has one slot each.
    """
    members = {
        "info.json": as_json({"tool_version": COMPILER, "name": "small.neff", "num_tpb": 1}),
        "kelf-0.json": as_json({"graphs": [], "version": "0.5", "target": "cayman" if lnc == 2 else "sunda"}),
    }
    if stats:
        members["hlo_stats.json"] = as_json({"HloMacCount": 1160, "Traffic": 2328, "ArithmeticIntensity": 0.99656355})
    for core in range(lnc):
        graph = f"sg{core:02}"
        members[f"{graph}/def.json"] = as_json(definition(spills=spills, queues=core == 0))
        members[f"{graph}/tensor_map.json"] = as_json(TENSOR_MAP)
        for engine in ENGINES:
            slots = SLOTS[engine] if core == 0 else 1
            members[f"{graph}/{engine}.bin"] = b"".join(slot(0x10 + place) for place in range(slots))
            members[f"{graph}/{engine}.json"] = as_json({"dma": [], "name": f"{engine}.json"})
        members[f"{graph}/value_w.npy"] = bytes(1024 + 128)
        members[f"{graph}/default_opcode_table.bin"] = bytes(1024)
        if debug:
            members |= debug_members(graph)
    if debug:
        members["debug_info/debug_info_penguin.dbg_sg000000"] = PENGUIN
    if hlo:
        members["debug_info/debug_info_hlo.dbg_sg000000"] = HLO
        members["debug_info/debug_info_pttf.dbg_sg000000"] = PTTF
    return members


def definition(*, spills: bool = False, queues: bool = True) -> dict[str, Any]:
    """What a def.json says."""
    variables: dict[str, Any] = {
        "SB": {"type": "state-buffer", "var_id": 0},
        "x": {"type": "input", "var_id": 1, "size": 32768, "ops": []},
        "bias": {"type": "input", "var_id": 2, "size": 512, "ops": []},
        "y": {"type": "output", "var_id": 3, "size": 65536, "ops": []},
        "w_sg0000": {"type": "file", "var_id": 4, "size": 1024, "file_name": "value_w.npy", "ops": []},
        "DGETable0": {"type": "dge-table", "var_id": 5, "list": [1, 3]},
    }
    if spills:
        variables |= {
            "t1_SpillSave_0": {"type": "virtual", "var_id": 6, "size": 524288},
            "t2_SpillSave_1": {"type": "virtual", "var_id": 7, "size": 524288},
            "clone": {"type": "virtual", "var_id": 8, "size": 4096},
        }
    dma_queues = {
        "qPoolDynamic": {"type": "dynamic", "num_queues": 16, "owner": "pool", "semaphore_set": list(range(8, 24))},
        "qSPIO0": {"type": "in", "num_queues": 4, "owner": "sp", "semaphore_set": [40, 42]},
    }
    return {
        "name": "definition",
        "version": "0.6",
        "var": variables,
        "dma_queue": dma_queues if queues else {},
        "cc_streams": {"num_streams": 0},
    }


TENSOR_MAP = {
    "x": {"dtype": "bfloat16", "kind": "input", "tf_shape": [128, 128], "tf_format": "NC", "is_const": False},
    "bias": {"dtype": "float32", "kind": "input", "tf_shape": [128], "tf_format": "N", "is_const": False},
    "y": {"dtype": "float32", "kind": "output", "tf_shape": [128, 128], "tf_format": "NC", "is_const": False},
    "sg0000_w": {"dtype": "bfloat16", "tf_shape": [16, 32], "tf_format": "NC", "tf_file": "value_w.npy"},
}


def slot(opcode: int) -> bytes:
    """A slot of a program."""
    return bytes([opcode]) + bytes(63)


def as_json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


# Debug files. Protobuf, written out here by hand: the readers under test must not be what makes their input.


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def part(number: int, value: int | bytes | str | Sequence[int]) -> bytes:
    """One field: a number, bytes, text, or a packed list of numbers."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    packed = data if isinstance(data, bytes) else b"".join(map(varint, data))
    return varint(number << 3 | 2) + varint(len(packed)) + packed


def debug_file(*nodes: bytes) -> bytes:
    return part(1, "Debug info") + part(2, "next.dbg") + b"".join(part(3, node) for node in nodes) + part(4, 4)


def debug_members(graph: str) -> dict[str, bytes]:
    """Debug files of the Tensor and Vector engines: PE slots 0 to 4 come from nothing, BIR 371, 371, 1563 and 9."""
    return {
        f"{graph}/debug_info_asm_PE.dbg": debug_file(
            b"", part(3, [371]), part(3, [371]), part(3, [1563, 4]), part(3, [9])
        ),
        f"{graph}/debug_info_backend_PE.dbg": debug_file(
            part(1, 371) + part(2, "I-7-0") + part(3, [7]) + part(6, 1),
            part(1, 1563) + part(2, "I-50-0-wait-0") + part(3, [50]) + part(4, [371]) + part(5, [9]) + part(6, 3),
        ),
        f"{graph}/debug_info_asm_DVE.dbg": debug_file(part(3, [400]), b"", b"", b""),
    }


PENGUIN = debug_file(
    part(1, 7) + part(2, "bfloat16<128 x 1024> $7") + part(3, [3]) + part(7, part(1, "kernel_name") + part(2, "0")),
    part(1, 50) + part(2, "bfloat16<128 x 128> $50[i]"),
)
HLO = debug_file(
    part(1, 3)
    + part(2, "%dot.3 = dot(%p0, %p1)")
    + part(3, [5])
    + part(7, part(1, "op_type") + part(2, "dot"))
    + part(7, part(1, "source_line") + part(2, "17"))
)
PTTF = debug_file(part(1, 5) + part(2, "_dot.3"))


def save(folder: Path, data: bytes, name: str = "small.neff") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path
