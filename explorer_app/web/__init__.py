"""The web application: its pages, its look, and the local server that serves it."""
