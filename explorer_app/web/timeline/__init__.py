"""The timeline: its page, and the routes that feed the canvas."""
