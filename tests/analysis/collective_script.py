"""Traces of several ranks that meet in collectives, written down span by span."""

from __future__ import annotations

import json
from typing import Any

from script import Script

from trace_format import Trace


class Ranks(Script):
    """A device and a host thread for each rank; times in nanoseconds, each on the clock of its rank."""

    def __init__(self, ranks: int) -> None:
        super().__init__()
        self.ranks = ranks
        self._first: dict[int, int] = {}
        self.threads = [self.track(f"python {r}", pid=r, tid=1, rank=r) for r in range(ranks)]
        self.streams = [self.stream(f"compute {r}", rank=r, device=r) for r in range(ranks)]
        self.lanes = [self.stream(f"nccl {r}", rank=r, device=r) for r in range(ranks)]

    def collective(self, rank: int, start: int, end: int, *, op: str = "all_reduce", nbytes: int = 1000, seq: int = -1,
                   group: str = "0", members: list[int] | None = None, out_bytes: int = -1, dtype: str = "Float",
                   track: int | None = None) -> int:  # fmt: skip
        """A kernel of a collective, and its row."""
        on = self.lanes[rank] if track is None else track
        self._first[rank] = min(start, self._first.get(rank, start))
        row = self.add(on, f"nccl {op}", "collective", start, end - start)
        string = self.builder.string
        members = list(range(self.ranks)) if members is None else members
        self.builder["collectives"].append(
            1, slice=row, op=string(op), dtype=string(dtype), in_bytes=nbytes, out_bytes=max(nbytes, out_bytes),
            group=string(group), group_ranks=string(json.dumps(members)), rank=rank, seq=seq, source=string("kernel"),
        )  # fmt: skip
        return row

    def work(self, rank: int, start: int, end: int, name: str = "gemm") -> None:
        self.add(self.streams[rank], name, "compute", start, end - start)

    def host(self, rank: int, name: str, start: int, end: int, category: str = "host_op") -> int:
        return self.add(self.threads[rank], name, category, start, end - start)

    def job(self, *, hosts: list[str] | None = None, **metadata: Any) -> Trace:
        """The trace; `hosts` says on which machine each rank ran. A rank is recorded 1000 ns before its first span."""
        for rank, first in self._first.items():
            self.host(rank, "profiler started", first - 1000, first - 1000, "annotation")
        ranks = [{"rank": rank, "host": hosts[rank] if hosts else None} for rank in range(self.ranks)]
        return self.trace(world_size=self.ranks, ranks=ranks, **metadata)
