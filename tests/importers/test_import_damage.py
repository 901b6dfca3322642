"""Files that are almost right: mended where the meaning is clear, counted always, never refused for one event."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_event_files import complete, event, load_events, load_text

from trace_format.errors import DamagedFileError
from trace_format.exporters import export_file
from trace_format.importers import load_file
from trace_format.importers.trace_event_json import events as reading

BEFORE = '{"ph":"X","name":"before","pid":1,"tid":1,"ts":0,"dur":1,"args":{"k":[{"a":1},{"b":2}]}}'
AFTER = '{"ph":"X","name":"after","pid":1,"tid":1,"ts":9,"dur":1}'
UNKNOWN = "NaN or infinity in place of a value: shown as unknown"


def around(middle: str | bytes) -> bytes:
    """A file with this event, as it is, between two good ones."""
    text = middle.encode() if isinstance(middle, str) else middle
    return b'{"traceEvents":[%b,%b,%b],"displayTimeUnit":"ms"}' % (BEFORE.encode(), text, AFTER.encode())


@pytest.mark.parametrize(
    ("said", "value", "cause"),
    [
        ('"x":NaN', None, UNKNOWN),
        ('"x":inf', None, UNKNOWN),
        ('"x":-Infinity', None, UNKNOWN),
        ('"x": -nan', None, UNKNOWN),
        ('"x":N/A', "N/A", "N/A without quotes"),
        ('"x": ', None, "value missing: shown as unknown"),
        ('"x":"a\nb\x01"', "a\nb\x01", "control character not escaped"),
        ('"x":"C:\\Users\\me"', "C:\\Users\\me", "backslash not doubled"),
        ('"x":1,', 1, "comma too many"),
    ],
)
def test_a_value_that_is_no_json_is_mended_and_counted(said: str, value: object, cause: str, tmp_path: Path) -> None:
    odd = '{"ph":"X","name":"odd","ts":5,"dur":1,"pid":1,"tid":1,"args":{' + said + "}}"
    trace = load_text(tmp_path, around(odd))
    assert trace.slices.text("name") == ["before", "odd", "after"]
    assert trace.pool.args(int(trace.slices.args[1])) == {"x": value}
    assert trace.report.to_dict() == {"source_events": 3, "kept": 3, "left_out": {}, "repaired": {cause: 1}}


def test_bytes_that_are_not_utf8_are_replaced_in_name_and_arguments(tmp_path: Path) -> None:
    name = b'{"ph":"X","name":"a\xffb","ts":5,"dur":1,"pid":1,"tid":1}'
    args = b'{"ph":"X","name":"c","ts":6,"dur":1,"pid":1,"tid":1,"args":{"x":"\xfe"}}'
    odd = name + b"," + args
    trace = load_text(tmp_path, around(odd))
    assert trace.slices.text("name") == ["before", "a\ufffdb", "c", "after"]
    assert trace.pool.args(int(trace.slices.args[2])) == {"x": "\ufffd"}
    assert trace.report.to_dict()["repaired"] == {"bytes that are not UTF-8 replaced": 2}


def test_a_lone_surrogate_is_kept_as_it_came(tmp_path: Path) -> None:
    trace = load_text(tmp_path, around(r'{"ph":"X","name":"a\ud800b","ts":5,"dur":1,"pid":1,"tid":1}'))
    assert trace.slices.text("name")[1] == "a\ud800b"
    assert trace.report.clean


def test_an_event_with_a_broken_string_is_left_out_and_the_rest_is_read(tmp_path: Path) -> None:
    trace = load_text(tmp_path, around('{"ph":"X","name":"say "no" {","ts":5,"dur":1}'))
    assert trace.slices.text("name") == ["before", "after"]
    assert trace.report.to_dict()["left_out"] == {"event that is no valid JSON": 1}


def test_fields_beside_the_usual_ones_go_among_the_arguments(tmp_path: Path) -> None:
    fields = {"tts": 4, "cname": "good", "args": {"k": 1}}
    trace = load_events(tmp_path, [complete("op", 1, 1, **fields), complete("plain", 3, 1)])
    assert trace.pool.args(int(trace.slices.args[0])) == {"k": 1, "tts": 4, "cname": "good"}
    assert trace.report.clean


def test_numbers_where_text_belongs_and_fractions_where_integers_do(tmp_path: Path) -> None:
    events = [{"ph": "X", "name": 5, "ts": "7.0015", "dur": "1e1", "pid": 3.0, "tid": None, "cat": None}]
    trace = load_events(tmp_path, events)
    assert trace.slices.text("name") == ["5"]
    assert (trace.slices.ts_ns.tolist(), trace.slices.dur_ns.tolist()) == ([7002], [10_000])
    assert trace.tracks.pid.tolist() == [3, 3]


@pytest.mark.parametrize("tail", ["", "]", "]}", ",\n", '], "x": 1', '], "x": '])
def test_a_file_that_ends_early_gives_every_whole_event(tail: str, tmp_path: Path) -> None:
    trace = load_text(tmp_path, f'{{"traceEvents":[{BEFORE},{AFTER}{tail}')
    assert trace.slices.text("name") == ["before", "after"]
    assert trace.report.to_dict()["left_out"] == {}


def test_a_file_that_ends_inside_an_event_says_where(tmp_path: Path) -> None:
    text = '{"traceEvents":[' + BEFORE + "," + AFTER
    trace = load_text(tmp_path, text[:-5])
    assert trace.slices.text("name") == ["before"]
    place = len('{"traceEvents":[') + len(BEFORE) + 1
    assert trace.report.to_dict()["left_out"] == {f"event cut off by the end of the file (byte {place})": 1}


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_a_gzip_file_that_ends_early_gives_what_is_whole(keep: float, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    events = [complete(f"op{rng.integers(1 << 60)}", i, 1) for i in range(3000)]
    data = gzip.compress(json.dumps({"traceEvents": events}).encode())
    path = tmp_path / "t.json.gz"
    path.write_bytes(data[: int(len(data) * keep)])
    trace = load_file(path)
    assert 0 < len(trace.slices) < 3000
    assert trace.slices.text("name") == [e["name"] for e in events[: len(trace.slices)]]
    assert f"the gzip stream ends early (byte {int(len(data) * keep)})" in trace.report.repaired


def test_a_gzip_file_with_nothing_whole_in_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(b'{"traceEvents":[{"ph":"X","name":"' + b"x" * 50)[:-12])
    with pytest.raises(DamagedFileError, match="gzip"):
        load_file(path)


def test_gzip_members_and_zstandard_are_unpacked_whatever_the_name(tmp_path: Path) -> None:
    text = json.dumps([complete("a", 1, 1), complete("b", 2, 1)]).encode()
    two_members = gzip.compress(text[:20]) + gzip.compress(text[20:])
    for data in (two_members, zstandard.ZstdCompressor().compress(text), b"\xef\xbb\xbf" + text):
        assert load_text(tmp_path, data, "anything.bin").slices.text("name") == ["a", "b"]


def test_durations_and_times_that_cannot_be_are_told_by_cause(tmp_path: Path) -> None:
    events = [
        complete("fine", 1, 2),
        complete("negative", 5, -3),
        complete("never ended", 4, -4),
        complete("absurd", 5, 9.2e15),
        complete("endless", 9.2e15, 5e14),
        {"ph": "X", "name": "no duration", "ts": 6, "pid": 1, "tid": 1},
        {"ph": "X", "name": "no time", "dur": 6, "pid": 1, "tid": 1},
        complete("beyond", 2**63, 1),
        event("?", "unknown", 1),
        {"name": "nothing"},
    ]
    trace = load_events(tmp_path, events)
    durations = dict(zip(trace.slices.text("name"), trace.slices.dur_ns.tolist(), strict=True))
    assert durations == {"fine": 2000, "never ended": -1, "no duration": -1, "absurd": -1}
    assert trace.report.to_dict() == {
        "source_events": 10,
        "kept": 4,
        "left_out": {
            "negative duration": 1,
            "event without a time": 1,
            "time out of range": 2,
            "event of unknown phase '?'": 1,
            "event without a phase": 1,
        },
        "repaired": {
            "no duration: shown as unfinished": 2,
            "duration of more than 11 days: shown as unfinished": 1,
        },
    }


@pytest.mark.parametrize(
    ("ts", "nanoseconds"),
    [
        ("1683564901540885", 1683564901540885000),
        ("1683564901540885.123", 1683564901540885123),
        ("4503599627370.471", 4503599627370471),
        ("8796093022207.999", 8796093022207999),
        ("8796093022208.001", 8796093022208001),
        ("-12.345", -12345),
        ("0.0005", 0),
        ("0.0015", 2),
        ("1.5e3", 1500000),
        ('"42.001"', 42001),
    ],
)
def test_times_are_exact_to_the_nanosecond(ts: str, nanoseconds: int, tmp_path: Path) -> None:
    trace = load_text(tmp_path, f'[{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{ts},"dur":0.001}}]')
    assert trace.slices.ts_ns.tolist() == [nanoseconds]
    assert trace.slices.dur_ns.tolist() == [1]


def test_text_behind_the_trace_that_holds_no_events_is_told(tmp_path: Path) -> None:
    one = '{"traceEvents":[' + BEFORE + "]}"
    trace = load_text(tmp_path, one + "\n" + '{"a": 1}')
    assert len(trace.slices) == 1
    assert trace.report.to_dict()["repaired"] == {
        f"more text after the end of the trace: not read (byte {len(one) + 1})": 1
    }


@given(
    middles=st.lists(
        st.sampled_from(["}", "{", '"', "\\", ",", "]", "NaN", '"ph":"X",', "\x00", "é", "}, {", '{"ph":"X","ts":1}']),
        max_size=6,
    )
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_garbage_between_events_costs_the_first_or_breaks_the_count(middles: list[str], tmp_path: Path) -> None:
    trace = load_text(tmp_path, around("".join(middles)))
    assert "before" in trace.slices.text("name")


values = st.one_of(st.integers(-5, 10**7), st.floats(0, 1e6), st.text(max_size=3), st.none())
fields = st.fixed_dictionaries(
    {"ph": st.sampled_from(list("XBEiICbenSTFstfMPNx")), "name": st.sampled_from(["a", "b", "[memory]", ""])},
    optional={
        "ts": st.floats(0, 1e9) | values, "dur": values, "pid": values, "tid": values, "id": values,
        "cat": st.sampled_from(["cpu_op", "kernel", ""]), "s": st.sampled_from("tpgx"), "bp": st.just("e"),
        "args": st.dictionaries(st.sampled_from(["correlation", "x", "Ev Idx", "name"]), values, max_size=3),
        "other": values,
    },
)  # fmt: skip


@given(events=st.lists(fields, max_size=30), chunk=st.sampled_from([64, 500, 8 << 20]))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_events_are_all_counted_however_they_are_cut(
    events: list[dict[str, object]], chunk: int, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "CHUNK_BYTES", chunk)
        trace = load_text(tmp_path, json.dumps({"traceEvents": events, "after": [{"ph": "X"}]}))
    assert trace.report.source_events == len(events)


def test_a_file_read_in_small_pieces_is_the_same_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = [complete(f"op{i}", i, 1, args={"nested": [{"ph": "x"}, {"name": "y"}], "i": i}) for i in range(500)]
    whole = load_events(tmp_path, events, after={"x": [{"name": 1}]})
    monkeypatch.setattr(reading, "CHUNK_BYTES", 300)
    pieces = load_events(tmp_path, events, after={"x": [{"name": 1}]})
    assert pieces.slices.text("name") == whole.slices.text("name") == [f"op{i}" for i in range(500)]
    assert pieces.metadata == whole.metadata
    assert pieces.report.clean


def test_data_that_inflates_without_end_is_not_held_in_memory(tmp_path: Path) -> None:
    deflater = zlib.compressobj(9, zlib.DEFLATED, 31)
    spaces = b" " * (1 << 20)
    data = deflater.compress(b"[") + b"".join(deflater.compress(spaces) for _ in range(64))
    trace = load_text(tmp_path, data + deflater.compress(b"]") + deflater.flush(), "t.bin")
    assert trace.report.source_events == 0


def test_a_gzip_file_with_a_flipped_bit_opens_up_to_it(tmp_path: Path) -> None:
    rng = random.Random(0)
    events = [complete(f"op {rng.random()}", i, 1) for i in range(2_000)]
    data = bytearray(gzip.compress(json.dumps(events).encode()))
    data[len(data) * 9 // 10] ^= 4
    path = tmp_path / "t.json.gz"
    path.write_bytes(data)
    trace = load_file(path)
    assert len(trace.slices) > 1_500
    assert trace.slices.ts_ns[:3].tolist() == [0, 1000, 2000]
    assert any("gzip stream is damaged" in cause for cause in trace.report.repaired)


def test_a_counter_value_beyond_any_number_costs_that_value(tmp_path: Path) -> None:
    text = b"""{"traceEvents":[{"ph":"X","name":"first","ts":1,"dur":1,"pid":1,"tid":1},
        {"ph":"C","name":"c","ts":1,"pid":1,"args":{"a":1e400}}]}"""
    trace = load_text(tmp_path, text)
    assert trace.slices.text("name") == ["first"]
    assert np.isnan(trace.counters.value).all()
    assert trace.report.kept == 2
    assert sum(trace.report.repaired.values()) == 1


@pytest.mark.parametrize("entry", ["null", "true", "-1.5e3", '"text, {"', "[]", "[1,2]", '[{"name":1},{"name":2}]'])
@pytest.mark.parametrize("place", ["{0},{1},{2}", "{1},{0},{2}", "{0},{2},{1}", "{0} , {1},{1},{2}"])
@pytest.mark.parametrize("around", ['{{"traceEvents":[{}]}}', "[{}]"])
def test_an_entry_that_is_no_object_costs_no_event(entry: str, place: str, around: str, tmp_path: Path) -> None:
    trace = load_text(tmp_path, around.format(place.format(BEFORE, entry, AFTER)))
    assert trace.slices.text("name") == ["before", "after"]
    assert trace.report.to_dict()["left_out"] == {"entry that is no object": place.count("{1}")}


def test_events_written_as_a_list_among_the_events_are_read(tmp_path: Path) -> None:
    trace = load_text(tmp_path, around(f"[{AFTER},5,{AFTER}]"))
    assert trace.slices.text("name") == ["before", "after", "after", "after"]
    assert trace.report.to_dict()["left_out"] == {"entry that is no object": 1}


def test_a_broken_event_at_the_end_of_a_whole_file_is_not_called_cut_off(tmp_path: Path) -> None:
    trace = load_text(tmp_path, '{"traceEvents":[' + BEFORE + ',{"ph":"X",name":"odd","ts":5}],"displayTimeUnit":"ms"}')
    assert trace.report.to_dict()["left_out"] == {"event that is no valid JSON": 1}
    assert trace.metadata["source_metadata"] == {"displayTimeUnit": "ms"}


@pytest.mark.parametrize("depth", [3000, 100_000])
def test_an_event_nested_too_deeply_costs_itself(depth: int, tmp_path: Path) -> None:
    inner = '[{"name":1},{"name":2},' * depth + "0" + "]" * depth
    deep = '{"ph":"X","name":"deep","pid":1,"tid":1,"ts":5,"dur":1,"args":{"x":' + inner + "}}"
    trace = load_text(tmp_path, around(deep))
    assert trace.slices.text("name") == ["before", "after"]
    assert trace.report.to_dict()["left_out"] == {"event nested too deeply to be read": 1}
    with pytest.raises(DamagedFileError, match="no event that can be read: event nested too deeply"):
        load_text(tmp_path, "[" + deep + "]")


def test_an_event_of_megabytes_is_whole(tmp_path: Path) -> None:
    long = complete("long", 5, 1, args={"x": [{"name": i} for i in range(200_000)]})
    trace = load_text(tmp_path, around(json.dumps(long) + f",{AFTER}" * 20_000))
    assert trace.slices.text("name")[:2] == ["before", "long"]
    assert trace.report.to_dict() == {"source_events": 20_003, "kept": 20_003, "left_out": {}, "repaired": {}}


def test_what_is_missing_at_the_end_of_the_object_is_said(tmp_path: Path) -> None:
    whole = '{"traceEvents":[' + BEFORE + '],"displayTimeUnit":"ms"}'
    for cut in range(len('],"displayTimeUnit":"ms"}') - 1):
        assert not load_text(tmp_path, whole[: len(whole) - 1 - cut]).report.clean
    assert load_text(tmp_path, whole).report.clean


def test_a_value_beside_the_events_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    deep = "[" * 500 + "]" * 500
    trace = load_text(tmp_path, '{"traceEvents":[' + BEFORE + '],"a":{1:2},"b":' + deep + ',"c":1}')
    assert trace.metadata["source_metadata"] == {"c": 1}
    assert trace.report.to_dict()["repaired"] == {"value beside the events that cannot be read: left out": 2}


@pytest.mark.parametrize("base", ['"\u00b2"', '"--5"', "[1]", "1e400", '"' + "9" * 5000 + '"', "1e30"])
def test_a_base_time_that_is_none_is_said(base: str, tmp_path: Path) -> None:
    trace = load_text(tmp_path, '{"traceEvents":[' + AFTER + '],"baseTimeNanoseconds":' + base + "}")
    assert trace.slices.ts_ns.tolist() == [9000]
    assert trace.report.to_dict()["repaired"] == {"baseTimeNanoseconds that no time can have: not used": 1}


@pytest.mark.parametrize("base", ["1735632360000000123", '"1735632360000000123"', "1735632360000000123.0"])
def test_a_base_time_is_exact_however_it_is_written(base: str, tmp_path: Path) -> None:
    trace = load_text(tmp_path, '{"traceEvents":[' + AFTER + '],"baseTimeNanoseconds":' + base + "}")
    assert trace.slices.ts_ns.tolist() == [1735632360000009123]
    assert trace.report.clean


def test_numbers_beyond_all_bounds_cost_no_more_than_their_event(tmp_path: Path) -> None:
    event_of = '{{"ph":"X","name":"odd","pid":{},"tid":1,"ts":{},"dur":{},"args":{{"n":NaN}}}}'
    huge = "1e999999"
    odd = [event_of.format(*given) for given in ((huge, "5", "1"), ("1", huge, "1"), ("1", "5", huge))]
    trace = load_text(tmp_path, around(",".join(odd)))
    assert sorted(trace.slices.text("name")) == ["after", "before", "odd", "odd"]
    assert sorted(trace.slices.dur_ns.tolist()) == [-1, 1000, 1000, 1000]
    assert trace.report.to_dict()["left_out"] == {"time out of range": 1}


def test_phases_that_are_no_single_letter_are_not_taken_for_others(tmp_path: Path) -> None:
    events = [{**complete("a", 1, 1), "ph": ph} for ph in ("", "XX", "\u0416", "\x00", "?")]
    report = load_events(tmp_path, [*events, complete("b", 1, 1)]).report.to_dict()
    assert report["kept"] == 1
    assert report["left_out"] == {
        "event without a phase": 1, "event whose phase is no single letter": 3, "event of unknown phase '?'": 1,
    }  # fmt: skip


def test_a_pair_of_more_than_11_days_is_unfinished(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [event("B", "a", 0), event("E", "a", 4e15)])
    assert trace.slices.dur_ns.tolist() == [-1]
    assert trace.report.to_dict()["repaired"] == {"duration of more than 11 days: shown as unfinished": 1}


@pytest.mark.parametrize(
    "args",
    [
        {"data": {"cpuProfile": {"nodes": [], "samples": [10**25]}, "timeDeltas": [1]}},
        {"data": {"startTime": 10**18}},
        {"data": {"cpuProfile": {"samples": [1, 2]}, "timeDeltas": [2**53, 2**53], "startTime": 5}},
        {"sf": 5, "x": "\ud800"},
    ],
)
def test_a_sample_of_absurd_numbers_costs_no_more_than_itself(args: dict[str, object], tmp_path: Path) -> None:
    trace = load_events(tmp_path, [complete("a", 1, 1), event("P", "p", 2, args=args)])
    assert trace.slices.text("name") == ["a"]
    assert trace.report.kept == 2


def test_files_written_one_behind_the_other_may_each_have_a_byte_order_mark(tmp_path: Path) -> None:
    one = b"\xef\xbb\xbf" + around(AFTER)
    trace = load_text(tmp_path, one + b"\n" + one)
    assert trace.report.to_dict()["left_out"] == {}
    assert trace.report.to_dict()["repaired"] == {f"a further document in the same file (byte {len(one) + 4})": 1}


@pytest.mark.parametrize("data", [b"\x1f\x8b" + b"\xff" * 300, gzip.compress(b"[]")[:8]])
def test_a_gzip_file_of_which_nothing_is_left_is_not_called_empty(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(data)
    with pytest.raises(DamagedFileError, match="holds nothing that can be read: the gzip stream"):
        load_file(path)


def test_events_added_to_an_export_are_read(tmp_path: Path) -> None:
    trace = load_events(tmp_path, [complete("a", 1, 1), event("C", "bytes", 2, args={"x": 1})])
    export_file(trace, tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text())
    document["traceEvents"].append(event("C", "bytes", 3, args={"x": 2}))
    back = load_text(tmp_path, json.dumps(document))
    assert back.counters.value.tolist() == [1, 2]
    assert back.report.repaired["neuronProfile section that does not match the events: not used"] == 1
