"""Converts a type annotation in a script's syntax tree to JSON Schema. It runs none of the script's
code."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from typing import Any

from callboard.content import Json

# Not typing.get_type_hints: loading a skill must run none of its code.
_PLAIN = {
    **{"str": "string", "int": "integer", "float": "number", "bool": "boolean", "None": "null"},
    **dict.fromkeys(("dict", "Dict", "Mapping", "MutableMapping"), "object"),
    **dict.fromkeys(("list", "List", "Sequence", "MutableSequence", "Collection"), "array"),
    **dict.fromkeys(("tuple", "Tuple", "Iterable"), "array"),
}
_SAYS_NOTHING = frozenset(("Any", "object"))
_PASSES_ON = frozenset(("Required", "NotRequired", "ReadOnly", "Final"))
#: Limits on a schema, because a few lines may define a very large type.
_MAX_DEPTH = 12
_MAX_NODES = 1000


class AnnotatedTypes:
    """Reads the annotations of one function, with the types its script can name: those of
    ``typing``, and its own ``TypedDict`` classes and aliases. Make one for each function, because
    the size limit applies to each instance. ``unread`` collects the annotations that can't be read
    and so become ``{}``."""

    def __init__(self, tree: ast.Module) -> None:
        self.unread: list[str] = []
        self._classes: dict[str, ast.ClassDef] = {}
        self._aliases: dict[str, ast.expr] = {}
        self._nodes = 0
        #: Names whose types are being read, to detect recursive types, which can't be read.
        self._open: set[str] = set()
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                self._classes[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._aliases[node.targets[0].id] = node.value
            elif (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.value is not None
                and last_name(node.annotation) == "TypeAlias"
            ):
                self._aliases[node.target.id] = node.value

    def schema(self, node: ast.expr | None, depth: int = 0) -> Json:
        """Return the schema, or ``{}`` when there is no annotation or it can't be read."""
        self._nodes += 1
        if node is None or depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            return {}
        if isinstance(node, ast.Constant):
            if node.value is None:
                return {"type": "null"}
            return self._quoted(node, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._one_of(_members(node), depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, depth)
        if isinstance(node, ast.Name) and (node.id in self._classes or node.id in self._aliases):
            return self._named(node, depth)
        name = last_name(node)
        if name in _PLAIN:
            return {"type": _PLAIN[name]}
        return {} if name in _SAYS_NOTHING else self._none(node)

    def _none(self, node: ast.expr) -> Json:
        try:
            text = ast.unparse(node)
        except RecursionError:
            text = "…"
        self.unread.append(text if len(text) <= 80 else f"{text[:80]}…")
        return {}

    def _quoted(self, node: ast.Constant, depth: int) -> Json:
        if isinstance(node.value, str):
            try:
                return self.schema(ast.parse(node.value, mode="eval").body, depth + 1)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                pass
        return self._none(node)

    def _subscript(self, node: ast.Subscript, depth: int) -> Json:
        name = last_name(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in ("Union", "Optional"):
            none: list[ast.expr] = [ast.Constant(None)] if name == "Optional" else []
            return self._one_of([*items, *none], depth)
        if name == "Literal":
            return self._literal(node, items)
        if name == "Annotated" and items:
            return self._annotated(items, depth)
        if name in _PASSES_ON and len(items) == 1:
            return self.schema(items[0], depth + 1)
        if name in ("tuple", "Tuple"):
            return self._tuple(items, depth)
        kind = _PLAIN.get(name)
        if kind == "array" and items:
            inner = self.schema(items[0], depth + 1)
            return {"type": "array", "items": inner} if inner else {"type": "array"}
        if kind == "object" and len(items) == 2:
            inner = self.schema(items[1], depth + 1)
            return {"type": "object", **({"additionalProperties": inner} if inner else {})}
        return self._none(node)

    def _tuple(self, items: Sequence[ast.expr], depth: int) -> Json:
        last = items[-1] if items else None
        if isinstance(last, ast.Constant) and last.value is ...:
            inner = self.schema(items[0], depth + 1)
            return {"type": "array", "items": inner} if inner else {"type": "array"}
        inner = any_of([self.schema(item, depth + 1) for item in items])
        counted: Json = {"type": "array", "minItems": len(items), "maxItems": len(items)}
        return {**counted, "items": inner} if inner else counted

    def _literal(self, node: ast.Subscript, items: Sequence[ast.expr]) -> Json:
        values = [value for item in items for value in literal(item)]
        if not values or len(values) != len(items):
            return self._none(node)
        names = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
        kinds = list(dict.fromkeys(names.get(type(value), "") for value in values))
        if "" in kinds:
            return {"enum": values}
        return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}

    def _annotated(self, items: Sequence[ast.expr], depth: int) -> Json:
        schema = self.schema(items[0], depth + 1)
        for extra in [value for item in items[1:] for value in literal(item)]:
            if isinstance(extra, str):
                schema = {**schema, "description": extra}
            elif isinstance(extra, dict):
                schema = {**schema, **extra}
        return schema

    def _one_of(self, nodes: Sequence[ast.expr], depth: int) -> Json:
        return any_of([self.schema(node, depth + 1) for node in nodes])

    def _named(self, name: ast.Name, depth: int) -> Json:
        if name.id in self._open:
            return self._none(name)
        self._open.add(name.id)
        try:
            if name.id in self._classes:
                return self._class(name, depth)
            return self.schema(self._aliases[name.id], depth + 1)
        finally:
            self._open.discard(name.id)

    def _class(self, name: ast.Name, depth: int) -> Json:
        fields = self._fields(self._classes[name.id], depth)
        if fields is None:
            return self._none(name)
        properties = {key: schema for key, (schema, _) in fields.items()}
        schema: Json = {"type": "object", "properties": properties}
        required = [key for key, (_, needed) in fields.items() if needed]
        return {**schema, "required": required} if required else schema

    def _fields(self, node: ast.ClassDef, depth: int) -> dict[str, tuple[Json, bool]] | None:
        """Return a ``TypedDict``'s fields and whether each is required, or None for other
        classes."""
        self._nodes += 1
        if depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            return None
        fields: dict[str, tuple[Json, bool]] = {}
        bases = [last_name(base) for base in node.bases]
        if not bases:
            return None
        for base in bases:
            if base != "TypedDict":
                above = self._classes.get(base)
                inherited = None if above is None else self._fields(above, depth + 1)
                if inherited is None:
                    return None
                fields.update(inherited)
        total = not any(
            each.arg == "total" and isinstance(each.value, ast.Constant) and not each.value.value
            for each in node.keywords
        )
        for line in node.body:
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                outer = line.annotation
                wrapper = last_name(outer.value) if isinstance(outer, ast.Subscript) else ""
                needed = {"Required": True, "NotRequired": False}.get(wrapper, total)
                fields[line.target.id] = (self.schema(outer, depth + 1), needed)
        return fields


def literal(node: ast.expr) -> Iterator[Any]:
    """Yield the literal value in the source if JSON can represent it, otherwise nothing."""
    try:
        text = json.dumps(ast.literal_eval(node), allow_nan=False, ensure_ascii=False)
        yield json.loads(text.encode())  # Half a surrogate pair isn't JSON either.
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return


def any_of(schemas: Sequence[Json]) -> Json:
    """Return a schema that accepts every value that one of the schemas accepts."""
    flat = [one for each in schemas for one in _choices(each)]
    different = [each for at, each in enumerate(flat) if each not in flat[:at]]
    if not different or {} in different:
        return {}
    if len(different) == 1:
        return different[0]
    null: Json = {"type": "null"}
    if null in different and len(different) == 2:
        other = next(each for each in different if each != null)
        kind = other.get("type")
        if isinstance(kind, list) and "null" in kind:
            return other
        if isinstance(kind, str):
            enum = other.get("enum")
            values = {"enum": [*enum, None]} if isinstance(enum, list) else {}
            return {**other, "type": [kind, "null"], **values}
    if all(each.keys() == {"type"} and isinstance(each["type"], str) for each in different):
        return {"type": [each["type"] for each in different]}
    return {"anyOf": different}


def _choices(schema: Json) -> list[Json]:
    """Return the alternatives of a schema that has only ``anyOf``, or else the schema itself."""
    choices = schema["anyOf"] if [*schema] == ["anyOf"] else None
    if isinstance(choices, list) and all(isinstance(one, dict) for one in choices):
        return choices
    return [schema]


def _members(node: ast.expr) -> list[ast.expr]:
    """Return the members of ``a | b | c``."""
    members: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        members.insert(0, node.right)
        node = node.left
    return [node, *members]


def last_name(node: ast.expr) -> str:
    """Return ``Optional`` for ``typing.Optional``, or an empty string when the node isn't a
    name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
