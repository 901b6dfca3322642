"""Names that stand for other names: the same for the same, and telling nothing but what kind of thing it is."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from trace_format.redaction.public_names import NCCL_KERNEL, is_public, torch_frame

# "model.py(12): forward" as Kineto, "model.py:12 forward" as torch.compile writes it
_FRAME: Final = re.compile(
    r"(?P<path>[^\n]{1,4000}?)(?P<open>\(|:)(?P<line>\d{1,9})(?:\): ?|:? ?)(?P<function>.*)", re.DOTALL
)
_MODULE: Final = re.compile(r"nn\.Module: (?P<name>.+?)(?P<number>_\d{1,9})?", re.DOTALL)
_STEP: Final = re.compile(r"[\w.\-]+[ _.:/\-#](?:step|iteration|iter)[ _#:=\-]*(?P<number>\d{1,18})?", re.IGNORECASE)
_SUFFIX: Final = re.compile(r"\.(?:py|cpp|cc|cu|h|hpp)$")
_BUILT_IN: Final = re.compile(r"<(?:built-in|method|slot wrapper|class).*", re.DOTALL)
_DEVICE_PROCESS: Final = re.compile(r".* (?P<device>\((?:CPU|(?:GPU|XPU|HPU|NPU|MTIA) \d{1,6})\))", re.DOTALL)
_THREAD: Final = re.compile(r"(?P<thread>thread -?\d{1,20}) \(.*\)", re.DOTALL)
# The public part of a kernel's name ends where its template's or its function's arguments begin.
_KERNEL: Final = re.compile(
    r"(?:void )?(?P<name>(?:at|c10|cub|thrust|cutlass|at_cuda_detail)::(?:\(anonymous namespace\)::|\w+::)*\w+"
    rf"|{NCCL_KERNEL}|(?:ampere|volta|turing|hopper|sm\d{2}|maxwell)_\w+|cublas\w+|cudnn\w*|Cijk_\w+"
    r"|igemm_(?:fwd|bwd|wrw)_\w+|multi_tensor_apply_kernel|gemv2[NT]_kernel_val|splitKreduce_kernel)(?P<rest>[<(].*)?",
    re.DOTALL,
)  # fmt: skip


class Pseudonyms:
    """Stand-ins for texts, numbered in the order in which they are asked for."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}  # what was replaced, and by what
        self._numbers: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()

    def text(self, text: str, kind: str = "name") -> str:
        """The text itself where it is public, else what stands for it; `kind` is what it is called where that is not
        seen in its form."""
        if is_public(text):
            return text
        known = self.of.get(text)
        if known is None:
            known = self.of[text] = self._replaced(text, kind)
        return known

    def number(self, kind: str, text: str) -> str:
        """ "kind-3" for the third text of this kind."""
        key = (kind, text)
        if key not in self._numbers:
            self._counts[kind] += 1
            self._numbers[key] = f"{kind}-{self._counts[kind]}"
        return self._numbers[key]

    def _replaced(self, text: str, kind: str) -> str:
        torch = torch_frame(text)
        if torch:
            return torch
        if kind == "track":
            return self._track(text)
        if kind in ("kernel", "operator"):
            kernel = _KERNEL.fullmatch(text)
            if kernel is not None:
                base = kernel["name"]
                return base if kernel["rest"] is None else f"{base}<{self.number(base, text).rpartition('-')[2]}>"
        if kind == "annotation":
            step = _STEP.fullmatch(text)
            if step is not None:
                lead = self.number("annotation", text[: step.start("number")] if step["number"] else text)
                return f"{lead} step {step['number'] or ''}".rstrip()
        module = _MODULE.fullmatch(text)
        if module is not None:
            return f"nn.Module: {self.number('Module', module['name'])}{module['number'] or ''}"
        if _BUILT_IN.fullmatch(text):
            return f"<built-in {self.number('function', text)}>"
        frame = _FRAME.fullmatch(text)
        if frame is not None and kind not in ("host", "kernel"):
            return self._frame(frame)
        return self.number(kind, text)

    def _track(self, text: str) -> str:
        thread, process = _THREAD.fullmatch(text), _DEVICE_PROCESS.fullmatch(text)
        if thread is not None:
            return f"{thread['thread']} ({self.number('program', text)})"
        if process is not None:
            return f"{self.number('process', text)} {process['device']}"
        return self.number("track", text)

    def _frame(self, frame: re.Match[str]) -> str:
        path, function = frame["path"], frame["function"]
        suffix = _SUFFIX.search(path)
        place = f"{self.number('file', path)}{suffix[0] if suffix else ''}{frame['open']}{frame['line']}"
        if not function:
            return place + (")" if frame["open"] == "(" else "")
        return f"{place}{'): ' if frame['open'] == '(' else ' '}{self.number('function', function)}"
