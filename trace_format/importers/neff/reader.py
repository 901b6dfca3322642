"""Reads what a NEFF says about itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from trace_format.importers.neff import definition
from trace_format.importers.neff.contents import EngineProgram, NeffContents, NeffTensor, Subgraph
from trace_format.importers.neff.debug_info import NO_FILE, DebugChain, DebugFile
from trace_format.importers.neff.package import read_package
from trace_format.importers.neuron_device.engines import engine_name
from trace_format.importers.source import Source
from trace_format.json_object import json_object

# Worked out from data: the members that are read, and how large they may be. Programs of large models have millions
# of slots of 64 bytes; a definition has some hundred bytes for each variable.
_ENGINE = r"(?P<engine>PE|Activation|Pool|DVE|SP)"
_PROGRAM = re.compile(rf"(?P<graph>[^/]+)/{_ENGINE}\.bin")
_ENGINE_DEBUG = re.compile(rf"(?P<graph>[^/]+)/debug_info_(?P<layer>asm|backend)_{_ENGINE}\.dbg")
_MODEL_DEBUG = re.compile(r"(?:.*/)?debug_info_(?P<layer>penguin|hlo|pttf)\.dbg(?:_sg(?P<graph>\d+))?")
_DEFINITION = re.compile(r"(?P<graph>[^/]+)/def\.json")
_MEASUREMENTS = re.compile(r"(?:.*/)?(?:hlo_stats|metrics)\.json")
_KELF = re.compile(r"kelf-\d+\.json")
_WANTED = (
    (_PROGRAM, 512 << 20),
    (_ENGINE_DEBUG, 256 << 20),
    (_MODEL_DEBUG, 256 << 20),
    (_DEFINITION, 64 << 20),
    (re.compile(r"[^/]+/tensor_map\.json"), 64 << 20),
    (_KELF, 1 << 20),
    (re.compile(r"info\.json"), 1 << 20),
    (_MEASUREMENTS, 16 << 20),
)


def read_neff_file(path: str | os.PathLike[str]) -> NeffContents:
    """What the NEFF at `path` says about itself. Raises TraceFileError where it is none, or cannot be read."""
    with Source(path) as source:
        return read_contents(source)


def read_contents(source: Source) -> NeffContents:
    """What a NEFF says about itself; where its archive is damaged, up to there.

    Raises DamagedFileError where not even the header is there, LimitExceededError where the archive is a bomb.
    """
    package = read_package(source, _most_bytes)
    kept = package.archive.kept
    info = json_object(kept.get("info.json", b""))
    kelf = next((json_object(kept[name]) for name in sorted(kept) if _KELF.fullmatch(name)), {})
    metrics: dict[str, float] = {}
    for name in sorted(filter(_MEASUREMENTS.fullmatch, kept)):
        metrics |= definition.measurements(kept[name])
    definitions = {graph: json_object(kept.get(f"{graph}/def.json", b"")) for graph in _graphs(kept)}
    return NeffContents(
        header=package.header,
        size_bytes=package.size_bytes,
        hash_ok=package.hash_ok,
        compiler_version=definition.text(info.get("tool_version")),
        target=definition.text(kelf.get("target")),
        tensors=_tensors(kept, definitions),
        subgraphs=tuple(
            Subgraph(graph, _programs(kept, graph), definition.queues(said), definition.cc_streams(said))
            for graph, said in definitions.items()
        ),
        hlo_macs=definition.whole(metrics.get("HloMacCount")),
        traffic_bytes=definition.whole(metrics.get("Traffic")),
        metrics=metrics,
        members=package.archive.members,
        not_read=package.archive.not_read,
        refused={cause: tuple(names) for cause, names in package.archive.refused.items()},
        problems=(*package.problems(), *_missing(kept, definitions)),
    )


def _most_bytes(name: str) -> int:
    return next((most for pattern, most in _WANTED if pattern.fullmatch(name)), 0)


def _graphs(kept: Mapping[str, bytes]) -> list[str]:
    """The folders of subgraphs."""
    found = (match for name in kept for pattern in (_PROGRAM, _DEFINITION) if (match := pattern.fullmatch(name)))
    return sorted({match["graph"] for match in found})


def _missing(kept: Mapping[str, bytes], definitions: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """What the archive should have told and did not."""
    if not definitions:
        yield "the archive holds no program: tensors, queues and instructions are unknown"
    for graph, said in definitions.items():
        if f"{graph}/def.json" not in kept:
            yield f"the archive holds no {graph}/def.json: its tensors and queues are unknown"
        elif not said:
            yield f"{graph}/def.json is no JSON object: its tensors and queues are unknown"


def _tensors(kept: Mapping[str, bytes], definitions: Mapping[str, Mapping[str, object]]) -> tuple[NeffTensor, ...]:
    """The tensors of all subgraphs; the cores of one logical core name the same ones."""
    known: dict[tuple[object, ...], NeffTensor] = {}
    for graph, said in definitions.items():
        tensor_map = json_object(kept.get(f"{graph}/tensor_map.json", b""))
        for tensor in definition.tensors(said, tensor_map):
            known.setdefault((tensor.name, tensor.kind, tensor.bytes), tensor)
    return tuple(known.values())


def _programs(kept: Mapping[str, bytes], graph: str) -> dict[str, EngineProgram]:
    about_model = [_model_debug(kept, layer, graph) for layer in ("penguin", "hlo", "pttf")]
    out = {}
    for name in sorted(kept):
        found = _PROGRAM.fullmatch(name)
        if found and found["graph"] == graph:
            asm, backend = (
                DebugFile(
                    f"{layer} of {graph}/{found['engine']}",
                    kept.get(f"{graph}/debug_info_{layer}_{found['engine']}.dbg", b""),
                )
                for layer in ("asm", "backend")
            )
            out[engine_name(found["engine"])] = EngineProgram(
                kept[name], DebugChain(asm, backend, *about_model) if asm else None
            )
    return out


def _model_debug(kept: Mapping[str, bytes], layer: str, graph: str) -> DebugFile:
    """The debug file of this layer for a subgraph: its own (sg01: ..._sg000001), else the only one there is."""
    found: dict[int, bytes] = {}
    for name, data in kept.items():
        match = _MODEL_DEBUG.fullmatch(name)
        if match and match["layer"] == layer:
            found.setdefault(int(match["graph"] or 0), data)
    number = graph.removeprefix("sg")
    own = found.get(int(number), b"") if number.isdecimal() else b""
    if not own and len(found) == 1:
        own = next(iter(found.values()))
    return DebugFile(layer, own) if own else NO_FILE
