"""By what slices are coloured, other than by their category: which colour of a palette each has, and the legend."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from explorer_app.web.names import named
from explorer_app.web.theme import HUES, SHARES
from neuron_profile import analysis
from neuron_profile.analysis.operations.attribution import NO_LAUNCH, OUTSIDE_MODULES
from neuron_profile.analysis.operations.labels import labels
from trace_format import Trace

Array = np.ndarray

COLORINGS: Final = ("name", "module", "share")
NO_COLOR: Final = 255
_NO_MODULES = (OUTSIDE_MODULES, NO_LAUNCH)
_MOST_TOLD = 12
_LONGEST_TOLD = 48
# Where each colour of `theme.SHARES` begins. Above 1 the device has more to do than the host took to ask for it.
_SHARES_FROM: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 1.0)
_SHARES_TOLD: Final = ("below 5 %", "5 to 25 %", "25 to 50 %", "50 to 75 %", "75 to 100 %", "100 % and more")

_SHARE_NOTE = "device time that a host slice launched, per time of its own; grey: not known, or no host slice"
_NO_SHARE = "no device work was measured whose launch is known"


class Coloring:
    """The colours of a trace's slices. Get it with `numbers.once(Coloring, trace, by=…)`; `by` is one of COLORINGS.

    `legend`: `{palette, entries, more, note}`, ready for JSON. `palette` is "hue" or "share" (see `theme`); `entries`
    are `{color, text}`, those of most time first; `more` is how many are not among them. `note` says what has no
    colour, or why nothing has one.
    """

    def __init__(self, trace: Trace, by: str) -> None:
        self._of_group: Array | None = None
        if by == "share":
            self._of_slice = _shares(trace)
            known = bool((self._of_slice != NO_COLOR).any())
            told = list(enumerate(_SHARES_TOLD)) if known else []
            self.legend = _legend("share", told, 0, _SHARE_NOTE if known else _NO_SHARE)
        elif by == "name":
            texts = trace.pool.strings.values
            order = _most_time_first(trace, trace.slices.name, texts)
            self._of_slice, self._of_group = trace.slices.name, _hues(texts, order)
            self.legend = _groups_told(order, texts, self._of_group, "")
        else:
            found = labels(trace, "module")
            order = _most_time_first(trace, found.of_slice, found.texts)
            order = order[[found.texts[at] not in _NO_MODULES for at in order.tolist()]]
            hues = _hues(found.texts, order)
            hues[[text in _NO_MODULES for text in found.texts]] = NO_COLOR
            self._of_slice = np.append(hues, np.uint8(NO_COLOR))[found.of_slice]  # what has no label, -1, is the last
            note = found.why or "grey: in no module, or not known in which"
            self.legend = _groups_told(order, found.texts, hues, note)
        trace.release()

    def of(self, rows: Array) -> Array:
        """The number of the colour of each of these slices, `(n,) uint8`; `NO_COLOR` for none."""
        group = self._of_slice[rows]
        return group if self._of_group is None else self._of_group[group]


def _hues(texts: Sequence[str], order: Array) -> Array:
    """A colour for each text by its hash, so that it is the same in every trace.

    Of those that are first in `order` no two share one: the later one gets the next that is free.
    """
    hues = np.array([zlib.crc32(text.encode("utf-8", "surrogatepass")) % len(HUES) for text in texts], np.uint8)
    free = set(range(len(HUES)))
    for text in order[: len(HUES)].tolist():
        while hues[text] not in free:
            hues[text] = (hues[text] + 1) % len(HUES)
        free.remove(int(hues[text]))
    return hues


def _shares(trace: Trace) -> Array:
    share = analysis.device_share(trace)
    color = np.searchsorted(_SHARES_FROM, share, "right") - 1
    return np.where(np.isnan(share), NO_COLOR, np.minimum(color, len(SHARES) - 1)).astype(np.uint8)


def _most_time_first(trace: Trace, group: Array, texts: Sequence[str]) -> Array:
    """The groups that slices are in, those with most time of their own first."""
    known = np.flatnonzero(group >= 0)
    self_ns = np.maximum(trace.slices.self_ns[known], 0).astype(np.float64)
    took = np.bincount(group[known], weights=self_ns, minlength=len(texts))
    present = np.flatnonzero(np.bincount(group[known], minlength=len(texts)))
    return present[np.argsort(-took[present], kind="stable")]


def _groups_told(order: Array, texts: Sequence[str], hues: Array, note: str) -> dict[str, Any]:
    entries = [(int(hues[at]), named(texts[at], longest=_LONGEST_TOLD)) for at in order[:_MOST_TOLD].tolist()]
    return _legend("hue", entries, max(len(order) - _MOST_TOLD, 0), note)


def _legend(palette: str, entries: list[tuple[int, str]], more: int, note: str) -> dict[str, Any]:
    told = [{"color": color, "text": text} for color, text in entries]
    return {"palette": palette, "entries": told, "more": more, "note": note}
