"""The ``docs`` port: the documentation of OpenUSD's schemas."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from pxr import Tf, Usd

from callboard.content import Json
from callboard.host import MOST_LISTED, DocEntry, KeptDocs


class UsdDocs(KeptDocs):
    """Entries for schemas and their properties. An inherited property is listed once."""

    def __init__(self) -> None:
        super().__init__()
        self._registry = Usd.SchemaRegistry()

    def _read(self) -> Iterator[DocEntry]:
        reported: set[tuple[str, str]] = set()
        kinds = Tf.Type.FindByName("UsdSchemaBase").GetAllDerivedTypes()
        # OpenUSD's own order differs from run to run. Bases come first, because an inherited
        # property is listed with its base.
        for kind in sorted(kinds, key=lambda one: (len(one.GetAllAncestorTypes()), one.typeName)):
            name = Usd.SchemaRegistry.GetSchemaTypeName(kind)
            definition = self._definition(name)
            if definition is None:
                continue
            yield DocEntry(name, "schema", definition.GetDocumentation())
            for prop in definition.GetPropertyNames():
                text = definition.GetPropertyDocumentation(prop)
                if (prop, text) not in reported:
                    reported.add((prop, text))
                    yield DocEntry(f"{name}.{prop}", "property", text)

    def details(self, entry: DocEntry) -> Json:
        name, _, prop = entry.name.partition(".")
        definition = self._definition(name)
        if definition is None:
            return {}
        if not prop:
            return {
                "properties": [str(each) for each in definition.GetPropertyNames()][:MOST_LISTED]
            }
        attribute = definition.GetAttributeDefinition(prop)
        if not attribute:
            return {"type": "relationship"}
        details: Json = {"type": str(attribute.GetTypeName())}
        fallback = attribute.GetFallbackValue()
        if fallback is not None:
            details["default"] = _plain(fallback)
        choices = attribute.GetMetadata("allowedTokens")
        if choices:
            details["choices"] = [str(each) for each in choices][:MOST_LISTED]
        return details

    def _definition(self, name: str) -> Any:
        registry = self._registry
        concrete = registry.FindConcretePrimDefinition(name)
        return concrete or registry.FindAppliedAPIPrimDefinition(name) or None


def _plain(value: Any) -> Any:
    """Return the value as JSON. Values that JSON can't represent become strings as OpenUSD writes
    them, such as ``inf``."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if isinstance(value, (bool, int, float, str)) else str(value)[:200]
