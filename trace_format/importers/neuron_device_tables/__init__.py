"""The tables of AWS's device profiler, as its JSON and its Parquet files have them, become rows of a trace.

- `part`: some rows of such a table, and their columns as numbers and text.
- `names`: what Parquet calls the tables and columns that JSON names otherwise.
- `profile`: takes the parts of all tables and gives the trace; `context` is what the readers of its tables share.
- `instructions`, `packets`, `updates`, `counters`, `program`, `collectives`, `facts`: one for each kind of row.
- `cores`: which physical core a row belongs to; `links`: rows that name each other by id.
- `carried`: keeps what has no place in the schema, in tables called `neuron_<table>`: whole tables, and of
  instructions and packets the columns that change with every row (`id`, `crc_in`, `packet_idx`, ...).
"""
