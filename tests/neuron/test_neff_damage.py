"""NEFFs that are damaged, cut off, or made to do harm: a line that says so, or what can be read, and never a hang."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import neff_files as made
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_format.errors import LimitExceededError, NeuronProfileError
from trace_format.importers.neff import archive as archive_module
from trace_format.importers.neff import read_neff_file
from trace_format.importers.neff.archive import ArchiveLimits, read_archive
from trace_format.importers.neff.importer import read_neff
from trace_format.importers.source import Source

SMALL = made.neff(made.small_members(lnc=2, debug=True, hlo=True, spills=True, stats=True), lnc_size=2)


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def refused(tmp_path: Path, *odd: tuple[tarfile.TarInfo, bytes]) -> dict[str, tuple[str, ...]]:
    """What is refused of an archive that holds these members among sound ones, all of which must be read."""
    sound = [(member(name), data) for name, data in made.small_members().items()]
    path = made.save(tmp_path, made.neff([*sound[:5], *odd, *sound[5:]]))
    contents = read_neff_file(path)
    assert len(contents.tensors) == 4
    assert contents.subgraphs[0].programs["Sync"].slots == 1
    with Source(path) as source:
        report = read_neff(source).report
    assert report.source_events == len(sound) + len(odd)
    assert sum(report.left_out.values()) == sum(map(len, contents.refused.values()))
    assert not report.repaired
    for cause in contents.refused:
        assert any(cause in warning for warning in contents.warnings)
    return dict(contents.refused)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_are_refused_and_named(tmp_path: Path, kind: bytes) -> None:
    assert refused(tmp_path, (member("sg00/link", kind, "/etc/passwd"), b"")) == {"a link and no file": ("sg00/link",)}


def test_devices_are_refused_and_named(tmp_path: Path) -> None:
    found = refused(tmp_path, (member("zero", tarfile.CHRTYPE), b""), (member("pipe", tarfile.FIFOTYPE), b""))
    assert found == {"a device and no file": ("zero", "pipe")}


@pytest.mark.parametrize("name", ["/sg00/PE.bin", "../sg00/PE.bin", "sg00/../../PE.bin", "C:/PE.bin", "a\\..\\..\\b"])
def test_names_that_lead_out_of_the_archive_are_refused(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, (member(name), b"x" * 64)) == {"named to lie outside the archive": (name,)}


def test_a_second_member_of_a_name_does_not_replace_the_first(tmp_path: Path) -> None:
    found = refused(tmp_path, (member("info.json"), b'{"tool_version": "evil"}'))
    assert found == {"of a name that came before": ("info.json",)}


def test_a_long_name_is_read_whole(tmp_path: Path) -> None:
    name = f"sg00/{'v' * 300}.npy"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as tar:
            info = member(name)
            info.size = 3
            tar.addfile(info, io.BytesIO(b"abc"))
        payload = gzip.compress(out.getvalue())
        contents = read_neff_file(made.save(tmp_path, made.header(payload) + payload))
        assert dict(contents.not_read) == {name: 3}


def test_folders_and_dots_before_names_do_not_matter(tmp_path: Path) -> None:
    sound = [(member(f"./{name}"), data) for name, data in made.small_members().items()]
    contents = read_neff_file(made.save(tmp_path, made.neff([(member("./sg00", tarfile.DIRTYPE), b""), *sound])))
    assert len(contents.tensors) == 4
    assert contents.members == len(sound)


def test_nothing_is_written_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made.save(tmp_path, SMALL)
    monkeypatch.chdir(tmp_path)
    read_neff_file(path)
    assert [found.name for found in tmp_path.iterdir()] == ["small.neff"]


def zeros(size: int) -> bytes:
    """A gzipped archive of one member that unpacks to so many zeros, made without having them all in memory."""
    info = member("sg00/value_w.npy")
    info.size = size
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as packed:
        packed.write(info.tobuf(tarfile.GNU_FORMAT))
        for _ in range(size >> 20):
            packed.write(bytes(1 << 20))
    return out.getvalue()


def test_a_bomb_is_refused_before_it_has_unpacked(tmp_path: Path) -> None:
    packed = zeros(64 << 20)
    limits = ArchiveLimits(always_bytes=1 << 20, expansion=10)
    with pytest.raises(LimitExceededError, match="unpacks to more than") as caught:
        read_archive(iter([packed]), lambda _: 0, path="x.neff", limits=limits)
    assert "\n" not in str(caught.value)


def test_large_weights_are_walked_past(tmp_path: Path) -> None:
    packed = zeros(64 << 20)
    contents = read_neff_file(made.save(tmp_path, made.header(packed) + packed))
    assert dict(contents.not_read) == {"sg00/value_w.npy": 64 << 20}


def test_a_wanted_member_beyond_its_limit_is_not_kept() -> None:
    packed = made.archive({"info.json": b"x" * 1000, "kelf-0.json": b"{}"})
    found = read_archive(iter([packed]), lambda _: 999, path="x.neff")
    assert (found.kept, found.refused) == ({"kelf-0.json": b"{}"}, {"too large to be read": ["info.json"]})


def test_more_members_than_any_neff_has_are_refused() -> None:
    packed = made.archive({f"m{i}": b"" for i in range(30)})
    with pytest.raises(LimitExceededError, match="more than 20 members"):
        read_archive(iter([packed]), lambda _: 0, path="x.neff", limits=ArchiveLimits(members=20))


def test_names_that_take_more_than_any_neffs_are_refused() -> None:
    packed = made.archive({f"{'n' * 1000}{i}": b"" for i in range(30)})
    with pytest.raises(LimitExceededError, match="20000 bytes of their names"):
        read_archive(iter([packed]), lambda _: 0, path="x.neff", limits=ArchiveLimits(names_bytes=20_000))


def test_a_size_beyond_the_file_ends_the_archive_and_keeps_what_came_before() -> None:
    out = io.BytesIO()
    info = member("sg00/PE.bin")
    info.size = 1 << 60
    out.write(gzip.decompress(made.archive({"info.json": b"{}"}))[:1024])
    out.write(info.tobuf(tarfile.GNU_FORMAT))
    packed = gzip.compress(out.getvalue())
    found = read_archive(iter([packed]), lambda _: 1 << 20, path="x.neff")
    assert (found.kept, found.refused) == ({"info.json": b"{}"}, {"too large to be read": ["sg00/PE.bin"]})
    assert "ends early" in found.damage


def test_an_archive_in_several_gzip_members_and_small_pieces_is_read() -> None:
    whole = gzip.decompress(made.archive({"info.json": b"{}", "kelf-0.json": b"[]"}))
    packed = gzip.compress(whole[:700]) + gzip.compress(whole[700:])
    pieces = (packed[at : at + 7] for at in range(0, len(packed), 7))
    found = read_archive(pieces, lambda _: 100, path="x.neff")
    assert (found.kept, found.damage) == ({"info.json": b"{}", "kelf-0.json": b"[]"}, "")


def test_the_limits_are_above_real_neffs() -> None:
    limits = archive_module.ArchiveLimits()
    assert limits.always_bytes >= 2 << 30
    assert limits.expansion >= 50


def read_or_one_line(tmp_path: Path, data: bytes) -> None:
    """Read damaged bytes: an error of one line, or contents that say what is wrong with them."""
    path = made.save(tmp_path, data, "damaged.neff")
    try:
        contents = read_neff_file(path)
        contents.to_dict()
        for graph in contents.subgraphs:
            for program in graph.programs.values():
                program.origin(0)
        with Source(path) as source:
            report = read_neff(source).report
        assert report.kept >= 0
    except NeuronProfileError as error:
        assert "\n" not in str(error)
        return
    assert contents.warnings or data == SMALL or data[:1024] != SMALL[:1024]


@given(st.integers(0, len(SMALL)))
def test_a_neff_cut_anywhere_says_so(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    read_or_one_line(tmp_path_factory.getbasetemp(), SMALL[:size])


@given(st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 7)), min_size=1, max_size=4))
def test_flipped_bits_never_crash(tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[int, int]]) -> None:
    data = bytearray(SMALL)
    for place, bit in flips:
        data[place] ^= 1 << bit
    read_or_one_line(tmp_path_factory.getbasetemp(), bytes(data))


UNPACKED = gzip.decompress(SMALL[1024:])


@given(st.lists(st.tuples(st.integers(0, len(UNPACKED) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_bytes_changed_inside_the_archive_never_crash(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]]
) -> None:
    data = bytearray(UNPACKED)
    for place, value in changes:
        data[place] = value
    payload = gzip.compress(bytes(data), compresslevel=1)
    read_or_one_line(tmp_path_factory.getbasetemp(), made.header(payload) + payload)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["var", "dma_queue", "cc_streams", "name"]), json_values)
    | st.fixed_dictionaries({"var": st.dictionaries(st.text(max_size=4), st.fixed_dictionaries({
        "type": json_values, "size": json_values, "var_id": json_values, "file_name": json_values}))}),
    json_values,
    json_values,
)  # fmt: skip
def test_definitions_of_any_content_never_crash(
    tmp_path_factory: pytest.TempPathFactory, definition: object, tensor_map: object, stats: object
) -> None:
    members = made.small_members() | {
        "sg00/def.json": made.as_json(definition),
        "sg00/tensor_map.json": made.as_json(tensor_map),
        "info.json": made.as_json(stats),
        "hlo_stats.json": made.as_json(stats),
    }
    path = made.save(tmp_path_factory.getbasetemp(), made.neff(members), "odd.neff")
    contents = read_neff_file(path)
    contents.to_dict()
    with Source(path) as source:
        read_neff(source)
