"""The rule table gives every event its category."""

from __future__ import annotations

from pathlib import Path

import pytest

from trace_format import CATEGORIES
from trace_format.categories import Classifier
from trace_format.errors import TraceFileError


@pytest.mark.parametrize(
    ("source", "name", "category"),
    [
        ("cpu_op", "aten::mm", "host_op"),
        ("python_function", "f", "python"),
        ("user_annotation", "ProfilerStep#1", "annotation"),
        ("gpu_user_annotation", "ProfilerStep#1", "annotation"),
        ("cuda_runtime", "cudaLaunchKernel", "runtime"),
        ("mtia_runtime", "run", "runtime"),
        ("privateuse1_driver", "x", "runtime"),
        ("kernel", "gemm", "compute"),
        ("kernel", "ncclDevKernel_AllReduce", "collective"),
        ("kernel", "void NCCL_x", "collective"),
        ("kernel", "rcclKernel", "collective"),
        ("kernel", "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(", "collective"),
        ("kernel", "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16>", "collective"),
        ("kernel", "one_shot_all_reduce_kernel", "collective"),
        ("kernel", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*", "collective"),
        ("kernel", "_ZN6sglang26cross_device_reduce_2stageIfLi8EEEvPNS_8RankDataE", "collective"),
        ("kernel", "void deep_ep::internode_ll::dispatch<false, 7168>(void*", "collective"),
        ("kernel", "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*", "compute"),
        ("kernel", "mscclpp::executionKernel<float>", "collective"),
        ("kernel", "void c10d::symmetric_memory::barrier_kernel(unsigned int**", "collective"),
        ("kernel", "triton_red_fused_add_one_shot_all_reduce_0", "compute"),
        ("kernel", "void at::native::reduce_kernel<512, 1>", "compute"),
        ("cpu_op", "symm_mem::multimem_all_reduce_", "host_op"),
        ("gpu_memcpy", "Memcpy", "memcpy"),
        ("gpu_memset", "Memset", "memset"),
        ("cuda_sync", "Stream Sync", "sync"),
        ("overhead", "Buffer Flush", "overhead"),
        ("cpu_op", "nccl:all_reduce", "host_op"),
        ("my_cpu_op", "x", "other"),
        ("", "anything", "other"),
    ],
)
def test_the_shipped_rules(source: str, name: str, category: str) -> None:
    assert CATEGORIES[Classifier().code(source, name)] == category


def test_a_users_rules_go_first(tmp_path: Path) -> None:
    rules = tmp_path / "mine.toml"
    rules.write_text('[[rule]]\nsource = "kern*"\nname = "^gemm"\ncategory = "dma"\n')
    mine = Classifier(rules)
    assert [CATEGORIES[c] for c in mine.codes([("kernel", "GEMM x"), ("kernel", "conv"), ("cpu_op", "gemm")])] == [
        "dma", "compute", "host_op",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        '[[rule]]\nsource = "a"\ncategory = "nonsense"\n',
        '[[rule]]\ncategory = "dma"\n',
        '[[rule]]\nsource = "a"\nname = "("\ncategory = "dma"\n',
        '[[rule]]\nsource = "a"\ncategory = "dma"\ncolour = "red"\n',
        "rule = 5\n",
        "not toml",
    ],
)
def test_rules_that_cannot_be_used_are_refused_in_one_line(text: str, tmp_path: Path) -> None:
    rules = tmp_path / "mine.toml"
    rules.write_text(text)
    with pytest.raises(TraceFileError) as raised:
        Classifier(rules)
    assert "\n" not in str(raised.value)
