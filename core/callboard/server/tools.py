"""Tools as the server knows them, and the list that clients see."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from callboard.errors import InvalidParams
from callboard.host import FILESYSTEM_READ, FILESYSTEM_WRITE, SCENE_MUTATE
from callboard.protocol.jsonrpc import Json
from callboard.protocol.revisions import Revision
from callboard.server.capabilities import missing
from callboard.server.json_schema import Validator
from callboard.server.workspace_fields import PathFields
from callboard.skills.scripts import Entry


@dataclass(frozen=True, eq=False)
class Tool:
    """One callable tool. ``load`` finds its function at the first call, not before the gate."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    load: Callable[[], Entry]
    output_schema: Mapping[str, Any] | None = None
    required_capabilities: tuple[str, ...] = ()
    affinity: Literal["main", "any"] = "main"
    execution: Literal["sync", "async"] = "sync"
    timeout_secs: float | None = None
    title: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    icons: tuple[Mapping[str, Any], ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    skill: str | None = None

    @cached_property
    def entry(self) -> Entry:
        return self.load()

    @cached_property
    def arguments(self) -> Validator:
        return Validator(self.input_schema)

    @cached_property
    def output(self) -> Validator | None:
        return None if self.output_schema is None else Validator(self.output_schema)

    @cached_property
    def paths(self) -> PathFields:
        return PathFields.of(self.input_schema)

    @cached_property
    def mutates(self) -> bool:
        return SCENE_MUTATE in self.required_capabilities

    @cached_property
    def writes_files(self) -> bool:
        return FILESYSTEM_WRITE in self.required_capabilities

    @cached_property
    def uses_files(self) -> bool:
        return self.writes_files or FILESYSTEM_READ in self.required_capabilities

    def describe(self, features: Revision, declared: Sequence[str]) -> Json:
        """The entry of ``tools/list``."""
        entry: Json = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
        }
        if features.structured_output:
            if self.title is not None:
                entry["title"] = self.title
            if self.output_schema is not None:
                entry["outputSchema"] = self.output_schema
        if features.icons and self.icons:
            entry["icons"] = list(self.icons)
        if self.annotations:
            entry["annotations"] = dict(self.annotations)
        meta = dict(self.meta)
        if self.required_capabilities:
            dcc: Json = {"required_capabilities": list(self.required_capabilities)}
            lacking = missing(self.required_capabilities, declared)
            if lacking:
                dcc["missing_capabilities"] = lacking
            meta["dcc"] = dcc
        if meta:
            entry["_meta"] = meta
        return entry


class ToolRegistry:
    """The tools that are served, by wire name. On the server's loop, or before it starts."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._listeners: list[Callable[[], None]] = []
        self._sorted: list[Tool] | None = None

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def all(self) -> list[Tool]:
        """Sorted by name, so that two lists of the same tools are equal."""
        if self._sorted is None:
            self._sorted = sorted(self._tools.values(), key=lambda tool: tool.name)
        return self._sorted

    def get(self, name: str) -> Tool:
        """Raises InvalidParams, with the nearest names, where there is none."""
        tool = self._tools.get(name)
        if tool is None:
            nearest = difflib.get_close_matches(name, self._tools, n=3)
            hint = f"nearest: {', '.join(nearest)}" if nearest else "see tools/list"
            raise InvalidParams(f"unknown tool '{name[:200]}'; {hint}")
        return tool

    def replace(self, remove: Iterable[str], add: Iterable[Tool]) -> None:
        """Takes tools out and puts others in, in one step, and tells the listeners once."""
        for name in remove:
            self._tools.pop(name, None)
        for tool in add:
            self._tools[tool.name] = tool
        self._sorted = None
        for listener in list(self._listeners):
            listener()

    def add(self, *tools: Tool) -> None:
        self.replace((), tools)

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)
