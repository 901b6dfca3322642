"""The processes of each rank under a heading of its own, where a trace holds several ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

# With more ranks than this, most begin folded: else the first screen shows but one of them.
MOST_OPEN_RANKS: Final = 8
_BEGIN_OPEN: Final = 2


def by_rank(processes: Sequence[dict[str, Any]], rank_of: Sequence[int]) -> list[dict[str, Any]]:
    """Processes as `/_trace/meta` lists them, each rank's within a group "Rank 3" that comes before its first.

    `rank_of` is the rank of each track, by whose numbers processes are known; -1: none. The groups are known by the
    numbers after those. A trace of one rank has no groups. Of more than `MOST_OPEN_RANKS`
    all but the first two begin folded.
    """
    outermost = {process["id"]: rank_of[process["id"]] for process in processes if process["within"] is None}
    ranks = {rank for rank in outermost.values() if rank >= 0}
    if len(ranks) < 2:
        return list(processes)
    around = {process["id"]: process["within"] for process in processes}
    out: list[dict[str, Any]] = []
    begun: set[int] = set()
    for process in processes:
        root = process["id"]
        while around[root] is not None:
            root = around[root]
        rank = outermost[root]
        if rank < 0:
            out.append(process)
            continue
        group = len(rank_of) + rank
        if rank not in begun:
            out.append(_group(group, rank, folded=len(ranks) > MOST_OPEN_RANKS and len(begun) >= _BEGIN_OPEN))
            begun.add(rank)
        within = group if process["within"] is None else process["within"]
        out.append({**process, "within": within, "level": process["level"] + 1})
    return out


def _group(number: int, rank: int, *, folded: bool) -> dict[str, Any]:
    return {
        "id": number, "name": f"Rank {rank}", "note": "", "within": None, "level": 0, "folded": folded, "rank": rank,
        "tracks": [],
    }  # fmt: skip
