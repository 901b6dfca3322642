"""Two traces, or two sets of repeated runs, against each other.

- `samples`: the numbers of one side, for each step and each run.
- `change`: how far apart two sets of samples are, and how sure that is.
- `diff`: what changed, in sum and by operation.
- `gate`: conditions such as `step_time > +3%`, and whether they hold.
"""

from __future__ import annotations

from neuron_profile.analysis.comparison.change import Change
from neuron_profile.analysis.comparison.diff import Comparison, diff
from neuron_profile.analysis.comparison.gate import Gate, GateError, Verdict

__all__ = ["Change", "Comparison", "Gate", "GateError", "Verdict", "diff"]
