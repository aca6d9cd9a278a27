"""What a YAML file said, with line numbers, or why it isn't read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str | int, ...]


class YamlError(ValueError):
    """The text isn't YAML, or not YAML that we are willing to read. ``line`` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True)
class Document:
    """``value`` is made of dict (text keys), list, str, int, float, bool and None.

    ``duplicates`` are keys written twice in one mapping (the first one won): the mapping's path,
    the key and its line. Whether that spoils the file or one entry is the reader's decision.
    """

    value: Any
    lines: Mapping[Path, int] = field(default_factory=dict)
    duplicates: tuple[tuple[Path, str, int], ...] = ()

    def line(self, *path: str | int) -> int:
        """Where ``path`` starts, or its nearest parent that is known."""
        for length in range(len(path), -1, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return line
        return 1

    def duplicate_under(self, *path: str | int) -> tuple[str, int] | None:
        """The first repeated key at or below ``path``, and its line."""
        for where, key, line in self.duplicates:
            if where[: len(path)] == path:
                return key, line
        return None
