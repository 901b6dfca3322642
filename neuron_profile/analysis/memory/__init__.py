"""What the memory was for, when, and whether it grows."""
