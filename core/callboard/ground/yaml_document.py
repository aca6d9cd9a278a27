"""The content of a YAML file with line numbers, and the error for YAML that can't be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str | int, ...]


class YamlError(ValueError):
    """The text isn't YAML, or YAML that callboard refuses to read. ``line`` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True)
class Document:
    """The values of one YAML file.

    ``value`` is made of dict (text keys), list, str, int, float, bool and None. ``duplicates`` are
    keys written twice in one mapping (the first one wins): the mapping's path, the key and its
    line. The reader decides whether that spoils the file or one entry.
    """

    value: Any
    lines: Mapping[Path, int] = field(default_factory=dict)
    duplicates: tuple[tuple[Path, str, int], ...] = ()

    def line(self, *path: str | int) -> int:
        """Return the line on which ``path`` starts, or else the line on which its nearest known
        parent starts."""
        for length in range(len(path), -1, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return line
        return 1

    def duplicate_under(self, *path: str | int) -> tuple[str, int] | None:
        """Return the first repeated key at or below ``path``, and its line."""
        for where, key, line in self.duplicates:
            if where[: len(path)] == path:
                return key, line
        return None
