"""Which host slice launched or encloses which work."""
