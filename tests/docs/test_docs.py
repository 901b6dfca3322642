"""Every command of the documentation's pages is run as it stands and prints what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from console_page import SERVES, Command, commands, missing

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "tests" / "neuron"))
from neff_files import neff, small_members  # noqa: E402
from neuron_system_files import T0, execution_events, runtime_event, saved  # noqa: E402

NTFF = "neuron_bin/T180_fused_exec_2.ntff"
# Of the program of that run, as the JSON of the same run has it (neff_header.uuid).
UUID = bytes.fromhex("dde49a87175a4a58a15258f2942acf29")
_MARK = "--- end of command"
# What the command prints first is its address; then it serves until it is told to end.
_SERVING = """{command} --no-browser > address.txt 2> talk.txt & serving=$!
for _ in $(seq 1200); do [ -s address.txt ] && break; sleep 0.1; done
kill $serving; wait $serving; cat address.txt"""


@pytest.fixture
def shell(tmp_path: Path) -> Path:
    """An empty folder with the repository's examples, and the programs that the pages name on the PATH."""
    (tmp_path / "bin").mkdir()
    for name, arguments in (("neuron-explorer", '-m explorer_app.cli.main "$@"'), ("python", '"$@"')):
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}\n')
        program.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    (work / "examples").symlink_to(ROOT / "examples")
    return work


def walk(page: str, work: Path, *, numbers: bool) -> None:
    """Run the page's commands one after the other in one shell; each must print what the page says."""
    found = commands(DOCS / page)
    script = "\n".join(f"{_typed(command)}\necho; echo '{_MARK}' $?" for command in found)
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment |= {
        "PATH": f"{work.parent / 'bin'}:{environment['PATH']}", "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8",
        "NPROF_CACHE_DIR": str(work.parent / "cache"),
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"], cwd=work, env=environment, capture_output=True, text=True, timeout=600,
        check=False, encoding="utf-8",
    )  # fmt: skip
    printed = re.split(rf"{_MARK} (\d+)\n", done.stdout)
    assert len(printed) == 2 * len(found) + 1, done.stdout
    for command, text, code in zip(found, printed[::2], printed[1::2], strict=False):
        assert code == "0" or SERVES in command.text, f"{command.text}\n{text}"
        lost = missing(command, text, numbers=numbers)
        assert not lost, f"{command.text}\ndid not print\n{lost}\nbut\n{text}"


def _typed(command: Command) -> str:
    if SERVES in command.text:
        return _SERVING.format(command=command.text.replace(SERVES, "").strip())
    return command.text


@pytest.mark.parametrize("page", ["slow_step.md", "straggler.md", "ci_gate.md"])
def test_a_page_with_a_capture_is_true(page: str, shell: Path) -> None:
    walk(page, shell, numbers=False)


def test_the_page_on_a_kernel_is_true_to_the_number(corpus: Path, shell: Path) -> None:
    shutil.copyfile(corpus / NTFF, shell / "profile.ntff")
    walk("nki_kernel.md", shell, numbers=True)


def test_the_page_on_a_folder_from_trainium_is_true(corpus: Path, shell: Path) -> None:
    folder = shell / "session"
    folder.mkdir()
    shutil.copyfile(corpus / NTFF, folder / "profile_nc_0_session_1.ntff")
    (folder / "neff_abcdef_vnc_0.neff").write_bytes(neff(small_members(lnc=2), uuid=UUID))
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 77, "tid": 9, "ts": T0 // 1000, "dur": 50}
    saved(folder / "trace.json", {"traceEvents": [op]})
    events = [
        runtime_event("nrt_execute", "start", 1_000, 1, nrta_seq_id=41),
        runtime_event("nrt_execute", "stop", 60_000, 1),
        *execution_events(2_000, 38_351, 2, 4, 7), *execution_events(2_010, 38_310, 3, 5, 7),
    ]  # fmt: skip
    saved(folder / "events.json", {"events": events, "data_version": 2})
    walk("trainium_folder.md", shell, numbers=False)


def test_every_page_is_in_the_index_and_every_link_leads_somewhere() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert {page for page in pages if f"({page})" not in index} == set()
    for page in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]+)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_what_a_page_promises_is_looked_for_in_order_and_numbers_stand_for_numbers() -> None:
    command = Command("x", ("took 12.3 ms of …", "rank 1"))
    assert missing(command, "a\ntook  7 µs of 3\nrank 4\n", numbers=False) == ""
    assert missing(command, "rank 1\ntook 7 ms of 3\n", numbers=False) == "rank 1"
    assert missing(command, "took 7 ms of 3\nrank 1\n", numbers=True) == "took 12.3 ms of …"
