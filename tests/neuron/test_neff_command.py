"""`neuron-explorer neff FILE`: one readable screen, a JSON object, and errors of one line."""

from __future__ import annotations

import json
from pathlib import Path

import neff_files as made
import pytest

from explorer_app.cli.main import main


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["neff", *argv]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_a_screen_says_what_is_inside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = made.save(tmp_path, made.neff(made.small_members(lnc=2, debug=True, spills=True, stats=True), lnc_size=2))
    out = printed(capsys, str(path))
    for fact in (
        "101112131415161718191a1b1c1d1e1f",
        made.COMPILER,
        "cayman",
        "1 logical core of 2 physical cores (LNC 2)",
        "inputs 33.3 kB, outputs 65.5 kB, weights 1.02 kB, spill 1.05 MB",
        "2.32 kFLOP in the HLO, 2.33 kB to and from HBM",
        "names of instructions, nothing about HLO or layers",
        "that of the archive",
    ):
        assert fact in out
    lines = [line.split() for line in out.splitlines()]
    assert ["x", "input", "128", "x", "128", "bfloat16", "32.8", "kB"] in lines
    assert ["sg00", "5", "4", "3", "2", "1"] in lines
    assert ["qPoolDynamic", "sg00", "dynamic", "GpSimd", "16", "8", "to", "23"] in lines
    assert len(lines) <= 50


def test_many_tensors_are_cut_to_a_screen_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definition = made.definition()
    definition["var"] |= {f"w{i}": {"type": "file", "size": i} for i in range(100)}
    path = made.save(tmp_path, made.neff(made.small_members() | {"sg00/def.json": made.as_json(definition)}))
    out = printed(capsys, str(path))
    assert "and 92 more (--json)" in out  # 104 tensors, 12 of them shown
    assert len(out.splitlines()) <= 50


def test_what_is_wrong_is_said_under_what_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = made.save(tmp_path, made.neff(made.small_members(), hash=b"\1" * 16))
    out = printed(capsys, str(path))
    assert "NOT that of the archive" in out
    assert out.splitlines()[-1].startswith("Warning: the hash in the header is not that of the archive")


def test_names_cannot_drive_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definition = made.definition()
    definition["var"]["\x1b[31mred"] = {"type": "input", "size": 4}
    members = made.small_members() | {"sg00/def.json": made.as_json(definition)}
    out = printed(capsys, str(made.save(tmp_path, made.neff(members, name=b"\x1b]0;title"))))
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out


def test_json_is_one_object_with_null_for_the_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, str(made.save(tmp_path, made.neff(made.small_members()))), "--json"))
    assert found["uuid"] == "101112131415161718191a1b1c1d1e1f"
    assert (found["hash_ok"], found["lnc"], found["target"], found["hlo_macs"]) == (True, 1, "sunda", None)
    assert found["sizes_bytes"]["weights"] == 1024
    assert found["tensors"][0] == {
        "name": "x", "kind": "input", "shape": [128, 128], "dtype": "bfloat16", "layout": "NC", "bytes": 32768,
    }  # fmt: skip
    (graph,) = found["subgraphs"]
    assert graph["instructions"] == {"Tensor": 5, "Scalar": 3, "GpSimd": 2, "Vector": 4, "Sync": 1}
    assert graph["dma_queues"][1] == {
        "name": "qSPIO0", "type": "in", "owner": "Sync", "num_queues": 4, "semaphores": [40, 42],
    }  # fmt: skip
    assert found["debug_info"] == {"instructions": False, "model": False}


@pytest.mark.parametrize("content", [b"", b"x" * 5000, made.neff({})[:1030]])
def test_any_other_file_ends_in_one_line_or_a_warning(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["neff", str(made.save(tmp_path, content))])
    out, err = capsys.readouterr()
    assert code == 1 and len(err.splitlines()) == 1 if code else "Warning:" in out
