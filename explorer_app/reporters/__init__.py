"""Text for terminals: a reporter knows data and a stream, nothing of argv and paths."""
