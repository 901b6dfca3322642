"""Reads the folders in which AWS's tools leave what they recorded: the files of one process become one trace.

Where the process is this one, they are joined with the trace of the window that was just recorded.

- `layout`: what the names of files and folders say.
- `discovery`: which files there are, and which belong together.
- `neff_pool`: the NEFFs among them, found by UUID.
- `device_profiles`: NTFF files with their NEFFs, and what was converted from them.
- `aws_tool`: AWS's own viewer, for files whose format is not public.
- `alignment`, `links`: where the host says that a device ran, and which call led to which.
- `live_part`: what of a trace was recorded in the process itself.
- `joined`, `assembly`, `sessions`: the parts read and put together.
"""

from trace_format.importers.neuron_session.sessions import (
    LiveLimits,
    join_live_session,
    read_named_files,
    read_session_folder,
)

__all__ = ["LiveLimits", "join_live_session", "read_named_files", "read_session_folder"]
