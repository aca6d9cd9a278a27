"""The ``docs`` port: the facts that 3ds Max reports about its classes, properties and functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from pymxs import runtime as rt

from callboard.content import Json
from callboard.host import MOST_LISTED, DocEntry, KeptDocs

#: A class, such as ``Box : GeometryClass {10,0}``, and a property, such as ``  .height : float``.
_CLASS = re.compile(r"(\w+) : (\w+)(?: \{.*\})?\s*")
_PROPERTY = re.compile(r"\s+\.(\w+)(?: \((\w+)\))?(?: : (.*\S))?\s*")
#: A function, such as ``uniqueName (const Primitive): uniqueName()``.
_GLOBAL = re.compile(r"(\w+) \((?:\w+ )?(\w+)\): .*")
#: MAXScript's types of functions.
_FUNCTIONS = ("Primitive", "Generic", "MappedGeneric", "MappedPrimitive")


class MaxDocs(KeptDocs):
    """Entries for functions, and for classes such as ``Box``. 3ds Max has no descriptions of
    either. The text of a class is therefore the name of its superclass, and the text of a function
    is empty."""

    def _read(self) -> Iterator[DocEntry]:
        for line in _printed(rt.showClass, "*"):
            if reported := _CLASS.fullmatch(line):
                yield DocEntry(reported[1], "class", reported[2])
        for line in _printed(rt.apropos, ""):
            if (reported := _GLOBAL.fullmatch(line)) and reported[2] in _FUNCTIONS:
                yield DocEntry(reported[1], "function", "")

    def details(self, entry: DocEntry) -> Json:
        if entry.kind != "class":
            return {}
        properties = []
        for line in _printed(rt.showClass, f"{entry.name}.*"):
            if reported := _PROPERTY.fullmatch(line):
                alias = {"alias": reported[2]} if reported[2] else {}
                properties.append({"name": reported[1], **alias, "type": reported[3] or ""})
        return {"properties": properties[:MOST_LISTED]}


def _printed(show: Callable[..., Any], pattern: str) -> list[str]:
    """Return the lines that ``show`` prints about ``pattern``."""
    stream = rt.StringStream("")
    show(pattern, to=stream)
    return str(stream).splitlines()
