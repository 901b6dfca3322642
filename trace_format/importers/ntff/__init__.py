"""Reads NTFF files: what the Neuron runtime recorded of one profile of a NeuronCore, versions 4, 5 and 6.

- `fields`, `container`: the description in front: versions, cores, programs, queues, clocks, runs, segments.
- `records`, `times`, `pairing`: 16 bytes each, piece by piece; their clocks; starts and ends joined.
- `programs`, `opcodes`, `operands`: the instructions as they lay in device memory.
- `runs`: when the program began and ended. `compiled`: what a NEFF of the same program adds.
- `profile`: what the readers of all kinds of records share; `instructions` (with `slot_columns`), `packets`, `events`
  and `throttle` are one kind each; `counters` follow from them; `carried` is what the description has beside them.
- `importer`: all that as a trace.
"""

from trace_format.importers.ntff.importer import read_ntff, read_ntff_file

__all__ = ["read_ntff", "read_ntff_file"]
