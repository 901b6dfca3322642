"""Logs of neuronx-cc and its wrapper as compiles and passes, line by line."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_format import Trace
from trace_format.importers import load_file
from trace_format.importers.neuronx_cc.passes import PassLane

S = 10**9
DAY = 1723680000 * S  # 2024-08-15T00:00:00Z: 19950 days of 86400 s since 1970

COMPILER_LOG = """\
2024-08-15T00:00:10Z INFO 38 [root]: /opt/bin/neuronx-cc compile model.hlo --framework XLA --output graph.neff
2024-08-15T00:00:11Z INFO 38 [sg0000/Tensorizer/A]: Running A
2024-08-15T00:00:14Z INFO 38 [sg0000/Tensorizer/A]: A finished after 2.500 seconds
2024-08-15T00:00:14Z INFO 38 [sg0000/Tensorizer/B]: Running B
2024-08-15T00:00:14Z INFO 38 [sg0000/Tensorizer/B]: B finished after 0.250 seconds
2024-08-15T00:00:14Z INFO 38 [Tensorizer]: Weights total number of bytes: 163885
2024-08-15T00:00:15Z USER 38 [root/Tensorizer/Tensorizer]: Tensorizer finished after 4.750 seconds
2024-08-15T00:00:16Z WARNING 38 [job.Frontend.0]: something odd
2024-08-15T00:00:17Z INFO 38 [job.Frontend.0]: HloMacCount has found 1160
2024-08-15T00:00:20Z INFO 38 [root]: Subcommand returned with exitcode=0
"""

MODULE = "MODULE_7170924315921358669+d41d8cd9"
CALL = f"neuronx-cc compile --target=trn1 /tmp/w/model.{MODULE}.hlo_module.pb --output /tmp/w/model.{MODULE}.neff"


def load(tmp_path: Path, text: str) -> Trace:
    path = tmp_path / "log-neuron-cc.txt"
    path.write_text(text)
    return load_file(path)


def slices(trace: Trace) -> pd.DataFrame:
    frame = trace.slices.to_pandas()
    assert set(frame["category"]) <= {"compile"}
    return frame.set_index(frame["name"].astype(str))[["ts_ns", "dur_ns", "depth", "track"]]


def test_passes_end_when_their_line_says_and_last_what_it_says(tmp_path: Path) -> None:
    trace = load(tmp_path, COMPILER_LOG)
    found = slices(trace)
    assert found.loc["A", ["ts_ns", "dur_ns"]].tolist() == [DAY + 11_500_000_000, 2_500_000_000]
    # B ended in the same second, so it cannot have begun before A's end at 14.0
    assert found.loc["B", ["ts_ns", "dur_ns"]].tolist() == [DAY + 14 * S, 250_000_000]
    # no line tells when this began; 15 - 4.75 = 10.25 is before A and B, so they are inside
    assert found.loc["Tensorizer", ["ts_ns", "dur_ns"]].tolist() == [DAY + 10_250_000_000, 4_750_000_000]
    assert found.loc["graph.neff", ["ts_ns", "dur_ns"]].tolist() == [DAY + 10 * S, 10 * S]
    assert found["depth"].to_dict() == {"graph.neff": 0, "Tensorizer": 1, "A": 2, "B": 2}
    assert trace.tracks.to_pandas()[["name", "kind", "pid"]].to_numpy().tolist() == [["neuronx-cc", "compile", 38]]


def test_a_compile_has_its_output_status_and_phases(tmp_path: Path) -> None:
    trace = load(tmp_path, COMPILER_LOG)
    (row,) = trace.compiles.to_pandas().to_dict("records")
    assert (row["what"], row["backend"], row["cache"], row["exit_status"]) == ("graph.neff", "neuronx-cc", "unknown", 0)
    assert trace.slices.text("name")[row["slice"]] == "graph.neff"
    assert row["phases"] == '{"A": 2500000000, "B": 250000000, "Tensorizer": 4750000000}'
    assert trace.pool.args(int(trace.slices.args[row["slice"]]))["hlo_macs"] == 1160


def test_every_line_is_kept_or_left_out_for_a_reason(tmp_path: Path) -> None:
    trace = load(tmp_path, COMPILER_LOG)
    assert trace.report.to_dict() == {
        "source_events": 10,
        "kept": 9,
        "left_out": {"message of level INFO that tells of no pass": 1},
        "repaired": {},
    }
    assert trace.instants.text("name") == ["something odd"]


def test_the_pass_in_which_the_compiler_died_did_not_finish(tmp_path: Path) -> None:
    log = COMPILER_LOG.replace("exitcode=0", "exitcode=70").replace(
        "2024-08-15T00:00:17Z INFO 38 [job.Frontend.0]: HloMacCount has found 1160",
        "2024-08-15T00:00:17Z INFO 38 [sg0000/Tensorizer/C]: Running C",
    )
    trace = load(tmp_path, log)
    assert slices(trace).loc["C", ["ts_ns", "dur_ns"]].tolist() == [DAY + 17 * S, -1]
    assert trace.compiles.exit_status.tolist() == [70]


def test_a_log_that_breaks_off_is_a_compile_that_did_not_finish(tmp_path: Path) -> None:
    trace = load(tmp_path, "".join(COMPILER_LOG.splitlines(keepends=True)[:3]))
    assert trace.compiles.exit_status.tolist() == [-1]
    assert slices(trace).loc["graph.neff", "dur_ns"] == -1


def test_two_compiles_in_one_log_are_told_apart(tmp_path: Path) -> None:
    trace = load(tmp_path, COMPILER_LOG + COMPILER_LOG.replace("T00:00", "T01:00").replace("graph", "other"))
    assert trace.compiles.text("what") == ["graph.neff", "other.neff"]
    found = slices(trace)
    assert found.loc["other.neff", "ts_ns"] == DAY + 3610 * S
    assert found.loc["A", "depth"].tolist() == [2, 2]


def test_subgraphs_that_are_compiled_at_once_have_lines_of_their_own(tmp_path: Path) -> None:
    trace = load(
        tmp_path,
        "2024-08-15T00:00:11Z INFO 38 [sg0000/Tensorizer/A]: A finished after 3.0 seconds\n"
        "2024-08-15T00:00:12Z INFO 38 [sg0001/Tensorizer/A]: A finished after 3.5 seconds\n",
    )
    tracks = trace.tracks.to_pandas()
    assert tracks["name"].tolist() == ["neuronx-cc", "neuronx-cc sg0001"]
    assert slices(trace).loc["A", "ts_ns"].tolist() == [DAY + 8 * S, DAY + 8_500_000_000]


def test_what_the_compiler_prints_without_level_and_process_is_read_too(tmp_path: Path) -> None:
    trace = load(
        tmp_path,
        "2024-08-15T00:00:16Z Running SimplifyTensor\n"
        "2024-08-15T00:00:17Z SimplifyTensor finished after 0.500 seconds\n",
    )
    assert slices(trace).loc["SimplifyTensor", ["ts_ns", "dur_ns"]].tolist() == [DAY + 16_500_000_000, 500_000_000]


def test_the_wrapper_tells_begin_end_and_status(tmp_path: Path) -> None:
    trace = load(
        tmp_path,
        f"2024-08-15 00:00:10.000250:  7592  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: {CALL}\n"
        "....\n"
        "Compiler status PASS\n"
        "2024-08-15 00:00:13.000100:  7592  INFO ||NEURON_CC_WRAPPER||: Compilation Successfully Completed for "
        f"model.{MODULE}.hlo_module.pb\n",
    )
    (row,) = trace.compiles.to_pandas().to_dict("records")
    assert (row["what"], row["cache"], row["exit_status"]) == (MODULE, "miss", 0)
    # the fraction counts milliseconds: 10.250 to 13.100
    assert slices(trace).loc[MODULE, ["ts_ns", "dur_ns"]].tolist() == [DAY + 10_250_000_000, 2_850_000_000]
    assert trace.report.left_out == {"progress dots or empty line": 1}


def test_an_older_wrapper_tells_the_status_but_not_when(tmp_path: Path) -> None:
    called = CALL.replace(" ", "', '")
    trace = load(
        tmp_path,
        f".2024-08-15 00:00:10.000250:  7592  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: ['{called}']\n"
        "Compiler status PASS\n"
        f"2024-08-15 00:09:00.000000:  7592  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: {CALL[:-6]}9.neff\n",
    )
    assert trace.compiles.exit_status.tolist() == [0, -1]
    assert trace.slices.dur_ns.tolist() == [-1, -1]


@pytest.mark.parametrize("name", ["NEURON_CC_WRAPPER", "NCC_WRAPPER"])
def test_cache_hits_good_and_bad(tmp_path: Path, name: str) -> None:
    cached = f"/var/tmp/neuron-compile-cache/neuronxcc-2.13/{MODULE}/model.neff"
    trace = load(
        tmp_path,
        f"2024-08-15 00:00:10.000250: INFO ||{name}||: Using a cached neff at {cached}. Exiting with a successfully "
        "compiled graph.\n"
        f"2024-08-15 00:00:11.000000:  9  ERROR ||{name}||: Got a cached failed neff at {cached}. Will skip "
        "compilation, please set --retry_failed_compilation for recompilation: \n",
    )
    frame = trace.compiles.to_pandas()
    assert frame["cache"].tolist() == ["hit", "hit"]
    assert frame["exit_status"].tolist() == [0, 1]
    assert frame["what"].tolist() == [MODULE, MODULE]
    assert trace.slices.dur_ns.tolist() == [0, 0]


def test_a_failure_has_its_exit_code(tmp_path: Path) -> None:
    trace = load(
        tmp_path,
        f"2024-08-15 00:00:10.000250:  7592  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: {CALL}\n"
        f"2024-08-15 00:00:12.000250:  7592  ERROR ||NEURON_CC_WRAPPER||: Failed compilation with {CALL}: "
        "exit code 70\n",
    )
    assert trace.compiles.exit_status.tolist() == [70]
    assert slices(trace).loc[MODULE, "dur_ns"] == 2 * S


def test_a_status_that_could_be_of_two_compiles_is_left_out(tmp_path: Path) -> None:
    lines = [
        f"2024-08-15 00:00:1{i}.000000:  {i}  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: {CALL}\n"
        for i in (1, 2)
    ]
    trace = load(tmp_path, "".join(lines) + "Compiler status PASS\n")
    assert trace.compiles.exit_status.tolist() == [-1, -1]
    assert trace.report.left_out == {"line without a time that belongs to none, or to one of several compiles": 1}


def test_jobs_last_from_line_to_line_and_hold_their_passes(tmp_path: Path) -> None:
    trace = load(
        tmp_path,
        "2024-08-15T00:00:10Z INFO 40 [pipeline.Pipeline.0]: Starting job job.Frontend.0\n"
        "2024-08-15T00:00:12Z INFO 40 [sg0000/Tensorizer/A]: A finished after 1.500 seconds\n"
        "2024-08-15T00:00:13Z INFO 40 [pipeline.Pipeline.0]: Finished job job.Frontend.0\n",
    )
    found = slices(trace)
    assert found.loc["job.Frontend.0", ["ts_ns", "dur_ns"]].tolist() == [DAY + 10 * S, 3 * S]
    assert found["depth"].to_dict() == {"neuronx-cc": 0, "job.Frontend.0": 1, "A": 2}


def test_the_processes_that_the_compiler_starts_belong_to_its_compile(tmp_path: Path) -> None:
    trace = load(
        tmp_path,
        COMPILER_LOG.splitlines(keepends=True)[0]
        + "2024-08-15T00:00:11Z INFO 42 [sg0000/Tensorizer/A]: A finished after 0.5 seconds\n"
        "2024-08-15T00:00:13Z USER 77 [BackendPassManager]: mod_parallel_pass finished after 1.5 seconds\n"
        "2024-08-15T00:00:13Z USER 77 (nc01/sg00) [ModuleForkPass]: do_nothing finished after 1.25 seconds\n"
        "2024-08-15T00:00:14Z INFO 38 [root]: Subcommand returned with exitcode=0\n",
    )
    (row,) = trace.compiles.to_pandas().to_dict("records")
    assert row["phases"] == '{"A": 500000000, "mod_parallel_pass": 1500000000, "do_nothing": 1250000000}'
    tracks = trace.tracks.to_pandas()[["name", "pid"]].to_numpy().tolist()
    assert tracks == [["neuronx-cc", 38], ["neuronx-cc", 77], ["neuronx-cc nc01/sg00", 77]]
    found = slices(trace)
    assert (found.loc["A", "track"], found.loc["A", "depth"]) == (0, 1)
    assert found.loc["do_nothing", ["ts_ns", "track"]].tolist() == [DAY + 11_750_000_000, 2]


def test_the_first_stage_tells_microseconds_and_macs(tmp_path: Path) -> None:
    trace = load(
        tmp_path,
        COMPILER_LOG.splitlines(keepends=True)[0]
        + "2024-08-15 00:00:11.022634: I hilo/hlo_passes/HloMacCount.cc:21] [INFO] HloMacCount has found 8589934592\n"
        "2024-08-15 00:00:11.500001: I hilo/hlo2penguin/utils/DumpDebugInfo.cc:89] [WARNING] Could not open file\n"
        "Total HLO instructions: 4\n"
        "2024-08-15T00:00:14Z INFO 38 [root]: Subcommand returned with exitcode=0\n",
    )
    (row,) = trace.compiles.slice.tolist()
    assert trace.pool.args(int(trace.slices.args[row]))["hlo_macs"] == 8589934592
    assert trace.instants.text("name") == ["Could not open file"]
    assert trace.instants.ts_ns.tolist() == [DAY + 11_500_001_000]
    assert trace.report.left_out == {"line without a time that is known here": 1}


def test_a_call_that_compiles_nothing_is_no_compile(tmp_path: Path) -> None:
    trace = load(
        tmp_path,
        "2024-08-15T00:00:10Z INFO 38 [root]: /opt/bin/neuronx-cc compile --help\n"
        "2024-08-15T00:00:10Z INFO 38 [root]: Subcommand returned with exitcode=0\n",
    )
    assert len(trace.compiles) == len(trace.slices) == 0
    assert trace.report.kept == 0


def test_a_pass_ends_after_those_inside_it() -> None:
    lane = PassLane()
    lane.begin("outer", 100 * S)
    lane.begin("inner", 100 * S)
    assert lane.end("inner", 101 * S, 300_000_000) == (100_700_000_000, 300_000_000, 0)
    # the line says 101 and 1.2 s: 99.8, but it was seen to begin at 100, and inner must be inside
    assert lane.end("outer", 101 * S, 1_200_000_000) == (100 * S, 1_200_000_000, 0)
    assert lane.end("next", 101 * S, 100_000_000) == (101_200_000_000, 100_000_000, 0)


def test_passes_that_never_ended_are_given_up_with_the_one_around_them() -> None:
    lane = PassLane()
    for name in ("outer", "a", "b"):
        lane.begin(name, 100 * S)
    assert lane.end("outer", 103 * S, 2 * S) == (101 * S, 2 * S, 2)
    assert lane.unfinished() == []
    assert lane.end("never", 103 * S, None) is None


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 2500)), min_size=1, max_size=20), st.booleans())
def test_passes_are_placed_within_a_second_of_the_truth(passes: list[tuple[int, int]], begins: bool) -> None:
    """`passes`: gap before and duration of each, in ms; all lie inside one that lasts from first to last."""
    lane, now_ns, last_end_ns, placed = PassLane(), 1000 * S, 0, []
    if begins:
        lane.begin("outer", now_ns)
    for gap, dur in passes:
        began_ns = now_ns + gap * 10**6
        now_ns = began_ns + dur * 10**6
        if begins:
            lane.begin("pass", began_ns // S * S)
        found = lane.end("pass", now_ns // S * S, dur * 10**6)
        assert found is not None
        assert found[1:] == (dur * 10**6, 0)
        assert found[0] >= last_end_ns
        assert abs(found[0] - began_ns) < S
        last_end_ns = found[0] + found[1]
        placed.append(found[0])
    whole_ns = now_ns - 1000 * S
    outer = lane.end("outer", now_ns // S * S, whole_ns)
    assert outer is not None
    if begins:
        assert outer[0] <= placed[0]
        assert outer[0] + outer[1] >= last_end_ns


WORDS = st.sampled_from(
    [
        "2024-08-15T00:00:11Z", "INFO", "38", "[sg0000/T/A]:", "Running", "A", "finished after", "9999999.5", "seconds",
        "2024-08-15 00:00:10.000250:", "||NEURON_CC_WRAPPER||:", f"Call compiler with cmd: {CALL}", "exitcode=-9",
        "Subcommand returned with exitcode=0", "Compiler status PASS", "Compiler status ERROR", "\n", "\n", " ", "é",
        "Starting job job.X.0", "Finished job job.X.0", "(nc00/sg00)", "2024-08-15 00:00:11.022634: I a.cc:21]",
        "Compilation failed", "9999-99-99T99:99:99Z", "[", "]", "Using a cached neff at", "MODULE_1+2",
    ]
)  # fmt: skip


@given(st.lists(WORDS | st.text(max_size=8), max_size=60))
def test_any_lines_are_read_and_counted(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    text = "||NEURON_CC_WRAPPER||\n" + " ".join(words)
    path = tmp_path_factory.getbasetemp() / "odd-log.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    trace = load_file(path)
    assert trace.report.source_events == len(text.removesuffix("\n").split("\n"))
    assert 0 <= trace.report.kept <= trace.report.source_events
    assert len(trace.compiles) <= trace.report.source_events
