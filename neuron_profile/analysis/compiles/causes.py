"""Why things were compiled, and which compiles need not have been."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from neuron_profile.analysis.compiles.compiles import compiles
from neuron_profile.analysis.texts import table, to_group_by
from trace_format import Trace

RECOMPILED: Final = "recompile: "
# torch._dynamo.config.recompile_limit is 8: then torch gives up and runs the function without compiling it.
_STORM_COMPILES: Final = 8
_STORM_STEPS: Final = 3
_LATER_GRAPH: Final = r"\d+/0*[1-9]"  # torch's compile id: frame/compile of this frame
_BREAK_NAMES: Final = ("dynamo_graph_break_reason", "artifact dynamo_graph_break_reason")


def compile_causes(trace: Trace) -> pd.DataFrame:
    """A row for each compiled function of each rank, in order of rank and time, longest first.

    A compile without a function (an external compiler's) stands under what was compiled. A log that tells of one
    compile several times (same graph, start and end) is counted once. A compile is again one of its function where
    torch says why, and where the second number of its graph is not 0 ("0/1").

    Columns: function, rank, compiles, dur_ns (sum of those that finished), first_ns (the first of each graph's
    direction: what it takes to compile the function once), recompiles (compiles that came again),
    recompile_ns, reason (torch's most frequent of the recompiles, "" where it gave none), steps (how many
    steps paid), is_storm (recompiled, and compiled in 3 or more steps, or 8 times or more:
    torch's recompile_limit), graph_breaks.
    """
    frame = compiles(trace).drop_duplicates(["function", "what", "graph", "direction", "rank", "start_ns", "dur_ns"])
    frame = frame.assign(
        function=frame.function.where(frame.function != "", frame.what),
        dur_ns=frame.dur_ns.clip(lower=0),
        again=frame.trigger.str.startswith(RECOMPILED) | frame.graph.str.match(_LATER_GRAPH),
    )
    rows = []
    for (_, function), mine in to_group_by(frame, "function").groupby(["rank", "function"], sort=False, observed=True):
        again = mine[mine.again]
        reasons = again.trigger[again.trigger.str.startswith(RECOMPILED)].str.removeprefix(RECOMPILED)
        steps = mine.step[mine.step >= 0].nunique()
        is_storm = len(again) > 0 and (steps >= _STORM_STEPS or len(mine) >= _STORM_COMPILES)
        rows.append(
            {
                "function": function, "rank": int(mine["rank"].iloc[0]), "compiles": len(mine),
                "dur_ns": int(mine.dur_ns.sum()),
                "first_ns": int(mine.drop_duplicates("direction").dur_ns.sum()), "recompiles": len(again),
                "recompile_ns": int(again.dur_ns.sum()), "reason": reasons.mode().iloc[0] if len(reasons) else "",
                "steps": steps, "is_storm": is_storm, "graph_breaks": int(mine.graph_breaks.sum()),
            }
        )  # fmt: skip
    names = (
        "function", "rank", "compiles", "dur_ns", "first_ns", "recompiles", "recompile_ns", "reason", "steps",
        "is_storm", "graph_breaks",
    )  # fmt: skip
    out = table([[row[name] for name in names] for row in rows], names)
    return out.sort_values(["rank", "dur_ns"], ascending=[True, False], kind="stable", ignore_index=True)


def repeated_misses(trace: Trace) -> pd.DataFrame:
    """A row for each key that a cache was asked for again after it had missed, and missed again: should have been hits.

    Columns: cache_key, function, rank, misses, repeated (all but the first), repeated_ns (what those took), in order
    of repeated_ns, longest first. A compile whose key is unknown is not looked at.
    """
    frame = compiles(trace)
    missed = frame[(frame.cache == "miss") & (frame.cache_key != "")]
    rows = []
    for (_, key), mine in to_group_by(missed, "cache_key").groupby(["rank", "cache_key"], sort=False, observed=True):
        if len(mine) > 1:
            later = mine.iloc[1:]
            again_ns = int(later.dur_ns.clip(lower=0).sum())
            rows.append((key, mine.function.iloc[0], int(mine["rank"].iloc[0]), len(mine), len(later), again_ns))
    names = ["cache_key", "function", "rank", "misses", "repeated", "repeated_ns"]
    return table(rows, names).sort_values("repeated_ns", ascending=False, ignore_index=True)


def graph_breaks(trace: Trace) -> pd.DataFrame:
    """A row for each line of the user's code at which a graph ended early, most frequent first.

    Columns: place ("file.py:12", "" where torch did not say), reason (of the first), count, rank, ts_ns (of the first).
    """
    instants, pool = trace.instants, trace.pool
    names = [pool.strings.find(name) for name in _BREAK_NAMES]
    rows = np.flatnonzero(np.isin(instants.name, [name for name in names if name >= 0]))
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for row in rows.tolist():
        told = pool.args(int(instants.args[row]))
        place, rank = str(told.get("place") or ""), int(trace.tracks.rank[instants.track[row]])
        first = {"place": place, "reason": str(told.get("reason") or ""), "count": 0, "rank": rank,
                 "ts_ns": int(instants.ts_ns[row])}  # fmt: skip
        found.setdefault((rank, place), first)["count"] += 1
    frame = table([list(row.values()) for row in found.values()], ["place", "reason", "count", "rank", "ts_ns"])
    return frame.sort_values("count", ascending=False, kind="stable", ignore_index=True)
