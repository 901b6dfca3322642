"""What would fill an empty place of a page, by what recorded the trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from explorer_app.web.names import label
from trace_format import Trace

Missing = Literal["allocations", "source lines", "ranks"]

_OF_NEURON: Final = ("neff", "neuron-", "ntff", "neuronx-cc-")
_OF_TORCH: Final = ("torch", "pytorch", "kineto", "neuron")
_TORCH: Final[dict[Missing, str]] = {
    "allocations": "Allocations were not recorded. Record with profile_memory=True to see them.",
    "source lines": (
        "None were recorded. Profile with with_stack=True: then each slice tells the line of your code that it came "
        "from."
    ),
    "ranks": (
        "This run had one process, so there was no other rank to talk to. Capture each rank of a job that uses "
        "torch.distributed, then open all of them: neuron-explorer FOLDER."
    ),
}  # fmt: skip
_NEURON: Final[dict[Missing, str]] = {
    "allocations": (
        "A profile of a Neuron device has no allocations. Capture the program itself with NeuronConfig to see torch's."
    ),
    "source lines": (
        "This profile of a Neuron device names no lines of Python. Capture the program itself with NeuronConfig and "
        "with_stack=True."
    ),
    "ranks": "This profile of a Neuron device has no collective: nothing in it waited for another core or device.",
}
_OTHER: Final[dict[Missing, str]] = {
    "allocations": "{} records neither allocations nor bytes. Profile with NeuronConfig or torch.profiler to see them.",
    "source lines": "{} does not say from which line a slice came. Profile with NeuronConfig and with_stack=True.",
    "ranks": (
        "{} recorded no collective. Capture each rank of a job that uses torch.distributed with NeuronConfig or "
        "torch.profiler, then open all of them: neuron-explorer FOLDER."
    ),
}


def advice(trace: Trace, missing: Missing) -> str:
    """What to say where something is missing: of torch's traces what to switch on, of others who records it."""
    if _is_of_neuron(trace):
        return _NEURON[missing]
    other = other_producer(trace)
    return _OTHER[missing].format(other) if other else _TORCH[missing]


def other_producer(trace: Trace) -> str:
    """The name of the program that recorded the trace, where that was neither torch nor anything of Neuron; else ""."""
    producers = [str(source.get("producer") or "") for source in _sources(trace)]
    if not producers or not all(producers) or any(known in one.lower() for one in producers for known in _OF_TORCH):
        return ""
    return label(producers[0], longest=40)


def _is_of_neuron(trace: Trace) -> bool:
    formats = [str(source.get("format") or "") for source in _sources(trace)]
    return bool(formats) and all(one.startswith(_OF_NEURON) for one in formats)


def _sources(trace: Trace) -> list[Mapping[str, Any]]:
    sources = trace.metadata.get("sources")
    return [one for one in sources if isinstance(one, Mapping)] if isinstance(sources, (list, tuple)) else []
