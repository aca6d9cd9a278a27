"""Recognizes tools that run a caller's code, whatever they declare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: Names of tools in published packages, and similar names.
_RUNNERS = re.compile(
    r"(?:execute|run|exec|eval|evaluate)_?"
    r"(?:(?:arbitrary|host|blender|maya|houdini|max|scene)_)?"
    r"(?:python|code|script|mel|maxscript|hscript|vex|expression|command|commands|string|source)"
    r"(?:_(?:code|script|file|string|command|source))?"
)
#: Names of arguments that contain code or the path of a code file.
_CODE = re.compile(
    r"(?:(?:python|mel|maxscript|hscript|vex|ms)_?)?(?:code|script|snippet|expression|source_code)"
    r"(?:_(?:text|string|body|path|file))?|python|mel|maxscript|hscript|vex|py_?code"
)


def runs_code(name: str, schema: Mapping[str, Any]) -> str | None:
    """Return why a tool with this name and input schema is considered to run code, or None."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().replace("-", "_")
    if _RUNNERS.fullmatch(plain.rpartition("__")[2]):
        return f"its name is '{name}'"
    properties = schema.get("properties")
    for key, value in properties.items() if isinstance(properties, Mapping) else ():
        spelt = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).lower().replace("-", "_")
        if _CODE.fullmatch(spelt) and _may_be_text(value):
            return f"it takes '{key}'"
    return None


def _may_be_text(schema: Any) -> bool:
    if not isinstance(schema, Mapping) or "enum" in schema or "const" in schema:
        return False
    kind = schema.get("type", "string")
    kinds = kind if isinstance(kind, list) else [kind]
    return "string" in kinds or ("array" in kinds and _may_be_text(schema.get("items", {})))
