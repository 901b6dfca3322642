"""Records some steps, or some seconds, of a program that does not know of it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collectors.boundary import Boundary
from collectors.step_marks import StepMarks
from neuron_profile.config import NeuronConfig
from neuron_profile.main_thread import run_in_main_thread
from neuron_profile.program_window import ProgramWindow

# A program that steps no optimizer is recorded for so long, from its first call of a module on.
STEPLESS_S = 10.0


@dataclass(frozen=True, slots=True)
class Steps:
    """`count` steps after the first `skip`; a step ends when the program's optimizer has stepped.

    Of several optimizers the one that steps first counts. With `skip` 0 the window begins with the first call of a
    module.
    """

    skip: int = 2
    count: int = 5


@dataclass(frozen=True, slots=True)
class Seconds:
    """`seconds` (None: all that follow) after the first `wait`."""

    wait: float = 0.0
    seconds: float | None = None


class ProgramCapture:
    """Records a window of what happens in this process between `start` and `finish`, both called in the main thread.

    torch's own global hooks tell when a module is called and an optimizer steps, so the program needs no change.
    Afterwards `traces` has the trace.pb of each window, `steps` says how many the program was seen to make, `made_way`
    whether it used a profiler itself, `met_thread` whether it works in a thread that torch does not record.
    """

    def __init__(self, config: NeuronConfig, window: Steps | Seconds, *, with_stack: bool = False) -> None:
        self.steps = 0
        self._recorded = ProgramWindow(config, with_stack=with_stack)
        self._watch: _StepWatch | _Clock
        if isinstance(window, Steps):
            self._watch = _StepWatch(self, self._recorded, window)
        else:
            self._watch = _Clock(self._recorded, window)
        self._boundary = Boundary()

    @property
    def traces(self) -> list[Path]:
        return self._recorded.traces

    @property
    def made_way(self) -> bool:
        return self._recorded.made_way

    @property
    def met_thread(self) -> bool:
        return self._recorded.met_thread

    @property
    def here(self) -> bool:
        """Whether this is the process in which the capture was started, and not a child of it."""
        return self._recorded.here

    def start(self) -> None:
        """Begin to watch the program, and to record where the window begins with it."""
        with self._boundary.around("the start of the capture"):
            self._watch.start()

    def finish(self) -> None:
        """End the window where it has not ended yet, and watch no more."""
        with self._boundary.around("the end of the capture"):
            self._watch.stop()
            self._recorded.close()


class _StepWatch:
    """Begins and ends the window where steps do."""

    def __init__(self, capture: ProgramCapture, recorded: ProgramWindow, window: Steps) -> None:
        self._capture, self._recorded, self._window = capture, recorded, window
        self._boundary = Boundary()
        self._marks: StepMarks | None = None
        self._optimizer: weakref.ref[Any] | None = None
        self._handles: list[Any] = []
        self._timers = _Timers()

    def start(self) -> None:
        from torch.nn.modules.module import register_module_forward_pre_hook
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self._on_call = register_module_forward_pre_hook(self._called)
        self._handles = [self._on_call, register_optimizer_step_post_hook(self._stepped)]

    def stop(self) -> None:
        self._timers.cancel()
        while self._handles:
            self._handles.pop().remove()

    def _called(self, module: Any, arguments: Any) -> None:
        """torch is about to call the first module."""
        self._on_call.remove()  # so that calls are as quick as ever, and compiled as ever
        with self._boundary.around("the start of a window"):
            if self._capture.steps or not self._recorded.here:
                return
            if self._window.skip == 0:
                self._begin()
            else:
                self._recorded.begin()
                self._timers.after(STEPLESS_S, self._end_stepless)

    def _end_stepless(self) -> None:
        if self._capture.steps == 0:
            self._recorded.end()

    def _stepped(self, optimizer: Any, arguments: Any, keywords: Any) -> None:
        """torch has stepped an optimizer."""
        with self._boundary.around("a step"):
            if not self._recorded.here or not self._counts(optimizer):
                return
            self._capture.steps += 1
            if self._marks is not None:
                self._marks.mark()
            if self._capture.steps == self._window.skip + self._window.count:
                self.stop()
                self._recorded.end()
            elif self._capture.steps == self._window.skip:
                self._recorded.end(keep=False)
                self._begin()
            elif self._marks is None:
                self._recorded.end(keep=False)  # there are steps, so it is them that are recorded

    def _begin(self) -> None:
        self._marks = StepMarks(self._window.skip)
        self._recorded.begin(self._marks)

    def _counts(self, optimizer: Any) -> bool:
        known = self._optimizer() if self._optimizer is not None else None
        if known is None:
            self._optimizer = weakref.ref(optimizer)
        return known is None or known is optimizer


class _Clock:
    """Begins and ends the window when it is time."""

    def __init__(self, recorded: ProgramWindow, window: Seconds) -> None:
        self._recorded, self._window = recorded, window
        self._timers = _Timers()

    def start(self) -> None:
        if self._window.wait > 0:
            self._timers.after(self._window.wait, self._begin)
        else:
            self._begin()

    def stop(self) -> None:
        self._timers.cancel()

    def _begin(self) -> None:
        self._recorded.begin()
        if self._window.seconds is not None:
            self._timers.after(self._window.seconds, self._recorded.end)


class _Timers:
    """Calls functions in the main thread, later."""

    def __init__(self) -> None:
        self._running: list[threading.Timer] = []

    def after(self, seconds: float, function: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, run_in_main_thread, args=(function,))
        timer.name, timer.daemon = "neuron_profile timer", True
        timer.start()
        self._running.append(timer)

    def cancel(self) -> None:
        for timer in self._running:
            timer.cancel()
