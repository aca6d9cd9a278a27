"""Checks a value against a tool's JSON Schema (2020-12, or draft 07's spellings).

``format`` is a note to the reader, as 2020-12 says, and is not checked (the dispatcher handles
``workspace-path``). Defaults are not filled in. A ``$ref`` works only inside the schema: nothing is
fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from callboard.calls.invisible import half_a_character
from callboard.calls.schema_errors import BadSchema, UnsupportedSchema

if TYPE_CHECKING:
    from fastjsonschema import JsonSchemaValueException

__all__ = ["BadSchema", "SchemaViolation", "UnsupportedSchema", "Validator", "has_patterns"]

_LONGEST = 600


class SchemaViolation(ValueError):
    """A value breaks its schema. ``path`` is the field (``arguments.points[0].x``), ``rule`` is the
    keyword that it breaks, and ``message`` is a sentence that names both."""

    def __init__(self, path: str, rule: str, message: str) -> None:
        cut = message if len(message) <= _LONGEST else message[:_LONGEST] + "…"
        self.path, self.rule, self.message = path, rule, f"{cut} ({rule})"
        super().__init__(self.message)


class Validator:
    """One schema, compiled at its first use and kept. ``name`` is for messages. Use it from any
    thread."""

    def __init__(
        self,
        schema: Mapping[str, Any] | bool,
        *,
        name: str = "arguments",
        whole_characters: bool = False,
    ) -> None:
        """If ``whole_characters`` is true, half a surrogate pair is refused: JSON may contain one,
        but no application accepts it."""
        self._whole_characters = whole_characters
        self._schema = schema
        self._name = name

    def compile(self) -> None:
        """Compile now. Raises BadSchema, or UnsupportedSchema, when the schema can't be used."""
        _ = self._compiled

    def check(self, value: Any) -> None:
        """Check ``value``, decoded from JSON, against the schema. Raises SchemaViolation for the
        first rule that it breaks, and the errors of :meth:`compile`. ``value`` stays unchanged."""
        compiled = self._compiled
        if self._whole_characters and half_a_character(value):
            wrong = f"{self._name} has half a surrogate pair in a string; send both halves or none"
            raise SchemaViolation(self._name, "text", wrong)
        try:
            compiled(value, name_prefix=self._name)
        except RecursionError:
            raise SchemaViolation(
                self._name, "depth", f"{self._name} is nested too deeply"
            ) from None
        except (ArithmeticError, ValueError) as wrong:
            from fastjsonschema import JsonSchemaValueException  # _compiled has loaded the module.

            if isinstance(wrong, JsonSchemaValueException):
                raise _violation(wrong) from None
            raise SchemaViolation(
                self._name, "number", f"{self._name} holds a number too large to check"
            ) from None

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        # Imported here, because a server starts without compiling anything.
        import fastjsonschema

        from callboard.calls.schema_lowering import lower

        lowered = lower(self._schema)
        try:
            compiled: Callable[..., Any] = fastjsonschema.compile(
                lowered, handlers=_NothingIsFetched(), use_default=False, use_formats=False
            )
        except (ValueError, SyntaxError, RecursionError) as wrong:
            raise BadSchema(f"the schema can't be used: {str(wrong)[:_LONGEST]}") from None
        return compiled


def has_patterns(schema: Any) -> bool:
    """Return whether a schema, as a bundle's server sent it, contains a regular expression."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            # A property may be named ``pattern``; its value is a schema, not a string.
            if isinstance(node.get("pattern"), str) or "patternProperties" in node:
                return True
            waiting += node.values()
        elif isinstance(node, (list, tuple)):
            waiting += node
    return False


class _NothingIsFetched(dict[str, Any]):
    """Claims every URI scheme, so that the compiler never falls back to opening a URL."""

    def __contains__(self, scheme: object) -> bool:
        return True

    def __missing__(self, scheme: str) -> Any:
        raise BadSchema(f"the schema refers to a {scheme[:20]} address; nothing is fetched")


def _violation(wrong: JsonSchemaValueException) -> SchemaViolation:
    rule, path = wrong.rule or "false", wrong.name or ""
    return SchemaViolation(path, rule, _sentence(rule, path, wrong) or wrong.message)


def _sentence(rule: str, path: str, wrong: JsonSchemaValueException) -> str | None:
    """Return our own message if the library's doesn't say what to send instead."""
    definition = wrong.definition if isinstance(wrong.definition, dict) else {}
    known = definition.get("properties", {})
    if rule == "required":
        missing = [name for name in definition["required"] if name not in wrong.value]
        unknown = _unknown(definition, wrong.value) if known else []
        instead = f", and not {_listed(unknown)}" if unknown else ""
        return f"{path} must have {_listed(missing)}{instead}"
    if rule == "additionalProperties":
        unknown = _unknown(definition, wrong.value)
        takes = f"; it takes {_listed(known)}" if known else ""
        return f"{path} must not have {_listed(unknown)}{takes}"
    if rule == "anyOf":
        forms = definition["anyOf"]
        if all(isinstance(form, dict) and "type" in form for form in forms):
            types = " or ".join(name for form in forms for name in form["type"])
            return f"{path} must be a valid {types}"
        return f"{path} must fit one of {len(forms)} forms and fits none"
    return None


def _unknown(definition: Mapping[str, Any], value: Mapping[str, Any]) -> list[str]:
    """Return the names in an object that its schema doesn't declare. If there are very many, the
    list is cut off."""
    known, patterns = definition.get("properties", {}), definition.get("patternProperties", {})
    unknown = (
        name
        for name in value
        if name not in known and not any(re.search(pattern, name) for pattern in patterns)
    )
    return list(islice(unknown, _LONGEST))


def _listed(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names)
