"""Where compiled instructions come from, by the debug files of a NEFF."""

from __future__ import annotations

from pathlib import Path

import neff_files as made
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trace_format.importers.neff import NeffContents, read_neff_file
from trace_format.importers.neff.debug_info import DebugChain, DebugFile
from trace_format.importers.protobuf_fields import fields, places, varint, varints


@pytest.fixture
def contents(tmp_path: Path) -> NeffContents:
    return read_neff_file(made.save(tmp_path, made.neff(made.small_members(lnc=2, debug=True, hlo=True), lnc_size=2)))


def test_an_instruction_is_traced_back_to_the_layer_of_the_model(contents: NeffContents) -> None:
    origin = contents.subgraphs[0].programs["Tensor"].origin(1)
    assert origin is not None
    assert (origin.bir_id, origin.bir_name, origin.instruction_type) == (371, "I-7-0", "REGULAR")
    assert (origin.penguin_id, origin.penguin_name) == (7, "bfloat16<128 x 1024> $7")
    assert (origin.hlo_id, origin.hlo_name) == (3, "%dot.3 = dot(%p0, %p1)")
    assert origin.hlo_attrs == {"op_type": "dot", "source_line": "17"}
    assert (origin.framework_ids, origin.layer) == ((5,), "_dot.3")
    assert contents.has_debug_info
    assert contents.has_model_debug_info


def test_a_chain_that_breaks_off_says_nothing_beyond(contents: NeffContents) -> None:
    tensor = contents.subgraphs[0].programs["Tensor"]
    transposed = tensor.origin(3)
    assert transposed is not None
    assert (transposed.bir_id, transposed.instruction_type, transposed.predecessors) == (1563, "TRANSPOSE", (371, 9))
    assert (transposed.penguin_id, transposed.hlo_id, transposed.layer) == (50, None, "")
    unknown = tensor.origin(4)
    assert unknown is not None
    assert (unknown.bir_id, unknown.bir_name, unknown.instruction_type, unknown.penguin_id) == (9, "", "", None)


def test_instructions_that_came_from_nothing_have_no_origin(contents: NeffContents) -> None:
    tensor = contents.subgraphs[0].programs["Tensor"]
    assert tensor.origin(0) is None
    assert tensor.origin(5) is tensor.origin(-1) is None
    assert contents.subgraphs[0].programs["Sync"].origin(0) is None


def test_instructions_of_one_bir_instruction_share_their_origin(contents: NeffContents) -> None:
    tensor = contents.subgraphs[0].programs["Tensor"]
    assert tensor.origin(1) is tensor.origin(2)


def test_the_second_core_shares_the_only_file_about_the_model(contents: NeffContents) -> None:
    origin = contents.subgraphs[1].programs["Tensor"].origin(1)
    assert origin is not None
    assert origin.layer == "_dot.3"


def test_a_neff_without_debug_info_says_so(tmp_path: Path) -> None:
    contents = read_neff_file(made.save(tmp_path, made.neff(made.small_members())))
    assert not contents.has_debug_info
    contents = read_neff_file(made.save(tmp_path, made.neff(made.small_members(debug=True))))
    assert contents.has_debug_info
    assert not contents.has_model_debug_info


def test_a_cut_file_is_read_up_to_the_cut_and_says_so() -> None:
    whole = made.debug_file(made.part(3, [1]), made.part(3, [2]))
    cut = whole[: whole.rindex(made.part(3, [2])) + 1]
    chain = DebugChain(DebugFile("instructions", cut))
    first = chain.origin(0)
    assert first is not None
    assert (first.bir_id, chain.origin(1)) == (1, None)
    assert len(chain.damage) == 1
    assert "instructions, after 1 entries" in chain.damage[0]


def test_a_damaged_entry_says_nothing_and_is_counted() -> None:
    chain = DebugChain(DebugFile("instructions", made.debug_file(made.part(3, [1]), b"\x1a\x7f", made.part(3, [2]))))
    assert [origin and origin.bir_id for origin in map(chain.origin, range(3))] == [1, None, 2]
    assert chain.damage == ("debug information about instructions, 1 entries are damaged",)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_named_as_damage(data: bytes) -> None:
    chain = DebugChain(*[DebugFile(name, data) for name in ("asm", "backend", "penguin", "hlo", "pttf")])
    for place in range(-1, len(chain.asm) + 1):
        chain.origin(place)
    assert all("\n" not in why for why in chain.damage)


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(0, 2**64 - 1) | st.binary(max_size=20)), max_size=10))
def test_fields_come_back_as_they_were_written(written: list[tuple[int, int | bytes]]) -> None:
    message = b"".join(made.part(number, value) for number, value in written)
    found = [(number, value, bytes(part)) for number, value, part in fields(memoryview(message))]
    assert found == [
        (number, value, b"") if isinstance(value, int) else (number, 0, value) for number, value in written
    ]


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 2**64 - 1) | st.binary(max_size=200)), max_size=10))
def test_places_are_where_the_fields_are(written: list[tuple[int, int | bytes]]) -> None:
    message = b"".join(made.part(number, value) for number, value in written)
    found, stopped = places(message, 3, 5)
    expected = [value for number, value in written if number == 3 and isinstance(value, bytes)]
    assert [message[begin:end] for begin, end in zip(found[::2], found[1::2], strict=True)] == expected[:5]
    assert bool(stopped) is (len(expected) > 5)


@given(st.binary(max_size=60))
@example(bytes(6))
def test_places_stop_where_the_walker_stops(data: bytes) -> None:
    walked = []
    damaged = False
    try:
        for number, _, part in fields(memoryview(data)):
            if number == 3 and part:
                walked.append(bytes(part))
    except ValueError:
        damaged = True
    found, stopped = places(data, 3, 100)
    inside = [data[begin:end] for begin, end in zip(found[::2], found[1::2], strict=True)]
    assert walked == [part for part in inside if part]
    assert bool(stopped) is damaged


def test_fixed_width_fields_are_numbers() -> None:
    message = made.varint(1 << 3 | 1) + (7).to_bytes(8, "little") + made.varint(2 << 3 | 5) + (9).to_bytes(4, "little")
    assert [(number, value) for number, value, _ in fields(memoryview(message))] == [(1, 7), (2, 9)]


@pytest.mark.parametrize("data", [b"\x80", b"\x08", b"\x1a\x05ab", b"\x0b", b"\x00\x00", b"\xff" * 11, b"\x0d\x01\x02"])
def test_bytes_that_are_no_field_are_named(data: bytes) -> None:
    with pytest.raises(ValueError, match="byte"):
        list(fields(memoryview(data)))


def test_the_longest_integer_wraps_at_64_bits() -> None:
    assert varint(memoryview(b"\xff" * 9 + b"\x01"), 0) == (2**64 - 1, 10)
    assert varints(memoryview(b"\x01\xac\x02")) == [1, 300]
