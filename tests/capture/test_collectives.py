"""Collectives of real gloo processes: which, how large, in which group, by hand from what the program calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("collective_program.py")
K = 1024 * 4  # bytes of one buffer of 1024 floats

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], list[Rows]]:
    """The rows of each rank for a part of the program, which is run once for each number of ranks."""
    done: dict[int, list[dict[str, Any]]] = {}

    def rows(what: str, ranks: int) -> list[Rows]:
        if ranks not in done:
            folder = tmp_path_factory.mktemp(f"ranks{ranks}")
            command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
            finished = subprocess.run(
                [*command, str(PROGRAM), str(folder)],
                env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
                capture_output=True, text=True, timeout=240, check=False,
            )  # fmt: skip
            assert finished.returncode == 0, finished.stderr[-2000:]
            done[ranks] = [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(ranks)]
        told = [of_rank[what] for of_rank in done[ranks]]
        assert [one["losses"] for one in told] == [{}] * ranks
        return [one["rows"] for one in told]

    return rows


def of(rows: Rows, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in rows]


@pytest.mark.parametrize("n", [2, 4])
def test_each_call_has_its_own_bytes(n: int, run: Callable[[str, int], list[Rows]]) -> None:
    ranks = run("calls", n)
    common = [
        ("all_reduce", K, K), ("all_reduce", K, K), ("broadcast", K, K), ("reduce", K, K),
        ("all_gather", K, n * K), ("all_gather", K, n * K),
        ("reduce_scatter", n * K, K), ("reduce_scatter", n * K, K),
        ("all_to_all", n * K, n * K),
    ]  # fmt: skip
    in_pair = [("all_reduce", K, K), ("all_gather", K, 2 * K)]  # a group of two, however many ranks there are
    last = [("all_reduce", K, K), ("all_reduce", K + 5 * 4, K + 5 * 4)]
    barrier = [("barrier", 0, 0)]
    root = [("gather", K, n * K), ("scatter", n * K, K)]
    others = [("gather", K, 0), ("scatter", 0, K)]
    sizes = [of(rows, "op", "in_bytes", "out_bytes") for rows in ranks]
    assert sizes[0] == [*common, *root, ("send", K, 0), *barrier, *in_pair, *last]
    assert sizes[1] == [*common, *others, ("recv", 0, K), *barrier, *in_pair, *last]
    for more in sizes[2:]:
        assert more == [*common, *others, *barrier, *last]
    assert {row["dtype"] for rows in ranks for row in rows if row["op"] != "barrier"} == {"float"}


@pytest.mark.parametrize("n", [2, 4])
def test_each_call_has_its_group_its_number_in_it_and_its_peer(n: int, run: Callable[[str, int], list[Rows]]) -> None:
    ranks = run("calls", n)
    everyone = json.dumps(list(range(n)))
    for rank, rows in enumerate(ranks):
        grouped = [row for row in rows if row["op"] not in ("send", "recv")]
        of_pair = [row for row in grouped if row["group"] == "1"]
        assert of(of_pair, "op", "group_ranks", "seq") == (
            [("all_reduce", "[0, 1]", 1), ("all_gather", "[0, 1]", 2)] if rank < 2 else []
        )
        of_all = [row for row in grouped if row["group"] == "0"]
        assert len(of_all) + len(of_pair) == len(grouped)
        assert {row["group_ranks"] for row in of_all} == {everyone}
        seq = [row["seq"] for row in of_all]
        assert seq == sorted(set(seq))
        assert {row["rank"] for row in rows} == {rank}
    # the same call has the same number on every rank: that is what joins them
    assert len({tuple(r["seq"] for r in rows if r["group"] == "0") for rows in ranks}) == 1
    assert [row["peer"] for row in ranks[0] if row["op"] == "send"] == [1]
    assert [row["peer"] for row in ranks[1] if row["op"] == "recv"] == [0]


def test_a_reduce_scatter_is_one_though_gloo_shows_all_reduces(run: Callable[[str, int], list[Rows]]) -> None:
    rows = [row for row in run("calls", 4)[0] if row["op"] == "reduce_scatter"]
    assert [row["name"] for row in rows] == ["gloo:all_reduce", "gloo:all_reduce"]


def test_asynchronous_calls_are_told_from_the_others(run: Callable[[str, int], list[Rows]]) -> None:
    reduced = [row for row in run("calls", 2)[0] if row["op"] == "all_reduce"]
    # blocking; async_op=True; in the pair; functional, which is asynchronous by nature; coalesced
    assert [row["is_async"] for row in reduced] == [i in (1, 3) for i in range(5)]


def test_the_duration_is_that_of_the_work_and_not_of_the_call(run: Callable[[str, int], list[Rows]]) -> None:
    rows = run("calls", 2)[0]
    assert {row["source"] for row in rows} == {"gloo"}
    assert all(row["name"].startswith("gloo:") and row["dur_ns"] > 0 for row in rows)


@pytest.mark.parametrize("n", [2, 4])
def test_ddp_reduces_its_bucket_once(n: int, run: Callable[[str, int], list[Rows]]) -> None:
    bucket = (64 * 64 + 64) * 4
    for rows in run("ddp", n):
        assert of([r for r in rows if r["op"] == "all_reduce"], "in_bytes", "out_bytes", "is_async") == [
            (bucket, bucket, True)
        ]


@pytest.mark.parametrize("n", [2, 4])
def test_fsdp_gathers_twice_and_scatters_once(n: int, run: Callable[[str, int], list[Rows]]) -> None:
    whole = (64 * 64 + 64) * 4
    gather, scatter = ("all_gather", whole // n, whole), ("reduce_scatter", whole, whole // n)
    for rows in run("fsdp", n):
        assert of(rows, "op", "in_bytes", "out_bytes") == [gather, gather, scatter]


@pytest.mark.parametrize("n", [2, 4])
def test_a_dtensor_that_is_replicated_is_gathered(n: int, run: Callable[[str, int], list[Rows]]) -> None:
    shard = 8 * 16 * 4
    for rows in run("dtensor", n):
        assert of(rows, "op", "in_bytes", "out_bytes") == [("all_gather", shard, n * shard)]
