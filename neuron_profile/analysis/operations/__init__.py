"""What took the time, by operation, module, line and call path."""
