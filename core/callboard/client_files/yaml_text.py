"""Changes one entry of a YAML text. Everything else in the text stays as it is."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

#: Maximum number of values in a file, including those that its aliases repeat. A few lines of
#: aliases can mean more values than can be compared.
_MOST_VALUES = 1_000_000


def parsed(text: str) -> Any:
    """Parse the text and return its value. Empty text is treated as an empty mapping. Raises
    ValueError."""
    import yaml

    try:
        if _values(yaml.compose(text), {}) > _MOST_VALUES:
            raise ValueError("its aliases expand to too many values")
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return {} if value is None else value


def with_entry(text: str, key: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with ``entry`` as ``name`` in the mapping ``key``. The caller checks the
    result."""
    import yaml

    end = "\r\n" if "\r\n" in text else "\n"

    def dumped(value: Mapping[str, Any], margin: int) -> str:
        lines = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
        return "".join(f"{' ' * margin}{line}{end}" for line in lines.splitlines())

    if text.strip() == "{}":
        text = ""
    root: Any = yaml.compose(text)
    holder = _child(root, key)
    if holder is None:
        if root is not None and root.flow_style:
            return _into_braces(text, root, key, {name: entry})
        closing = re.search(r"(?m)^\.\.\.\s*\Z", text)
        at = closing.start() if closing else len(text)
        gap = "" if not text[:at].strip() or text[:at].endswith("\n") else end
        return text[:at] + gap + dumped({key: {name: entry}}, 0) + text[at:]
    value = holder[1]
    there = _child(value, name)
    if root.flow_style or (value.value and value.flow_style):
        if there is None:
            return _into_braces(text, value, name, entry)
        start, behind = there[1].start_mark.index, there[1].end_mark.index
        return text[:start] + json.dumps(entry, ensure_ascii=False) + text[behind:]
    if not value.value:
        # The mapping is missing, or is a pair of empty braces.
        at = text.index(":", holder[0].end_mark.index) + 1
        behind = value.end_mark.index if value.end_mark.index > value.start_mark.index else at
        rest = text[behind:]
        return text[:at] + end + dumped({name: entry}, 2).rstrip("\r\n") + rest
    margin = value.value[0][0].start_mark.column
    if there is not None:
        start = text.rfind("\n", 0, there[0].start_mark.index) + 1
        return text[:start] + dumped({name: entry}, margin) + text[_line_after(text, there) :]
    at = _line_after(text, holder)
    gap = "" if text[:at].endswith("\n") else end
    return text[:at] + gap + dumped({name: entry}, margin) + text[at:]


def without_entry(text: str, key: str, name: str) -> str:
    """Return the text without the entry ``name`` of the mapping ``key``."""
    import yaml

    holder = _child(yaml.compose(text), key)
    there = None if holder is None else _child(holder[1], name)
    if holder is None or there is None:
        return text
    if holder[1].flow_style:
        head, rest = text[: there[0].start_mark.index], text[there[1].end_mark.index :]
        behind = re.match(r"\s*,\s*", rest)
        return head + rest[behind.end() :] if behind else re.sub(r",\s*\Z", "", head) + rest
    start = text.rfind("\n", 0, there[0].start_mark.index) + 1
    if len(holder[1].value) == 1:
        # A name without a value would mean null, not a mapping.
        start = text.index(":", holder[0].end_mark.index) + 1
        return text[:start] + " {}\n" + text[_line_after(text, there) :]
    return text[:start] + text[_line_after(text, there) :]


def _values(node: Any, counted: dict[int, float]) -> float:
    """Return the number of values in a node. An alias counts its values again. A node that contains
    itself has infinitely many values."""
    if node is None or isinstance(node.value, str):
        return 1
    if id(node) not in counted:
        counted[id(node)] = math.inf
        parts = (part for each in node.value for part in (each if type(each) is tuple else [each]))
        counted[id(node)] = 1 + sum(_values(part, counted) for part in parts)
    return counted[id(node)]


def _child(node: Any, name: str) -> tuple[Any, Any] | None:
    """Return the nodes of a name and its value in a mapping, or None."""
    if node is None or not isinstance(node.value, list):
        return None
    pairs = (pair for pair in node.value if isinstance(pair, tuple))
    return next(((key, value) for key, value in pairs if key.value == name), None)


def _into_braces(text: str, node: Any, name: str, value: Mapping[str, Any]) -> str:
    """Return the text with one more pair in a mapping in braces. JSON is valid YAML there."""
    at = text.index("{", node.start_mark.index) + 1
    pair = json.dumps({name: value}, ensure_ascii=False)[1:-1]
    return text[:at] + pair + (", " if node.value else "") + text[at:]


def _line_after(text: str, pair: tuple[Any, Any]) -> int:
    """Return the start of the line after a pair. The end that the parser reports for a block is
    after any comments that follow the block, so it isn't used."""
    last, node = pair
    # An alias's node is elsewhere, so the last known position is that of the text before the alias.
    while node.start_mark.index >= last.start_mark.index:
        last = node
        if isinstance(node.value, str) or not node.value or node.flow_style:
            break
        part = node.value[-1]
        last, node = part if isinstance(part, tuple) else (node, part)
    at = last.end_mark.index
    start = text.rfind("\n", 0, at) + 1
    if start and not text[start:at].strip():
        return start
    line = text.find("\n", at)
    return len(text) if line < 0 else line + 1
