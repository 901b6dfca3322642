"""Which names are torch's own, a device's or this program's, and so tell nothing about whoever recorded a trace.

What is not known to be public is not public: a new name of torch is replaced until it is added here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from trace_format.redaction.public_words import MODULES, WORDS
from trace_format.tables import CATEGORIES, TRACK_KINDS

# The namespaces of torch's operators (torch/csrc, torch/_inductor, torch/_functorch) and of its C++.
_OPERATOR: Final = (
    r"(?:aten|prims?|c10d?|_?c10d_functional(?:_autograd)?|_?quantized(?:_decomposed)?|torch|autograd|profiler|inductor"
    r"|_inductor_test|inductor_prims|mkldnn|mkldnn_prepacked|onednn|sparse|sparse_prepacked|static_runtime|caffe2|xnnpack"
    r"|rng_prims|debugprims|higher_order|at|dynamo)::[\w.:]+"
)
# torch numbers its own nodes (tools/autograd/derivatives.yaml); those of a user's Function have no number.
_NODE: Final = r"[A-Z]\w*Backward\d+"
# What the functions of CUDA, HIP, the Neuron runtime and other drivers do comes after their prefix.
_VERB: Final = (
    "Launch|Mem|Stream|Event|Device|Func|Graph|Module|Ctx|Get|Set|Peek|Occupancy|Host|Malloc|Free|Pointer|Driver|Runtime"
    "|Thread|Init|Array|Create|Destroy|Ext|Kernel|Library|Link|Profiler|Ipc|Import|Export|Signal|Pop|Push|Configure|Choose"
)
_CALL: Final = rf"(?:cuda|cu|hip|hccl|rt|sycl|ur|ze|musa|cnrt)(?:{_VERB})\w*|nrt_[a-z_]+|hsa_[a-z_]+|aclrt\w+"
_OPTIMIZERS: Final = "SGD|AdamW?|Adagrad|Adadelta|Adamax|NAdam|RAdam|RMSprop|Rprop|LBFGS|SparseAdam|ASGD|Adafactor|Muon"
_TORCH_MARK: Final = (
    r"ProfilerStep#\d{1,18}|PyTorch Profiler \(\d+\)|Iteration Start: PyTorch Profiler|Record Window End"
    r"|enumerate\(DataLoader\)#_(?:Single|Multi)ProcessingDataLoaderIter\.__next__"
    r"|enumerate\(DataLoader\)#_(?:Single|Multi)Process\w{0,3}DataLoaderIter\.__next__"
    rf"|Optimizer\.(?:step|zero_grad)#(?:{_OPTIMIZERS})\.(?:step|zero_grad)"
    r"|Torch-Compiled Region: \d+/\d+(?:_\d+)?|compile \d+/\d+(?: backward)?"
    r"|(?:nccl|gloo|mpi|ucc|rccl|hccl|xccl):_?(?:all_?reduce\w{0,12}|all_?gather\w{0,12}|reduce_?scatter\w{0,12}"
    r"|broadcast\w{0,12}|all_?to_?all\w{0,12}|send|recv\w{0,12}|reduce|scatter|gather|barrier|coalesced)"
    r"(?: \d+(?:->|<-)\d+)?"
)
_COPY: Final = r"Mem(?:cpy|set) ?(?:[A-Z]to[A-Z]|PtoP)? ?\((?:[A-Z][a-z]+)(?: -> [A-Z][a-z]+)?\)"
_STEP: Final = r"(?i:(?:(?:train(?:ing)?|eval|inference)[ _.:/\-#])?(?:step|iteration|iter)[ _#:=\-]*(?:\d{1,18})?)"
_TRACK: Final = (
    r"thread -?\d+(?: \((?:python[\d.]*|pt_autograd_\d+|pt_main_thread|pt_nccl_\w{1,12}|neuron-explorer)\))?"
    r"|(?:[Ss]tream|thread|Thread|process|Process|Core|CPU|GPU|NPU|XPU|HPU|MTIA|Plane|rank|Rank|NeuronCore|nc|core|device"
    r"|neuron|neuron_core|E|S|limit \d+/)[ _]?-?\d{1,20}(?: annotations| Submission Queue)?|(?:op_)?0x[\da-f]{1,16}"
    r"|python[\d.]*(?: \d+)? \((?:CPU|(?:GPU|XPU|HPU|NPU|MTIA) \d+)\)|S\[\d+\](?: \(\w{4,6}\))?"
    r"|event \d+ (?:set|consumed)|(?:trn|inf)[123]n?(?:\.\d{0,2}x?large)? ?(?:NeuronCore)?"
    r"|(?:q(?:GpSimd|Sync|Scalar|Vector|Tensor|Dve|Act|Pool|Pe|Sp)(?:Dynamic(?:HW)?|Table)|Q\d+)(?: \S E?\d+)?"
    r"|torch\.compile \(thread \d+\)"
)
_DTYPE: Final = (
    r"(?:c10::)?(?:BFloat16|Half|Float8_e\dm\d\w{0,6}|ComplexFloat|ComplexDouble|complex<\w+>)"
    r"|(?:bf|fp|tf|int|uint|float|bfloat)\d{1,3}\w{0,8}|Float|Double|Long|Int|Short|Byte|Char|Bool"
    r"|(?:unsigned |signed )?(?:char|short|int|long|long int|long long|short int)|float|double|bool"
)
_DEVICE: Final = r"(?:cpu|cuda|hip|xpu|npu|mtia|hpu|mps|xla|meta|neuron|privateuseone)(?::\d{1,5})?"
_HARDWARE: Final = (
    r"(?:NVIDIA|AMD|Intel|Tesla|GeForce|Quadro|Ascend|Habana|Gaudi|Instinct|Radeon)(?: [\w()\-]{1,24}){1,5}"
    r"|Ascend\d{3}\w?|(?:A100|H100|H200|B200|MI\d{3}X?|V100|T4|L4|L40S?)[\w \-]{0,24}"
)
# Numbers, shapes and the values that torch writes for arguments.
_VALUE: Final = r"[\d\s.,:;+\-\[\](){}/x#]*|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|-?inf|nan|True|False|None"
_VERSION: Final = (
    r"(?:neuron-profile |torch )?\d+(?:\.\d+)+(?:[+.\-](?:cpu|cu\d+|rocm[\d.]+|dev\d*|a\d|post\d|git\w{0,12}))*"
)
# Of what NCCL's generator (src/device/generate.py) and those before it make names.
NCCL_KERNEL: Final = (
    r"(?:nccl|rccl)(?:Dev)?Kernel(?:_(?:AllReduce|AllGather|ReduceScatter|Broadcast|SendRecv|Reduce|Generic|Sum|Prod|Min"
    r"|Max|MinMax|PreMulSum|SumPostDiv|RING|TREE|COLLNET|DIRECT|CHAIN|NVLS|PAT|SIMPLE|LL|LL128|b?f16|f32|f64|[iu](?:8|32|64)"
    r"|half|float|double|u?int(?:8|32|64)_t|bfloat16|f8e[45]m[23])){1,8}"
)
_KERNEL: Final = (
    r"aten::\w+(?: \+ aten::\w+)+|triton_(?:poi|red|per|tem|for|mm)_fused_[a-z0-9_]+|triton__[\ddce]*"
    r"|void cutlass::Kernel2?<(?P<cutlass>cutlass_\d\d+_(?:wmma_)?(?:tensorop|simt)_\w+)>\((?P=cutlass)::Params\)"
    rf"|{NCCL_KERNEL}\((?:ncclDevComm\*|ncclWork\*|unsigned long|ncclDevKernelArgsStorage<\w*>|, )*\)"
)
_INSTALLED: Final = r"(?:.*[/\\](?:site|dist)-packages[/\\])?"
_TORCH_PATH: Final = rf"{_INSTALLED}(?P<torch>torch(?:[/\\][\w.\-]+)+\.(?:py|cpp|h)(?::codegen\(\w+\))?)"

_PUBLIC: Final = re.compile(
    "|".join(
        f"(?:{part})"
        for part in (
            _OPERATOR, _NODE, _CALL, _TORCH_MARK, _COPY, _STEP, _TRACK, _DTYPE, _DEVICE, _HARDWARE, _VALUE, _VERSION,
            _KERNEL,
        )
    )
)  # fmt: skip
_KNOWN: Final = WORDS | {*CATEGORIES, *TRACK_KINDS}
_EVALUATES: Final = "autograd::engine::evaluate_function: "
_SIMULATED: Final = " (simulated)"
_LONGEST: Final = 4000  # a longer text is no name
_MODULE: Final = re.compile(r"nn\.Module: (?P<name>\w+?)(?P<number>_\d+)?")
_TORCH_FRAME: Final = re.compile(_TORCH_PATH + r"(?P<line>\(\d+\): |:\d+ ?)(?P<function>[\w<>.\[\]]*)")


@lru_cache(maxsize=1 << 16)
def is_public(text: str) -> bool:
    """Whether a whole text is a name that torch, a driver, a device or this program gives."""
    text = text.removesuffix(_SIMULATED).removeprefix(_EVALUATES)
    if len(text) > _LONGEST:
        return False
    if text in _KNOWN or _PUBLIC.fullmatch(text) is not None:
        return True
    module = _MODULE.fullmatch(text)
    return module is not None and module["name"] in MODULES


def torch_frame(text: str) -> str:
    """A call stack's frame in torch with its path from "torch/" on; "" for any other text."""
    found = _TORCH_FRAME.fullmatch(text)
    return "" if found is None else f"{found['torch']}{found['line']}{found['function']}"
