"""The explicit way to record, for programs that do not use torch.profiler themselves, and the exporter."""

from __future__ import annotations

import logging
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from collectors.boundary import Boundary
from neuron_profile import hook
from neuron_profile.config import NeuronConfig
from neuron_profile.recording import Recording
from neuron_profile.session import Session
from trace_format import read_trace

EXPORT_NAME = "trace.json"
_log = logging.getLogger("neuron_profile")


class NeuronProfiler:
    """Records between `start` and `stop`, or inside a `with` block; afterwards `config.trace_path` names the trace.

    It drives torch.profiler; without torch it records what the other collectors can. `export_trace` is an
    `on_trace_ready` for torch.profiler.profile, as in AWS's documentation.
    """

    def __init__(self, config: NeuronConfig | None = None) -> None:
        self.config = config if config is not None else NeuronConfig()
        self._profile: Any = None
        self._session: Session | None = None  # only where the hook does not make one
        self._exported: Path | None = None  # our last trace.json
        self._boundary = Boundary()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to record. Ignored, with a word in the log, where this object is recording already."""
        if self._profile is not None or self._session is not None:
            _log.warning("neuron_profile: start() while recording is ignored; call stop() first")
            return
        hooked = hook.install()
        profile = _torch_profile(self.config if hooked else None)
        recording = session = None
        if not hooked:
            if profile is not None:
                recording = Recording.of(profile, self.config.record)
                recording.turn_on(profile)
            session = Session(self.config, profile, recording)
        if profile is not None:
            profile.start()
        self._profile, self._session = profile, session  # now that nothing is left to fail
        if session is not None:
            session.start()

    def stop(self) -> Path | None:
        """End the recording and return its trace.pb; None where nothing was recording or nothing could be written."""
        profile, session = self._profile, self._session
        self._profile = self._session = None
        if session is not None:
            session.mark_stop()
        if profile is not None:
            profile.stop()
        if session is not None:
            return session.finish()
        return self._trace_of(profile) if profile is not None else None

    def export_trace(self, profile: Any) -> Path | None:
        """Write `trace.json` (Chrome's format) beside the trace.pb of this profile's window, and return its path.

        For torch.profiler.profile(on_trace_ready=...). A window that the hook did not see (the profile was made
        without a NeuronConfig, or torch is not as expected) is written from the profile's results now.
        None where there is nothing to export; the log says why.
        """
        with self._boundary.around("the export of trace.json"):
            trace_path = self._trace_of(profile)
            if trace_path is not None:
                from trace_format.exporters import export_file

                path = trace_path.with_name(EXPORT_NAME)
                export_file(read_trace(trace_path), path, force=path == self._exported)
                self._exported = path
                return path
        return None

    def _trace_of(self, profile: Any) -> Path | None:
        """The trace.pb of the profile's last window."""
        state = hook.attached(profile)
        if state is not None:
            return state.trace_path
        return Session(self.config, profile, Recording.of(profile, "as_given")).finish()


def _torch_profile(config: NeuronConfig | None) -> Any:
    """A new torch.profiler.profile; None where there is no torch."""
    try:
        import torch.profiler
    except ImportError:
        return None
    return torch.profiler.profile(experimental_config=config)
