"""Chooses the values that become a workflow's inputs, and those that must not be written down."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from callboard.content import Json
from callboard.skills.from_calls.links import (
    NAMING,
    is_scene_path,
    last_part,
    names_it_makes,
)
from callboard.skills.from_calls.steps import Made, Place, Reference, is_number, places, put

#: An absolute path anywhere in a text, on any system, even where a home folder was removed.
ABSOLUTE = re.compile(
    r"(?<![\w.~:/\\}-])(?:/{1,2}(?!/)|~[/\\]|\\\\|[A-Za-z]:[\\/]|file:/)[^\s\"'<>|,;)\]}]+", re.I
)
#: Placeholders that the records contain in place of data that they don't keep.
_TAKEN_OUT = re.compile(r"\[redacted|\[truncated|\[too deep|\[unserializable|<user>")
_TRIVIAL = (0, 1, -1)


@dataclass
class Wanted:
    """One input. ``file`` is a file's name. ``reads`` is true when that file must already exist."""

    name: str
    schema: Json
    default: Any = None
    file: str | None = None
    reads: bool = False

    @property
    def required(self) -> bool:
        return self.default is None


class Inputs:
    """The inputs of one workflow. ``clean`` returns whether a text contains no secret."""

    def __init__(self, steps: list[Made], clean: Callable[[str], bool]) -> None:
        self.all: list[Wanted] = []
        self._clean = clean
        self._by_value: dict[tuple[str, str], Wanted] = {}
        every = [place for step in steps for place in places(step)]
        texts = [place.value for place in every if isinstance(place.value, str)]
        #: Number of uses of each name, alone or at the end of a path, before any is replaced.
        self._names = Counter(map(last_part, texts))
        self._numbers = Counter((p.key, json.dumps(p.value)) for p in every if _telling(p.value))

    def find(self, steps: list[Made]) -> None:
        """Put references to inputs into the steps' arguments."""
        for step in steps:
            for place in list(places(step)):
                chosen = self._choose(step, place)
                if chosen is not None:
                    put(step, place.way, Reference(f"inputs.{chosen.name}"))

    def _choose(self, step: Made, place: Place) -> Wanted | None:
        value = place.value
        if _telling(value):
            recurs = self._numbers[place.key, json.dumps(value)] > 1
            return self._input(place, json.dumps(value), value) if recurs else None
        if not isinstance(value, str) or isinstance(value, Reference):
            return None
        hidden = not self._clean(value) or _TAKEN_OUT.search(value) is not None
        if place.schema.get("format") == "workspace-path":
            return self._file(step, place, hidden)
        if is_scene_path(value) and "\n" not in value and not hidden:
            return self._input(place, last_part(value), last_part(value))
        if hidden or ABSOLUTE.search(value):
            return self._input(place, value, None)
        # A workflow would treat these as references, but an input's default is plain text.
        written = "{{" in value or value.startswith("$.")
        if "enum" in place.schema and not written:
            return None
        unknown = place.key in NAMING and not names_it_makes(step, place.key)
        if written or unknown or self._names[value] > 1:
            return self._input(place, value, value)
        return None

    def _file(self, step: Made, place: Place, hidden: bool) -> Wanted:
        value = place.value
        leads_out = hidden or ABSOLUTE.search(value) is not None or ".." in value
        name = "file" if hidden else re.split(r"[/\\]", value)[-1]
        made = self._input(place, value, None if leads_out else value)
        if made.file is None:
            made.file = re.sub(r"[^\w.-]", "_", name) or "file"
            made.reads = "filesystem.write" not in step.tool.required_capabilities
        return made

    def _input(self, place: Place, value: str, default: Any) -> Wanted:
        text = isinstance(place.value, str)
        key = ("" if text else place.key, value)
        if key not in self._by_value:
            made = Wanted(self._name(place.key), self._schema(place), default)
            self._by_value[key] = made
            self.all.append(made)
        return self._by_value[key]

    def _schema(self, place: Place) -> Json:
        schema: Json = {"type": "string"}
        if is_number(place.value):
            whole = place.schema.get("type") == "integer"
            schema = {"type": "integer" if whole else "number"}
        elif isinstance(place.value, list):
            size = len(place.value)
            schema = {"type": "array", "items": {"type": "number"}}
            schema |= {"minItems": size, "maxItems": size}
        description = place.schema.get("description")
        if isinstance(description, str) and not ABSOLUTE.search(description):
            schema |= {"description": description} if self._clean(description) else {}
        return schema

    def _name(self, key: str) -> str:
        base = re.sub(r"\W", "_", key, flags=re.ASCII)[:40].strip("_") or "value"
        base = base if base[0].isalpha() and base != "inputs" else f"value_{base}"
        taken = {each.name for each in self.all}
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        return name


def _telling(value: Any) -> bool:
    """Return whether a number, or a list of numbers, carries meaning on its own."""
    if is_number(value):
        return value not in _TRIVIAL
    return isinstance(value, list) and any(each not in _TRIVIAL for each in value)
