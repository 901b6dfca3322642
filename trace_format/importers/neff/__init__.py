"""Reads NEFFs (Neuron executables): a header and a gzipped tar archive, walked in memory.

- `package`: the file as a whole: `header`, hash, and `archive`, whose members are read with limits and never extracted
  to disk.
- `definition`: tensors and DMA queues of a subgraph.
- `debug_info`: where each compiled instruction comes from.
- `contents`: what all that says, for those who join it with a device trace; `reader` fills it.
- `rows`: a NEFF in the tables of a trace; `importer`: as a trace of its own, without events.
"""

from trace_format.importers.neff.contents import NeffContents
from trace_format.importers.neff.importer import read_neff
from trace_format.importers.neff.reader import read_neff_file

__all__ = ["NeffContents", "read_neff", "read_neff_file"]
