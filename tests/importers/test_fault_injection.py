"""Faults of every kind at random places of random traces: the undamaged keep their values, all are counted."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_event_files import load_text

from trace_format.errors import NeuronProfileError
from trace_format.importers.trace_event_json import events as reading

START_US = 7_300_000_000  # far from zero, so that events at zero are seen to be wrong
NESTED = '[{"name":1},{"name":2},'
EVENT = '{"ph":"X","name":"NAME","pid":1,"tid":TID,"ts":TS,"dur":DUR,"args":{"k":ARG}}'


@dataclass(frozen=True)
class Fault:
    """What it does to the text of an event, and what is left of that: all, its start without an end, or nothing."""

    name: str
    damage: Callable[[str], bytes]
    keeps: str = "all"  # all | start | nothing
    counted: bool = True  # whether the report must say something
    read: bool = True  # whether an event is left that can be read, if only to be left out


def swap(*pairs: str | bytes) -> Callable[[str], bytes]:
    """Each first text replaced by the one after it."""
    given = [one if isinstance(one, bytes) else one.encode() for one in pairs]

    def damage(text: str) -> bytes:
        out = text.encode()
        for old, new in zip(given[::2], given[1::2], strict=True):
            assert old in out
            out = out.replace(old, new, 1)
        return out

    return damage


def field(name: str, value: str | None) -> Callable[[str], bytes]:
    """Another value, as text, for a field of the event; None takes it away."""

    def damage(text: str) -> bytes:
        event = json.loads(text)
        place = f'"{name}":{json.dumps(event[name])},'
        assert place in text
        return text.replace(place, "" if value is None else f'"{name}":{value},', 1).encode()

    return damage


def instead(text: str) -> Callable[[str], bytes]:
    return lambda _: text.encode()


FAULTS = [
    Fault("NaN", swap('"k":', '"n":NaN,"k":')),
    Fault("infinity", swap('"k":', '"n":-inf,"k":')),
    Fault("N/A", swap('"k":', '"n":N/A,"k":')),
    Fault("no value", swap('"k":', '"n": ,"k":')),
    Fault("trailing comma", swap("}}", ",}}")),
    Fault("backslash", swap('"k":', '"n":"C:\\Users","k":')),
    Fault("control character", swap('"k":', '"n":"a\x02b\nc","k":')),
    Fault("not UTF-8", swap('"k":', b'"n":"\xff\xfe","k":')),
    Fault("lone surrogate", swap('"k":', r'"n":"\udc00","k":'), counted=False),
    Fault("large integer", swap('"k":', '"Comms Id":36893488147419103232,"k":'), counted=False),
    Fault("unknown field", swap('"args"', '"tts":5,"args"'), counted=False),
    Fault("text as time", lambda text: swap('"ts":', '"ts":"')(text.replace(',"dur"', '","dur"')), counted=False),
    Fault("text as name of a thread", field("tid", '"stream 7"'), counted=False),
    Fault("no duration", field("dur", None), keeps="start"),
    Fault("absurd duration", field("dur", "9.2e15"), keeps="start"),
    Fault("negative duration", field("dur", "-3"), keeps="nothing"),
    Fault("time underflow", field("ts", "18446744073709551.615"), keeps="nothing"),
    Fault("no time", field("ts", None), keeps="nothing"),
    Fault("zero", lambda text: field("ts", "0")(field("dur", "0")(text).decode()), keeps="nothing"),
    Fault("unknown phase", field("ph", '"?"'), keeps="nothing"),
    Fault("no phase", field("ph", None), keeps="nothing"),
    Fault("missing quote", swap('"tid":', 'tid":'), keeps="nothing", read=False),
    Fault("quote in a name", swap('"name":"', '"name":"say "no" '), keeps="nothing", read=False),
    Fault("nested too deeply", swap('"k":', f'"n":{"[" * 3000}{"]" * 3000},"k":'), keeps="nothing", read=False),
    Fault(
        "events nested too deeply", swap('"k":', f'"n":{NESTED * 3000}0{"]" * 3000},"k":'), keeps="nothing", read=False
    ),
    Fault("null", instead("null"), keeps="nothing", read=False),
    Fault("a number", instead("-1.5e3"), keeps="nothing", read=False),
    Fault("text", instead('"}, {"'), keeps="nothing", read=False),
    Fault("an array", instead('[1,{"name":"x"},{"name":"y"}]'), keeps="nothing", read=False),
    Fault("deep array", instead("[" * 3000 + "]" * 3000), keeps="nothing", read=False),
    Fault("empty object", instead("{}"), keeps="nothing"),
    Fault(
        "still running", swap('"ph":"X",', '"ph":"X","cat":"cpu_op",', '"k":', '"finished": false,"k":'), keeps="start"
    ),
    Fault("large number", swap('"k":', '"n":1e999999,"k":'), counted=False),
    Fault("large number and NaN", swap('"k":', '"n":1e999999,"m":NaN,"k":')),
    Fault("large number as process", field("pid", "1e99999"), counted=False),
    Fault("large number as time", field("ts", "1e999999"), keeps="nothing"),
    Fault("NaN as time", field("ts", "NaN"), keeps="nothing"),
    Fault("text that is no time", field("ts", '"soon"'), keeps="nothing"),
    Fault("phase of two letters", field("ph", '"XX"'), keeps="nothing"),
    Fault("phase of another script", field("ph", '"\u0416"'), keeps="nothing"),
    Fault("arguments that are no object", lambda text: swap('"args":{', '"args":[{')(text)[:-1] + b"]}", counted=False),
    Fault("end without a begin", field("ph", '"E"'), keeps="nothing"),
    Fault("begin without an end", field("ph", '"B"'), keeps="start"),
]
BROKEN_STRINGS = [fault for fault in FAULTS if fault.name in ("missing quote", "quote in a name")]


@dataclass(frozen=True)
class Event:
    name: str
    start_us: int
    dur_us: int
    text: bytes
    fault: Fault | None


@st.composite
def files(draw: st.DrawFn) -> list[Event]:
    out = []
    for i in range(draw(st.integers(1, 25))):
        start_us, dur_us = START_US + draw(st.integers(0, 10**6)), draw(st.integers(1, 500))
        argument = draw(st.sampled_from(["1", '"text"', "null", "[1,{}]", '{"a":"}, {"}', '"\\"quoted\\""']))
        # a line of its own for each: ends without a begin must not find the begin of another event
        values = {"NAME": f"op{i}", "TID": str(i), "TS": str(start_us), "DUR": str(dur_us), "ARG": argument}
        text = EVENT
        for key, value in values.items():
            text = text.replace(key, value, 1)
        fault = draw(st.none() | st.sampled_from(FAULTS))
        if out and out[-1].fault in BROKEN_STRINGS and fault and not fault.damage(text).startswith(b'{"'):
            fault = None  # where broken strings end is seen from the event behind them
        out.append(Event(f"op{i}", start_us, dur_us, fault.damage(text) if fault else text.encode(), fault))
    return out


def load(folder: Path, text: bytes, chunk: int) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "CHUNK_BYTES", chunk)
        return load_text(folder, text)


def expected(events: list[Event]) -> dict[str, tuple[int, int]]:
    """The slices that are left, by name."""
    return {
        e.name: (e.start_us * 1000, -1 if e.fault and e.fault.keeps == "start" else e.dur_us * 1000)
        for e in events
        if e.fault is None or e.fault.keeps != "nothing"
    }


def found(trace: Any) -> dict[str, tuple[int, int]]:
    rows = zip(trace.slices.text("name"), trace.slices.ts_ns.tolist(), trace.slices.dur_ns.tolist(), strict=True)
    return {name: (ts, dur) for name, ts, dur in rows}


def written(events: list[Event], layout: str) -> bytes:
    """The events as a file."""
    texts = [event.text for event in events]
    if layout == "lines":
        return b"".join(text + b"\n" for text in texts)
    if layout == "lines far apart":
        return b"\r\n\r\n".join(texts)
    body = b",".join(texts)
    return b"[%b]" % body if layout == "array" else b'{"traceEvents":[%b],"displayTimeUnit":"ms"}' % body


LAYOUTS = st.sampled_from(["object", "array", "lines", "lines far apart"])
untouched = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(events=files(), chunk=st.sampled_from([100, 700, 8 << 20]), layout=LAYOUTS)
@untouched
def test_each_event_is_kept_or_counted_by_cause(events: list[Event], chunk: int, layout: str, tmp_path: Path) -> None:
    if not any(b'"ph"' in event.text for event in events if event.fault is None or event.fault.read):
        return  # a file without a single event is refused, which other tests are about
    if layout != "object" and (events[0].fault is not None):
        layout = "object"  # what a file is, is told from its first event
    trace = load(tmp_path, written(events, layout), chunk)
    assert trace.report.source_events == len(events)
    faults = [event.fault for event in events if event.fault]
    far = any(name in found(trace) for name in (e.name for e in events if not e.fault or e.fault.keeps != "nothing"))
    if far:  # else there is nothing to tell that zero is no time of this trace
        assert found(trace) == expected(events)
        lost = sum(fault.keeps == "nothing" for fault in faults)
        assert sum(trace.report.left_out.values()) == lost
    assert trace.report.clean == (not any(fault.counted for fault in faults)) or not far


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_one_fault_is_said_once(fault: Fault, tmp_path: Path) -> None:
    texts = []
    for i in range(3):
        text = EVENT.replace("NAME", f"op{i}").replace("TID", str(i)).replace("TS", str(START_US + i))
        texts.append(text.replace("DUR", "5").replace("ARG", "1"))
    body = b",".join([texts[0].encode(), fault.damage(texts[1]), texts[2].encode()])
    trace = load(tmp_path, b'{"traceEvents":[%b]}' % body, 8 << 20)
    report = trace.report.to_dict()
    assert report["source_events"] == 3
    assert sum(report["left_out"].values()) == (fault.keeps == "nothing")
    assert sum(report["repaired"].values()) == (fault.counted and fault.keeps != "nothing")
    assert {"op0", "op2"} <= found(trace).keys()


@given(events=files(), chunk=st.sampled_from([100, 700, 8 << 20]), where=st.floats(0, 1))
@untouched
def test_a_file_cut_anywhere_gives_every_event_before_the_cut(
    events: list[Event], chunk: int, where: float, tmp_path: Path
) -> None:
    events = [Event(e.name, e.start_us, e.dur_us, e.text, None) for e in events if e.fault is None]
    if not events:
        return
    text = b'{"traceEvents":[' + b",".join(event.text for event in events) + b"]}"
    first = text.index(events[0].text) + len(events[0].text)
    cut = first + int(where * (len(text) - first))
    trace = load(tmp_path, text[:cut], chunk)
    whole = [event for event in events if text.index(event.text) + len(event.text) <= cut]
    assert found(trace) == expected(whole)
    assert trace.report.source_events - len(whole) in (0, 1)
    assert trace.report.clean == (cut == len(text))


@given(
    first=files(), second=files(), chunk=st.sampled_from([100, 8 << 20]), gap=st.sampled_from([b"", b"\r\n", b"  \n"])
)
@untouched
def test_two_documents_in_one_file_lose_nothing(
    first: list[Event], second: list[Event], chunk: int, gap: bytes, tmp_path: Path
) -> None:
    documents = []
    for prefix, events in (("a", first), ("b", second)):
        texts = [e.text.replace(b'"name":"op', b'"name":"%bop' % prefix.encode()) for e in events if e.fault is None]
        documents.append(b'{"traceEvents":[%b]}' % b",".join(texts))
    trace = load(tmp_path, gap.join(documents), chunk)
    names = {p + e.name for p, events in (("a", first), ("b", second)) for e in events if e.fault is None}
    assert found(trace).keys() == names
    assert trace.report.to_dict()["left_out"] == {}


@given(events=files(), packing=st.sampled_from(["gzip", "zstandard"]), rest=st.binary(min_size=1, max_size=40))
@untouched
def test_what_stands_behind_compressed_data_is_told_in_bytes(
    events: list[Event], packing: str, rest: bytes, tmp_path: Path
) -> None:
    rest = b"x" + rest
    events = [event for event in events if event.fault is None]
    if not events:
        return
    text = written(events, "lines")
    data = gzip.compress(text) if packing == "gzip" else zstandard.ZstdCompressor().compress(text)
    trace = load(tmp_path, data + rest, 8 << 20)
    assert found(trace) == expected(events)
    cause = f"{len(rest)} bytes after the end of the {packing} stream: not read"
    assert trace.report.to_dict()["repaired"] == {cause: 1}
    assert load(tmp_path, data + bytes(len(rest)), 8 << 20).report.clean  # zeros are padding


@given(events=files(), packing=st.sampled_from(["gzip", "zstandard"]), where=st.floats(0, 1), flip=st.booleans())
@untouched
def test_compressed_data_that_is_cut_or_damaged_says_so(
    events: list[Event], packing: str, where: float, flip: bool, tmp_path: Path
) -> None:
    events = [event for event in events if event.fault is None]
    if not events:
        return
    text = written(events, "lines")
    data = gzip.compress(text) if packing == "gzip" else zstandard.ZstdCompressor(write_checksum=True).compress(text)
    at = 12 + int(where * (len(data) - 13))  # behind the header, of which the times and flags are nothing to us
    damaged = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] if flip else data[:at]
    try:
        trace = load(tmp_path, damaged, 8 << 20)
    except NeuronProfileError as error:
        assert "\n" not in str(error)
    else:
        if flip and packing == "zstandard" and _unpacks_to(damaged, text):  # a bit that the format does not use
            assert found(trace) == expected(events)
            return
        assert any(packing in cause for cause in trace.report.repaired)
        assert flip or found(trace).items() <= expected(events).items()


def _unpacks_to(data: bytes, text: bytes) -> bool:
    """Whether zstandard itself, which checks the frame's checksum, finds nothing wrong and nothing changed."""
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(data) == text
    except zstandard.ZstdError:
        return False
