"""Argument texts are shared between activities that differ only in their running numbers; nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from collectors.torch_profiler.arguments import ArgumentSharing, SharedArguments

SHAPES = '"Input Dims": [[2, 3]], "Concrete Inputs": ["Ev Idx"]'


def share(*batches: Sequence[str]) -> SharedArguments:
    sharing = ArgumentSharing()
    for texts in batches:
        sharing.add(texts)
    return sharing.finish()


def read(texts: Sequence[str]) -> list[tuple[str, int, int]]:
    """(text, event index, sequence number) of each activity."""
    shared = share(texts)
    numbers = shared.columns.get("sequence_number", [-1] * len(texts))
    return [
        (shared.texts[row], int(index), int(number))
        for row, index, number in zip(shared.row, shared.columns["event_index"], numbers, strict=True)
    ]


def test_equal_ops_share_one_text():
    shared = share([f'"Record function id": 0, {SHAPES}, "Ev Idx": {i}' for i in (4, 5, 9)])
    assert shared.texts == [f'"Record function id": 0, {SHAPES}']
    assert shared.row.tolist() == [0, 0, 0]
    assert shared.columns["event_index"].tolist() == [4, 5, 9]


def test_a_sequence_number_is_taken_out_where_torch_writes_it():
    assert read([
        f'"Sequence number": 61, "Fwd thread id": 0, "Record function id": 0, {SHAPES}, "Ev Idx": 1',
        f'"Record function id": 7, "Sequence number": 62, "Fwd thread id": 0, {SHAPES}, "Ev Idx": 2',
        f'"Record function id": 0, {SHAPES}, "Ev Idx": 3',
    ]) == [
        (f'"Fwd thread id": 0, "Record function id": 0, {SHAPES}', 1, 61),
        (f'"Record function id": 7, "Fwd thread id": 0, {SHAPES}', 2, 62),
        (f'"Record function id": 0, {SHAPES}', 3, -1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        '"Ev Idx": 3',
        '"Ev Idx": 3, "a": 1',
        '"a": 1, "Ev Idx": 3, "b": 2',
        '"a": 1, "Ev Idx": null',
        '"a": "x, \\"Ev Idx\\": 5"',
        "",
    ],
)
def test_a_text_written_otherwise_stays_whole(text: str):
    assert read(['"a": 1, "Ev Idx": 1', text])[1] == (text, -1, -1)


@pytest.mark.parametrize(
    "body",
    [
        '"name": "\\"Sequence number\\": 5, ", "b": 1',
        '"other": {"Sequence number": 5, "b": 1}',
        '"Sequence number": -1, "b": 1',
        '"Sequence number": null, "b": 1',
        '"Sequence number": 5',
    ],
)
def test_what_is_no_sequence_number_of_the_op_stays_in_its_text(body: str):
    assert read([f'{body}, "Ev Idx": 8']) == [(body, 8, -1)]


def test_no_activities_have_no_texts():
    assert share([]).texts == []
    assert share([]).row.tolist() == []


def test_texts_are_shared_with_those_that_came_before():
    together = [f'"Sequence number": 7, {SHAPES}, "Ev Idx": 1', f'{SHAPES}, "Ev Idx": 2', "odd"]
    shared = share(together[:1], together[1:])
    assert shared.texts == [SHAPES, "odd"]
    assert shared.row.tolist() == [0, 0, 1]
    assert shared.columns["event_index"].tolist() == [1, 2, -1]
    assert shared.columns["sequence_number"].tolist() == [7, -1, -1]
