"""The routes that feed the canvas, all under `/_trace/<key>`; the key names an open trace (see `library`).

    /_trace/<key>/meta                            what there is to draw so far (see `overview`)
    /_trace/<key>/meta?stage=whole                the same of the whole trace; status 204 while that is worked out
    /_trace/<key>/slices?t0&t1&w&lanes=0-7,12     blocks of these lanes (see `explorer_app.lod.wire`); of those of the
                                                  sketch with `&stage=sketch` (see `preparation`). Of the whole,
                                                  `&find=gemm` and `&color=module` add a column each
    /_trace/<key>/instants?t0&t1&w&tracks=3       ticks of these tracks
    /_trace/<key>/counters?t0&t1&w&tracks=5,6     lowest and highest value on each pixel
    /_trace/<key>/names?ids=7,8                   {id: text}, texts as a label shows them
    /_trace/<key>/search?q=gemm                   what a query finds (see `query`, `search.summary`)
    /_trace/<key>/find?q=gemm&after=-1&direction=1    the next one (see `search.next_slice`)
    /_trace/<key>/near?track=3&at=0               {"slice": its slice nearest to a moment} (see `nearest`)
    /_trace/<key>/colors?by=module                the legend of a colouring (see `colors.Coloring`)
    /_trace/<key>/csv?t0&t1&tracks=3,5-9          the slices of these tracks as a file (see `csv_export`)
    /_trace/<key>/csv/size?t0&t1&tracks=3         {"rows": how many that would be, "most": how many are written}
    /_trace/<key>/regions                         the kinds of marked regions (see `regions.region_kinds`)
    /_trace/<key>/regions?kind=modules&depth=1    those of one kind (see `regions.region_bands`)
    /_trace/<key>/warnings                        what went wrong when (see `warning_bands.warning_bands`)
    /_trace/<key>/slice/<id>                      everything about a slice (see `details`)

`t0` and `t1` are nanoseconds from the start of the trace, `w` is a width in pixels. A request that cannot be meant is
answered with status 400 and one line that says why, one for a slice that is not there with 404. A query that cannot be
meant (yet: the reader is typing it) is no such failure for `search` and `find`: they answer {"problem": why}.
"""

from __future__ import annotations

from contextlib import suppress

import flask
import numpy as np

from explorer_app.lod.wire import encode_blocks, encode_counters, encode_ticks
from explorer_app.web.library import Library, NotOpenError
from explorer_app.web.numbers import once
from explorer_app.web.timeline import request as checked
from explorer_app.web.timeline.colors import Coloring
from explorer_app.web.timeline.csv_export import MOST_ROWS, csv_lines, rows_in_range
from explorer_app.web.timeline.data import TimelineData
from explorer_app.web.timeline.details import slice_details
from explorer_app.web.timeline.headings import MOST_TRACKS
from explorer_app.web.timeline.nearest import nearest_slice
from explorer_app.web.timeline.preparation import Preparation
from explorer_app.web.timeline.query import QueryError
from explorer_app.web.timeline.regions import DEEPEST, region_bands, region_kinds
from explorer_app.web.timeline.request import BadRequestError
from explorer_app.web.timeline.search import Finder, found_in_blocks, next_slice, summary
from explorer_app.web.timeline.warning_bands import warning_bands

MOST_COUNTERS = 256
PAGE_PATH = "/timeline"


def register_routes(server: flask.Flask, library: Library) -> None:
    """Serve the timelines of the open traces under `/_trace`. One is prepared from when its page is asked for."""
    routes = flask.Blueprint("timeline", __name__, url_prefix="/_trace/<key>")

    @routes.before_request
    def find_trace() -> None:
        try:
            flask.g.opened = library.get((flask.request.view_args or {}).pop("key"))
        except NotOpenError as error:
            flask.abort(404, str(error))

    def data() -> TimelineData:
        return prepared().whole()

    def prepared() -> Preparation:
        return once(Preparation, flask.g.opened.trace)

    @server.before_request
    def prepare_ahead() -> None:
        """While the browser loads the page, what it will ask for first is worked out."""
        if flask.request.path.rstrip("/") == PAGE_PATH:
            with suppress(NotOpenError):
                once(Preparation, library.get(flask.request.args.get("trace", "")).trace)

    @routes.errorhandler(BadRequestError)
    def refuse(error: BadRequestError) -> flask.Response:
        return flask.Response(f"{error}\n", status=400, mimetype="text/plain")

    @routes.get("/meta")
    def meta() -> flask.Response:
        stage = checked.stage(flask.request.args, otherwise=prepared().stage_now)
        if stage == "whole" and "stage" in flask.request.args and not prepared().is_whole:
            return flask.Response(status=204)
        return flask.jsonify(prepared().overview(stage))

    @routes.get("/slices")
    def slices() -> flask.Response:
        args = flask.request.args
        drawn = prepared().stage(checked.stage(args, otherwise="whole"))
        window = checked.window(args, drawn)
        lanes = checked.numbers(args, "lanes", drawn.lanes.count)
        blocks = drawn.blocks(window, lanes)
        found = color = None
        if isinstance(drawn, TimelineData):
            if "find" in args:
                found = found_in_blocks(drawn, finder().find(checked.query(args, "find")), blocks, window, lanes)
            if "color" in args:
                color = once(Coloring, drawn.trace, by=checked.coloring(args, "color")).of(blocks.row)
        body = encode_blocks(blocks, window, drawn.trace.slices, found=found, color=color)
        if isinstance(drawn, TimelineData):  # only now, so that the first picture has the processor to itself
            drawn.build_levels_in_background()
        return _binary(body)

    @routes.get("/instants")
    def instants() -> flask.Response:
        args, now = flask.request.args, prepared().now()
        window = checked.window(args, now)
        tracks = checked.numbers(args, "tracks", len(now.trace.tracks))
        return _binary(encode_ticks(now.moments.in_window(window, tracks), window, now.trace.instants))

    @routes.get("/counters")
    def counters() -> flask.Response:
        args, now = flask.request.args, prepared().now()
        window = checked.window(args, now)
        tracks = checked.numbers(args, "tracks", len(now.trace.tracks), most=MOST_COUNTERS)
        found = [now.counters.in_window(window, track) for track in tracks]
        return _binary(encode_counters(found, window.width_px))

    @routes.get("/names")
    def names() -> flask.Response:
        now = prepared().now()
        ids = checked.numbers(flask.request.args, "ids", len(now.trace.pool.strings), most=checked.MOST_NAMES)
        return flask.jsonify({name: now.name(name) for name in ids})

    def finder() -> Finder:
        data()
        return once(Finder, flask.g.opened.trace)

    @routes.get("/search")
    def search() -> flask.Response:
        query = checked.query(flask.request.args, "q")
        try:
            return flask.jsonify(summary(data(), finder().find(query)))
        except QueryError as error:
            return flask.jsonify({"problem": str(error)})

    @routes.get("/find")
    def find() -> flask.Response:
        args = flask.request.args
        after = checked.integer(args, "after", -1, len(data().trace.slices) - 1)
        direction = checked.integer(args, "direction", -1, 1) or 1
        query = checked.query(args, "q")
        try:
            return flask.jsonify(next_slice(data(), finder().find(query), after, direction))
        except QueryError as error:
            return flask.jsonify({"problem": str(error)})

    @routes.get("/near")
    def near() -> flask.Response:
        args, whole = flask.request.args, data()
        track = checked.integer(args, "track", 0, len(whole.trace.tracks) - 1)
        at = checked.integer(args, "at", -checked.FARTHEST_NS, checked.FARTHEST_NS)
        return flask.jsonify({"slice": nearest_slice(whole, track, at)})

    @routes.get("/colors")
    def colors() -> flask.Response:
        by = checked.coloring(flask.request.args, "by")
        return flask.jsonify(once(Coloring, data().trace, by=by).legend)

    @routes.get("/csv")
    def csv() -> flask.Response:
        whole, rows = data(), exported()
        lines = (line.encode("utf-8", "backslashreplace") for line in csv_lines(whole, rows[:MOST_ROWS]))
        name = {"Content-Disposition": 'attachment; filename="slices.csv"', "Cache-Control": "no-store"}
        return flask.Response(lines, mimetype="text/csv", headers=name)

    @routes.get("/csv/size")
    def csv_size() -> flask.Response:
        return flask.jsonify({"rows": len(exported()), "most": MOST_ROWS})

    def exported() -> np.ndarray:
        args, whole = flask.request.args, data()
        start_ns, end_ns = checked.span(args, whole)
        tracks = checked.numbers(args, "tracks", len(whole.trace.tracks), most=MOST_TRACKS)
        return rows_in_range(whole, tracks, start_ns, end_ns)

    @routes.get("/regions")
    def regions() -> flask.Response:
        args = flask.request.args
        if "kind" not in args:
            return flask.jsonify(region_kinds(data()))
        return flask.jsonify(region_bands(data(), checked.region(args), checked.integer(args, "depth", 0, DEEPEST)))

    @routes.get("/warnings")
    def warnings() -> flask.Response:
        return flask.jsonify(warning_bands(data()))

    @routes.get("/slice/<int:row>")
    def one_slice(row: int) -> flask.Response:
        if row >= len(data().trace.slices):
            flask.abort(404, f"there is no slice {row}: the trace has {len(data().trace.slices)}")
        return flask.jsonify(slice_details(data(), row))

    server.register_blueprint(routes)


def _binary(body: bytes) -> flask.Response:
    # the trace does not change while it is served, but another may be served under the same address later
    return flask.Response(body, mimetype="application/octet-stream", headers={"Cache-Control": "no-store"})
