"""The chain of host calls, launches and device work that a window's length came from."""

from neuron_profile.analysis.critical_path.path import CriticalPath, WhatIf, critical_path

__all__ = ["CriticalPath", "WhatIf", "critical_path"]
