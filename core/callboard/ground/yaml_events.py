"""Builds :mod:`.yaml_document`'s values from PyYAML's events (libyaml's if it is built in), so that
every limit holds while reading, with either parser."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from callboard.ground.yaml_document import Document, Path, YamlError

MAX_DEPTH = 48
MAX_NODES = 100_000
_LINES_DEPTH = 5

# Python loads a compiled module once. When `yaml` is imported a second time, after a plug-in was
# disabled, the compiled parser still makes the events and errors of the first import.
_COMPILED = getattr(getattr(yaml, "_yaml", None), "ScalarEvent", None) is yaml.ScalarEvent
_PARSER: Any = yaml.CSafeLoader if _COMPILED else yaml.SafeLoader
_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]{1,400}|0x[0-9a-fA-F]{1,400}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def read(text: str, first_line: int) -> Document:
    """Return the only document in the text, whose size the caller has checked. Raises YamlError."""
    builder = _Builder(first_line)
    try:
        return builder.document(yaml.parse(text, Loader=_PARSER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(
            " ".join(part for part in (error.context, error.problem) if part) or "isn't YAML",
            first_line + (mark.line if mark else 0),
        ) from None
    except yaml.YAMLError as error:
        where = getattr(error, "position", 0)
        line = text.count("\n", 0, where) if isinstance(where, int) else 0
        reason = str(error).splitlines()[0] if str(error) else "isn't YAML"
        raise YamlError(reason, first_line + line) from None
    except UnicodeEncodeError:
        raise YamlError("contains a lone surrogate", first_line) from None


class _Builder:
    """Builds values from events. One per document."""

    def __init__(self, first_line: int) -> None:
        self._first_line = first_line
        self._nodes = 0
        self._depth = 0
        #: By anchor, the value and the number of nodes in it once its own aliases are followed.
        #: None while the node is open.
        self._anchors: dict[str, tuple[Any, int] | None] = {}
        self._lines: dict[Path, int] = {}
        self._duplicates: list[tuple[Path, str, int]] = []

    def document(self, events: Iterator[Any]) -> Document:
        value: Any = None
        seen = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                seen += 1
                if seen > 1:
                    raise YamlError("contains more than one document", self._line(event))
                value = self._node(next(events), events, ())
        return Document(value, self._lines, tuple(self._duplicates))

    def _node(self, event: Any, events: Iterator[Any], path: Path) -> Any:
        if len(path) <= _LINES_DEPTH:
            self._lines.setdefault(path, self._line(event))
        before = self._nodes
        self._count(event, 1)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if event.anchor:
            self._anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        else:
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise YamlError(f"nested deeper than {MAX_DEPTH} levels", self._line(event))
            if isinstance(event, yaml.SequenceStartEvent):
                self._expect_tag(event, "seq")
                value = self._sequence(events, path)
            else:
                self._expect_tag(event, "map")
                value = self._mapping(events, path)
            self._depth -= 1
        if event.anchor:
            self._anchors[event.anchor] = (value, self._nodes - before)
        return value

    def _sequence(self, events: Iterator[Any], path: Path) -> list[Any]:
        items: list[Any] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, (*path, len(items))))
        return items

    def _mapping(self, events: Iterator[Any], path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merged: list[Any] = []
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if not isinstance(event, yaml.ScalarEvent):
                raise YamlError("a key must be plain text", self._line(event))
            self._count(event, 1)
            key: str = event.value
            line = self._line(event)
            if event.anchor:
                self._anchors[event.anchor] = (key, 1)
            here = (*path, key)
            if len(here) <= _LINES_DEPTH:
                self._lines.setdefault(here, line)
            value = self._node(next(events), events, here)
            if key == "<<" and event.implicit[0]:
                merged.append((value, line))
            elif key in values:
                self._duplicates.append((path, key, line))
            else:
                values[key] = value
        for value, line in merged:
            for source in value if isinstance(value, list) else [value]:
                if not isinstance(source, dict):
                    raise YamlError("'<<' must name a mapping", line)
                for key, inherited in source.items():
                    values.setdefault(key, inherited)
        return values

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise YamlError(f"unknown alias '{event.anchor}'", self._line(event))
        known = self._anchors[event.anchor]
        if known is None:
            raise YamlError(f"alias '{event.anchor}' contains itself", self._line(event))
        value, nodes = known
        self._count(event, nodes - 1)
        return value

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        tag = event.tag
        if tag in (None, "!"):
            return self._core_schema(text, event) if event.implicit[0] else text
        short = tag.removeprefix(_TAG)
        if tag == _TAG + "str":
            return text
        if tag.startswith(_TAG) and short in ("int", "float", "bool", "null"):
            value = self._core_schema(text, event)
            if value is None if short == "null" else type(value).__name__ == short:
                return value
            if short == "float" and type(value) is int:
                return float(value)
            raise YamlError(f"'{text[:40]}' isn't a {short}", self._line(event))
        raise YamlError(f"tag '{tag[:60]}' isn't allowed", self._line(event))

    def _core_schema(self, text: str, event: Any) -> Any:
        if text in _WORDS:
            return _WORDS[text]
        if text[0] not in "+-.0123456789":
            return text
        if _INTEGER.fullmatch(text):
            return int(text)
        if _OCTAL_OR_HEX.fullmatch(text):
            return int(text, 0)
        if _FLOAT.fullmatch(text):
            number = float(text)
            if not math.isfinite(number):
                raise YamlError(f"'{text[:40]}' is too large a number", self._line(event))
            return number
        return text

    def _expect_tag(self, event: Any, short: str) -> None:
        if event.tag not in (None, "!", _TAG + short):
            raise YamlError(f"tag '{event.tag[:60]}' isn't allowed", self._line(event))

    def _count(self, event: Any, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise YamlError(f"has more than {MAX_NODES} values", self._line(event))

    def _line(self, event: Any) -> int:
        return self._first_line + int(event.start_mark.line)
