"""The routes to the notes on the open traces, all under `/_notes/<key>`; the key names an open trace (see `library`).

    GET  /_notes/<key>           {"notes": [{id, start_ns, end_ns, text, version}, …], "place": …, "problem": …}
    POST /_notes/<key>           a note: {"id": null for a new one, "version", "start_ns", "end_ns", "text"}
    POST /_notes/<key>/remove    {"id", "version"}

Times are on the trace's clock, as decimal text: JavaScript's numbers cannot hold them. Every answer has all notes as
they are then; `place` says where they are kept, `problem` is null or why a change was not made (with status 409 where a
note was changed meanwhile, 503 where nothing can be written).
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any

import flask

from explorer_app.web.library import Library, NotOpenError
from explorer_app.web.notes.keeping import Keeping, Place
from explorer_app.web.notes.note import LONGEST_TEXT, ChangedMeanwhileError, Note, Notes, NotesError

_FARTHEST_NS = 1 << 63


def register_notes(server: flask.Flask, library: Library) -> None:
    """Serve the notes on the traces of a library."""
    routes = flask.Blueprint("notes", __name__, url_prefix="/_notes/<key>")
    changing = threading.Lock()

    def keeping(key: str) -> Keeping:
        try:
            return Keeping(library.get(key).paths)
        except NotOpenError as error:
            flask.abort(404, str(error))

    @routes.get("")
    def listing(key: str) -> Any:
        return _answer(keeping(key), None)

    @routes.post("")
    def put(key: str) -> Any:
        note = _asked_note(_body())
        return change(key, lambda notes: notes.put(note))

    @routes.post("/remove")
    def remove(key: str) -> Any:
        body = _body()
        name, version = _name(body.get("id")), _version(body.get("version"))
        return change(key, lambda notes: notes.remove(name, version))

    def change(key: str, how: Callable[[Notes], Notes]) -> Any:
        kept = keeping(key)
        with changing:
            try:
                kept.change(how)
            except ChangedMeanwhileError as error:
                return _answer(kept, str(error)), 409
            except NotesError as error:
                return _answer(kept, str(error)), 503
        return _answer(kept, None)

    server.register_blueprint(routes)


def _answer(kept: Keeping, problem: str | None) -> flask.Response:
    notes, place = Notes(), None
    try:
        notes, place = kept.read()
    except NotesError as error:
        problem = problem or str(error)
    return flask.jsonify(
        {"notes": [_told(note) for note in notes.notes], "place": _said(place, kept), "problem": problem}
    )


def _said(place: Place | None, kept: Keeping) -> str:
    if place is not None:
        return place.told
    return kept.places[0].told if kept.places else "This trace comes from no file: notes on it cannot be kept."


def _told(note: Note) -> dict[str, Any]:
    end = None if note.end_ns is None else str(note.end_ns)
    return {"id": note.id, "start_ns": str(note.start_ns), "end_ns": end, "text": note.text, "version": note.version}


def _body() -> dict[str, Any]:
    body = flask.request.get_json(silent=True)
    if not isinstance(body, dict):
        flask.abort(400, "a change of notes is a JSON object")
    return body


def _asked_note(body: dict[str, Any]) -> Note:
    text = body.get("text")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
        flask.abort(400, f"text must have 1 to {LONGEST_TEXT} characters")
    start_ns = _moment(body.get("start_ns"), "start_ns")
    end_ns = None if body.get("end_ns") is None else _moment(body["end_ns"], "end_ns")
    if end_ns is not None and end_ns < start_ns:
        flask.abort(400, "end_ns must not be before start_ns")
    if body.get("id") is None:
        return Note(secrets.token_hex(8), start_ns, end_ns, text, 0)
    return Note(_name(body["id"]), start_ns, end_ns, text, _version(body.get("version")))


def _moment(text: Any, name: str) -> int:
    digits = text.removeprefix("-") if isinstance(text, str) else ""
    if not (
        digits.isascii() and digits.isdecimal() and len(digits) <= 19 and -_FARTHEST_NS <= int(text) < _FARTHEST_NS
    ):
        flask.abort(400, f"{name} must be nanoseconds as text")
    return int(text)


def _name(name: Any) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= 32:
        flask.abort(400, "id must be that of a note")
    return name


def _version(version: Any) -> int:
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < _FARTHEST_NS:
        flask.abort(400, "version must be that of the note")
    return version
