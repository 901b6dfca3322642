"""Optimizer steps that update all parameters in one operator."""

from __future__ import annotations

from collections.abc import Callable

from neuron_profile.hardware.call import Call
from neuron_profile.hardware.rule import Rule, Traffic

# operations per parameter, counted by hand: Adam: both moments (3 + 4), bias corrections, root, division, decay,
# update (5); SGD with momentum: multiply-add for the momentum (2), update (2)
_ADAM, _SGD = 12, 4


def _traffic(written: tuple[int, ...], state: int) -> Callable[[Call], Traffic | None]:
    """Reads the first `state` lists of tensors, writes those at `written`."""

    def traffic(call: Call) -> Traffic | None:
        lists = [sum(t.nbytes for t in call.list(position)) for position in range(state)]
        return Traffic(sum(lists), sum(lists[position] for position in written)) if lists[0] else None

    return traffic


def _per_parameter(operations: int) -> Callable[[Call], float | None]:
    return lambda call: operations * sum(t.numel for t in call.list(0))


_SOURCE = "parameters, gradients and state read once, parameters and state written once; {} operations per parameter"
RULES: dict[str, Rule] = {
    # (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)
    **dict.fromkeys(
        ("_fused_adam", "_fused_adamw"),
        Rule("optimizer", _traffic((0, 2, 3, 4), 5), _per_parameter(_ADAM), _SOURCE.format(_ADAM)),
    ),
    # (self, grads, momentum_buffer_list)
    "_fused_sgd": Rule("optimizer", _traffic((0, 2), 3), _per_parameter(_SGD), _SOURCE.format(_SGD)),
}
