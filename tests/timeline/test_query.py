"""A line of terms means what its description says, and what cannot be meant is refused in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer_app.web.timeline.query import LONGEST_NS, Pattern, Query, QueryError, parse
from trace_format import CATEGORIES

COMPUTE, MEMCPY = CATEGORIES.index("compute"), CATEGORIES.index("memcpy")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("gemm", [Pattern("contains", "gemm")]),
        ("void gemm", [Pattern("contains", "void"), Pattern("contains", "gemm")]),
        ('"void gemm"', [Pattern("contains", "void gemm")]),
        ("=gemm", [Pattern("is", "gemm")]),
        ('="a \\"b\\" \\\\c"', [Pattern("is", 'a "b" \\c')]),
        ("/ge(mm|lu) x/", [Pattern("matches", "ge(mm|lu) x")]),
        ("/usr/lib", [Pattern("contains", "/usr/lib")]),
        ("aten::add", [Pattern("contains", "aten::add")]),
        ("<lambda>", [Pattern("contains", "<lambda>")]),
        ('">1"', [Pattern("contains", ">1")]),
        ('"open', [Pattern("contains", '"open')]),
        ("=", [Pattern("contains", "=")]),
    ],
)
def test_words_quotes_and_slashes_are_about_names(text: str, wanted: list[Pattern]) -> None:
    assert parse(text) == Query(names=tuple(wanted))


@pytest.mark.parametrize(
    ("text", "least_ns", "most_ns"),
    [
        (">1ms", 1_000_001, LONGEST_NS),
        (">=1ms", 1_000_000, LONGEST_NS),
        ("<1.5us", 0, 1_499),
        ("<=1.5µs", 0, 1_500),
        ("10us..50us", 10_000, 50_000),
        ("10..50us", 10_000, 50_000),
        ("900us..1ms", 900_000, 1_000_000),
        (">0.5ns", 1, LONGEST_NS),
        ("<2h", 0, 2 * 3600 * 10**9 - 1),
        (">1ms <1s >2ms", 2_000_001, 10**9 - 1),
    ],
)
def test_durations_are_exact_and_all_of_them_hold(text: str, least_ns: int, most_ns: int) -> None:
    assert parse(text) == Query(least_ns=least_ns, most_ns=most_ns)


def test_categories_and_tracks_go_with_the_rest() -> None:
    assert parse('cat:compute,memcpy track:"stream 7" track:/^GPU/ gemm >1us') == Query(
        names=(Pattern("contains", "gemm"),),
        tracks=(Pattern("contains", "stream 7"), Pattern("matches", "^GPU")),
        categories=frozenset({COMPUTE, MEMCPY}),
        least_ns=1001,
    )
    assert parse("cat:compute,memcpy cat:Compute").categories == {COMPUTE}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cat:matmul", '"matmul" is no category'),
        ("track:", 'nothing stands behind "track:"'),
        (">5", "has no unit"),
        ("5..7", "has no unit"),
        ("50us..10us", "ends before it begins"),
        ("a " * 33, "more than 32 terms"),
        ("/a/ /b/ track:/c/ /d/", "more than 3 regular expressions"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_do(text: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        parse(text)


@given(st.text(alphabet=st.sampled_from(list('"\\/=<>.:, 17usmcatrk\n\u202e٣')) | st.characters(), max_size=60))
def test_any_text_is_a_query_or_refused_in_one_line(text: str) -> None:
    try:
        parse(text)
    except QueryError as error:
        assert str(error).strip()
