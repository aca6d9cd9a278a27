"""Untrusted YAML as plain JSON values with line numbers.

Size, depth, and the number of nodes, before and after aliases are followed, are all limited while
reading. See :mod:`.yaml_events`. Scalars follow YAML 1.2's core schema (``on`` and ``2024-01-01``
are strings, ``true`` is a boolean), for which skills are written. Every value that is read can be
written as JSON.
"""

from __future__ import annotations

from callboard.ground.yaml_document import Document, Path, YamlError

__all__ = ["MAX_BYTES", "Document", "Path", "YamlError", "load"]

MAX_BYTES = 1024 * 1024


def load(text: str, first_line: int = 1) -> Document:
    """Read one document. ``first_line`` is the line of ``text`` in its file. Raises YamlError."""
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise YamlError(f"larger than {MAX_BYTES} bytes", first_line)
    from callboard.ground.yaml_events import (
        read,  # Imported here, because a start with known skills reads no YAML.
    )

    return read(text, first_line)
