"""Converts JSON Schema 2020-12 to the part of draft 07 that fastjsonschema compiles safely.

The output is built keyword by keyword, so nothing unchecked reaches the code generator: no ``$id``,
no ``format``, no default, and only references to our own flat ``definitions``. A deep or recursive
schema therefore becomes many small functions, not one that Python can't compile. Draft 07's own
spellings (``definitions``, a list of ``items``, ``dependencies``) are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from callboard.calls.schema_errors import BadSchema, UnsupportedSchema

_MOST_NODES = 20_000
_LONGEST_PATTERN = 4_096
_LARGEST = 1e300
#: Maximum nesting depth of schemas in one generated function.
_INLINE_DEPTH = 3

_TYPES = {"null", "boolean", "number", "integer", "string", "array", "object"}
_ONE = ("not", "if", "then", "else", "contains", "propertyNames", "additionalProperties")
_LIST = ("allOf", "anyOf", "oneOf")
_NAMED = ("properties", "patternProperties", "dependentSchemas")
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_HOLDERS = ("$defs", "definitions", "dependencies")
#: Keywords that depend on properties or items evaluated by other keywords, which draft 07 can't
#: express.
_IN_PLACE = {*_LIST, "if", "$ref", "dependentSchemas", "dependencies", "contains"}


def lower(schema: Any) -> dict[str, Any]:
    """Return the draft 07 schema that accepts what ``schema`` accepts. Raises BadSchema."""
    return _Lowering(schema).run()


class _Lowering:
    def __init__(self, schema: Any) -> None:
        self.schema = schema
        #: Schemas by base URI, schemas by base URI and anchor, and each schema's base URI.
        self.documents: dict[str, Any] = {"": schema}
        self.anchors: dict[tuple[str, str], Any] = {}
        self.bases: dict[int, str] = {}
        self.names: dict[int, str] = {}
        self.waiting: list[tuple[str, Any, str]] = []
        self.unsupported: set[str] = set()

    def run(self) -> dict[str, Any]:
        self.index()
        top = self.reference(self.schema, "")
        definitions: dict[str, Any] = {}
        while self.waiting:
            name, node, base = self.waiting.pop()
            definitions[name] = self.schema_at(node, base)
        if self.unsupported:
            raise UnsupportedSchema(sorted(self.unsupported))
        return {**top, "definitions": definitions}

    def index(self) -> None:
        """Find every identifier. Visit each node once, without recursion, because aliases can form
        loops."""
        waiting: list[tuple[Any, str]] = [(self.schema, "")]
        visited = 0
        while waiting:
            node, base = waiting.pop()
            visited += 1
            if visited > _MOST_NODES:
                raise BadSchema(f"the schema has more than {_MOST_NODES} parts; make it smaller")
            if not isinstance(node, Mapping) or id(node) in self.bases:
                continue
            identifier = node.get("$id")
            if isinstance(identifier, str) and identifier[:1] == "#":
                self.anchors[base, identifier[1:]] = node
            elif isinstance(identifier, str):
                base = urldefrag(urljoin(base, identifier)).url
                self.documents[base] = node
            self.bases[id(node)] = base
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(node.get(keyword), str):
                    self.anchors[base, node[keyword]] = node
            waiting.extend((child, base) for child in _children(node))

    def reference(self, node: Any, base: str) -> dict[str, Any]:
        """Return a reference to ``node`` as a definition of its own, which is lowered later."""
        if id(node) not in self.names:
            self.names[id(node)] = f"d{len(self.names)}"
            self.waiting.append((self.names[id(node)], node, self.bases.get(id(node), base)))
        return {"$ref": f"#/definitions/{self.names[id(node)]}"}

    def target(self, ref: Any, base: str) -> dict[str, Any]:
        if not isinstance(ref, str):
            raise BadSchema("$ref must be a string")
        document, fragment = (base, ref[1:]) if ref[:1] == "#" else urldefrag(urljoin(base, ref))
        if document not in self.documents:
            raise BadSchema(
                f"$ref '{ref[:200]}' leads outside the schema; nothing is fetched, so use $defs"
            )
        node = self.documents[document]
        if fragment and not fragment.startswith("/"):
            node = self.anchors.get((document, unquote(fragment)))
        else:
            for part in unquote(fragment).split("/")[1:]:
                node = _step(node, part.replace("~1", "/").replace("~0", "~"))
        if not isinstance(node, (Mapping, bool)):
            raise BadSchema(f"$ref '{ref[:200]}' doesn't lead to a schema")
        return self.reference(node, document)

    def child(self, node: Any, base: str, depth: int) -> Any:
        if isinstance(node, bool):
            return node
        if not isinstance(node, Mapping):
            raise BadSchema(f"a schema must be an object or a boolean, not {type(node).__name__}")
        if depth >= _INLINE_DEPTH:
            return self.reference(node, base)
        return self.schema_at(node, self.bases.get(id(node), base), depth)

    def schema_at(self, node: Any, base: str, depth: int = 0) -> Any:
        if isinstance(node, bool):
            return node
        if not isinstance(node, Mapping):
            raise BadSchema(f"a schema must be an object or a boolean, not {type(node).__name__}")
        below = depth + 1
        lowered: dict[str, Any] = {}
        extra: list[Any] = []
        if "$ref" in node:
            extra.append(self.target(node["$ref"], base))
        if "type" in node:
            lowered["type"] = _types(node["type"])
        lowered.update({key: _number(key, node[key]) for key in _LIMITS if key in node})
        lowered.update({key: _count(key, node[key]) for key in _COUNTS if key in node})
        if "pattern" in node:
            lowered["pattern"] = _pattern(node["pattern"])
        if "required" in node:
            lowered["required"] = _strings("required", node["required"])
        if node.get("uniqueItems") is True:
            lowered["uniqueItems"] = True
        if "const" in node:
            extra.append(_equal(node["const"]))
        if "enum" in node:
            extra.append(_one_of(node["enum"]))
        for key in _ONE:
            if key in node:
                lowered[key] = self.child(node[key], base, below)
        for key in _LIST:
            if key in node:
                lowered[key] = [self.child(item, base, below) for item in _items(key, node[key])]
        for key in _NAMED[:2]:
            if key in node:
                lowered[key] = {
                    _pattern(name) if key == "patternProperties" else name: self.child(
                        item, base, below
                    )
                    for name, item in _mapping(key, node[key]).items()
                }
        lowered.update(self.array(node, base, below))
        extra.extend(self.dependencies(node, base, below))
        self.refuse_what_cannot_be_said(node, lowered)
        if len(extra) == 1 and not lowered:
            return extra[0]
        if extra:
            lowered["allOf"] = [*extra, *lowered.get("allOf", [])]
        return lowered

    def array(self, node: Mapping[str, Any], base: str, depth: int) -> dict[str, Any]:
        """Convert an array's keywords to draft 07, where ``prefixItems`` is a list of ``items``,
        and ``items`` is ``additionalItems``."""
        first, rest = node.get("prefixItems"), node.get("items", True)
        if first is None and isinstance(rest, (list, tuple)):
            first, rest = rest, node.get("additionalItems", True)
        if first is None:
            return {"items": self.child(rest, base, depth)} if "items" in node else {}
        listed = [self.child(item, base, depth) for item in _items("prefixItems", first)]
        return {"items": listed, "additionalItems": self.child(rest, base, depth)}

    def dependencies(
        self, node: Mapping[str, Any], base: str, depth: int
    ) -> Iterator[dict[str, Any]]:
        for key in ("dependentRequired", "dependentSchemas", "dependencies"):
            if key in node:
                yield {
                    "dependencies": {
                        name: _strings(key, item)
                        if isinstance(item, (list, tuple))
                        else self.child(item, base, depth)
                        for name, item in _mapping(key, node[key]).items()
                    }
                }

    def refuse_what_cannot_be_said(self, node: Mapping[str, Any], lowered: dict[str, Any]) -> None:
        """Note what draft 07 can't express, unless simpler keywords mean the same here."""
        self.unsupported.update({"$dynamicRef", "$recursiveRef"} & node.keys())
        for key, written, plain in (
            ("unevaluatedProperties", "additionalProperties", "additionalProperties"),
            ("unevaluatedItems", "items", "additionalItems" if "items" in lowered else "maxItems"),
        ):
            if node.get(key, True) is True or written in node:
                continue
            if _IN_PLACE & node.keys() or node[key] is not False:
                self.unsupported.add(key)
            else:
                lowered[plain] = 0 if plain == "maxItems" else False
        if "contains" in node:
            if node.get("minContains", 1) == 0:
                del lowered["contains"]
            elif node.get("minContains", 1) != 1:
                self.unsupported.add("minContains")
            if "maxContains" in node:
                self.unsupported.add("maxContains")


def _children(node: Mapping[str, Any]) -> Iterator[Any]:
    for key in (*_ONE, "items", "additionalItems", *_LIST, "prefixItems", *_NAMED, *_HOLDERS):
        value = node.get(key)
        if isinstance(value, (list, tuple)):
            yield from value
        elif isinstance(value, Mapping) and key in (*_NAMED, *_HOLDERS):
            yield from value.values()
        elif value is not None:
            yield value


def _step(node: Any, part: str) -> Any:
    if isinstance(node, Mapping):
        return node.get(part)
    if isinstance(node, (list, tuple)) and part.isdecimal() and len(part) < 6:
        return node[int(part)] if int(part) < len(node) else None
    return None


def _equal(value: Any) -> dict[str, Any]:
    """Return a schema that accepts exactly this value. Objects and arrays are spelled out, because
    the compiler would treat a key named ``$ref`` inside a ``const`` as a reference."""
    if isinstance(value, Mapping):
        return {
            "type": "object",
            "required": list(_mapping("const", value)),
            "properties": {key: _equal(item) for key, item in value.items()},
            "additionalProperties": False,
        }
    if isinstance(value, (list, tuple)):
        same = [_equal(item) for item in value]
        size = {"type": "array", "minItems": len(same), "maxItems": len(same)}
        return {**size, "items": same} if same else size
    if value is None or isinstance(value, (str, bool, int)):
        return {"enum": [value]}
    return {"enum": [_number("const", value)]}


def _one_of(values: Any) -> dict[str, Any]:
    same = [_equal(value) for value in _items("enum", values)]
    if all("enum" in one for one in same):
        return {"enum": [one["enum"][0] for one in same]}
    return {"anyOf": same}


def _types(value: Any) -> list[str]:
    names = [value] if isinstance(value, str) else _strings("type", value)
    for name in names:
        if name not in _TYPES:
            raise BadSchema(f"type '{name[:50]}' doesn't exist; use one of {sorted(_TYPES)}")
    return names


def _number(key: str, value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadSchema(f"{key} must be a number")
    if not -_LARGEST <= value <= _LARGEST:
        raise BadSchema(f"{key} must be a number within ±{_LARGEST:.0e}")
    if key == "multipleOf" and value <= 0:
        raise BadSchema("multipleOf must be greater than 0")
    return value


def _count(key: str, value: Any) -> int:
    number = _number(key, value)
    if number < 0 or number != int(number):
        raise BadSchema(f"{key} must be a whole number, 0 or more")
    return int(number)


def _pattern(value: Any) -> str:
    if not isinstance(value, str):
        raise BadSchema("a pattern must be a string")
    if len(value) > _LONGEST_PATTERN:
        raise BadSchema(f"a pattern is longer than {_LONGEST_PATTERN} characters; shorten it")
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as wrong:
        raise BadSchema(f"the pattern '{value[:200]}' can't be used: {wrong}") from None
    return value


def _items(key: str, value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)) or not value:
        raise BadSchema(f"{key} must be an array with at least one entry")
    return list(value)


def _strings(key: str, value: Any) -> list[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise BadSchema(f"{key} must be an array of strings")
    return list(dict.fromkeys(value))


def _mapping(key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise BadSchema(f"{key} must be an object")
    return value
