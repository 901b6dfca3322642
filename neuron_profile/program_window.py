"""One recorded window after another of a program that does not know of it."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from collectors.boundary import Boundary
from collectors.step_marks import StepMarks
from neuron_profile import hook
from neuron_profile.config import NeuronConfig
from neuron_profile.turn import turn


class ProgramWindow:
    """Begins and ends windows in this process; whatever goes wrong in that is no matter of the program.

    torch records the thread that begins a window and what that starts, and the same thread has to end it: only the main
    thread begins one (`met_thread` says whether another would have), unless the config has torch record all threads,
    which it does without memory. A window ends early, its trace written, where the program begins a profiler of its own
    (then `made_way` is True, and no other window begins) and where it is terminated. In a process forked off nothing
    happens.
    """

    def __init__(self, config: NeuronConfig, *, with_stack: bool) -> None:
        self.traces: list[Path] = []
        self.made_way = False
        self.met_thread = False
        self._all_threads = bool(config._torch_options.get("profile_all_threads"))
        self._config = config
        self._with_stack = with_stack
        self._boundary = Boundary()
        self._pid = os.getpid()
        self._profile: Any = None  # while it records
        self._closed = False
        self._replaced: Any = None  # what SIGTERM did before

    @property
    def here(self) -> bool:
        """Whether this is the process that is to be recorded, and not a child of it."""
        return os.getpid() == self._pid

    def close(self) -> None:
        """End the window, and let no other begin."""
        self._closed = True
        self.end()

    def begin(self, marks: StepMarks | None = None) -> None:
        """Record from now on, unless another profiler does."""
        import torch.profiler

        if not self.here or self._profile is not None or self._closed or self.made_way:
            return
        in_main = threading.current_thread() is threading.main_thread()
        if not in_main and not self._all_threads:
            self.met_thread = True
            return
        if turn.holder() is not None or torch.autograd._profiler_enabled():
            self.made_way = True
            return
        with self._boundary.around("the start of a window"):
            self._config._own_collectors = () if marks is None else (lambda _: marks,)
            profile = torch.profiler.profile(
                experimental_config=self._config, with_stack=self._with_stack, with_modules=self._with_stack
            )
            hook.give_way(profile, self._make_way)
            profile.start()
            self._profile = profile
            if in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                self._replaced = signal.signal(signal.SIGTERM, self._terminated)

    def end(self, *, keep: bool = True) -> None:
        """Write the trace of the window, if there is one; without `keep` forget what was recorded."""
        in_main = threading.current_thread() is threading.main_thread()
        if not self.here or self._profile is None or not (in_main or self._all_threads):
            return
        profile, self._profile = self._profile, None
        with self._boundary.around("the end of a window"):
            if in_main and self._replaced is not None and signal.getsignal(signal.SIGTERM) == self._terminated:
                signal.signal(signal.SIGTERM, self._replaced)
                self._replaced = None
            if not keep:
                hook.forget(profile)
            profile.stop()
            state = hook.attached(profile)
            if state is not None and state.trace_path is not None:
                self.traces.append(state.trace_path)

    def _make_way(self) -> None:
        self.made_way = True
        self.end()

    def _terminated(self, number: int, frame: FrameType | None) -> None:
        """Do what the program would have done without us, after the trace is written."""
        self.end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
