"""The configuration of a capture, and the switch that turns one on."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collectors import DEFAULT_COLLECTORS, Collector, Window, known_collectors
from neuron_profile.modes import ProfileMode
from neuron_profile.neuron_runtime import NeuronRuntime, RuntimeSettings
from trace_format.errors import NeuronProfileError

if TYPE_CHECKING:
    from torch._C._profiler import _ExperimentalConfig
else:
    try:
        from torch._C._profiler import _ExperimentalConfig
    except ImportError:  # without torch, NeuronProfiler still records what else there is

        class _ExperimentalConfig:
            """Stands in for torch's class where there is no torch."""


DEVICE_MODELS = ("auto", "none", "trn1", "trn2", "trn3", "inf2")
RECORD = ("auto", "as_given")
_HOST = "host"  # the collector
_CORES = re.compile(r"(?P<first>[0-9]+)(-(?P<last>[0-9]+))?")  # one item of the list
# The fields that torch lets Python read back; the user may have changed them since.
_READABLE_TORCH_FIELDS = ("custom_profiler_config", "trace_only")


class ConfigError(NeuronProfileError, ValueError):
    """A parameter of NeuronConfig has a value it cannot have."""


class NeuronConfig(_ExperimentalConfig):
    """Turns on a capture: `torch.profiler.profile(experimental_config=NeuronConfig())`.

    At the end of each profiler window a `trace.pb` is in the session directory, and `trace_path` names it.

    The first six parameters are those of AWS's class of the same name, with the same meaning:

    - `modes`: what is recorded of a Neuron device, and of the host; default DEVICE and RUNTIME.
    - `max_events_per_nc`: events kept per NeuronCore, None for the runtime's default.
    - `capture_enabled_for_nc`: the NeuronCores to record, as "0,1,2-5" or a list of numbers; None for all.
    - `profile_output_dir`: the folder under which each session gets its directory.
    - `neff_cache_dir`: the folder of compiled NEFFs, None if there is none to look at.
    - `precache_node_info`: whether per-NEFF metadata is gathered in warm-up steps.

    Where torch_neuronx is installed, its own profiler is told all of them, and what it recorded comes into the trace.

    Ours are:

    - `device_model`: the simulated NeuronCore: auto, none, trn1, trn2, trn3 or inf2.
    - `record`: "auto" records shapes, FLOPs and memory even where profile() was not asked to; "as_given" does not.
    - `collectors`: "default", or the names of the sources of events to record.

    Everything else goes to torch's own class; an option that the installed torch does not have is left out
    with a warning. Raises ConfigError for a value that a parameter cannot have.
    """

    def __init__(
        self,
        *,
        modes: Iterable[ProfileMode] | None = None,
        max_events_per_nc: int | None = None,
        capture_enabled_for_nc: str | Sequence[int] | None = None,
        profile_output_dir: str | os.PathLike[str] = "./profile_output",
        neff_cache_dir: str | os.PathLike[str] | None = None,
        precache_node_info: bool = True,
        device_model: str = "auto",
        record: str = "auto",
        collectors: str | Sequence[str] = "default",
        **torch_options: Any,
    ) -> None:
        torch_options = _known_to_torch(torch_options)
        super().__init__(**torch_options)
        self._torch_options = torch_options
        self.modes = _modes(modes)
        self.max_events_per_nc = _positive("max_events_per_nc", max_events_per_nc)
        self.capture_enabled_for_nc = _cores(capture_enabled_for_nc)
        self.profile_output_dir = _folder("profile_output_dir", profile_output_dir)
        self.neff_cache_dir = None if neff_cache_dir is None else _folder("neff_cache_dir", neff_cache_dir)
        self.precache_node_info = _flag("precache_node_info", precache_node_info)
        self.device_model = _one_of("device_model", device_model, DEVICE_MODELS)
        self.record = _one_of("record", record, RECORD)
        self.collectors = _with_host(_collectors(collectors), self.modes)
        # A list, so that copies made by torch (copy.copy) tell the user's object where the trace is.
        self._written: list[Path] = []
        # Beside those by name: what makes a collector that whoever starts the capture wants to talk to.
        self._own_collectors: tuple[Callable[[Window], Collector], ...] = ()
        self._runtime = NeuronRuntime(
            RuntimeSettings(
                modes=self.modes,
                max_events_per_nc=self.max_events_per_nc,
                capture_enabled_for_nc=self.capture_enabled_for_nc,
                profile_output_dir=self.profile_output_dir,
                neff_cache_dir=self.neff_cache_dir,
                precache_node_info=self.precache_node_info,
            )
        )
        if self._runtime.custom_profiler_config and self._handed_on == "":
            self.custom_profiler_config = self._runtime.custom_profiler_config
        _install_hook()

    @property
    def _handed_on(self) -> str | None:
        """What torch hands on to another's profiler, by the user or else by us; None where this torch cannot."""
        return getattr(self, "custom_profiler_config", None)

    @property
    def trace_path(self) -> Path | None:
        """The last trace.pb written by a session with this config; None before the first."""
        return self._written[-1] if self._written else None

    def _wrote(self, path: Path) -> None:
        self._written[:] = [path]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # torch's own pickling loses our attributes (2.13) or raises (2.9): rebuild from what we know
        options = dict(self._torch_options)
        options.update({f: getattr(self, f) for f in _READABLE_TORCH_FIELDS if hasattr(self, f)})
        return (_rebuild, (type(self), options, dict(self.__dict__)))


def _rebuild(cls: type[NeuronConfig], torch_options: dict[str, Any], attributes: dict[str, Any]) -> NeuronConfig:
    config = cls.__new__(cls)
    _ExperimentalConfig.__init__(config, **torch_options)
    config.__dict__.update(attributes)
    _install_hook()
    return config


def _install_hook() -> None:
    from neuron_profile import hook  # which imports this module

    hook.install()


def _known_to_torch(options: dict[str, Any]) -> dict[str, Any]:
    """The options that the installed torch's class takes; warns about the others."""
    signature = (_ExperimentalConfig.__init__.__doc__ or "").split("->")[0]
    fields = set(re.findall(r"(\w+): [^=]*= ", signature))
    unknown = sorted(options.keys() - fields)
    if unknown:
        warnings.warn(
            f"NeuronConfig: left out {', '.join(unknown)}: neither it nor the installed torch has such a parameter",
            RuntimeWarning,
            stacklevel=3,
        )
    # torch before 2.14 never starts and then crashes the process at stop
    if "=" in str(options.get("custom_profiler_config", "")):
        raise ConfigError("custom_profiler_config: '=' in it makes torch crash when the profiler stops; leave it out")
    return {name: value for name, value in options.items() if name in fields}


def _modes(modes: Iterable[ProfileMode] | None) -> tuple[ProfileMode, ...]:
    if modes is None:
        return (ProfileMode.DEVICE, ProfileMode.RUNTIME)
    try:
        return tuple(ProfileMode(mode) for mode in modes)
    except (TypeError, ValueError) as error:
        names = ", ".join(f"ProfileMode.{mode.name}" for mode in ProfileMode)
        raise ConfigError(f"modes: {modes!r} is not a list of {names}") from error


def _with_host(collectors: tuple[str, ...], modes: tuple[ProfileMode, ...]) -> tuple[str, ...]:
    """The collectors, with the one that samples the host where a mode asks for that.

    On a Neuron device too: what the runtime samples itself lies in files without a public schema.
    """
    asked = ProfileMode.CPU_UTIL in modes or ProfileMode.HOST_MEMORY in modes
    return collectors if _HOST in collectors or not asked else (*collectors, _HOST)


def _cores(cores: str | Sequence[int] | None) -> str | None:
    if cores is None:
        return None
    try:
        text = (cores if isinstance(cores, str) else ",".join(str(core) for core in cores)).replace(" ", "")
    except TypeError:  # not a list
        text = ""
    for item in text.split(","):
        found = _CORES.fullmatch(item)
        if found is None or int(found["last"] or found["first"]) < int(found["first"]):
            raise ConfigError(f"capture_enabled_for_nc: {cores!r} is not a list of cores; write it as '0,1,2-5'")
    return text


def _positive(name: str, value: int | None) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise ConfigError(f"{name}: {value!r} is not a positive whole number; leave it out for the default")


def _flag(name: str, value: bool) -> bool:  # noqa: FBT001
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{name}: {value!r} is neither True nor False")


def _folder(name: str, path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise ConfigError(f"{name}: {path!r} is not the path of a folder")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # "~name" of nobody here
        raise ConfigError(f"{name}: {path!r} is in no home folder of this machine; write the path out") from error


def _one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    if value in allowed:
        return value
    raise ConfigError(f"{name}: {value!r} is none of {', '.join(allowed)}")


def _collectors(names: str | Iterable[str]) -> tuple[str, ...]:
    if names == "default":
        return DEFAULT_COLLECTORS
    try:
        chosen = () if isinstance(names, str) else tuple(dict.fromkeys(names))  # each once: twice is twice the events
    except TypeError:
        chosen = ("",)
    if isinstance(names, str) or not (set(chosen) <= set(DEFAULT_COLLECTORS) or set(chosen) <= set(known_collectors())):
        raise ConfigError(f"collectors: {names!r} is neither 'default' nor a list of {', '.join(known_collectors())}")
    return chosen
