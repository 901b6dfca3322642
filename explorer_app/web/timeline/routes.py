"""The routes that feed the canvas, all under `/_trace`.

    /_trace/meta                            what there is to draw (see `overview`)
    /_trace/slices?t0&t1&w&lanes=0-7,12     blocks of these lanes (see `explorer_app.lod.wire`)
    /_trace/instants?t0&t1&w&tracks=3       ticks of these tracks
    /_trace/counters?t0&t1&w&tracks=5,6     lowest and highest value on each pixel
    /_trace/names?ids=7,8                   {id: text}, texts as a label shows them
    /_trace/search?q=gemm                   names that hold a text (see `search.find_names`)
    /_trace/find?q=gemm&after=-1&direction=1    {"slice": the next one, or null}
    /_trace/slice/<id>                      everything about a slice (see `details`)

`t0` and `t1` are nanoseconds from the start of the trace, `w` is a width in pixels. A request that cannot be meant is
answered with status 400 and one line that says why, one for a slice that is not there with 404.
"""

from __future__ import annotations

from typing import Any

import flask

from explorer_app.lod import blocks_in_window
from explorer_app.lod.wire import encode_blocks, encode_counters, encode_ticks
from explorer_app.web.numbers import once
from explorer_app.web.timeline import request as checked
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.details import slice_details
from explorer_app.web.timeline.overview import overview
from explorer_app.web.timeline.request import BadRequestError
from explorer_app.web.timeline.search import find_names, find_slice
from trace_format import Trace

MOST_COUNTERS = 256


def register_routes(server: flask.Flask, trace: Trace) -> None:
    """Serve the timeline of `trace` under `/_trace`. Nothing is prepared before the first request."""
    routes = flask.Blueprint("timeline", __name__, url_prefix="/_trace")

    def data() -> TimelineData:
        return once(TimelineData, trace)

    @routes.errorhandler(BadRequestError)
    def refuse(error: BadRequestError) -> flask.Response:
        return flask.Response(f"{error}\n", status=400, mimetype="text/plain")

    @routes.get("/meta")
    def meta() -> flask.Response:
        return flask.jsonify(once(_overview, trace))

    @routes.get("/slices")
    def slices() -> flask.Response:
        args = flask.request.args
        window = checked.window(args, data())
        lanes = checked.numbers(args, "lanes", data().lanes.count)
        body = encode_blocks(blocks_in_window(data().pyramid, window, lanes), window, trace.slices)
        # only now, so that the first picture has the processor to itself
        data().pyramid.build_in_background()
        return _binary(body)

    @routes.get("/instants")
    def instants() -> flask.Response:
        args = flask.request.args
        window = checked.window(args, data())
        tracks = checked.numbers(args, "tracks", len(trace.tracks))
        return _binary(encode_ticks(data().moments.in_window(window, tracks), window, trace.instants))

    @routes.get("/counters")
    def counters() -> flask.Response:
        args = flask.request.args
        window = checked.window(args, data())
        tracks = checked.numbers(args, "tracks", len(trace.tracks), most=MOST_COUNTERS)
        found = [data().counters.in_window(window, track) for track in tracks]
        return _binary(encode_counters(found, window.width_px))

    @routes.get("/names")
    def names() -> flask.Response:
        ids = checked.numbers(flask.request.args, "ids", len(trace.pool.strings), most=checked.MOST_NAMES)
        return flask.jsonify({name: data().name(name) for name in ids})

    @routes.get("/search")
    def search() -> flask.Response:
        return flask.jsonify(find_names(data(), checked.query(flask.request.args)))

    @routes.get("/find")
    def find() -> flask.Response:
        args = flask.request.args
        after = checked.integer(args, "after", -1, len(trace.slices) - 1)
        direction = checked.integer(args, "direction", -1, 1) or 1
        return flask.jsonify({"slice": find_slice(data(), checked.query(args), after, direction)})

    @routes.get("/slice/<int:row>")
    def one_slice(row: int) -> flask.Response:
        if row >= len(trace.slices):
            flask.abort(404, f"there is no slice {row}: the trace has {len(trace.slices)}")
        return flask.jsonify(slice_details(data(), row))

    server.register_blueprint(routes)


def _overview(trace: Trace) -> dict[str, Any]:
    return overview(once(TimelineData, trace))


def _binary(body: bytes) -> flask.Response:
    # the trace does not change while it is served, but another may be served under the same address later
    return flask.Response(body, mimetype="application/octet-stream", headers={"Cache-Control": "no-store"})
