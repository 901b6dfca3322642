"""A program: which of the strings on its input a regular expression finds something in.

It is a process of its own because an expression of a reader's may take for ever, and a process can be ended. Input: a
JSON array of the expression and the strings. Output: "1" or "0" for each string; or "!" and why there is no answer.
"""

from __future__ import annotations

import json
import re
import sys

# The strings, decoded, and what matching takes.
_MOST_BYTES = 2 << 30


def main() -> None:
    """Read the input to its end, write the output."""
    try:
        import resource
    except ImportError:
        pass  # there is no such limit on Windows
    else:
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    expression, strings = json.load(sys.stdin)
    try:
        search = re.compile(expression, re.IGNORECASE).search
        sys.stdout.write("".join("1" if search(text) else "0" for text in strings))
    except re.error as error:
        sys.stdout.write(f"!{error}")
    except (RecursionError, OverflowError, MemoryError):
        sys.stdout.write("!it is too large")


if __name__ == "__main__":
    main()
