"""Updates of many parameters at once."""

from __future__ import annotations

from neuron_profile.hardware.call import Call, Tensor
from neuron_profile.hardware.op_cost import RULES
from neuron_profile.simulation.lowering.pointwise import Passes, pointwise
from neuron_profile.simulation.lowering.target import Flat, Lower, Target, flat_bytes
from neuron_profile.simulation.work import Work, stage

# Ten passes of Vector and a square root for each parameter of Adam, three for SGD: counted in the formulas of
# torch/optim/adamw.py and sgd.py.
_ADAM, _SGD = Passes(tensor_tensor=10, activation=1), Passes(tensor_tensor=3)


def _fused(passes: Passes) -> Lower:
    def lower(call: Call, target: Target) -> Work | None:
        traffic = RULES[call.operator].traffic(call)
        parameters = call.list(0)
        numel = sum(t.numel for t in parameters)
        if traffic is None or not numel:
            return None
        flat, itemsize = Flat(numel), parameters[0].itemsize
        return Work(
            rule="optimizer", stages=(stage(**passes.busy(flat, itemsize, target)),),
            loads=flat_bytes(traffic.read_bytes), stores=flat_bytes(traffic.written_bytes), tiles=flat.tiles,
            rows=flat.tiles * 128, functions=("sqrt",) * passes.activation,
        )  # fmt: skip

    return lower


def _foreach(passes: Passes) -> Lower:
    """One operation on every tensor of a list; what follows the first list are lists, tensors or numbers."""

    def lower(call: Call, target: Target) -> Work | None:
        first = call.list(0)
        numel = sum(t.numel for t in first)
        if not numel:
            return None
        itemsize = first[0].itemsize
        lists = [Tensor((sum(t.numel for t in call.list(at)),), itemsize) for at in range(len(call.arguments))]
        inputs = [one for one in lists if one.numel]
        used = passes
        if passes.tensor_tensor == 1 and len(inputs) < 2:
            used = Passes(tensor_scalar=1, reciprocal=0, activation=passes.activation)
        return pointwise("foreach", inputs, numel * itemsize, numel, used, target)

    return lower


def _norms(call: Call, target: Target) -> Work | None:
    """The norm of each tensor of a list: squares summed by the Scalar engine."""
    numel = sum(t.numel for t in call.list(0))
    if not numel:
        return None
    flat, itemsize = Flat(numel), call.list(0)[0].itemsize
    return Work(
        rule="foreach", stages=(stage(Scalar=flat.times(target.unit.activation)),),
        loads=(flat.transfer(itemsize),), stores=flat_bytes(len(call.list(0)) * itemsize), tiles=flat.tiles,
        rows=flat.tiles * 128,
    )  # fmt: skip


_PAIR, _NUMBER, _FUNCTION = Passes(tensor_tensor=1), Passes(tensor_scalar=1), Passes(activation=1)
_FOREACH: dict[str, Passes] = {
    **dict.fromkeys(("add", "sub", "mul", "maximum", "minimum"), _PAIR),
    "div": Passes(reciprocal=1, tensor_tensor=1),
    **dict.fromkeys(("lerp", "addcmul"), Passes(tensor_tensor=2)),
    "addcdiv": Passes(reciprocal=1, tensor_tensor=2),
    **dict.fromkeys(("sqrt", "rsqrt", "exp", "log", "pow", "sigmoid", "tanh"), _FUNCTION),
    **dict.fromkeys(("neg", "abs", "sign", "zero", "copy", "clamp_min", "clamp_max"), _NUMBER),
    "reciprocal": Passes(reciprocal=1),
}
LOWERING: dict[str, Lower] = {
    **dict.fromkeys(("_fused_adam", "_fused_adamw"), _fused(_ADAM)),
    "_fused_sgd": _fused(_SGD),
    **{f"_foreach_{name}": _foreach(passes) for name, passes in _FOREACH.items()},
    "_foreach_norm": _norms,
}
