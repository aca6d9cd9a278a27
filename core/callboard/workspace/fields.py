"""Which arguments of a tool are paths: those whose schema says ``"format": "workspace-path"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callboard.workspace.path_text import is_windows_absolute

WORKSPACE_PATH = "workspace-path"
DEPTH_LIMIT = 16


@dataclass(frozen=True)
class PathFields:
    """A schema's path-valued places: this value itself, its properties', its items'."""

    itself: bool = False
    properties: Mapping[str, PathFields] = field(default_factory=dict)
    items: PathFields | None = None

    def __bool__(self) -> bool:
        return self.itself or bool(self.properties) or self.items is not None

    @staticmethod
    def of(schema: Any, depth: int = 0) -> PathFields:
        if not isinstance(schema, Mapping) or depth > DEPTH_LIMIT:
            return PathFields()
        properties = schema.get("properties")
        children: dict[str, PathFields] = {}
        if isinstance(properties, Mapping):
            for name, child in properties.items():
                fields = PathFields.of(child, depth + 1)
                if fields:
                    children[name] = fields
        items = PathFields.of(schema.get("items"), depth + 1)
        return PathFields(schema.get("format") == WORKSPACE_PATH, children, items or None)

    def all_absolute(self, value: Any) -> bool:
        """Whether every path in ``value`` means the same with and without workspace roots."""
        written: list[str] = []

        def note(path: str) -> str:
            written.append(path)
            return path

        self.resolve(value, note)
        return all(is_absolute(path) for path in written)

    def resolve(self, value: Any, admit: Callable[[str], str]) -> Any:
        """A copy of ``value`` with every path in it replaced by ``admit(path)``."""
        if self.itself and isinstance(value, str):
            return admit(value)
        if self.properties and isinstance(value, dict):
            return {
                name: self.properties[name].resolve(item, admit)
                if name in self.properties
                else item
                for name, item in value.items()
            }
        if self.items is not None and isinstance(value, list):
            return [self.items.resolve(item, admit) for item in value]
        return value


def is_absolute(path: str) -> bool:
    """Whether the path means the same with and without roots."""
    return path.startswith(("/", "file:")) or is_windows_absolute(path)
