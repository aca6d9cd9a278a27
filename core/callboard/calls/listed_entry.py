"""A shipped tool's entry in ``tools/list``, shortened to what a model needs to choose and call it.

The server checks arguments against the whole schema, and ``skills__describe`` shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callboard.content import Json

#: MCP's defaults.
_DEFAULTS = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
#: Hints that mean nothing for a tool that only reads.
_ABOUT_CHANGES = ("destructiveHint", "idempotentHint")
#: Keywords that refuse only values that no caller intends.
_LIMITS = ("minLength", "maxLength", "additionalProperties", "uniqueItems")
#: A number as large as this limits nothing.
_LARGE = 1e6


def short_annotations(annotations: Mapping[str, Any]) -> Json:
    """Return the annotations without MCP's defaults."""
    reads = annotations.get("readOnlyHint") is True
    return {
        key: value
        for key, value in annotations.items()
        if value is not _DEFAULTS.get(key) and not (reads and key in _ABOUT_CHANGES)
    }


def short_schema(schema: Any) -> Any:
    """Return a value's schema without the limits that only refuse mistakes."""
    if isinstance(schema, list):
        return [short_schema(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _short(key, value) for key, value in schema.items() if _tells(key, schema)}


def _tells(key: str, schema: Mapping[str, Any]) -> bool:
    value = schema[key]
    if key in _LIMITS:
        return isinstance(value, Mapping)
    if key in ("minItems", "maxItems"):
        return schema.get("minItems") == schema.get("maxItems")
    return not (key in ("minimum", "maximum") and abs(value) >= _LARGE)


def _short(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: short_schema(each) for name, each in value.items()}
    if key in ("items", "additionalProperties", "anyOf", "oneOf", "allOf"):
        return short_schema(value)
    return value
