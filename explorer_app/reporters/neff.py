"""What is inside a NEFF on one screen."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from explorer_app import format as fmt
from explorer_app.reporters.console import console, table
from explorer_app.reporters.visible import visible
from trace_format.importers.neff import NeffContents
from trace_format.importers.neuron_device.engines import ENGINES

_TENSORS, _QUEUES = 12, 12  # rows on a screen
_MOST_DIMENSIONS = 8


def report_neff(contents: NeffContents, stream: TextIO) -> None:
    """Write what the NEFF says about itself; what is wrong with the file comes last."""
    out = console(stream)
    out.print(_facts(contents))
    for title, found in (
        ("Tensors", _tensors(out, contents)),
        ("Compiled instructions", _programs(out, contents)),
        ("DMA queues", _queues(out, contents)),
    ):
        if found is not None:
            out.print()
            found.title = title
            out.print(found)
    if contents.warnings:
        out.print()
    for warning in contents.warnings:
        out.print(Text(f"Warning: {visible(warning)}"))


def _facts(contents: NeffContents) -> Table:
    made = Table.grid(padding=(0, 2, 0, 0))
    for label, value in _lines(contents).items():
        if value:
            made.add_row(label, Text(visible(value)))
    return made


def _lines(contents: NeffContents) -> dict[str, str]:
    """Label and value of each line above the tables; a value is "" where nothing is told."""
    header = contents.header
    return {
        "Name": contents.name or fmt.UNKNOWN,
        "UUID": contents.uuid,
        "Hash": f"{contents.hash}, {_HASH[contents.hash_ok]}",
        "Compiler": contents.compiler_version or fmt.UNKNOWN,
        "Target": contents.target or fmt.UNKNOWN,
        "Cores": _cores(contents),
        "Version": f"{header.version}, package {header.package_version}",
        "Features": ", ".join(header.features),
        "Size": f"{fmt.size(contents.size_bytes)}, {fmt.counted(contents.members, 'file')} in it",
        "Tensor sizes": _sizes(contents),
        "Work": _work(contents),
        "Debug info": _debug_info(contents),
    }


_HASH = {
    True: "that of the archive",
    False: "NOT that of the archive",
    None: "not checked: this package has none that is known",
}


def _cores(contents: NeffContents) -> str:
    header = contents.header
    asked = (
        "" if header.requested_tpb_count == header.num_tpb else f" ({fmt.count(header.requested_tpb_count)} asked for)"
    )
    physical = fmt.counted(contents.lnc, "physical core")
    return f"{fmt.counted(header.num_tpb, 'logical core')}{asked} of {physical} (LNC {contents.lnc})"


def _sizes(contents: NeffContents) -> str:
    sizes = contents.sizes
    return ", ".join(f"{part} {fmt.size(sizes[part])}" for part in ("inputs", "outputs", "weights", "spill"))


def _work(contents: NeffContents) -> str:
    parts = []
    if contents.hlo_macs is not None:
        parts.append(f"{fmt.flops(2 * contents.hlo_macs)} in the HLO")
    if contents.traffic_bytes is not None:
        parts.append(f"{fmt.size(contents.traffic_bytes)} to and from HBM by the compiler's estimate")
    return ", ".join(parts)


def _debug_info(contents: NeffContents) -> str:
    if contents.has_debug_info is None:
        return fmt.UNKNOWN
    if not contents.has_debug_info:
        return "none: instructions have no names in profiles"
    if not contents.has_model_debug_info:
        return "names of instructions, nothing about HLO or layers"
    return "names of instructions, HLO and layers"


def _tensors(out: Console, contents: NeffContents) -> Table | None:
    """The largest of each kind, inputs and outputs first."""
    order = {"input": 0, "output": 1, "weight": 2, "spill": 3}
    tensors = sorted(contents.tensors, key=lambda tensor: (order.get(tensor.kind, len(order)), -(tensor.bytes or 0)))
    rows = [
        [tensor.name, tensor.kind, _shape(tensor.shape), tensor.dtype or fmt.UNKNOWN, fmt.size(tensor.bytes)]
        for tensor in tensors[:_TENSORS]
    ]
    return _cut(out, ("name", "<kind", "<shape", "<dtype", "size"), rows, len(tensors))


def _shape(shape: tuple[int, ...] | None) -> str:
    if shape is None:
        return fmt.UNKNOWN
    more = " …" if len(shape) > _MOST_DIMENSIONS else ""
    return " x ".join(map(str, shape[:_MOST_DIMENSIONS])) + more


def _programs(out: Console, contents: NeffContents) -> Table | None:
    graphs = [graph for graph in contents.subgraphs if graph.programs]
    rows = [
        [
            graph.name,
            *(fmt.count(graph.programs[engine].slots if engine in graph.programs else None) for engine in ENGINES),
        ]
        for graph in graphs[:_QUEUES]
    ]
    return _cut(out, ("subgraph", *ENGINES), rows, len(graphs))


def _queues(out: Console, contents: NeffContents) -> Table | None:
    queues = [(graph.name, queue) for graph in contents.subgraphs for queue in graph.queues]
    rows = [
        [queue.name, graph, queue.type, queue.owner, fmt.count(queue.num_queues), _semaphores(queue.semaphores)]
        for graph, queue in queues[:_QUEUES]
    ]
    return _cut(out, ("name", "<subgraph", "<type", "<started by", "queues", "<semaphores"), rows, len(queues))


def _semaphores(numbers: tuple[int, ...]) -> str:
    """ "8 to 23", or "5, 9" where they are not a range."""
    if len(numbers) > 2 and numbers == tuple(range(numbers[0], numbers[0] + len(numbers))):
        return f"{numbers[0]} to {numbers[-1]}"
    shown = ", ".join(map(str, numbers[:4]))
    return f"{shown}, …" if len(numbers) > 4 else shown


def _cut(out: Console, columns: tuple[str, ...], rows: list[list[str]], of: int) -> Table | None:
    """A table of the first rows of so many; None for none."""
    if not rows:
        return None
    if of > len(rows):
        rows = [*rows, [f"and {fmt.count(of - len(rows))} more (--json)", *[""] * (len(columns) - 1)]]
    return table(out, columns, rows)
