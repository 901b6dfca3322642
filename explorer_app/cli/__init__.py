"""The `neuron-explorer` command: it knows argv and paths; what it shows is written by the reporters."""
