"""Finds the arguments of a tool that are paths. Their schema has ``"format": "workspace-path"``. It
also has ``"access": "read"`` if the file is only read although the tool writes other files. In a
tool without any such schema, paths are recognized by names such as ``file`` or ``directory``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from callboard.workspace.path_text import is_windows_absolute

WORKSPACE_PATH = "workspace-path"
DEPTH_LIMIT = 16
#: Argument names for files and folders. An argument whose name only ends in ``path`` may mean a
#: node or a prim.
_OF_FILES = (
    r"(?:.*_)?(?:files?|file_?(?:path|name)s?|dir|directory|folder)(?:_(?:path|name))?|"
    r"(?:output|export|import|save|open|load|texture|image|cache|scene_file|source_file|dest|"
    r"destination|target_file|render|usd_file|alembic|fbx|hdri?)_paths?"
)


class PathFields(NamedTuple):
    """The paths in a schema: the value itself, its properties, its items. ``only_read`` is about
    the value itself."""

    itself: bool = False
    properties: Mapping[str, PathFields] = MappingProxyType({})
    items: PathFields | None = None
    only_read: bool = False

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
        itself, only_read = schema.get("format") == WORKSPACE_PATH, schema.get("access") == "read"
        return PathFields(itself, children, items or None, only_read)

    @staticmethod
    def called_as_files(schema: Mapping[str, Any], files: bool) -> PathFields:
        """Return the properties whose names suggest files. ``files`` is True for a tool that
        declares that it uses files, in which case ``path`` and ``paths`` count too."""
        properties = schema.get("properties")
        named: dict[str, PathFields] = {}
        for name in properties if isinstance(properties, Mapping) else ():
            spelt = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name)).lower().replace("-", "_")
            if re.fullmatch(_OF_FILES, spelt) or (files and spelt in ("path", "paths")):
                named[name] = PathFields(True, {}, PathFields(True))
        return PathFields(False, named)

    def all_absolute(self, value: Any) -> bool:
        """Return whether every path in ``value`` names the same file or folder with and without
        roots."""
        written: list[str] = []

        def note(path: str, only_read: bool) -> str:
            written.append(path)
            return path

        self.resolve(value, note)
        return all(is_absolute(path) for path in written)

    def resolve(self, value: Any, admit: Callable[[str, bool], str]) -> Any:
        """Return a copy of ``value``, in which ``admit(path, only_read)`` replaces every path."""
        if self.itself and isinstance(value, str):
            return admit(value, self.only_read)
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
    """Return whether the path names the same file or folder with and without roots."""
    return path.startswith(("/", "file:")) or is_windows_absolute(path)


def has_folder(path: str) -> bool:
    """Return whether the text is more than a bare name, which might not be a file at all."""
    return is_absolute(path) or any(mark in path for mark in ("/", "\\", ":", "~", ".."))
