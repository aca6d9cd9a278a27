"""The server's tools, and the list that clients see."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from callboard.calls.capabilities import Offer, missing
from callboard.calls.entry import Entry, entry_of
from callboard.calls.grants import Subject, ToolOrigin
from callboard.calls.invisible import shown
from callboard.calls.json_schema import Validator, has_patterns
from callboard.calls.listed_entry import short_annotations, short_schema
from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import UNKNOWN_TOOL, InvalidParams
from callboard.ground.nearest_names import close_matches
from callboard.ports.capability_names import FILESYSTEM_WRITE, LOOK, RENDER, SCENE_MUTATE, SCRIPT
from callboard.ports.host import Work
from callboard.protocol.revisions import Revision
from callboard.protocol.tool_names import is_tool_name
from callboard.workspace.fields import PathFields

#: The kind of work that each capability implies, the most disruptive for the artist first.
_WORK: tuple[tuple[str, Work], ...] = (
    (SCRIPT, "script"),
    (RENDER, "render"),
    (LOOK, "render"),
    (SCENE_MUTATE, "change"),
    (FILESYSTEM_WRITE, "files"),
)
#: Kinds of work, the most disruptive for the artist first.
WORK_ORDER: tuple[Work, ...] = (*(work for _, work in _WORK), "read")
#: The tool that combines several calls into one.
BATCH = "batch__run"
#: The key in a tool's ``_meta`` that lists the tools that are usually called next.
NEXT_TOOLS = "dcc.next_tools"
#: The prefix of every capability for files.
FILES = "filesystem."
#: The format of an argument with which a client sets how long a call may take, in seconds.
TIME_LIMIT = "time-limit"
# Each call can choose whether to be a job. A small preview as a job would need a second call, and a
# long render that isn't a job would keep the request open for minutes. The format of a boolean with
# which a client requests a job. The client gets a handle at once, and the result later.
AS_JOB = "as-job"
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}


def _fingerprint(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Tool:
    """One callable tool. ``load`` finds its function once its first call has been admitted."""

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
    #: Returns the folder and the digest of the skill or the bundle.
    source: Callable[[], str] = str
    #: True when its function checks patterns itself, in another process. Matching a pattern in this
    #: process may take forever, and would block the host's interpreter.
    own_patterns: bool = False
    #: True for a prompt's or a resource's function, which clients can't call as a tool.
    internal: bool = False
    #: True for callboard's own tools, which run on threads of their own.
    ours: bool = False
    #: True for a tool of a bundled skill: it needs the host's ports, whatever is declared.
    ships: bool = False
    #: The entry, once it has been loaded.
    _entries: list[Entry] = field(default_factory=list, init=False, repr=False)

    @property
    def entry(self) -> Entry:
        """The tool's entry, which is loaded when it is first needed. Raises the errors of
        ``load``."""
        if not self._entries:
            self._entries.append(self.load())
        return self._entries[0]

    @property
    def has_entry(self) -> bool:
        """True once the tool's function has been found. Until then its script is used as it is on
        disk."""
        return bool(self._entries)

    @cached_property
    def arguments(self) -> Validator:
        return Validator(self._checkable(self.input_schema), whole_characters=self.ships)

    def check(self, arguments: Json) -> None:
        """Raise SchemaViolation when the arguments don't fit. A whole number written as ``2.0``,
        which JSON Schema accepts as an integer, is converted in place."""
        self.arguments.check(arguments)
        for name in self._integers:
            value = arguments.get(name)
            if type(value) is list:
                arguments[name] = [_whole(one) for one in value]
            elif type(value) is float:
                arguments[name] = _whole(value)

    @cached_property
    def _integers(self) -> tuple[str, ...]:
        """The arguments that are integers, or lists of them."""
        properties = self.input_schema.get("properties")
        return tuple(
            str(name)
            for name, schema in (properties.items() if isinstance(properties, Mapping) else ())
            if _is_integer(schema)
            or (isinstance(schema, Mapping) and _is_integer(schema.get("items")))
        )

    @cached_property
    def output(self) -> Validator | None:
        if self.output_schema is None:
            return None
        return Validator(self._checkable(self.output_schema), name="result")

    def _checkable(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"type": "object"} if self.own_patterns and has_patterns(schema) else schema

    def time_limit(self, arguments: Json) -> float | None:
        """Return the call's time limit in seconds: the limit in the arguments, or else the tool's
        own, or None when neither sets one."""
        given = arguments.get(self._by_format.get(TIME_LIMIT, ""))
        return given if isinstance(given, (int, float)) else self.timeout_secs

    def becomes_job(self, arguments: Json) -> bool:
        """Return whether a call with these arguments is answered with a handle at once."""
        return self.execution == "async" or arguments.get(self._by_format.get(AS_JOB, "")) is True

    @cached_property
    def _by_format(self) -> dict[object, str]:
        """The names of the arguments that are about the call itself, by their formats."""
        properties = self.input_schema.get("properties")
        return {
            schema["format"]: str(name)
            for name, schema in (properties.items() if isinstance(properties, Mapping) else ())
            if isinstance(schema, Mapping) and schema.get("format") in (TIME_LIMIT, AS_JOB)
        }

    @cached_property
    def paths(self) -> PathFields:
        return PathFields.of(self.input_schema)

    @cached_property
    def strict_paths(self) -> PathFields:
        """The arguments that are treated as paths under ``strict``. Another author's tool may take
        paths without marking them."""
        if self.paths or not self._is_theirs:
            return self.paths
        return PathFields.called_as_files(self.input_schema, self.uses_files)

    @cached_property
    def origin(self) -> ToolOrigin:
        """Fingerprints of the parts of the tool that a grant depends on. Reads a skill's
        scripts."""
        parts = (f"{self.skill} {self.source()}", self.description, self.input_schema)
        return ToolOrigin(*(_fingerprint(part) for part in parts))

    @property
    def is_shipped(self) -> bool:
        """True unless the tool belongs to a bundle, another author's skill or a program."""
        return self.ours or self.internal or self.ships

    @cached_property
    def concern(self) -> Literal["script", "destructive"] | None:
        """The subject of the artist's policies that every call to the tool falls under, or None."""
        if SCRIPT in self.required_capabilities:
            return "script"
        hint = self.annotations.get("destructiveHint")
        # If another author's tool has no hint, the specification's default applies: it is
        # destructive.
        unknown = hint is None and self._is_theirs and not self.reads_only
        return "destructive" if hint is True or unknown else None

    @cached_property
    def concerned(self) -> Mapping[Subject, tuple[str, ...]]:
        """The subjects of the artist's policies, and the tools that fall under each. A batch may
        have several of both."""
        return {} if self.concern is None else {self.concern: (self.name,)}

    @cached_property
    def reads_only(self) -> bool:
        """True when the tool's annotations say that it changes nothing."""
        return self.annotations.get("readOnlyHint") is True

    @cached_property
    def mutates(self) -> bool:
        """True when a call makes an undo step. That includes other authors' tools on the main
        thread, unless they are declared read-only."""
        if SCENE_MUTATE in self.required_capabilities:
            return True
        return self._is_theirs and self.affinity == "main" and not self.reads_only

    @property
    def _is_theirs(self) -> bool:
        return not (self.ours or self.internal)

    @cached_property
    def work(self) -> Work:
        """The kind of work that the tool does on the main thread. An unmarked tool may do
        anything."""
        for capability, work in _WORK:
            if capability in self.required_capabilities:
                return work
        marked = self.required_capabilities or self.annotations.get("readOnlyHint") or self.internal
        return "read" if marked else "script"

    @cached_property
    def writes_files(self) -> bool:
        return FILESYSTEM_WRITE in self.required_capabilities

    @cached_property
    def uses_files(self) -> bool:
        return any(name.startswith(FILES) for name in self.required_capabilities)

    @cached_property
    def touches_files(self) -> bool:
        """True when the workspace's roots matter to the tool."""
        return self.uses_files or bool(self.paths)

    def missing_capabilities(self, offer: Offer) -> list[str]:
        """Return the required capabilities that aren't offered, in declared order."""
        return missing(self.required_capabilities, offer.to(self.ships))

    def needs(self, offer: Offer) -> Json:
        """Return ``_meta.dcc`` of the tool's entry in a list. It is empty when the tool requires
        nothing."""
        if not self.required_capabilities:
            return {}
        missing_capabilities = self.missing_capabilities(offer)
        needs: Json = {"required_capabilities": list(self.required_capabilities)}
        return (
            {**needs, "missing_capabilities": missing_capabilities}
            if missing_capabilities
            else needs
        )

    @cached_property
    def _short_schema(self) -> Json:
        short: Json = short_schema(self.input_schema)
        return short

    def describe(self, features: Revision, offer: Offer, *, whole: bool = False) -> Json:
        """Return the tool's entry in ``tools/list``, or the complete entry if ``whole`` is true. In
        the list, shipped tools are shortened: their output schemas alone would double its size.
        ``skills__describe`` shows complete entries."""
        short = (self.ships or self.ours) and not whole
        entry: Json = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self._short_schema if short else self.input_schema,
        }
        if features.structured_output:
            if self.title is not None:
                entry["title"] = self.title
            # A job's handle isn't the result that the schema describes.
            listed = self.execution == "sync" and (whole or not self.ships)
            if self.output_schema is not None and listed:
                entry["outputSchema"] = self.output_schema
        if features.icons and self.icons:
            entry["icons"] = list(self.icons)
        if annotations := short_annotations(self.annotations) if short else dict(self.annotations):
            entry["annotations"] = annotations
        meta = {key: v for key, v in self.meta.items() if not (short and key == NEXT_TOOLS)}
        if dcc := self.needs(offer):
            meta["dcc"] = dcc
        if meta:
            entry["_meta"] = meta
        return entry if self.ships or self.ours else {**shown(entry), "name": self.name}


class ToolRegistry:
    """The served tools, by wire name. Use it from any thread: a change replaces the whole table, so
    a reader sees either the old table or the new one."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._sorted: tuple[Tool, ...] = ()
        self._lock = threading.Lock()
        self._changes: Changes[[]] = Changes()
        self._why_absent: list[Callable[[str], str | None]] = []
        #: Loads whatever may provide the missing tool with this name. It may wait for a disk.
        self.load_absent: Callable[[str], None] = lambda name: None
        #: Returns why a skill's newest files aren't used, or None if they are.
        self.why_old: Callable[[str], str | None] = lambda skill: None

    def explain_absent(self, why: Callable[[str], str | None]) -> None:
        """Use ``why`` to explain unknown tools. ``why`` receives the tool's name. It returns None,
        or the rest of a sentence that begins with the name and explains how to get the tool."""
        self._why_absent.append(why)

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def find(self, name: str) -> Tool | None:
        """Return the tool with that name, or None when there is none."""
        return self._tools.get(name)

    def all(self) -> Sequence[Tool]:
        """Return all tools, sorted by name, so that lists of the same tools are equal."""
        return self._sorted

    def get(self, name: str) -> Tool:
        """Return the tool with that name. Raises InvalidParams with the nearest names."""
        tool = self._tools.get(name)
        if tool is None:
            for why_absent in self._why_absent:
                if why := why_absent(name):
                    raise InvalidParams(f"tool '{name[:200]}' {why}")
            nearest = self._nearest(name)
            hint = f"nearest: {', '.join(nearest)}" if nearest else "see tools/list"
            raise InvalidParams(f"{UNKNOWN_TOOL}{name[:200]}'; {hint}")
        return tool

    def _nearest(self, name: str) -> list[str]:
        """Return similar names. A name without a skill's prefix is compared with the tools' names
        without their prefixes."""
        if "__" in name:
            return close_matches(name, self._tools, 3)
        own: dict[str, list[str]] = {}
        for whole in self._tools:
            own.setdefault(whole.rpartition("__")[2], []).append(whole)
        close = close_matches(name.replace("-", "_"), own, 3)
        close_whole = [whole for last in close for whole in own[last]]
        return close_whole[:3] or close_matches(name, self._tools, 3)

    def register(
        self,
        name: str,
        function: Callable[..., Any],
        description: str,
        input_schema: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Add a tool, or replace the tool with the same name.

        ``function`` is called with the arguments by name, and with ``ctx`` and ``_workspace_roots``
        if it takes them. It may be a plain function, a generator, whose slices share the main
        thread with the artist, or a coroutine, which runs on the server's loop. ``input_schema`` is
        served unchanged. None means no arguments. ``options`` are :class:`Tool`'s other fields,
        such as ``output_schema``, ``required_capabilities`` and ``affinity``.

        Raises ValueError for a name, a description or a schema that clients may refuse, and
        SkillError for a schema that can't be checked.
        """
        if not is_tool_name(name):
            raise ValueError(f"a tool's name must be 1 to 128 of A-Z a-z 0-9 _ . -, not {name!r}")
        if not description.strip():
            raise ValueError(f"tool '{name}' needs a description, so that agents can choose it")
        schema = _NO_ARGUMENTS if input_schema is None else input_schema
        if schema.get("type") != "object":
            raise ValueError(f"the input_schema of tool '{name}' must say type: object")
        entry = entry_of(function, name, name)
        tool = Tool(name, description, schema, lambda: entry, **options)
        tool.arguments.compile()
        if tool.output is not None:
            tool.output.compile()
        self.add(tool)

    def schema_of(self, name: str) -> Mapping[str, Any] | None:
        """Return the input schema of a tool, or None when no tool has the name."""
        tool = self._tools.get(name)
        return None if tool is None else tool.input_schema

    def unregister(self, name: str) -> None:
        """Remove a tool. An unknown name is ignored. Running calls finish."""
        if name in self._tools:
            self.replace([name], ())

    def replace(self, remove: Iterable[str], add: Iterable[Tool]) -> None:
        """Remove tools and add others in one step, and notify the listeners once."""
        with self._lock:
            gone = set(remove)
            table = {name: tool for name, tool in self._tools.items() if name not in gone}
            table.update((tool.name, tool) for tool in add)
            self._tools = table
            self._sorted = tuple(sorted(table.values(), key=lambda tool: tool.name))
        self._changes.tell()

    def add(self, *tools: Tool) -> None:
        self.replace((), tools)

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` whenever the tools change. Return a function that removes the
        listener."""
        return self._changes.watch(listener)


def _is_integer(schema: object) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") in ("integer", ["integer", "null"])


def _whole(value: object) -> object:
    return int(value) if type(value) is float and value.is_integer() else value
