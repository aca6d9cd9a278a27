"""Describes a tool's arguments in words, for `callboard tools` and the reference pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def accepted(schema: Any) -> str:
    """Return a description of the values that a schema accepts."""
    if not isinstance(schema, Mapping):
        return "anything"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(accepted(each) for each in schema[key]))
    kinds = schema.get("type", "anything")
    text = " or ".join(map(str, kinds)) if isinstance(kinds, list) else str(kinds)
    if kinds == "array" and isinstance(schema.get("items"), Mapping):
        text = f"array of {accepted(schema['items'])}"
    if kinds == "object" and isinstance(fields := schema.get("properties"), Mapping) and fields:
        text = f"object of {', '.join(f'`{name}`' for name in fields)}"
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        text += f", {least} to {most}"
    elif least is not None:
        text += f", at least {least}"
    elif most is not None:
        text += f", at most {most}"
    return text


def meaning(schema: Any) -> str:
    """Return the argument's description and default value as text."""
    if not isinstance(schema, Mapping):
        return ""
    text = str(schema.get("description", ""))
    if "default" in schema:
        sentence = f"{text.rstrip('.')}. " if text else ""
        text = f"{sentence}Default: `{schema['default']}`"
    return text
