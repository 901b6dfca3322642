"""What caused a slice and what it caused, link by link."""

from __future__ import annotations

from script import Script

from neuron_profile import analysis
from trace_format import Trace


def training() -> Script:
    """aten::linear launches gemm and leads to its backward, in whose step another kernel is launched.

    main      aten::linear [0, 20)      launch #1 [5, 7) in it
    autograd  MmBackward [100, 130)     aten::mm [105, 125) in it, launch #2 [110, 112) in that
    stream    gemm [10, 30)             gemm_backward [115, 140)
    """
    script = Script()
    main, autograd, stream = script.track("main"), script.track("autograd"), script.stream(device=0)
    add = script.add
    linear = add(main, "aten::linear", "host_op", 0, 20)
    first = add(main, "cudaLaunchKernel", "runtime", 5, 2, correlation=1)
    backward = add(autograd, "MmBackward", "host_op", 100, 30)
    add(autograd, "aten::mm", "host_op", 105, 20)
    add(autograd, "cudaLaunchKernel", "runtime", 110, 2, correlation=2)
    gemm = add(stream, "gemm", "compute", 10, 20, correlation=1)
    add(stream, "gemm_backward", "compute", 115, 25, correlation=2)
    flows = script.builder["flows"]
    flows.append(1, from_slice=linear, to_slice=backward, kind=script.builder.string("fwdbwd"))
    flows.append(1, from_slice=first, to_slice=gemm, kind=script.builder.string("ac2g"))
    return script


def named(trace: Trace, row: int) -> str:
    return trace.pool.strings[int(trace.slices.name[row])]


def links(trace: Trace, name: str, **limits: int) -> list[tuple[str, int, str, str, str]]:
    row = next(row for row in range(len(trace.slices)) if named(trace, row) == name)
    return [
        (link.direction, link.distance, named(trace, link.from_slice), named(trace, link.to_slice), link.kind)
        for link in analysis.causes(trace, row, **limits).itertuples()
    ]


def test_a_kernel_leads_back_to_its_launch_and_through_what_lies_around_it_to_the_forward_operator() -> None:
    assert links(training().trace(), "gemm_backward") == [
        ("upstream", 1, "cudaLaunchKernel", "gemm_backward", "launch"),  # no flow tells of it: by correlation
        ("upstream", 2, "aten::linear", "MmBackward", "fwdbwd"),
    ]


def test_an_operator_leads_to_what_was_launched_in_it_and_to_what_its_effects_caused() -> None:
    assert links(training().trace(), "aten::linear") == [
        ("downstream", 1, "aten::linear", "MmBackward", "fwdbwd"),
        ("downstream", 1, "cudaLaunchKernel", "gemm", "ac2g"),  # the flow and the correlation are one link
        ("downstream", 2, "cudaLaunchKernel", "gemm_backward", "launch"),
    ]


def test_what_is_beyond_the_limits_is_counted() -> None:
    script = Script()
    main, stream = script.track(), script.stream(device=0)
    script.add(main, "step", "annotation", 0, 1000)
    for number in range(1, 6):
        script.add(main, "cudaLaunchKernel", "runtime", 10 * number, 2, correlation=number)
        script.add(stream, f"kernel {number}", "compute", 10 * number + 5, 4, correlation=number)
    trace = script.trace()
    found = analysis.causes(trace, 0, most_of_one=3)
    assert [named(trace, row) for row in found["to_slice"]] == ["kernel 1", "kernel 2", "kernel 3"]
    assert found.attrs["left_out"] == {"upstream": 0, "downstream": 2}
    assert analysis.causes(trace, 0, most=1).attrs["left_out"] == {"upstream": 0, "downstream": 4}


def test_flows_in_a_circle_end() -> None:
    script = Script()
    track = script.track()
    first, second = script.add(track, "a", "host_op", 0, 1), script.add(track, "b", "host_op", 2, 1)
    script.builder["flows"].append(2, from_slice=[first, second], to_slice=[second, first])
    assert len(analysis.causes(script.trace(), 0)) == 2  # b, upstream and downstream
