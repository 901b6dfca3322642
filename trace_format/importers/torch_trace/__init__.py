"""PyTorch's structured compile logs (`TORCH_TRACE`, what tlparse reads): import."""

from __future__ import annotations

from trace_format.importers.torch_trace.importer import read_torch_trace

__all__ = ["read_torch_trace"]
