"""What was compiled, who paid, and why."""
