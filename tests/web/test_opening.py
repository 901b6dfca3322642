"""Another file is opened from the app: below the folders given, with progress, and never anything else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import constructed
import dash
import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Page, expect

from explorer_app.web.app import create_app
from explorer_app.web.library import Library
from explorer_app.web.opening.folders import Folders, NotBelowError
from explorer_app.web.opening.jobs import MOST_AT_ONCE
from explorer_app.web.opening.routes import register_opening
from neuron_profile import load
from trace_format import Trace, write_trace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """given/ with two traces, a folder, a hidden file and a link that leads out; secret.txt beside it."""
    given = tmp_path / "given"
    (given / "runs").mkdir(parents=True)
    write_trace(constructed.three_steps(), given / "three.pb")
    write_trace(constructed.ranks(2), given / "runs" / "two.pb")
    (given / ".hidden").write_text("x")
    (given / "broken.json").write_text("{")
    (tmp_path / "secret.txt").write_text("secret")
    (given / "out").symlink_to(tmp_path / "secret.txt")
    return given


def opener(folder: Path, read: Callable[..., Trace] | None = None) -> dash.Dash:
    library = Library.holding(constructed.empty(), title="first.pb")
    app = create_app(library)
    default = lambda path, progress: load(path, progress=progress)  # noqa: E731
    register_opening(app.server, library, Folders([folder]), read or default)
    return app


@pytest.fixture
def client(folder: Path) -> FlaskClient:
    return opener(folder).server.test_client()


def ended(client: FlaskClient, job: str) -> dict[str, Any]:
    """The job when it has ended."""
    for _ in range(2000):
        told = client.get(f"/_open/job/{job}").json
        if told["ended"]:
            return dict(told)
        threading.Event().wait(0.01)
    raise AssertionError("the job did not end")


def test_a_folder_is_listed_without_what_leads_out_of_it(client: FlaskClient, folder: Path) -> None:
    found = client.get("/_open/list").json
    assert [(entry["name"], entry["is_folder"]) for entry in found["entries"]] == [
        ("runs", True), ("broken.json", False), ("three.pb", False),
    ]  # fmt: skip
    assert (found["folder"], found["parent"]) == (str(folder), None)
    inner = client.get("/_open/list", query_string={"folder": str(folder / "runs")}).json
    assert (inner["parent"], inner["entries"][0]["name"]) == (str(folder), "two.pb")


@pytest.mark.parametrize(
    "path",
    ["{given}/..", "{given}/../secret.txt", "{given}/out", "/etc/passwd", "/", "{given}/nope", "x\0y", "", "runs"],
)
def test_what_is_not_below_the_folder_is_neither_listed_nor_opened(
    client: FlaskClient, folder: Path, path: str
) -> None:
    asked = path.format(given=folder)
    answers = [client.post("/_open/start", json={"path": asked})]
    if asked:  # nothing asked is the folder to start from
        answers.append(client.get("/_open/list", query_string={"folder": asked}))
    for answer in answers:
        assert answer.status_code == 403
        assert answer.text.count("\n") == 1
        assert "secret\n" not in answer.text


@pytest.mark.parametrize("body", [None, [], {}, {"path": 7}, "x"])
def test_a_request_that_names_no_path_is_refused(client: FlaskClient, body: Any) -> None:
    assert client.post("/_open/start", json=body).status_code == 400


def test_a_file_given_stands_for_the_folder_it_is_in(folder: Path) -> None:
    folders = Folders([folder / "three.pb", folder / "gone.pb"])
    assert folders.roots == (folder,)
    assert folders.find(str(folder / "runs" / "two.pb")).name == "two.pb"
    with pytest.raises(NotBelowError, match="not below"):
        folders.find(str(folder.parent))


def test_an_opened_file_is_there_under_its_key(client: FlaskClient, folder: Path) -> None:
    told = ended(client, client.post("/_open/start", json={"path": str(folder / "three.pb")}).json["job"])
    assert told["error"] == ""
    meta = client.get(f"/_trace/{told['key']}/meta").json
    assert meta["slice_count"] == len(constructed.three_steps().slices)
    assert [each["title"] for each in client.get("/_open/list").json["opened"]] == ["first.pb", "three.pb"]


def test_a_file_that_cannot_be_read_says_why_in_one_line(client: FlaskClient, folder: Path) -> None:
    (folder / "text.txt").write_text("no trace")
    told = ended(client, client.post("/_open/start", json={"path": str(folder / "text.txt")}).json["job"])
    assert "text.txt" in told["error"]
    assert (told["key"], "\n" in told["error"]) == ("", False)


def test_progress_is_told_and_a_cancelled_file_is_not_opened(folder: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def read(_: Path, progress: Callable[[int, int], None]) -> Trace:
        progress(25, 100)
        begun.set()
        go_on.wait(20)
        progress(50, 100)
        raise AssertionError("cancelled files are read no further")

    client = opener(folder, read).server.test_client()
    job = client.post("/_open/start", json={"path": str(folder / "three.pb")}).json["job"]
    assert begun.wait(20)
    told = client.get(f"/_open/job/{job}").json
    assert (told["done_bytes"], told["total_bytes"], told["ended"]) == (25, 100, False)
    client.post(f"/_open/cancel/{job}")
    go_on.set()
    assert ended(client, job)["error"] == "cancelled"
    assert len(client.get("/_open/list").json["opened"]) == 1


def test_only_a_few_files_are_opened_at_once(folder: Path) -> None:
    go_on = threading.Event()

    def read(_: Path, __: Any) -> Trace:
        go_on.wait(20)
        return constructed.empty()

    client = opener(folder, read).server.test_client()
    answers = [client.post("/_open/start", json={"path": str(folder / "three.pb")}) for _ in range(MOST_AT_ONCE + 1)]
    go_on.set()
    assert [answer.status_code for answer in answers] == [200] * MOST_AT_ONCE + [429]


@pytest.mark.browser
def test_a_reader_opens_another_file_and_goes_back_to_the_first(
    browser_page: Callable[..., Page], served: Callable[[Any], str], folder: Path
) -> None:
    page = browser_page()
    page.watch.ignore_console.append("403")  # type: ignore[attr-defined]
    page.goto(f"{served(opener(folder))}/hotspots")
    expect(page.locator("#np-file")).to_have_text("first.pb")
    page.get_by_role("button", name="Open another trace").click()
    page.get_by_role("button", name="three.pb").click()
    expect(page.locator("#np-file")).to_have_text("three.pb")
    expect(page.locator("#np-open")).to_be_hidden()
    expect(page.locator(".ag-center-cols-container .ag-row").first).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    expect(page.locator("#np-file")).to_have_text("three.pb")  # the pages keep the trace
    page.get_by_role("button", name="Open another trace").click()
    page.get_by_role("button", name="first.pb").click()
    expect(page.locator("#np-file")).to_have_text("first.pb")
