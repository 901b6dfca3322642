"""Tells what a file is from its first bytes."""

from __future__ import annotations

import re
from pathlib import Path

from trace_format.errors import UnsupportedFormatError
from trace_format.importers.format import Format
from trace_format.importers.neuron_formats import neuron_format
from trace_format.trace_pb.wire import MAGIC as TRACE_PB_MAGIC

BOM = b"\xef\xbb\xbf"
_WHITE_SPACE = b" \t\r\n"


_BINARY = (
    (b"SQLite format 3\0", "a SQLite database (rocpd, Nsight Systems, DuckDB exports)",
     "export it as Chrome trace JSON with its own tool first"),
    (b"PK\x03\x04", "a zip archive", "unpack it and name the trace inside"),
    (b"\x80\x02", "a Python pickle", "pickles run code when opened and are not read; export the trace as JSON"),
    (b"\x80\x03", "a Python pickle", "pickles run code when opened and are not read; export the trace as JSON"),
    (b"\x80\x04", "a Python pickle", "pickles run code when opened and are not read; export the trace as JSON"),
    (b"\x80\x05", "a Python pickle", "pickles run code when opened and are not read; export the trace as JSON"),
    (b"ARROW1", "an Arrow file", "name the trace it was made from"),
    (b"\x7fELF", "a program (ELF)", "name a trace file"),
    (b"\xff\xfe\0\0", "UTF-32 text", "save it as UTF-8"),
    (b"\0\0\xfe\xff", "UTF-32 text", "save it as UTF-8"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
)  # fmt: skip
_USTAR_AT = 257
# A file cut out of the middle of a list of events: it begins inside one, and others follow.
_EVENT_CUT_OPEN = re.compile(rb'"[^"]*"\s*:.{0,65536}?\}\s*,\s*\{\s*"', re.DOTALL)
# torch.profiler's raw memory timeline: [[time, action, bytes, category], ...]
_MEMORY_TIMELINE = re.compile(rb"\[\s*\[\s*-?\d+\s*,\s*[1-4]\s*,\s*-?\d+\s*,\s*[0-7]\s*\]")
_LOG_ENTRY = re.compile(rb"^[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ [^\n\]]*\] ?\{", re.MULTILINE)
_TEXT = re.compile(rb"[\t\r\n\x20-\x7e\x80-\xff]*")


def recognise(head: bytes, path: Path) -> Format:
    """The format of a file that begins with `head` (decompressed).

    Raises UnsupportedFormatError that says what the file is and what to do, where it is none that is read here.
    """
    if not head:
        raise UnsupportedFormatError("is empty; the program that wrote it may have been stopped early", path=path)
    if head.startswith(TRACE_PB_MAGIC):
        return Format.TRACE_PB
    text = head.removeprefix(BOM).lstrip(_WHITE_SPACE)
    if _MEMORY_TIMELINE.match(text):
        return Format.MEMORY_TIMELINE
    of_neuron = neuron_format(head, text)
    if of_neuron is not None:
        return of_neuron
    if text[:1] in (b"{", b"[") or _EVENT_CUT_OPEN.match(text):
        return Format.TRACE_EVENT_JSON
    if _LOG_ENTRY.search(head):
        return Format.TORCH_TRACE
    what, advice = _foreign(head, text)
    raise UnsupportedFormatError(f"is {what}; {advice}", path=path)


_READ = "name a trace or a profile in one of the formats that the README lists"


def _foreign(head: bytes, text: bytes) -> tuple[str, str]:
    for magic, what, advice in _BINARY:
        if head.startswith(magic):
            return what, advice
    if head[_USTAR_AT : _USTAR_AT + 5] == b"ustar":
        return "a tar archive", "unpack it and name the trace inside"
    if head[:1] == b"\x0a" and not _is_text(head):
        if re.search(rb"/host:|/device:|XLA|Task Environment", head[:8192]):
            return "an XPlane protobuf (TensorFlow, JAX)", "open it in XProf, or export it as trace.json.gz"
        return "a protobuf, most likely a Perfetto trace", "export it as Chrome trace JSON (traceconv json) first"
    if re.match(rb"<(!doctype|html|\?xml|!--|svg)", text, re.IGNORECASE):
        return "HTML or XML, no trace", "if it was downloaded, fetch the raw file"
    if text.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer, not the file itself", "run git lfs pull"
    if _is_text(head):
        return "text, but no JSON", _READ
    return "of no known format", _READ


def _is_text(head: bytes) -> bool:
    return bool(_TEXT.fullmatch(head[:4096]))
