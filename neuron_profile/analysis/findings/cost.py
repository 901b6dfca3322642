"""What something costs in each step, and what that is in a typical one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from trace_format import number_text as text

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Cost:
    """What something takes of the steps of a trace.

    - `per_step_ns`: in the median step of the typical rank. `share_ratio`: of the median step; 0 for a step of no time.
    - `seen` of `steps`: in how many steps of that rank it takes any time.
    - `rank`, `device`: that rank and its device. `start_ns`, `end_ns`: the step in which it takes most.
    """

    per_step_ns: int
    share_ratio: float
    seen: int
    steps: int
    rank: int
    device: int
    start_ns: int
    end_ns: int

    @property
    def text(self) -> str:
        """What it takes of a step, and the share that is: "5.72 ms (12.2 %)"."""
        return f"{text.duration(self.per_step_ns)} ({text.ratio(self.share_ratio)})"


def cost(frame: pd.DataFrame, lengths: Array) -> Cost:
    """The cost of what takes `lengths` `(n,)` nanoseconds of the n steps in `frame`, one device to a rank.

    The typical rank is the one in the middle, of two in the middle the cheaper one: what one rank alone has is a
    straggler's, not everybody's. `frame` has at least one row, and the columns of `breakdown`.
    """
    of_rank = pd.Series(lengths, frame.index).groupby(frame["rank"]).median().sort_values(kind="stable")
    rank = int(of_rank.index[(len(of_rank) - 1) // 2])
    mine = np.flatnonzero(frame["rank"].to_numpy() == rank)
    step_ns = float(np.median(frame["total_ns"].to_numpy()[mine]))
    per_step = float(np.median(lengths[mine]))
    worst = frame.iloc[mine[int(np.argmax(lengths[mine]))]]
    return Cost(
        round(per_step), per_step / step_ns if step_ns else 0.0, int((lengths[mine] > 0).sum()), len(mine),
        rank, int(worst["device"]), int(worst["start_ns"]), int(worst["end_ns"]),
    )  # fmt: skip
