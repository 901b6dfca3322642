"""Writes a package `torch_neuronx` that behaves as AWS's is documented to, without a device, and the files it leaves.

It raises on arguments that it does not know, and at the end of each window of torch.profiler it writes
`<output>/<instance>_pid_<pid>/<timestamp_ns>/`: what lies in the package's folder `left_behind`, and the events of the
runtime, with an execution that began 1 µs after the window did. The output folder is what torch was handed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch.profiler import ProfilerActivity, profile

from neuron_profile import NeuronConfig
from trace_format import Trace, read_trace

sys.path.append(str(Path(__file__).parents[1] / "neuron"))

import ntff_files as ntff
from neff_files import neff, small_members

UUID = bytes(range(0x31, 0x41))
START_PS, TOTAL_PS = 5_000_000_000, 40_000_000  # the run in the NTFF file, on the device's own clock
CORE = 4
_ADDRESS = 0x7F00_0000_1000
_MATMUL = ntff.slot(0x02, short_26=512, short_28=1, short_30=1, byte_38=128, byte_39=64)
# Files of the runtime without a public schema
UNREAD = ("cpu_util.pb", "host_mem.pb", "ntrace.pb", "trace_info.pb")
LATEST, OLDER = "latest", "older"

_PROFILING = '''
import enum, json, os, shutil, time
from pathlib import Path

import torch
from torch._C._profiler import _ExperimentalConfig

HERE = Path(__file__).parent
told = []  # what each NeuronConfig was made of
handed_on = []  # what torch handed on at the start of each window
sessions = []  # the folders that were written
mode = {"raises": "", "pid": os.getpid(), "writes": True, "runtime": True, "hands_on": ""}


class ProfileMode(enum.Enum):
    DEVICE, RUNTIME, CPU_UTIL, HOST_MEMORY = "device", "runtime", "cpu_util", "host_memory"


class NeuronConfig(_ExperimentalConfig):
    def __init__(
        self, modes=None, max_events_per_nc=None, capture_enabled_for_nc=None, profile_output_dir="./output"%s
    ):
        if mode["raises"]:
            raise RuntimeError(mode["raises"])
        super().__init__(custom_profiler_config=mode["hands_on"])
        told.append({k: v for k, v in locals().items() if k not in ("self", "__class__")})
        %s

    def __reduce_ex__(self, protocol):
        raise TypeError("a session cannot be copied")


def began(config):
    handed_on.append(config.custom_profiler_config)
    pairs = dict(pair.split(":", 1) for pair in config.custom_profiler_config.split(";") if pair)
    mode["began"] = time.time_ns()
    mode["output"] = Path(pairs.get("profile_output_dir", "./output")).absolute()


def ended():
    if not mode["writes"]:
        return
    folder = mode["output"] / f"i-0123456789abcdef0_pid_{mode['pid']}" / str(mode["began"])
    shutil.copytree(HERE / "left_behind", folder)
    sessions.append(folder)
    if not mode["runtime"]:
        return
    at, core = mode["began"] + 1_000, json.loads((HERE / "run.json").read_text())
    event = {"event_type": "nc_exec_running", "tracking_id": 3, "id": 3, "thread_id": 12, "nc_idx": 0,
             "nc_local_id": 0, "worker_gid": 0}
    data = {"device_core_idx": core["core"], "exec_id": 7, "model_id": 10001}
    events = [
        {**event, "phase": "start", "timestamp_ns": at, "data": {**data, "nc_timestamp_ns": at}},
        {**event, "phase": "stop", "timestamp_ns": at + core["total_ns"],
         "data": {"nc_timestamp_ns": at + core["total_ns"]}},
    ]
    (folder / "events.json").write_text(json.dumps({"events": events, "data_version": 2}))


def attach(replace):
    """Be told of windows, as a profiler that is registered with Kineto is."""
    profiler = torch.autograd.profiler
    start, disable = profiler.profile._start_trace, profiler._disable_profiler

    def _start_trace(self):
        start(self)
        began(self.experimental_config)

    def _disable_profiler():
        try:
            return disable()
        finally:
            ended()

    replace(profiler.profile, "_start_trace", _start_trace)
    replace(profiler, "_disable_profiler", _disable_profiler)
'''
_KNOWS_MORE = ", neff_cache_dir=None, precache_node_info=True"
_NAMES_ITS_FOLDER = "self.get_session_dir = lambda: str(sessions[-1]) if sessions else None"


def write_package(folder: Path, version: str = LATEST) -> Path:
    """The package's folder below `folder`; the older version knows no `neff_cache_dir` and no `precache_node_info`."""
    package = folder / "torch_neuronx"
    (package / "left_behind").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    more = (_KNOWS_MORE, _NAMES_ITS_FOLDER) if version == LATEST else ("", "pass")
    (package / "profiling.py").write_text(_PROFILING % more)
    leave(package, ntff_of_a_run(), core=CORE, total_ns=TOTAL_PS // 1000)
    (package / "left_behind" / "neff_abcdef_vnc_0.neff").write_bytes(neff(small_members(), uuid=UUID))
    for name in UNREAD:
        (package / "left_behind" / name).touch()
    return package


def leave(package: Path, profile: bytes, *, core: int, total_ns: int) -> None:
    """Have the windows leave this NTFF file, of a run on this core that took this long."""
    (package / "left_behind" / "profile_nc_0_session_1.ntff").write_bytes(profile)
    (package / "run.json").write_text(f'{{"core": {core}, "total_ns": {total_ns}}}')


def ntff_of_a_run() -> bytes:
    """An NTFF file with one run of 40 µs: a matmul in [1, 3) µs, a packet of 512 bytes in [2, 2.5) µs."""
    tag = _ADDRESS >> 6 & 0x1FFFFF
    records = {
        ntff.INSTRUCTIONS: [
            ntff.started("Tensor", tag, START_PS + 1_000_000),
            ntff.ended("Tensor", tag, START_PS + 3_000_000),
        ],
        ntff.PACKETS: [ntff.packet(3, 1, 512, START_PS + 2_000_000, START_PS + 2_500_000)],
    }
    core = ntff.Core(
        core=CORE, programs=dict.fromkeys(ntff.ENGINES, (_ADDRESS, (_MATMUL,))), records=records,
        queues=[(64 + 3, 1, 2, "qSPDynamicHW")],
    )  # fmt: skip
    return ntff.Ntff(6, [core], executions=((START_PS, START_PS + TOTAL_PS),), uuid=UUID).to_bytes()


def capture(step: Callable[[], None], output: Path, **settings: Any) -> NeuronConfig:
    """The config of a window with one step, as AWS's documentation has it."""
    config = NeuronConfig(profile_output_dir=output, **settings)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The privateuseone is not a valid device option")
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1], experimental_config=config):
            step()
    return config


def trace_of(config: NeuronConfig) -> Trace:
    assert config.trace_path is not None
    return read_trace(config.trace_path)


def rows(trace: Trace, name: str) -> list[int]:
    return [row for row, found in enumerate(trace.slices.text("name")) if found == name]
