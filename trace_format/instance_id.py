"""EC2 instance ids: they identify an account's machine and are neither shown nor saved."""

from __future__ import annotations

import re

# AWS EC2 docs, resource ids: i- and 8 or 17 hexadecimal digits; mi- for machines that Systems Manager manages
INSTANCE_ID = re.compile(r"(?<![0-9A-Za-z])m?i-[0-9a-f]{8,}(?![0-9A-Za-z])")


def without_instance_ids(text: str) -> str:
    """The text with "instance" in place of each EC2 instance id: "i-0a1b2c3d_pid_7" is "instance_pid_7"."""
    return INSTANCE_ID.sub("instance", text)
