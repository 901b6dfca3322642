"""The reader's notes on a trace, kept beside it."""
