"""What the names of a session's files and folders say.

The layouts are those of the Neuron docs (torch.profiler with NeuronConfig, NEURON_RT_INSPECT_ENABLE, neuron-explorer
capture, vLLM, JAX) and of continuous profiling as public programs write it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# <instance>_pid_<pid>/ and, with torch.profiler, a folder named by nanoseconds below it
PROCESS_FOLDER = re.compile(r"(?P<instance>.+?)_pid_(?P<pid>\d{1,9})")
WINDOW_FOLDER = re.compile(r"\d{1,20}", re.ASCII)
# Folders of a compile cache: neuronxcc-<version>/MODULE_<hash>+<flags>/model.neff
MODULE_FOLDER = re.compile(r"MODULE_.+")

NTFF_SUFFIX, NEFF_SUFFIX, PARQUET_SUFFIX = ".ntff", ".neff", ".parquet"
JSON_SUFFIXES = (".json", ".json.gz")
OWN_TRACE = "trace.pb"
COMPILER_LOGS = ("log-neuron-cc.txt",)
# What the runtime writes without a public schema, and what is in it (AWS Neuron docs, NeuronConfig)
UNREAD = {
    "ntrace.pb": "events of the runtime",
    "trace_info.pb": "description of the runtime's trace",
    "cpu_util.pb": "CPU utilization",
    "host_mem.pb": "host memory",
}

# The cache of torch-neuronx's native backend: <ab>/<cd>/<hash>.neff
_SHARD, _HASH = re.compile(r"[0-9a-f]{2}"), re.compile(r"[0-9a-f]{8,}")
_FRAMEWORK_TRACE = re.compile(
    r"(?:trace|pytorch_trace|neuron_framework_trace(?:_rank_(?P<rank>\d{1,6}))?)\.json(\.gz)?"
)
_NTFF_NAMES = (
    re.compile(r"profile_nc_(?P<nc>\d{1,6})_session_(?P<session>\d{1,18})\.ntff"),
    re.compile(r"model_(?P<model>\d{1,18})_pid_\d+_vnc_(?P<nc>\d{1,6})_inst_\d+_\d{8}_\d{6}\.ntff"),
    re.compile(r"profile(?:_rank_(?P<rank>\d{1,6}))?(?:_exec_(?P<execution>\d{1,18}))?\.ntff"),
    re.compile(r".+_instid_\d+_vnc_(?P<nc>\d{1,6})\.ntff"),
)
_DEVICE_JSON_NAMES = (
    re.compile(r".+_pid_\d+_nc_(?P<nc>\d{1,6})_(?:session|model)_\d+\.json"),
    re.compile(r"device_profile_model_\d+\.json"),
)


@dataclass(frozen=True, slots=True)
class NameFacts:
    """What a file's name tells of its content; None for what it does not."""

    nc: int | None = None  # logical core
    rank: int | None = None


def ntff_facts(name: str) -> NameFacts:
    """What the name of an NTFF file tells; nothing for a name of no known form."""
    return _facts(_NTFF_NAMES, name)


def device_json_facts(name: str) -> NameFacts:
    """What the name of a device profile as JSON tells; nothing for a name of no known form."""
    return _facts(_DEVICE_JSON_NAMES, name)


def framework_rank(name: str) -> int | None:
    """The rank in the name of a framework's trace, None where there is none."""
    found = _FRAMEWORK_TRACE.fullmatch(name)
    return int(found["rank"]) if found and found["rank"] else None


def is_framework_trace(path: Path) -> bool:
    """Whether a file is, by its name, the trace that a framework wrote; JAX puts its own below plugins/."""
    below_plugins = "plugins" in path.parts[:-1] and path.name.endswith("trace.json.gz")
    return below_plugins or bool(_FRAMEWORK_TRACE.fullmatch(path.name))


def may_be_trace(head: bytes) -> bool:
    """Whether JSON that begins so can be a trace rather than some program's settings."""
    return b'"traceEvents"' in head or head.lstrip()[:1] != b"{"


def shard_root(neff: Path) -> Path | None:
    """The folder of the cache <root>/<ab>/<cd>/<hash>.neff that a NEFF lies in; None for one that lies elsewhere."""
    folders = neff.parents
    if len(folders) > 2 and all(_SHARD.fullmatch(folder.name) for folder in folders[:2]) and _HASH.fullmatch(neff.stem):
        return folders[2]
    return None


def _facts(patterns: tuple[re.Pattern[str], ...], name: str) -> NameFacts:
    for pattern in patterns:
        found = pattern.fullmatch(name)
        if found:
            told = {key: int(value) for key, value in found.groupdict().items() if value is not None}
            return NameFacts(told.get("nc"), told.get("rank"))
    return NameFacts()
