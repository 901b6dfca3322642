"""The server as a user starts it, under many clients at once and under clients that go away in the middle."""

from __future__ import annotations

import http.client
import json
import random
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest
from callback_requests import grouping_request, page_request

from explorer_app.web.library import key_of
from explorer_app.web.pages import PAGES
from explorer_app.web.server import THREADS
from trace_format import CATEGORIES, Trace, TraceBuilder, write_trace

SLICES = 1_000_000
TRACKS = 4
NAMES = 50
US = 1000
CLIENTS = 50
START_NS = 1_700_000_000_000_000_000
# Half of the windows that are asked for are whole, the others ranges; more of them than the server remembers.
RANGES = [(START_NS + part * 10_000_000, START_NS + part * 10_000_000 + 500_000) for part in range(6)]


def a_million_slices() -> Trace:
    """Four streams; slice i of each begins at i µs, lasts 500 ns, and is one of 50 kernels in turn."""
    builder = TraceBuilder()
    each = SLICES // TRACKS
    names = builder.pool.strings.ids(f"kernel {number}" for number in range(NAMES))
    for track in range(TRACKS):
        stream = builder.track(f"stream {track}", kind="stream", device=0)
        builder["slices"].append(
            ts_ns=START_NS + np.arange(each, dtype=np.int64) * US, dur_ns=np.full(each, 500), track=stream,
            name=np.resize(names, each), category=CATEGORIES.index("compute"),
        )  # fmt: skip
    return builder.finish()


class Explorer:
    """A running `neuron-explorer`."""

    def __init__(self, path: Path, log: Path) -> None:
        self.log = log
        self.key = key_of(str(path.absolute()))
        arguments = [path, "--no-browser", "--token", "none", "--no-cache"]
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "explorer_app.cli.main", *map(str, arguments)],
                stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        self.port = urlsplit(self.process.stdout.readline().strip()).port
        self.watched = psutil.Process(self.process.pid)

    def ask(self, path: str, body: Any = None) -> Any:
        """The answer to one request on a connection of its own: JSON as its value, all else as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            if body is None:
                connection.request("GET", path)
            else:
                connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
            assert answer.status == 200, (path, answer.status, content[:300])
            return json.loads(content) if answer.headers.get_content_type() == "application/json" else content
        finally:
            connection.close()

    def leave(self, request: bytes, *, after_bytes: int = 0) -> None:
        """Send something, wait for so much of the answer, and be gone without a farewell."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=300) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sendall(request)
            read = 0
            while read < after_bytes:
                read += len(client.recv(after_bytes))

    def said(self) -> str:
        return self.log.read_text().replace("Press Ctrl-C to stop.\n", "")


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    folder = tmp_path_factory.mktemp("a million")
    write_trace(a_million_slices(), folder / "million.pb")
    running = Explorer(folder / "million.pb", folder / "stderr.txt")
    yield running
    running.process.kill()
    running.process.wait()


def requests(explorer: Explorer) -> list[tuple[str, Any]]:
    """What readers ask for: every page, whole and of some ranges, and what the timeline draws."""
    views = [None, *({"trace": None, "from": str(start), "to": str(end)} for start, end in RANGES)]
    pages = [("/_dash-update-component", page_request(page.path, view)) for page in PAGES for view in views]
    groupings = [("/_dash-update-component", grouping_request(by)[1]) for by in ("name", "track", "category")]
    window = "t0=1000000&t1=1100000&w=800"
    timeline = [
        "meta?stage=whole", f"slices?{window}&lanes=0-3", f"slices?{window}&lanes=1&find=kernel+7&color=name",
        "slices?t0=0&t1=250000000&w=1200&lanes=0-3", "names?ids=0-20", "search?q=kernel+1",
        "search?q=%3D%22kernel+3%22",
        "find?q=kernel+9&after=100&direction=1", "slice/999999", "csv/size?t0=0&t1=250000000&tracks=0-3",
        "csv?t0=1000000&t1=1010000&tracks=0,2", "warnings", "regions",
    ]  # fmt: skip
    return [*pages, *groupings, *((f"/_trace/{explorer.key}/{path}", None) for path in timeline)]


def test_fifty_clients_at_once_get_what_one_gets_and_memory_stays(explorer: Explorer) -> None:
    asked = requests(explorer)
    whole = explorer.ask(f"/_trace/{explorer.key}/meta")  # and the levels are built
    assert whole["slice_count"] == SLICES
    # "kernel" and "1" are in the names of 1, 10 to 19, 21, 31 and 41: fourteen of fifty kernels
    found = explorer.ask(f"/_trace/{explorer.key}/search?q=kernel+1")
    assert (found["slice_count"], found["name_count"]) == (SLICES * 14 // 50, 14)
    size = explorer.ask(f"/_trace/{explorer.key}/csv/size?t0=1000000&t1=1010000&tracks=0,2")
    assert size["rows"] == 2 * 10  # 10 µs of two streams
    alone = [explorer.ask(*request) for request in asked]

    def client(number: int) -> list[int]:
        """Asks for a dozen things, each client for others; which of the answers are not as they were for one alone."""
        chosen = random.Random(number).sample(range(len(asked)), 12)
        return [each for each in chosen if explorer.ask(*asked[each]) != alone[each]]

    used = []
    for _ in range(2):
        with ThreadPoolExecutor(CLIENTS) as threads:
            wrong = [each for found in threads.map(client, range(CLIENTS)) for each in found]
        assert [asked[each] for each in wrong] == []
        used.append(explorer.watched.memory_full_info().uss)
    assert used[1] < used[0] + (64 << 20), used  # 600 answers later: no more than the arenas of the threads
    assert explorer.said() == ""


def test_clients_that_go_away_in_the_middle_leave_nothing_behind(explorer: Explorer) -> None:
    meta = f"/_trace/{explorer.key}/meta?stage=whole"
    right = explorer.ask(meta)
    head = b"Host: 127.0.0.1\r\nContent-Type: application/json\r\n"
    body = json.dumps(page_request("/hotspots")).encode()
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    export = f"GET /_trace/{explorer.key}/csv?t0=0&t1=250000000&tracks=0-3 HTTP/1.1\r\n".encode() + head + b"\r\n"
    post = b"POST /_dash-update-component HTTP/1.1\r\n" + head + length
    explorer.leave(export, after_bytes=100_000)
    threads, files = explorer.watched.num_threads(), explorer.watched.num_fds()
    begun = explorer.watched.memory_full_info().uss
    for _ in range(2 * THREADS):  # more than the server has threads
        explorer.leave(b"GET / HT")
        explorer.leave(b"GET / HTTP/1.1\r\n" + head[:30])
        explorer.leave(post + body[: len(body) // 2])
        explorer.leave(post + body)
        explorer.leave(
            b"POST /_dash-update-component HTTP/1.1\r\n" + head + b"Transfer-Encoding: chunked\r\n\r\nff\r\nab"
        )
        explorer.leave(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")  # someone who expects TLS
        explorer.leave(export, after_bytes=100_000)
    assert explorer.ask(meta) == right
    while (
        explorer.watched.num_fds() > files
    ):  # the last connections are closed in a moment; or pytest says where it hangs
        assert explorer.ask(meta) == right
    assert explorer.watched.num_threads() <= threads
    assert explorer.watched.memory_full_info().uss < begun + (64 << 20)
    assert explorer.said() == ""


def test_clients_that_stop_reading_do_not_keep_the_others_waiting(explorer: Explorer) -> None:
    # 82,000 µs of four streams: some 20 MB, more than sockets take, and than waitress holds back of one answer
    export = f"GET /_trace/{explorer.key}/csv?t0=0&t1=82000000&tracks=0-3 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    waiting = [socket.socket() for _ in range(THREADS)]
    try:
        for client in waiting:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", explorer.port))
            client.sendall(export)
        for client in waiting:
            assert client.recv(12) == b"HTTP/1.1 200"
        assert explorer.ask(f"/_trace/{explorer.key}/meta")["slice_count"] == SLICES
    finally:
        for client in waiting:
            client.close()
