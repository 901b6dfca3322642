"""How many bytes moved, where, how fast, and in which sizes."""
