"""Without the token of the printed address nothing is shown."""

from __future__ import annotations

import constructed
import pytest
from explorer_of import explorer_of
from flask.testing import FlaskClient

from explorer_app.web.access import new_token, require_token

TOKEN = "a-token_of-this-test"


@pytest.fixture
def client() -> FlaskClient:
    server = explorer_of(constructed.three_steps(), title="three steps").server
    require_token(server, TOKEN)
    return server.test_client()


@pytest.mark.parametrize(
    "path", ["/", "/timeline", "/_dash-layout", "/assets/np_base.css", "/_trace/x/meta", "/favicon.ico"]
)
@pytest.mark.parametrize("token", [None, "", "none", TOKEN[:-1], TOKEN + "x", "\ud800"])
def test_who_does_not_bring_it_is_refused_in_one_line(client: FlaskClient, path: str, token: str | None) -> None:
    answer = client.get(path, query_string={} if token is None else {"token": token.encode("utf-8", "surrogatepass")})
    assert answer.status_code == 403
    assert answer.text.count("\n") == 1


def test_the_address_gives_a_cookie_and_is_left_without_the_token(client: FlaskClient) -> None:
    answer = client.get(f"/timeline?token={TOKEN}&t0=5&name=a%26b")
    assert (answer.status_code, answer.location) == (302, "/timeline?t0=5&name=a%26b")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert client.get("/timeline").status_code == 200
    assert client.get("/_dash-layout").status_code == 200


def test_a_redirect_never_leads_elsewhere(client: FlaskClient) -> None:
    answer = client.get(f"/?token={TOKEN}", environ_overrides={"PATH_INFO": "//evil.example/"})
    assert (answer.status_code, answer.location) == (302, "/evil.example/")


def test_two_explorers_have_cookies_of_two_names(client: FlaskClient) -> None:
    other = explorer_of(constructed.three_steps(), title="three steps").server
    require_token(other, "another")
    names = {
        answer.headers["Set-Cookie"].partition("=")[0]
        for answer in (client.get(f"/?token={TOKEN}"), other.test_client().get("/?token=another"))
    }
    assert len(names) == 2


def test_tokens_are_long_and_never_the_same() -> None:
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) == 24
