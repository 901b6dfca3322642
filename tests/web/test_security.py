"""Who the local server answers."""

from __future__ import annotations

import constructed
import flask
import pytest
from explorer_of import explorer_of
from flask.testing import FlaskClient

from explorer_app.web import security


@pytest.fixture(scope="module")
def server() -> flask.Flask:
    return explorer_of(constructed.three_steps(), title="three steps").server


@pytest.fixture
def client(server: flask.Flask) -> FlaskClient:
    return server.test_client()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8050", "localhost:1", "[::1]:8050", "LOCALHOST"])
def test_this_machine_is_answered(client: FlaskClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example:8050", "127.0.0.1@evil.example", "[::1", "", "10.0.0.7"],
)
def test_any_other_host_name_is_refused(client: FlaskClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("path", ["/", "/_dash-layout", "/_dash-dependencies", "/assets/np_base.css", "/nowhere"])
def test_every_address_is_guarded(client: FlaskClient, path: str) -> None:
    assert client.get(path, headers={"Host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["cors", "no-cors", "websocket"])
def test_requests_of_foreign_pages_are_refused(client: FlaskClient, site: str, mode: str) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
    assert client.get("/_dash-layout", headers=headers).status_code == 403


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost:1", "http://localhost.evil.example", "http://[", "http://[::1"],
)
def test_a_foreign_origin_is_refused(client: FlaskClient, origin: str) -> None:
    assert client.post("/_dash-update-component", json={}, headers={"Origin": origin}).status_code == 403


def test_a_frame_of_a_foreign_page_is_refused(client: FlaskClient) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    assert client.get("/", headers=headers).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        {"Origin": "http://localhost"},
    ],
    ids=["our own page", "typed in", "a followed link", "our own origin"],
)
def test_our_own_pages_and_the_users_hand_are_answered(client: FlaskClient, headers: dict[str, str]) -> None:
    assert client.get("/_dash-layout", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../app.py",
        "/assets/..%2fapp.py",
        "/assets/%2e%2e/app.py",
        "/assets/..%5capp.py",
        "/_dash-component-suites/dash/../../../../etc/passwd",
        "/_dash-component-suites/dash/%2e%2e/%2e%2e/dash.py",
    ],
)
def test_no_path_leads_out_of_what_is_served(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert b"import" not in answer.data


def test_nothing_is_shared_and_no_foreign_code_runs(client: FlaskClient) -> None:
    headers = client.get("/").headers
    assert "Access-Control-Allow-Origin" not in headers
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert "unsafe" not in policy["script-src"]
    assert policy["frame-ancestors"] == "'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


def _guarded(host: str) -> FlaskClient:
    server = flask.Flask("guarded")
    security.protect(server)
    security.allow_host(server, host)
    server.add_url_rule("/", view_func=lambda: "answered")
    return server.test_client()


def test_the_name_the_user_bound_is_answered_too() -> None:
    client = _guarded("box.lan")
    assert client.get("/", headers={"Host": "box.lan:80"}).status_code == 200
    assert client.get("/", headers={"Host": "localhost"}).status_code == 200
    assert client.get("/", headers={"Host": "other.lan"}).status_code == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_bound_to_all_addresses_it_answers_to_numbers_but_not_to_foreign_names(host: str) -> None:
    client = _guarded(host)
    assert client.get("/", headers={"Host": "10.0.0.7:80"}).status_code == 200
    assert client.get("/", headers={"Host": "[fe80::1]:80"}).status_code == 200
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
