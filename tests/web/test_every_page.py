"""Every page of traces that lack something: it shows what there is and why the rest is not there, and never fails."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import constructed
import pytest
from callback_requests import page_request
from explorer_of import explorer_of
from flask.testing import FlaskClient

from explorer_app.web.pages import PAGES
from trace_format import CATEGORIES, Trace, TraceBuilder


def slices_only() -> Trace:
    """One track of ten slices; no steps, device, memory, counters, instants, bytes or compiles."""
    builder = TraceBuilder()
    track = builder.track("main", kind="host_thread")
    for number in range(10):
        builder["slices"].append(
            1, ts_ns=constructed.START_NS + number * constructed.MS, dur_ns=constructed.MS, track=track,
            name=builder.string("work"), category=CATEGORIES.index("host_op"),
        )  # fmt: skip
    return builder.finish()


def device_only() -> Trace:
    """One slice on a stream of a device, of a name that is empty."""
    builder = TraceBuilder()
    track = builder.track("", kind="stream", device=0)
    builder["slices"].append(1, ts_ns=0, dur_ns=0, track=track, name=builder.string(""), category=0)
    return builder.finish()


def counters_only() -> Trace:
    """A counter of one value, and nothing that lasts."""
    builder = TraceBuilder()
    track = builder.track("watts", kind="counter")
    builder["counters"].append(1, ts_ns=constructed.START_NS, track=track, value=5.0)
    return builder.finish()


TRACES: dict[str, Callable[[], Trace]] = {
    "empty": constructed.empty, "slices only": slices_only, "device only": device_only,
    "counters only": counters_only, "unfinished": constructed.unfinished, "hostile": constructed.hostile,
    "long names": constructed.long_names, "ranks": lambda: constructed.ranks(4), "steps": constructed.three_steps,
}  # fmt: skip
RANGES = {
    "whole": None,
    "a nanosecond": {"from": str(constructed.START_NS), "to": str(constructed.START_NS + 1)},
    "the first half": {"from": str(constructed.START_NS), "to": str(constructed.START_NS + 5 * constructed.MS)},
    "outside": {"from": "0", "to": "1"},
}


@pytest.fixture(scope="module", params=TRACES)
def client(request: pytest.FixtureRequest) -> FlaskClient:
    return explorer_of(TRACES[request.param](), title=request.param).server.test_client()


def texts(component: Any) -> list[str]:
    """What the reader reads in a component, part by part."""
    if isinstance(component, str):
        return [component]
    if isinstance(component, list):
        return [text for part in component for text in texts(part)]
    return texts(component["props"].get("children")) if isinstance(component, dict) and "props" in component else []


@pytest.mark.parametrize("where", PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("chosen", RANGES)
def test_a_page_shows_its_question_and_something_below_it(
    client: FlaskClient, caplog: pytest.LogCaptureFixture, where: Any, chosen: str
) -> None:
    with caplog.at_level(logging.WARNING):
        answer = client.post("/_dash-update-component", json=page_request(where.path, RANGES[chosen]))
    assert answer.status_code == 200
    assert [record.getMessage() for record in caplog.records] == []
    page = answer.json["response"]["np-page"]["children"]
    found = texts(page)
    assert found[0] == where.question
    assert " ".join(found[1:]).strip()
    assert "could not be worked out" not in " ".join(found)
    shown = json.dumps(page)
    assert "NaN" not in shown, "unknown is no number that is shown"
    assert " nan" not in " ".join(found).casefold()
    assert "None" not in found
