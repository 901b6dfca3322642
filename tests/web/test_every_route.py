"""Every route of the server: foreign requests are refused, and nothing that anyone sends makes it fail."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any
from urllib.parse import quote

import constructed
import dash
import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.routing import Rule

from explorer_app.web.access import require_token
from explorer_app.web.app import create_app
from explorer_app.web.library import Library, key_of
from explorer_app.web.opening.folders import Folders
from explorer_app.web.opening.routes import register_opening
from explorer_app.web.pages import PAGES
from explorer_app.web.wsgi import MAX_REQUEST_BYTES
from neuron_profile import load
from trace_format import write_trace

CALLBACKS = "/_dash-update-component"
TOKEN = "a-token_of-this-test"
ARGUMENTS = (
    "t0", "t1", "w", "lanes", "tracks", "ids", "q", "find", "color", "by", "kind", "depth", "after", "direction",
    "stage", "folder", "token",
)  # fmt: skip
NUMBERS = ("0", "1", "-1", "9" * 19, "9" * 400, "1e9", "٣", "0x10", "1_0", "+1", " 1", "0-4294967295", "5-3", "1,", "-")
FAR = st.sampled_from(
    ["0", "1000000", "33000000", str(1 << 61), str(-(1 << 61)), str(1 << 62), "9" * 19, "-" + "9" * 19]
)
LEADING_OUT = (
    "/etc/passwd",
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/secret",
    "..\\..\\secret",
)
TEXTS = st.one_of(
    st.sampled_from((*NUMBERS, *constructed.HOSTILE, *LEADING_OUT, "/(a+)+$/", "/[/", "cat:x", "track:", '"', "name")),
    st.text(max_size=30),
)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
VIEWS = st.one_of(st.fixed_dictionaries({"trace": TEXTS | st.none(), "from": TEXTS | FAR, "to": TEXTS | FAR}), JSONS)
FEW = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _app(folder: Path) -> tuple[dash.Dash, str]:
    path = folder / "three.pb"
    write_trace(constructed.three_steps(), path)
    library = Library()
    key = library.add(load(path), title="three.pb", source="three.pb", paths=[path]).key
    library.add(constructed.hostile(), title=constructed.HOSTILE[0])
    app = create_app(library)
    register_opening(app.server, library, Folders([folder]), lambda path, _: load(path))
    return app, key


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> dash.Dash:
    return _app(tmp_path_factory.mktemp("traces"))[0]


@pytest.fixture(scope="module")
def client(app: dash.Dash) -> FlaskClient:
    return app.server.test_client()


@pytest.fixture(scope="module")
def with_token(tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    app, _ = _app(tmp_path_factory.mktemp("behind a token"))
    require_token(app.server, TOKEN)
    return app.server.test_client(use_cookies=False)


def routes(app: dash.Dash) -> list[tuple[str, str]]:
    """Every method and address of the server, with something in the place of what is open in it."""
    filled = {
        "key": key_of("three.pb"), "row": "0", "name": "x", "path": "nowhere", "filename": "np_base.css",
        "package_name": "dash", "fingerprinted_path": "deps/react@18.js",
    }  # fmt: skip
    found = []
    for rule in app.server.url_map.iter_rules():
        assert isinstance(rule, Rule)
        address = rule.rule
        for name in rule.arguments:
            for kind in ("", "string:", "path:", "int:"):
                address = address.replace(f"<{kind}{name}>", filled[name])
        assert "<" not in address, f"say in this test what stands for the arguments of {rule.rule}"
        found.extend((method, address) for method in sorted(rule.methods or ()))
    return found


def told(answer: Any) -> str:
    """The one plain line of a refusal."""
    assert answer.mimetype == "text/plain", answer.text[:300]
    line = answer.text
    assert (line.count("\n"), line[-1:]) in ((1, "\n"), (0, "")), line  # HEAD has no body
    assert len(line) < 400
    assert "Traceback" not in line
    return line


def refused(answer: Any) -> None:
    """It is refused as the sender's fault, and nothing of this machine is told."""
    assert 400 <= answer.status_code < 500, answer.text
    line = told(answer)
    assert str(Path.cwd()) not in line
    assert "root:" not in line


def never_fails(answer: Any) -> None:
    """It is answered, or refused in one line; a page that there is none of is told as a page."""
    if answer.status_code >= 400 and answer.mimetype != "text/html":
        refused(answer)
    assert answer.status_code < 500


def test_the_working_folder_is_not_served(app: dash.Dash) -> None:
    assert "static" not in {rule.endpoint for rule in app.server.url_map.iter_rules()}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example:80"}, {"Host": ""},
        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
    ids=str,
)  # fmt: skip
def test_no_route_answers_a_foreign_page(app: dash.Dash, client: FlaskClient, headers: dict[str, str]) -> None:
    for method, address in routes(app):
        answer = client.open(address, method=method, headers=headers)
        assert answer.status_code == 403, (method, address)
        told(answer)


def test_no_route_answers_who_has_no_token(app: dash.Dash, with_token: FlaskClient) -> None:
    for method, address in routes(app):
        for asked in ({}, {"token": "guessed"}, {"token": ["guessed", TOKEN]}):
            answer = with_token.open(address, method=method, query_string=asked, headers={"Cookie": "token=x; a"})
            assert answer.status_code == 403, (method, address)
            told(answer)


@pytest.mark.parametrize(
    ("headers", "asked"), [({"Host": "evil.example"}, {"token": TOKEN}), ({}, {})], ids=["foreign", "without token"]
)
def test_nothing_is_read_or_prepared_for_who_is_refused(
    with_token: FlaskClient, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], asked: dict[str, str]
) -> None:
    monkeypatch.setattr("explorer_app.web.timeline.routes.once", lambda *_: pytest.fail("a timeline is prepared"))
    answer = with_token.get("/timeline", headers=headers, query_string=asked)
    assert (answer.status_code, answer.headers.get("Set-Cookie")) == (403, None)
    body = b"[" * MAX_REQUEST_BYTES + b"["  # who reads it says 413
    assert with_token.post(CALLBACKS, data=body, headers=headers, query_string=asked).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "POST", "BREW"])
def test_a_method_that_a_route_does_not_have_is_refused(app: dash.Dash, client: FlaskClient, method: str) -> None:
    taken = {address for known, address in routes(app) if known == method}
    for address in {address for _, address in routes(app)} - taken:
        refused(client.open(address, method=method))


@pytest.mark.parametrize(
    "prefix", ["/assets/", "/_dash-component-suites/", "/_dash-component-suites/dash/", "/_open/", "/_notes/"]
)
@pytest.mark.parametrize(
    "path",
    [
        "../app.py", "..%2fapp.py", "%2e%2e/app.py", "%252e%252e/app.py", "..%5capp.py", "....//app.py", "%00",
        "np_base.css%00.js",
        "%ff%fe", "/etc/passwd", "//etc/passwd", "%2fetc%2fpasswd",
        "dash/%252e%252e/%252e%252e/dash.py", "os/path.js",
        "dash/nope.js", "nope/dash.js", "a" * 5000, "%f0%9f%92%a9", "file:///etc/passwd", "C:%5cWindows%5cwin.ini",
    ],
)  # fmt: skip
def test_no_path_leads_to_a_file_that_is_not_served(
    client: FlaskClient, caplog: pytest.LogCaptureFixture, prefix: str, path: str
) -> None:
    answer = client.get(prefix + path)
    assert answer.status_code in (404, 405)
    assert "import" not in answer.text
    assert caplog.records == []
    refused(answer)


@FEW
@given(st.data())
def test_no_arguments_make_a_route_fail(app: dash.Dash, client: FlaskClient, data: st.DataObject) -> None:
    method, address = data.draw(st.sampled_from(routes(app)))
    window = {"t0": FAR, "t1": FAR, "w": st.sampled_from(["1", "100", "8192"]), "lanes": st.sampled_from(["0", "0-3"])}
    asked = data.draw(st.dictionaries(st.sampled_from(ARGUMENTS), TEXTS, max_size=5))
    if data.draw(st.booleans()):  # beside what can be meant
        asked = {**data.draw(st.fixed_dictionaries(window)), **asked}
    query = "&".join(f"{name}={quote(value.encode('utf-8', 'surrogatepass'))}" for name, value in asked.items())
    never_fails(client.open(address, method=method, query_string=query))


@FEW
@given(path=st.text(min_size=1, max_size=20) | TEXTS)
def test_no_address_makes_the_server_fail(client: FlaskClient, path: str) -> None:
    where = quote(path.encode("utf-8", "surrogatepass"))
    for address in (
        f"/{where}",
        f"/_trace/{where}/meta",
        f"/_trace/{key_of('three.pb')}/{where}",
        f"/_open/job/{where}",
    ):
        never_fails(client.get(address))


def posts(app: dash.Dash) -> list[str]:
    return [address for method, address in routes(app) if method == "POST"]


@FEW
@given(body=JSONS | st.dictionaries(st.sampled_from(["id", "version", "start_ns", "end_ns", "text", "path"]), JSONS))
def test_no_body_makes_a_route_fail(app: dash.Dash, client: FlaskClient, body: Any) -> None:
    for address in posts(app):
        never_fails(client.post(address, json=body))


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"\xff\xfe", b"[" * 200_000, b'{"a":' * 200_000, b'{"path": ' + b"9" * 6000 + b"}", b"NaN",
        b'"\\ud800"',
    ],
    ids=["empty", "half", "no text", "deep lists", "deep objects", "endless number", "NaN", "half a character"],
)  # fmt: skip
def test_a_body_that_is_no_json_is_refused(app: dash.Dash, client: FlaskClient, body: bytes) -> None:
    for address in posts(app):
        for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x"):
            answer = client.post(address, data=body, content_type=kind)
            if not address.startswith("/_open/cancel"):  # which takes no body
                refused(answer)


def test_a_body_larger_than_anything_the_browser_sends_is_refused_unread(app: dash.Dash, client: FlaskClient) -> None:
    body = b'{"text": "' + b"x" * MAX_REQUEST_BYTES + b'"}'
    for address in posts(app):
        answer = client.post(address, data=body, content_type="application/json")
        assert answer.status_code in ((413, 404) if address.startswith("/_open/cancel") else (413,))
        told(answer)


def server_callbacks(app: dash.Dash) -> list[str]:
    """The outputs of the callbacks that the server answers."""
    return sorted(output for output, callback in app.callback_map.items() if "callback" in callback)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_nothing_that_a_browser_could_send_makes_a_callback_fail(
    app: dash.Dash, client: FlaskClient, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    output = data.draw(st.sampled_from(server_callbacks(app)))
    callback = app.callback_map[output]
    paths = st.sampled_from([page.path for page in PAGES])

    def value(part: dict[str, Any]) -> Any:
        if part["id"] == "np-view":
            return data.draw(VIEWS)
        return data.draw(paths | JSONS if part["property"] == "pathname" else JSONS)

    parts = {
        kind: [
            [] if isinstance(part["id"], str) and part["id"].startswith("{") else {**part, "value": value(part)}
            for part in callback[kind]
        ]
        for kind in ("inputs", "state")
    }
    names = [each.rpartition(".") for each in output.strip(".").split("...")]
    outputs = [{"id": name.partition("@")[0], "property": what.partition("@")[0]} for name, _, what in names]
    changed = [f"{part['id']}.{part['property']}" for part in callback["inputs"][:1]]
    body = {"output": output, "outputs": outputs if output.startswith("..") else outputs[0], **parts}
    body["changedPropIds"] = changed
    caplog.clear()
    with caplog.at_level(logging.ERROR):
        answer = client.post(CALLBACKS, data=json.dumps(body), content_type="application/json")
    assert [record.getMessage() for record in caplog.records] == []
    never_fails(answer)
