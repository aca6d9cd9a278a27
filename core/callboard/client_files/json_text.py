"""Changes one entry in a JSON file that people write. Order and indentation stay the same. So do
comments and trailing commas, for clients that accept them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The space between two tokens; the second form is for clients that accept comments.
_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
#: The rest of a line after a value. The pattern can match a line in only one way. Otherwise, the
#: search would try every way on a line that doesn't match.
_LINE_END = re.compile(r"(?:[ \t]|/\*(?:[^*\r\n]|\*(?!/))*\*/)*(?://[^\r\n]*)?(?=\r?\n)")
#: This matches runs of characters, because matching one character at a time would need much memory
#: for a long string.
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_BARE = re.compile(r"-?[A-Za-z0-9.+-]+")
_BOM = "\ufeff"


@dataclass
class _Node:
    """A value and its position. ``members`` are an object's members, and ``comma`` is the position
    of a comma after the last member."""

    value: Any
    start: int
    end: int
    members: list[_Member] = field(default_factory=list)
    comma: int | None = None


@dataclass
class _Member:
    name: str
    start: int
    node: _Node


def parsed(text: str, comments: bool = False) -> Any:
    """Parse the text and return its value. An empty text is treated as an empty object. Raises
    ValueError."""
    return _document(text, comments).value


def with_entry(
    text: str, key: str, name: str, entry: Mapping[str, Any], comments: bool = False
) -> str:
    """Return the text with ``entry`` as the member ``name`` of the root's member ``key``. Raises
    ValueError."""
    if not text.strip(_BOM + " \t\r\n"):
        return json.dumps({key: {name: entry}}, indent=2, ensure_ascii=False) + "\n"
    root = _document(text, comments)
    holder = _member(root, key)
    if holder is None:
        return _inserted(text, root, key, {name: entry}, root)
    there = _member(holder.node, name)
    if there is None:
        return _inserted(text, holder.node, name, entry, root)
    margin = _margin(text, there.start)
    # An entry on the line of the opening brace stays on one line.
    lines = _dumped(entry, margin or "", _unit(text, root) if margin is not None else None)
    return text[: there.node.start] + _ended(lines, text) + text[there.node.end :]


def without_entry(text: str, key: str, name: str, comments: bool = False) -> str:
    """Return the text without the member ``name`` of the root's member ``key``, and otherwise
    unchanged. Raises ValueError."""
    holder = _member(_document(text, comments), key)
    gone = None if holder is None else _member(holder.node, name)
    if holder is None or gone is None:
        return text
    members, end = holder.node.members, gone.node.end
    margin = _margin(text, gone.start)
    start = gone.start if margin is None else len(text[: gone.start - len(margin)].rstrip("\r\n"))
    if gone is not members[-1] or holder.node.comma is not None:
        after = text.index(",", _skipped(text, end, comments)) + 1
        return text[:start] + (text[after:].lstrip(" ") if margin is None else text[after:])
    if len(members) == 1:
        return text[: gone.start].rstrip(" \t\r\n") + text[end:].lstrip(" \t\r\n")
    before = _skipped(text, members[-2].node.end, comments)
    return text[:before] + text[before + 1 : max(start, before + 1)] + text[end:]


# -- reading ---------------------------------------------------------------------------------------


def _document(text: str, comments: bool) -> _Node:
    start = _skipped(text, 1 if text.startswith(_BOM) else 0, comments)
    if start == len(text):
        return _Node({}, start, start)
    try:
        root = _read(text, start, comments)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _skipped(text, root.end, comments) != len(text):
        raise ValueError(f"there is text after its end, {_place(text, root.end)}")
    if not isinstance(root.value, dict):
        raise ValueError("it is not an object")
    return root


def _read(text: str, at: int, comments: bool) -> _Node:
    opening = text[at : at + 1]
    if opening == "{":
        return _object(text, at, comments)
    if opening == "[":
        return _array(text, at, comments)
    token = (_STRING if opening == '"' else _BARE).match(text, at)
    if token is None:
        raise ValueError(f"a value is missing, {_place(text, at)}")
    try:
        return _Node(json.loads(token[0]), at, token.end())
    except ValueError:
        raise ValueError(f"there is an invalid value, {_place(text, at)}") from None


def _object(text: str, start: int, comments: bool) -> _Node:
    node = _Node({}, start, start)
    at = _skipped(text, start + 1, comments)
    while text[at : at + 1] != "}":
        name = _STRING.match(text, at)
        colon = -1 if name is None else _skipped(text, name.end(), comments)
        if name is None or text[colon : colon + 1] != ":":
            raise ValueError(f"a name and a colon are missing, {_place(text, at)}")
        value = _read(text, _skipped(text, colon + 1, comments), comments)
        node.members.append(_Member(json.loads(name[0]), at, value))
        node.value[node.members[-1].name] = value.value
        at, node.comma = _next(text, value.end, "}", comments)
    node.end = at + 1
    return node


def _array(text: str, start: int, comments: bool) -> _Node:
    values = []
    at = _skipped(text, start + 1, comments)
    while text[at : at + 1] != "]":
        value = _read(text, at, comments)
        values.append(value.value)
        at, _ = _next(text, value.end, "]", comments)
    return _Node(values, start, at + 1)


def _next(text: str, at: int, closing: str, comments: bool) -> tuple[int, int | None]:
    """Return the position of the next member or of ``closing``, and the position of a comma before
    ``closing``, or None if there is no such comma."""
    at = _skipped(text, at, comments)
    if text[at : at + 1] == closing:
        return at, None
    if text[at : at + 1] != ",":
        raise ValueError(f"a comma is missing, {_place(text, at)}")
    following = _skipped(text, at + 1, comments)
    if text[following : following + 1] != closing:
        return following, None
    if not comments:
        raise ValueError(f"there is a trailing comma, {_place(text, at)}")
    return following, at


def _skipped(text: str, at: int, comments: bool) -> int:
    match = (_SPACE_AND_COMMENTS if comments else _SPACE).match(text, at)
    return at if match is None else match.end()


def _place(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}"


def _member(node: _Node, name: str) -> _Member | None:
    """Return the member with that name. Raises ValueError if there are several, or if the node
    isn't an object."""
    if not isinstance(node.value, dict):
        raise ValueError("it doesn't have the expected structure")
    named = [member for member in node.members if member.name == name]
    if len(named) > 1:
        raise ValueError(f"it has {name!r} twice")
    return named[0] if named else None


# -- writing ---------------------------------------------------------------------------------------


def _inserted(text: str, into: _Node, name: str, value: Mapping[str, Any], root: _Node) -> str:
    """Return the text with one more member, after the others."""
    closing = into.end - 1
    if into.members:
        last = into.members[-1]
        margin = _margin(text, last.start)
        if margin is None or "\n" not in text[last.node.end : closing]:
            member = f"{json.dumps(name)}: {''.join(_dumped(value, '', None))}"
            at = last.node.end if into.comma is None else into.comma + 1
            return text[:at] + (", " if into.comma is None else " ") + member + text[at:]
        comma, at = ",", last.node.end
        if into.comma is not None:
            comma, at = "", into.comma + 1
        # A comment after the last member stays with it.
        rest = _LINE_END.match(text, at)
        place = at if rest is None else rest.end()
        lines = _named(name, value, margin, _unit(text, root))
        ending = "," if into.comma is not None else ""
        added = _ended(["\n", *lines, ending], text)
        return text[:at] + comma + text[at:place] + added + text[place:]
    outer = _line_margin(text, into.start)
    unit = _unit(text, root)
    lines = _named(name, value, outer + unit, unit)
    head = text[:closing].rstrip(" \t\r\n")
    return head + _ended(["\n", *lines, "\n", outer], text) + text[closing:]


def _named(name: str, value: Mapping[str, Any], margin: str, unit: str) -> list[str]:
    return [margin, json.dumps(name, ensure_ascii=False), ": ", *_dumped(value, margin, unit)]


def _dumped(value: Mapping[str, Any], margin: str, unit: str | None) -> list[str]:
    """Return the JSON to write after the value's name, on one line if ``unit`` is None."""
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return ["\n".join([lines[0], *(margin + line for line in lines[1:])])]


def _ended(parts: list[str], text: str) -> str:
    """Join the parts, with the text's line ends."""
    joined = "".join(parts)
    return joined.replace("\n", "\r\n") if "\r\n" in text else joined


def _unit(text: str, root: _Node) -> str:
    """Return the indentation of one level."""
    margin = _margin(text, root.members[0].start) if root.members else None
    return margin or "  "


def _margin(text: str, at: int) -> str | None:
    """Return the indentation before ``at``, or None when something else precedes it on its line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line if not line.strip(" \t") and "\n" in text[:at] else None


def _line_margin(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
