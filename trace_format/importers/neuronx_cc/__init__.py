"""Reads what neuronx-cc leaves behind: logs, measurements, and the caches that its programs are kept in.

- `lines`, `passes`, `compile_log`, `log_importer`: log-neuron-cc.txt and the lines of the wrapper.
- `metric_store`: global_metric_store.json and its smaller kin.
- `cache_folder`: compile caches of torch-neuronx, JAX and vLLM.
"""

from trace_format.importers.neuronx_cc.cache_folder import holds_compile_cache, read_compile_cache
from trace_format.importers.neuronx_cc.log_importer import read_compiler_log
from trace_format.importers.neuronx_cc.metric_store import read_metric_store

__all__ = ["holds_compile_cache", "read_compile_cache", "read_compiler_log", "read_metric_store"]
