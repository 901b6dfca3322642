"""What the dialog asks for, all under `/_open`.

GET  /_open/list?folder=…    open traces, folders to start from, and what is in `folder`
POST /_open/start            {"path": …} -> {"job": id}
GET  /_open/job/<id>         how far it is (see `Job.told`)
POST /_open/cancel/<id>      the reader does not want it any more
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import flask

from explorer_app.web.library import Library
from explorer_app.web.names import named
from explorer_app.web.opening.folders import Folders, NotBelowError
from explorer_app.web.opening.jobs import BusyError, Job, Jobs, Load


def register_opening(server: flask.Flask, library: Library, folders: Folders, load: Load) -> None:
    """Serve the dialog in which another file or folder is opened into `library` by `load(path, progress)`."""
    jobs = Jobs(library, load)
    routes = flask.Blueprint("opening", __name__, url_prefix="/_open")

    @routes.get("/list")
    def listing() -> flask.Response:
        asked = flask.request.args.get("folder", "")
        found: dict[str, Any] = {
            "opened": [{"key": each.key, "title": named(each.title)} for each in library.all()],
            "first": library.first.key,
            "roots": [str(root) for root in folders.roots],
            "folder": None, "parent": None, "entries": [], "more": 0,
        }  # fmt: skip
        if not asked and len(folders.roots) == 1:
            asked = str(folders.roots[0])
        if asked:
            try:
                folder = folders.find(asked)
                entries, more = folders.entries(folder)
            except NotBelowError as error:
                flask.abort(403, str(error))
            except OSError as error:
                flask.abort(404, f"{asked[:200]!r} cannot be listed: {error.strerror}")
            found |= {"folder": str(folder), "entries": [asdict(entry) for entry in entries], "more": more}
            if folder not in folders.roots:
                found["parent"] = str(folder.parent)
        return flask.jsonify(found)

    @routes.post("/start")
    def start() -> flask.Response:
        body = flask.request.get_json(silent=True)
        path = body.get("path") if isinstance(body, dict) else None
        if not isinstance(path, str):
            flask.abort(400, "path must be the path of a file or folder")
        try:
            return flask.jsonify({"job": jobs.start(folders.find(path))})
        except NotBelowError as error:
            flask.abort(403, str(error))
        except BusyError as error:
            flask.abort(429, str(error))

    @routes.get("/job/<name>")
    def job(name: str) -> flask.Response:
        return flask.jsonify(_known(name).told())

    @routes.post("/cancel/<name>")
    def cancel(name: str) -> flask.Response:
        _known(name).cancelled.set()
        return flask.jsonify({})

    def _known(name: str) -> Job:
        found = jobs.get(name)
        if found is None:
            flask.abort(404, "nothing is being opened under this id")
        return found

    server.register_blueprint(routes)
