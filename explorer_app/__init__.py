"""The explorer: the `neuron-explorer` command and the web application that shows a trace."""
