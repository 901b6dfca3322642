"""What an NTFF file says of itself before its records: versions, cores, programs, queues, clocks, runs, segments.

The layout is worked out from public files; it has no published description. A header of 128 bytes (byte 0 the
version, bytes 1-8 the length of the protobuf; the rest is whatever lay in the writer's memory and is never looked
at), the protobuf, and an area of raw records and instructions in which everything is found by offset.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trace_format.errors import DamagedFileError, LimitExceededError
from trace_format.importers.ntff.fields import Fields, Reading
from trace_format.importers.source import Source

HEADER_BYTES = 0x80
KNOWN_VERSIONS = (4, 5, 6)
# Kinds of segments. 2 and 3 are not understood (2 is empty in every file seen).
INSTRUCTIONS, EVENTS, PACKETS, THROTTLE = 0, 1, 4, 5
IMG_ENGINES = ("Tensor", "Scalar", "GpSimd", "Vector", "Sync")
_CLOCK_OF_ENGINE = {"Tensor": 1, "Scalar": 2, "GpSimd": 4, "Vector": 3, "Sync": 5}  # the number of its field
_EVENT_CLOCK, _THROTTLE_CLOCK, _DMA_CLOCKS = 6, 7, 8
_LARGEST_PROTOBUF_BYTES = 64 << 20
_MOST_CORES, _MOST_DESCRIBED = 1 << 16, 256  # of one machine; in one file


@dataclass(frozen=True, slots=True)
class Clock:
    """How a record's time becomes picoseconds: (ts - init) * expected / actual."""

    init: int = 0
    actual: int = 1
    expected: int = 1


@dataclass(frozen=True, slots=True)
class Segment:
    """Records of one kind of one core: `size` bytes at `offset` of the raw area."""

    kind: int
    core: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Image:
    """The program of one engine as it lay in device memory at `address`.

    From version 6 on `size` bytes of it lie at `offset` of the raw area, before that they are `code`.
    """

    engine: str
    address: int
    code: bytes
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Patch:
    """Where the runtime's program differs from the compiler's: `slots` inserted (kind 0) or deleted (kind 2)."""

    slot: int
    slots: int
    kind: int


@dataclass(frozen=True, slots=True)
class Queue:
    """A DMA queue on one DMA engine, as the runtime registered it."""

    engine: int
    index: int
    type: int
    name: str
    event: int
    dram_channel: int


@dataclass(frozen=True)
class CoreTrace:
    """What the file says of one physical core."""

    name: str  # of its subgraph: sg00
    device: int
    core: int
    images: tuple[Image, ...] = ()
    patches: dict[str, tuple[Patch, ...]] = field(default_factory=dict)
    queues: tuple[Queue, ...] = ()
    engine_clocks: dict[str, Clock] = field(default_factory=dict)
    event_clock: Clock = Clock()
    throttle_clock: Clock = Clock()
    dma_clocks: tuple[Clock, ...] = ()
    memory: tuple[tuple[str, int], ...] = ()  # (use, bytes)
    duration_ps: int = 0


@dataclass(frozen=True)
class Container:
    """An NTFF file without its records. `problems`: what of it could not be read."""

    version: int
    raw_offset: int
    raw_size: int  # of what the file really has
    neff_name: str
    neff_uuid: bytes  # 16 bytes, or its beginning (see `uuid_is_whole`)
    uuid_is_whole: bool
    instance_type: str
    runtime_version: str
    driver_version: str
    collectives_version: str
    capture_unix_s: int
    cores: tuple[CoreTrace, ...]
    segments: tuple[Segment, ...]
    executions: tuple[tuple[int, int], ...]  # (start, end) in picoseconds of the device; empty before version 6
    problems: tuple[str, ...]

    def is_of(self, uuid: str) -> bool:
        """Whether this is a profile of the NEFF with this UUID (32 hexadecimal digits), as far as the file tells.

        Before version 6 it has the UUID as a C string, which ends at the first zero byte and may have others after
        the sixteenth: as many as there are have to agree.
        """
        known = self.neff_uuid[:16]
        return bool(known) and bytes.fromhex(uuid)[: len(known)] == known


def read_container(source: Source) -> Container:
    """The description that precedes the records; where it is damaged, what comes before the damage.

    Raises DamagedFileError for a file too short to have one.
    """
    header = source.read_at(0, HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        raise DamagedFileError(
            f"is an NTFF file of {len(header)} bytes, its header alone has {HEADER_BYTES}; copy it again",
            path=source.path,
        )
    version, size = header[0], int.from_bytes(header[1:9], "little")
    if size > _LARGEST_PROTOBUF_BYTES:
        raise LimitExceededError(
            f"is an NTFF file whose description would have {size} bytes, more than {_LARGEST_PROTOBUF_BYTES}; "
            "it is damaged, or of another format",
            path=source.path,
        )
    reading = Reading()
    problems = reading.problems
    if version not in KNOWN_VERSIONS:
        problems.append(f"version {version} of the format is not known; it was read as if it were one that is")
    data = source.read_at(HEADER_BYTES, size)
    if len(data) < size:
        problems.append(f"the file ends within its description, after {len(data)} of {size} bytes")
    top = Fields.of(memoryview(data), reading, "the description")
    host = top.message(4, "the description of the host")
    found = host.message(4, "the description of the model").messages(1, "the description of a core")
    if len(found) > _MOST_DESCRIBED:
        problems.append(f"{len(found)} cores are described, the first {_MOST_DESCRIBED} are read")
    described = found[:_MOST_DESCRIBED]
    whole = host.data(5)[:16]
    cores: dict[int, CoreTrace] = {}
    for core in map(_core, described):
        if core.core in cores:
            problems.append(f"core {core.core} is described twice; the first description is used")
        cores.setdefault(core.core, core)
    raw_offset = HEADER_BYTES + size
    return Container(
        version=version,
        raw_offset=raw_offset,
        raw_size=max(source.size_bytes - raw_offset, 0),
        neff_name=top.text(1),
        neff_uuid=whole if len(whole) == 16 else top.data(2)[:16],
        uuid_is_whole=len(whole) == 16,
        instance_type=top.text(9),
        runtime_version=_version(top, 8),
        driver_version=_version(top, 11),
        collectives_version=_version(top, 12),
        capture_unix_s=top.number(7),
        cores=tuple(cores.values()),
        segments=tuple(_segments(top, described)),
        executions=tuple((run.number(2), run.number(3)) for run in top.messages(15, "the description of a run")),
        problems=tuple(dict.fromkeys(problems)),
    )


def _segments(top: Fields, cores: list[Fields]) -> list[Segment]:
    """Of version 6 the top level has them, before that each core."""
    what = "the description of a segment"
    shared = [(segment, _index(segment.number(7))) for segment in top.messages(16, what)]
    own = [(segment, _index(core.number(3))) for core in cores for segment in core.messages(6, what)]
    return [Segment(s.number(1), core, s.number(5), s.number(6)) for s, core in shared + own if s.number(6)]


def _core(core: Fields) -> CoreTrace:
    clocks = core.message(10, "the clocks of a core")
    patches: dict[str, tuple[Patch, ...]] = {}
    for patched in core.messages(5, "a patch list"):
        patches[_img_engine(patched.number(1))] = tuple(
            Patch(patch.number(1) // 64, patch.number(2), patch.number(3)) for patch in patched.messages(2, "a patch")
        )
    return CoreTrace(
        name=core.text(1),
        device=_index(core.number(2)),
        core=_index(core.number(3)),
        images=tuple(_image(image) for image in core.messages(4, "the description of a program")),
        patches=patches,
        queues=tuple(
            Queue(q.number(1), q.number(2), q.number(3), q.text(4), q.signed(5), q.number(7))
            for q in core.messages(7, "the description of a DMA queue")
        ),
        engine_clocks={
            engine: _clock(clocks.message(number, "a clock")) for engine, number in _CLOCK_OF_ENGINE.items()
        },
        event_clock=_clock(clocks.message(_EVENT_CLOCK, "a clock")),
        throttle_clock=_clock(clocks.message(_THROTTLE_CLOCK, "a clock")),
        dma_clocks=tuple(_clock(clock) for clock in clocks.messages(_DMA_CLOCKS, "a clock")),
        memory=tuple((use.text(3), use.number(2)) for use in core.messages(11, "a use of memory")),
        duration_ps=core.number(14),
    )


def _image(image: Fields) -> Image:
    return Image(_img_engine(image.number(1)), image.number(2), image.data(3), image.number(7), image.number(8))


def _index(number: int) -> int:
    """The number of a core or a device; -1 for one that is none."""
    return number if number < _MOST_CORES else -1


def _img_engine(number: int) -> str:
    return IMG_ENGINES[number] if number < len(IMG_ENGINES) else f"engine {number}"


def _clock(clock: Fields) -> Clock:
    return Clock(clock.number(1), clock.number(2) or 1, clock.number(3) or 1)


def _version(top: Fields, number: int) -> str:
    """As AWS writes it: "2.30.51 (faafe)"; the git hash is shown by its first five digits."""
    version = top.message(number, "a version")
    numbers = f"{version.number(1)}.{version.number(2)}.{version.number(3)}"
    return "" if numbers == "0.0.0" else f"{numbers} ({version.text(5)[:5]})"
