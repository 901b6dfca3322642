"""The two traces that are compared, and what is known of both."""

from __future__ import annotations

from dataclasses import dataclass

from explorer_app.web.numbers import once
from explorer_app.web.view import View
from neuron_profile import analysis
from neuron_profile.analysis import Comparison
from trace_format import Trace


@dataclass(frozen=True, eq=False)
class Sides:
    """What is looked at, `new`, and what it is compared with, `base`."""

    base: View
    new: View

    @property
    def comparison(self) -> Comparison:
        """What changed from base to new. Raises NeuronProfileError where that cannot be told."""
        return once(_compared, self.new.trace, base=self.base.trace)


def _compared(new: Trace, *, base: Trace) -> Comparison:
    return analysis.diff(base, new)
