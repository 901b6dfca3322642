"""Device profiles as JSON, as neuron-profile and neuron-explorer write them (`view --output-format json`)."""

from trace_format.importers.neuron_device_json.importer import read_device_json

__all__ = ["read_device_json"]
