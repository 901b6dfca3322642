"""Makes a session of every torch.profiler window whose configuration is a NeuronConfig.

torch offers no way to be told when a profiler starts and stops, so three methods of
`torch.profiler.profiler._KinetoProfile` are wrapped. They are wrapped on the class, because each profile
object binds them when it is made; NeuronConfig's constructor does it, which is always early enough.
Nothing is wrapped before that, and no code of ours runs inside a step.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import logging
import os
import threading
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collectors.boundary import Boundary
from neuron_profile.config import NeuronConfig
from neuron_profile.recording import Recording
from neuron_profile.refused import give_empty_results
from neuron_profile.session import Session
from neuron_profile.turn import turn

Method = Callable[[Any], None]

# On each wrapper; the mark is the wrapper itself, because functools.wraps copies it to what wraps the wrapper.
_MARK, _ORIGINAL = "__nprof_hook__", "__nprof_orig__"
_lock = threading.Lock()
_live: dict[str, Method] = {}  # our wrappers by method name; one that is not in here does nothing
_boundary = Boundary()
_log = logging.getLogger("neuron_profile")


@dataclass(slots=True)
class Attached:
    """What we know of one profile object."""

    recording: Recording
    session: Session | None = None
    refused: bool = False
    started: bool = False
    displaced: bool = False  # another profiler began since this one was prepared
    ended_at_exit: bool = False  # the program ended and this had not
    pid: int = 0  # of the process that started it
    trace_path: Path | None = None  # the trace.pb of its last window; None if that window left none


_attached: weakref.WeakKeyDictionary[Any, Attached] = weakref.WeakKeyDictionary()
_makes_way: weakref.WeakKeyDictionary[Any, Callable[[], None]] = weakref.WeakKeyDictionary()


def install() -> bool:
    """Wrap torch's methods if they are not wrapped yet; whether they are wrapped now.

    Without torch there is nothing to wrap. Where torch is not as expected, a RuntimeWarning says what works
    without the hook.
    """
    try:
        from torch.profiler import profiler as torch_profiler
    except ImportError:
        return False
    with _lock:
        problem = _misfit(torch_profiler)
        if problem:
            warnings.warn(
                f"neuron_profile: this torch is not as expected ({problem}), so profile(experimental_config="
                "NeuronConfig()) records nothing by itself: pass on_trace_ready=NeuronProfiler(cfg).export_trace, "
                "or use `with NeuronProfiler(cfg):`",
                RuntimeWarning,
                stacklevel=4,
            )
            return False
        for name, around in _AROUND.items():
            _wrap(torch_profiler._KinetoProfile, name, around)
        return True


def uninstall() -> None:
    """Take our wrappers off, and end the window that is open. One that another tool has wrapped stays in place and does
    nothing any more.
    """
    for profile in list(_attached):
        forget(profile)
    with _lock:
        for name, wrapper in _live.items():
            from torch.profiler.profiler import _KinetoProfile

            if _KinetoProfile.__dict__.get(name) is wrapper:
                setattr(_KinetoProfile, name, getattr(wrapper, _ORIGINAL))
        _live.clear()
        turn.reset()


def attached(profile: Any) -> Attached | None:
    """What we know of this profile object; None where none of its windows went through the hook."""
    return _attached.get(profile)


def give_way(profile: Any, stop: Callable[[], None]) -> None:
    """Let any other profiler that begins while this one records call `stop`, which ends this one, before it does."""
    _makes_way[profile] = stop


def forget(profile: Any) -> None:
    """Let the window that this profile records leave no trace."""
    state = _attached.get(profile)
    if state is not None and state.session is not None:
        state.session.mark_stop()
        state.session = None


def _wrap(cls: type, name: str, around: Callable[[Method, Any], None]) -> None:
    current = cls.__dict__[name]
    live = _live.get(name)
    # another tool may have wrapped ours since; ours is gone only where what it wrapped is back
    if live is not None and current is not getattr(live, _ORIGINAL):
        return
    original: Method = getattr(current, _ORIGINAL) if getattr(current, _MARK, None) is current else current

    @functools.wraps(original)
    def wrapper(self: Any) -> None:
        if _live.get(name) is wrapper:
            around(original, self)
        else:
            original(self)

    setattr(wrapper, _MARK, wrapper)
    setattr(wrapper, _ORIGINAL, original)
    setattr(cls, name, wrapper)
    _live[name] = wrapper


def _misfit(torch_profiler: Any) -> str:
    """How the installed torch differs from what the hook needs; "" where it fits."""
    kineto = getattr(torch_profiler, "_KinetoProfile", None)
    profile = getattr(torch_profiler, "profile", None)
    if not inspect.isclass(kineto) or not inspect.isclass(profile) or not issubclass(profile, kineto):
        return "torch.profiler.profile is not built on _KinetoProfile"
    for name in _AROUND:
        method = kineto.__dict__.get(name)
        if not callable(method):
            return f"_KinetoProfile has no {name}"
        if name in profile.__dict__:
            return f"profile overrides {name}"
        needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
        if len([p for p in needed if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]) > 1:
            return f"{name} takes arguments"
    if "experimental_config" not in inspect.signature(kineto.__init__).parameters:
        return "_KinetoProfile takes no experimental_config"
    if NeuronConfig.__mro__[1].__module__ != "torch._C._profiler":
        return "torch._C._profiler has no _ExperimentalConfig"
    return ""


def _prepare(original: Method, profile: Any) -> None:
    _ask_for_way(profile)
    if not isinstance(getattr(profile, "experimental_config", None), NeuronConfig):
        if not turn.take(profile):  # so that no session of ours starts while this one runs
            _displace(turn.holder())
        _giving_back(original, profile)
        return
    config: NeuronConfig = profile.experimental_config
    state = _attached.get(profile)
    if state is None:
        state = _attached[profile] = Attached(Recording.of(profile, config.record))
    state.session, state.trace_path = None, None
    state.started = state.displaced = False
    state.refused = turn.holder() is not profile and (_torch_is_recording() or not turn.take(profile))
    if state.refused:
        _refuse(profile)
        return
    with _boundary.around("the preparation of a capture"):
        state.session = Session(config, profile, state.recording)
        state.recording.turn_on(profile)
    _giving_back(original, profile)


def _start(original: Method, profile: Any) -> None:
    state = _attached.get(profile)
    if state is None:
        _giving_back(original, profile)
        return
    if state.displaced and not state.started:
        # torch would raise where the other one is still recording, and crash at our stop where it is not
        state.refused = _torch_is_recording()
        if state.refused:
            state.session = None
            turn.give_back(profile)
            _refuse(profile)
        else:
            _giving_back(getattr(_live["prepare_trace"], _ORIGINAL), profile)
    if state.refused:
        return
    _giving_back(original, profile)
    state.started, state.pid = True, os.getpid()
    _mind_the_exit()
    if _only_warming_up(profile):
        state.session = None
    if state.session is not None:
        state.session.start()


def _stop(original: Method, profile: Any) -> None:
    state = _attached.get(profile)
    if state is not None and (state.refused or state.ended_at_exit or _is_of_parent(state)):
        return
    session = state.session if state is not None else None
    try:
        if session is not None:
            session.mark_stop()
        original(profile)
    finally:
        try:
            if state is not None:
                state.started = False
                if session is not None:
                    state.session, state.trace_path = None, session.finish()
        finally:
            turn.give_back(profile)


_AROUND: dict[str, Callable[[Method, Any], None]] = {
    "prepare_trace": _prepare,
    "start_trace": _start,
    "stop_trace": _stop,
}


def _giving_back(method: Method, profile: Any) -> None:
    """Call torch's method; where it raises, the profile is not recording, so others may."""
    try:
        method(profile)
    except BaseException:
        turn.give_back(profile)
        raise


@functools.cache
def _mind_the_exit() -> None:
    atexit.register(_end_at_exit)


def _end_at_exit() -> None:
    """End the window that is open though the program ends: torch (2.13) would crash and its trace be lost."""
    for profile, state in list(_attached.items()):
        if state.started and not _is_of_parent(state):
            with _boundary.around("the end of a window with the program"):
                profile.stop()
            if state.trace_path is not None:
                _log.warning(
                    "neuron_profile: the program ended inside a profiler window; what it recorded until then is in %s",
                    state.trace_path,
                )
            state.ended_at_exit = True  # should the program have left its end to be called now, too


def _is_of_parent(state: Attached) -> bool:
    """Whether the process that forked this one records: here is nothing to end, and torch would wait for threads."""
    return state.started and state.pid != os.getpid()


def _ask_for_way(profile: Any) -> None:
    """End the profiler that has the turn where it is one that gives way to others."""
    holder = turn.holder()
    stop = _makes_way.get(holder) if holder is not None and holder is not profile else None
    if stop is not None:
        stop()


def _refuse(profile: Any) -> None:
    with _boundary.around("the refusal of a second profiler"):
        give_empty_results(profile)
        warnings.warn(
            "neuron_profile: a profiler is already running in this process, and torch supports one at a time: "
            "this one does not start and records nothing",
            RuntimeWarning,
            stacklevel=7,
        )


def _displace(holder: object | None) -> None:
    """Note that a profiler which is not ours to refuse begins in the turn of `holder`; say so once for each window."""
    state = _attached.get(holder) if holder is not None else None
    if state is None or state.displaced:
        return
    state.displaced = True
    if state.started:
        with _boundary.around("the warning of a second profiler"):
            warnings.warn(
                "neuron_profile: a profiler without NeuronConfig starts while one with it is recording, and torch "
                "supports one at a time: what the first one recorded is lost",
                RuntimeWarning,
                stacklevel=7,
            )


def _torch_is_recording() -> bool:
    import torch

    return bool(torch.autograd._profiler_enabled())


def _only_warming_up(profile: Any) -> bool:
    """Whether torch starts this window only to stop it at once, as it does when a program ends in warm-up."""
    action = getattr(profile, "current_action", None)
    return action is not None and not action.name.startswith("RECORD")
