"""Caches of compiled NEFFs: what a window added to them and took from them."""
