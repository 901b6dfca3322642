"""What the server answers where a request cannot be met."""

from __future__ import annotations

import logging
from typing import Any

import constructed
import pytest
from callback_requests import grouping_request, page_request
from explorer_of import explorer_of
from flask.testing import FlaskClient

from explorer_app.web.library import key_of

KEY = key_of("three steps")


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return explorer_of(constructed.three_steps(), title="three steps").server.test_client()


def is_one_plain_line(answer: Any) -> bool:
    return answer.mimetype == "text/plain" and answer.text.count("\n") == 1 and "<" not in answer.text


@pytest.mark.parametrize("path", ["/", "/timeline", "/timeline/", "/hotspots?by=module", "/memory"])
def test_pages_are_there(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/_trace/nope",
        "/_trace/nope/meta",
        f"/_trace/{KEY}/slice/abc",
        f"/_trace/{KEY}/slice/99999999",
        "/_dash-nothing",
    ],
)
def test_what_is_not_there_is_not_found_in_one_line(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert is_one_plain_line(answer)


def test_a_page_that_is_not_there_is_not_found_but_shows_the_others(client: FlaskClient) -> None:
    answer = client.get("/nowhere")
    assert (answer.status_code, answer.mimetype) == (404, "text/html")


def test_the_mark_stands_for_the_site(client: FlaskClient) -> None:
    answer = client.get("/favicon.ico")
    assert (answer.status_code, answer.mimetype) == (200, "image/svg+xml")


PAGE_SWITCH = page_request("/")


def test_a_callback_is_answered(client: FlaskClient) -> None:
    assert client.post("/_dash-update-component", json=PAGE_SWITCH).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        "text",
        {"output": "np-page.children"},
        PAGE_SWITCH | {"output": "nobody.children"},
        PAGE_SWITCH | {"output": ["np-page.children"]},
        PAGE_SWITCH | {"outputs": None},
        PAGE_SWITCH | {"inputs": "np-url"},
        PAGE_SWITCH | {"inputs": [7]},
        PAGE_SWITCH | {"inputs": [[7]]},
        PAGE_SWITCH | {"state": {}},
        PAGE_SWITCH | {"changedPropIds": [{}]},
        page_request(["a"]),
        PAGE_SWITCH | {"inputs": PAGE_SWITCH["inputs"][:1]},
        PAGE_SWITCH | {"state": []},
    ],
)
def test_a_callback_that_cannot_be_meant_is_refused_in_one_line(
    client: FlaskClient, body: Any, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.post("/_dash-update-component", json=body)
    assert answer.status_code == 400
    assert is_one_plain_line(answer)
    assert caplog.records == []


def test_a_body_that_is_no_json_is_refused_in_one_line(client: FlaskClient) -> None:
    answer = client.post("/_dash-update-component", data=b"{", content_type="application/json")
    assert (answer.status_code, is_one_plain_line(answer)) == (400, True)


@pytest.mark.parametrize("asked", [None, 7, ["module"], {"by": 1}, "colour"])
def test_a_grouping_that_is_none_is_that_by_name(client: FlaskClient, asked: Any) -> None:
    _, body = grouping_request(asked)
    answer = client.post("/_dash-update-component", json=body)
    assert answer.status_code == 200
    assert answer.json["response"]["np-question"]["children"] == "Which operations take the time?"


@pytest.mark.parametrize("chosen", [None, [], [7], [{}], [{"id": ["x"]}], {"id": 1}, "row", [{"id": "name:99"}]])
def test_a_chosen_row_that_is_none_is_no_failure(client: FlaskClient, chosen: Any) -> None:
    body = {
        "output": "np-hotspots-chosen.children", "outputs": {"id": "np-hotspots-chosen", "property": "children"},
        "inputs": [{"id": "np-hotspots", "property": "selectedRows", "value": chosen}],
        "state": [{"id": "np-view", "property": "data", "value": None}],
        "changedPropIds": ["np-hotspots.selectedRows"],
    }  # fmt: skip
    assert client.post("/_dash-update-component", json=body).status_code == 200


def test_a_failure_is_one_plain_line_and_one_traceback_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("a secret of the program")

    monkeypatch.setattr("explorer_app.web.timeline.routes.warning_bands", fail)
    failing = explorer_of(constructed.three_steps(), title="t").server.test_client()
    with caplog.at_level(logging.ERROR):
        answers = [failing.get(f"/_trace/{key_of('t')}/warnings") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [500, 500]
    assert is_one_plain_line(answers[0])
    assert "secret" not in answers[0].text
    assert len([record for record in caplog.records if record.exc_info]) == 1
