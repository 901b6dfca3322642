"""Redaction: what a user named is gone everywhere, what torch named stays, and equal names stay equal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_trace import PATH, SECRETS, secret_trace

from neuron_profile import load
from neuron_profile.analysis import steps
from trace_format import CATEGORIES, Trace, TraceBuilder
from trace_format.exporters import export_file
from trace_format.redaction import redacted
from trace_format.redaction.public_names import is_public


def everything(trace: Trace) -> str:
    """All text of a trace, in lower case."""
    pool = trace.pool
    told = json.dumps(dict(trace.metadata), default=str) + json.dumps(trace.report.to_dict())
    args = b"\n".join(pool.arg_sets.values).decode()
    return "\n".join([*pool.strings.values, args, told, *trace.extra]).lower()


@pytest.fixture(scope="module")
def hidden() -> Trace:
    return redacted(secret_trace())


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_is_left_in_any_text_of_the_trace(hidden: Trace, secret: str) -> None:
    assert secret in everything(secret_trace())
    assert secret not in everything(hidden)


@pytest.mark.parametrize("suffix", [".pb", ".json"])
def test_no_secret_is_left_in_a_file_of_the_trace(hidden: Trace, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    export_file(hidden, path)
    written = path.read_bytes().lower()
    assert not [secret for secret in SECRETS if secret.encode() in written]


def test_names_of_torch_stay_and_others_are_numbered_by_kind(hidden: Trace) -> None:
    names = set(hidden.slices.text("name"))
    assert {"ProfilerStep#0", "aten::mm", "nn.Module: Linear_3"} <= names
    assert {"operator-1", "nn.Module: Module-1_0", "kernel-1", "at::native::elementwise_kernel<1>"} <= names


def test_a_frame_keeps_its_line_and_a_file_has_one_pseudonym_wherever_it_stands(hidden: Trace) -> None:
    before, after = secret_trace().pool.strings, hidden.pool.strings
    outer = after[before.find(f"{PATH}(12): train_acme")]
    inner = after[before.find(f"{PATH}(40): forward_acme")]
    found = re.fullmatch(r"(file-\d+\.py)\(12\): function-\d+", outer)
    assert found
    assert inner.startswith(f"{found[1]}(40): function-")
    assert hidden.pool.frames(1)[1:] == ("torch/nn/modules/module.py(1751): _call_impl", "nn.Module: Module-1_0")


def test_what_a_user_calls_a_step_is_still_one() -> None:
    builder = TraceBuilder()
    track = builder.track("thread 1", kind="host_thread", pid=1, tid=1)
    for number in range(3):
        builder["slices"].append(
            1, track=track, name=builder.string(f"acme_step {number}"), category=CATEGORIES.index("annotation"),
            ts_ns=100 * number, dur_ns=60,
        )  # fmt: skip
    builder["slices"].append(
        1,
        track=track,
        name=builder.string("acme step 7"),
        category=CATEGORIES.index("annotation"),
        ts_ns=900,
        dur_ns=60,
    )
    found = steps(redacted(builder.finish()))
    assert found["dur_ns"].tolist()[-1] == 60
    assert found["step"].tolist()[-1] == 7
    assert found["name"].tolist()[-1] == "annotation-2 step 7"


def test_times_sizes_and_shape_arguments_are_untouched(hidden: Trace) -> None:
    whole = secret_trace()
    for table in ("slices", "counters", "memory", "collectives"):
        for name, values in getattr(whole, table).stored().items():
            assert np.array_equal(values, getattr(getattr(hidden, table), name), equal_nan=values.dtype.kind == "f"), (
                name
            )
    row = whole.slices.text("name").index("aten::mm")
    args = hidden.pool.args(int(hidden.slices.args[row]))
    assert args["Input Dims"] == [[8, 8], [8, 8]]
    assert args["Input type"] == ["float", "float"]
    assert 3 in args.values()


def test_the_counts_of_the_import_stay(hidden: Trace) -> None:
    assert hidden.report.source_events == 100
    assert list(hidden.report.left_out.values()) == [2]
    assert hidden.report.kept == 98


@pytest.mark.parametrize("file", ["kineto/T048_profile_trace_rank_0.json.gz", "kineto/T019_rank0.json.gz"])
def test_no_path_or_function_outside_torch_is_left_of_a_real_trace(corpus: Path, file: str) -> None:
    whole = load(corpus / file)
    text = "\n".join(redacted(whole).pool.strings.values)
    frames = [re.fullmatch(r"(.+)\(\d+\): (.+)", name) for name in whole.pool.strings.values]
    outside = {found[1] for found in frames if found and not found[1].startswith("torch/")}
    secrets = {path for path in outside if "/" in path}
    secrets |= {name for name in whole.pool.strings.values if re.match(r"## |fbgemm|aiter|pyper", name)}
    assert secrets
    assert [secret for secret in secrets if secret in text] == []


@pytest.mark.parametrize(
    "name",
    ["acme", "cudaAcme", "aten", "Acme::op", "torch/acme", "nn.Module: Acme_0", "thread 7 (acme)", "NVIDIAacme",
     "acme step 4", "/x/torch/acme.py(1): f", "E-acme", "core abcd", "AcmeBackward", "gemm_acme", "user@host"],
)  # fmt: skip
def test_a_name_that_only_looks_like_one_of_torch_is_not_public(name: str) -> None:
    assert not is_public(name)


@given(st.text(min_size=1, max_size=60))
def test_any_text_is_public_or_replaced_the_same_way_twice(text: str) -> None:
    def once() -> list[str]:
        builder = TraceBuilder()
        track = builder.track(text, kind="host_thread", pid=1, tid=1)
        builder["slices"].append(1, track=track, name=builder.string(text + "!"), ts_ns=0, dur_ns=1)
        return redacted(builder.finish(metadata={"host": text})).pool.strings.values

    first = once()
    assert first == once()
    assert is_public(text) or text not in first


def test_metadata_that_nests_without_end_is_cut_off() -> None:
    nested: Any = "acme"
    for _ in range(100):
        nested = [nested]
    assert "acme" not in json.dumps(dict(redacted(TraceBuilder().finish(metadata={"sources": nested})).metadata))
