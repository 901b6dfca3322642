"""Notes are kept beside their trace; what another program wrote there is never overwritten unseen."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import flask
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer_app.web.app import create_app
from explorer_app.web.library import Library
from explorer_app.web.notes import keeping
from explorer_app.web.notes.keeping import Keeping
from explorer_app.web.notes.note import MOST_NOTES, ChangedMeanwhileError, Note, Notes, NotesError
from explorer_app.web.notes.routes import register_notes
from explorer_app.web.opening.folders import Folders
from neuron_profile import load
from trace_format import TraceBuilder, TraceFileError
from trace_format.trace_pb.writer import write_trace


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.pb"
    path.write_bytes(b"a trace")
    return path


def client_of(*paths: Path) -> Any:
    server = flask.Flask("test")
    library = Library()
    key = library.add(TraceBuilder().finish(), title="run", paths=paths).key
    register_notes(server, library)
    client = server.test_client()

    def ask(path: str = "", body: Any = None) -> Any:
        address = f"/_notes/{key}{path}"
        return client.get(address) if body is None else client.post(address, json=body)

    return ask


def note(text: str = "look", start_ns: int = 5, **rest: Any) -> dict[str, Any]:
    return {"id": None, "start_ns": str(start_ns), "end_ns": None, "text": text, **rest}


def test_notes_are_written_beside_the_trace_in_order_of_time(file: Path) -> None:
    ask = client_of(file)
    assert ask().json == {"notes": [], "place": "Kept beside the trace in run.pb.notes.json.", "problem": None}
    ask(body=note("late", 2**62 + 1))
    told = ask(body=note("early", 7, end_ns="9")).json["notes"]
    assert [(each["text"], each["start_ns"], each["end_ns"]) for each in told] == [
        ("early", "7", "9"), ("late", str(2**62 + 1), None),
    ]  # fmt: skip
    kept = json.loads((file.parent / "run.pb.notes.json").read_text())
    assert (kept["format"], kept["version"], [each["start_ns"] for each in kept["notes"]]) == (1, 2, [7, 2**62 + 1])
    assert client_of(file)().json["notes"] == told


def test_a_note_is_changed_and_deleted(file: Path) -> None:
    ask = client_of(file)
    (first,) = ask(body=note()).json["notes"]
    (changed,) = ask(body={**first, "text": "<b>text</b>"}).json["notes"]
    assert (changed["id"], changed["text"], changed["version"]) == (first["id"], "<b>text</b>", 2)
    assert ask("/remove", {"id": first["id"], "version": 2}).json["notes"] == []


def test_a_note_that_another_program_changed_is_not_overwritten_but_shown(file: Path) -> None:
    ask, other = client_of(file), client_of(file)
    (first,) = ask(body=note("mine")).json["notes"]
    other(body={**first, "text": "theirs"})
    other(body=note("a second", 1))
    answer = ask(body={**first, "text": "mine again"})
    assert answer.status_code == 409
    assert "changed or deleted elsewhere" in answer.json["problem"]
    assert [each["text"] for each in answer.json["notes"]] == ["a second", "theirs"]
    assert ask("/remove", {"id": first["id"], "version": 1}).status_code == 409
    # a new note takes nothing away
    assert [each["text"] for each in ask(body=note("third", 9)).json["notes"]] == ["a second", "theirs", "third"]


def test_a_change_while_the_new_file_is_being_written_is_seen(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, other = Keeping([file]), Keeping([file])
    written = keeping.PartialFile.write

    def write_while_another_does(partial: Any, data: bytes) -> None:
        written(partial, data)
        monkeypatch.setattr(keeping.PartialFile, "write", written)
        monkeypatch.setattr(os, "getpid", lambda: -1)  # as another process it has a temporary name of its own
        other.change(lambda notes: notes.put(Note("theirs", 1, None, "theirs", 0)))

    monkeypatch.setattr(keeping.PartialFile, "write", write_while_another_does)
    notes, _ = kept.change(lambda notes: notes.put(Note("mine", 2, None, "mine", 0)))
    assert [each.id for each in notes.notes] == [each.id for each in other.read()[0].notes] == ["theirs", "mine"]


def test_where_the_folder_cannot_be_written_notes_are_kept_in_the_users_own(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **options: Any) -> Any:
        if Path(path).parent == file.parent:
            raise TraceFileError("cannot be written (Read-only file system)", path=path)
        return partial(path, **options)

    partial = keeping.PartialFile
    monkeypatch.setattr(keeping, "PartialFile", refuse)
    kept = Keeping([file], own_folder=tmp_path / "own")
    _, place = kept.change(lambda notes: notes.put(Note("a", 1, None, "kept", 0)))
    assert place.path.parent == tmp_path / "own"
    assert place.told.startswith("The folder of the trace cannot be written: kept in ")
    assert [each.text for each in Keeping([file], own_folder=tmp_path / "own").read()[0].notes] == ["kept"]
    assert Keeping([tmp_path], own_folder=tmp_path / "own").read()[0] == Notes()


def test_several_paths_and_a_pipe_have_no_file_beside_them(file: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.pb"
    second.write_bytes(b"")
    assert [place.beside for place in Keeping([file, second], own_folder=tmp_path / "own").places] == [False]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ask = client_of(pipe)
    assert "cannot be kept" in ask().json["place"]
    answer = ask(body=note())
    assert (answer.status_code, answer.json["notes"]) == (503, [])
    assert "comes from no file" in answer.json["problem"]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"format": 2}', b'{"format":1,"version":0,"notes":[7]}', b"[" * 100_000, b"\xff"]
)
def test_a_file_that_is_none_of_notes_is_told_and_left_alone(file: Path, content: bytes) -> None:
    beside = file.with_name("run.pb.notes.json")
    beside.write_bytes(content)
    ask = client_of(file)
    assert "run.pb.notes.json is no file of notes" in ask().json["problem"]
    assert ask(body=note()).status_code == 503
    assert beside.read_bytes() == content


def test_notes_are_not_written_through_a_link(file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "precious"
    file.with_name("run.pb.notes.json").symlink_to(elsewhere)
    _, place = Keeping([file], own_folder=tmp_path / "own").change(lambda notes: notes.put(Note("a", 1, None, "x", 0)))
    assert not place.beside
    assert not elsewhere.exists()


def test_there_are_at_most_so_many() -> None:
    full = Notes(1, tuple(Note(str(i), i, None, "x", 1) for i in range(MOST_NOTES)))
    with pytest.raises(NotesError, match="delete some"):
        full.put(Note("new", 1, None, "x", 0))
    assert len(full.put(Note("7", 7, None, "y", 1)).notes) == MOST_NOTES
    with pytest.raises(ChangedMeanwhileError):
        full.put(Note("7", 7, None, "y", 2))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("", []),
        ("", note("")),
        ("", note(" ")),
        ("", note("x" * 2001)),
        ("", note(start_ns="x")),
        ("", {**note(), "start_ns": 5}),
        ("", note(end_ns="4")),
        ("", {**note(), "start_ns": "9" * 30}),
        ("", {**note(), "id": "x" * 40, "version": 1}),
        ("", {**note(), "id": "x", "version": "1"}),
        ("/remove", {"id": "x"}),
    ],
)
def test_a_change_that_cannot_be_meant_is_refused(file: Path, path: str, body: Any) -> None:
    assert client_of(file)(path, body).status_code == 400
    assert not file.with_name("run.pb.notes.json").exists()


def test_a_foreign_page_can_neither_read_nor_write_notes(file: Path) -> None:
    library = Library()
    key = library.add(TraceBuilder().finish(), title="run", paths=(file,)).key
    client = create_app(library).server.test_client()
    foreign = {"Origin": "http://evil.example"}
    assert client.post(f"/_notes/{key}", json=note(), headers=foreign).status_code == 403
    assert client.get(f"/_notes/{key}", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.post("/_notes/other", json=note()).status_code == 404
    assert not file.with_name("run.pb.notes.json").exists()


def test_a_folder_with_notes_in_it_is_the_same_trace(tmp_path: Path) -> None:
    builder = TraceBuilder()
    builder["slices"].append(1, track=builder.track("main", kind="host_thread"), ts_ns=0, dur_ns=1)
    write_trace(builder.finish(), tmp_path / "rank0.pb")
    Keeping([tmp_path / "rank0.pb"]).change(lambda notes: notes.put(Note("a", 1, None, "x", 0)))
    found = load(tmp_path)
    assert (len(found.slices), found.report.repaired.total()) == (1, 0)
    assert [entry.name for entry in Folders([tmp_path]).entries(tmp_path)[0]] == ["rank0.pb"]


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda x: st.lists(x) | st.dictionaries(
    st.sampled_from(["format", "version", "notes", "id", "start_ns", "end_ns", "text"]), x), max_leaves=8))  # fmt: skip
def test_any_json_is_notes_or_no_notes(told: Any) -> None:
    for value in (told, {"format": 1, "version": 1, "notes": [told]}):
        try:
            assert isinstance(Notes.from_json(json.dumps(value)), Notes)
        except ValueError as error:
            assert str(error)
