"""The profiler of torch_neuronx, where that is installed: it is told what our configuration asks for.

Its C++ part records on the device while torch.profiler runs, and leaves files in a folder of its own. What it is told
travels in two ways (AWS Neuron docs, NeuronConfig; torch-neuronx's NConfigParser.h): arguments of its NeuronConfig,
and `custom_profiler_config` of the object that torch.profiler is given, which is ours.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collectors.boundary import Boundary
from neuron_profile.modes import ProfileMode

PACKAGE = "torch_neuronx"
INSPECT_VARIABLE = "NEURON_RT_INSPECT_ENABLE"
_OUTPUT_KEY = "profile_output_dir"
# Where the runtime writes unless it is told (AWS Neuron docs, NeuronConfig; nrt_inspect_config_set_defaults)
DEFAULT_OUTPUT = Path("output")
# '=': torch before 2.14 never starts and then crashes the process at stop. The others: the list is "key:value;...".
_UNSAFE = "=:;\r\n"


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """What the runtime is to record, under the names of AWS's NeuronConfig."""

    modes: tuple[ProfileMode, ...]
    max_events_per_nc: int | None
    capture_enabled_for_nc: str | None
    profile_output_dir: Path
    neff_cache_dir: Path | None
    precache_node_info: bool

    @property
    def output_is_safe(self) -> bool:
        """Whether the runtime can be told its folder: nothing in the path means something to a parser on its way."""
        return not set(_UNSAFE) & set(str(self.profile_output_dir))

    def arguments(self, modes: Any) -> dict[str, Any]:
        """Those of AWS's NeuronConfig, without what is its default. `modes`: its ProfileMode.

        Raises AttributeError for a mode that it does not have.
        """
        given: dict[str, Any] = {"modes": [getattr(modes, mode.name) for mode in self.modes]}
        if self.output_is_safe:
            given[_OUTPUT_KEY] = str(self.profile_output_dir)
        if self.max_events_per_nc is not None:
            given["max_events_per_nc"] = self.max_events_per_nc
        if self.capture_enabled_for_nc is not None:
            given["capture_enabled_for_nc"] = self.capture_enabled_for_nc
        if self.neff_cache_dir is not None:
            given["neff_cache_dir"] = str(self.neff_cache_dir)
        if not self.precache_node_info:
            given["precache_node_info"] = False
        return given

    def custom_profiler_config(self) -> str:
        """The same for its C++ part, as far as that has keys; the other modes follow from torch's activities."""
        pairs: dict[str, Any] = {
            "max_events_per_nc": self.max_events_per_nc,
            "capture_enabled_for_nc": self.capture_enabled_for_nc,
            "host_memory": "true" if ProfileMode.HOST_MEMORY in self.modes else None,
            _OUTPUT_KEY: self.profile_output_dir if self.output_is_safe else None,
        }
        return ";".join(f"{key}:{value}" for key, value in pairs.items() if value is not None)


class NeuronRuntime:
    """torch_neuronx's profiler with these settings; where that is not installed, nothing.

    `custom_profiler_config` is what torch is to hand on to it. Whatever its package raises ends here: `losses` counts
    that, `notes` say what it was not told.
    """

    def __init__(self, settings: RuntimeSettings) -> None:
        self.settings = settings
        self.custom_profiler_config = ""
        self.notes: list[str] = []
        self._boundary = Boundary()
        self._profiling: Any = None
        self._theirs: Any = None  # their NeuronConfig; some settings are known to it alone
        if not _is_installed():
            return
        with self._boundary.around(f"the import of {PACKAGE}.profiling"):
            self._profiling = importlib.import_module(f"{PACKAGE}.profiling")
        if self._profiling is None:
            return
        with self._boundary.around(f"{PACKAGE}.profiling.NeuronConfig"):
            self._theirs = self._made()
        self.custom_profiler_config = self._config_for_torch()
        if not settings.output_is_safe:
            self.notes.append(
                f"profile_output_dir {str(settings.profile_output_dir)!r} is not handed to the Neuron runtime, which "
                f"would not survive one of {_UNSAFE.strip()!r} in it: its files go to ./{DEFAULT_OUTPUT}"
            )
        for note in self.notes:
            warnings.warn(f"NeuronConfig: {note}", RuntimeWarning, stacklevel=3)

    def __reduce__(self) -> tuple[Any, ...]:
        # what their package holds may not be copied; another process has its own
        return (type(self), (self.settings,))

    @property
    def is_there(self) -> bool:
        """Whether there is a profiler of torch_neuronx that may record."""
        return self._profiling is not None

    @property
    def losses(self) -> Mapping[str, int]:
        """What failed in their package, and how often."""
        return self._boundary.losses

    def output(self, custom_profiler_config: str) -> Path | None:
        """The folder under which the runtime makes its own, by what torch hands on; None where there is no runtime."""
        if not self.is_there:
            return None
        pairs = (pair.partition(":") for pair in custom_profiler_config.split(";"))
        told = next((value.strip() for key, _, value in pairs if key.strip() == _OUTPUT_KEY), "")
        return Path(told) if told else DEFAULT_OUTPUT

    def named_folder(self) -> Path | None:
        """The folder that their configuration names as the one of its session; None where it names none."""
        with self._boundary.around(f"get_session_dir of {PACKAGE}"):
            named = getattr(self._theirs, "get_session_dir", None) or getattr(self._theirs, "session_dir", None)
            path = named() if callable(named) else named
            return Path(path).absolute() if path else None
        return None

    def _made(self) -> Any:
        """Their NeuronConfig with those of our settings that it knows."""
        arguments = self.settings.arguments(self._profiling.ProfileMode)
        while True:
            try:
                return self._profiling.NeuronConfig(**arguments)
            except TypeError as error:
                unknown = next((name for name in arguments if f"'{name}'" in str(error)), None)
                if unknown is None:
                    raise
                del arguments[unknown]
                self.notes.append(f"{unknown} is left out: the NeuronConfig of this {PACKAGE} does not know it")

    def _config_for_torch(self) -> str:
        """What their configuration would hand on to their C++ part, else the same in our words."""
        theirs = getattr(self._theirs, "custom_profiler_config", "")
        text = theirs if isinstance(theirs, str) and theirs else self.settings.custom_profiler_config()
        return ";".join(pair for pair in text.split(";") if not set("=\r\n") & set(pair))


def inspect_conflict() -> str:
    """What speaks against a capture in this environment; "" where nothing does."""
    if os.environ.get(INSPECT_VARIABLE, "0") in ("", "0"):
        return ""
    # AWS Neuron docs, profiling with torch.profiler: not both
    return f"{INSPECT_VARIABLE} is set, and the Neuron runtime serves one profiler at a time: unset it for a capture"


def _is_installed() -> bool:
    return PACKAGE in sys.modules or importlib.util.find_spec(PACKAGE) is not None
