"""The generated code of `trace.proto` (`make proto` writes it)."""
