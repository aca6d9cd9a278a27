"""YAML, changed in one place: what else is in the text stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def parsed(text: str) -> Any:
    """The value that the text means; an empty one means an empty mapping. Raises ValueError, for
    aliases too: a few lines with them can mean more than can be compared, or themselves."""
    import yaml

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise ValueError("it has aliases")
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return {} if value is None else value


def with_entry(text: str, key: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with ``entry`` as ``name`` in the mapping ``key``. Where the text is written in
    another way than clients do, what comes back means something else."""
    import yaml

    end = "\r\n" if "\r\n" in text else "\n"

    def dumped(value: Mapping[str, Any], margin: int) -> str:
        lines = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
        return "".join(f"{' ' * margin}{line}{end}" for line in lines.splitlines())

    if text.strip() == "{}":
        text = ""
    holder = _child(yaml.compose(text), key)
    if holder is None:
        gap = "" if not text.strip() or text.endswith("\n") else end
        return text + gap + dumped({key: {name: entry}}, 0)
    value = holder[1]
    if not value.value:
        # Nothing yet, or braces without anything between.
        at = text.index(":", holder[0].end_mark.index) + 1
        behind = value.end_mark.index if value.end_mark.index > value.start_mark.index else at
        rest = text[behind:]
        return text[:at] + end + dumped({name: entry}, 2).rstrip("\r\n") + rest
    margin = value.start_mark.column
    there = _child(value, name)
    if there is not None:
        start = text.rfind("\n", 0, there[0].start_mark.index) + 1
        return text[:start] + dumped({name: entry}, margin) + text[_line_after(text, there[1]) :]
    at = _line_after(text, value)
    gap = "" if text[:at].endswith("\n") else end
    return text[:at] + gap + dumped({name: entry}, margin) + text[at:]


def without_entry(text: str, key: str, name: str) -> str:
    """The text without that one."""
    import yaml

    holder = _child(yaml.compose(text), key)
    there = None if holder is None else _child(holder[1], name)
    if holder is None or there is None:
        return text
    start = text.rfind("\n", 0, there[0].start_mark.index) + 1
    if len(holder[1].value) == 1:
        # A name with nothing behind it would mean nothing, and no mapping.
        start = text.index(":", holder[0].end_mark.index) + 1
        return text[:start] + " {}\n" + text[_line_after(text, there[1]) :]
    return text[:start] + text[_line_after(text, there[1]) :]


def _child(node: Any, name: str) -> tuple[Any, Any] | None:
    """The nodes of a mapping's name and value."""
    if node is None or not isinstance(node.value, list):
        return None
    pairs = (pair for pair in node.value if isinstance(pair, tuple))
    return next(((key, value) for key, value in pairs if key.value == name), None)


def _line_after(text: str, node: Any) -> int:
    """Where the line behind a node begins. A block's own end is behind the remarks after it."""
    while isinstance(node.value, list) and node.value and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    at = node.end_mark.index
    if text[at - 1 : at] == "\n":
        return int(at)
    line = text.find("\n", at)
    return len(text) if line < 0 else line + 1
