"""The file format trace.pb: how a trace becomes bytes and comes back. docs/trace_format.md describes the bytes."""
