"""The served prompts: from loaded skills, registered by name, or made by a function."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from callboard import content
from callboard.calls.entry import Affinity, Completer, entry_of
from callboard.calls.invisible import shown
from callboard.calls.tools import Tool
from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import InvalidParams, SkillError
from callboard.protocol.revisions import Revision
from callboard.skills.file_stamps import Stamp, settled, stamp
from callboard.skills.model import Failure, SkillMetadata
from callboard.skills.prompts.prompt import MANUAL_SKILL, Argument, Prompt, make_prompt, render

if TYPE_CHECKING:
    from callboard.skills.prompts.derived import PromptReading
    from callboard.skills.prompts.prompt_set import PromptSet

# The files are checked each time, because a client may edit a file and request the prompt before a
# watcher reports the change.
#: Maximum seconds that a check for changed files may take on the server's loop.
AT_ONCE = 0.002


class Messages(NamedTuple):
    """A prompt's complete messages, as a function returned them."""

    messages: Sequence[Mapping[str, Any]]
    description: str | None = None


@dataclass(eq=False, repr=False)
class FunctionPrompt:
    """A prompt whose messages a function makes.

    The function is called with the prompt's arguments as strings. It may accept ``ctx``, and ask
    the client questions. It returns text, a content block, or a list of either. Every item becomes
    one user message. It may return :class:`Messages` instead.
    """

    prompt: Prompt
    function: Callable[..., Any]
    title: str | None = None
    affinity: Affinity = "any"
    complete: Completer | None = None
    work: Tool = field(init=False)

    def __post_init__(self) -> None:
        entry = entry_of(self.function, self.prompt.name, self.prompt.name)
        self.work = Tool(
            name=self.prompt.name,
            description="",
            input_schema={"type": "object"},
            load=lambda: entry,
            affinity=self.affinity,
            internal=True,
        )

    def arguments(self, given: Mapping[str, Any]) -> Json:
        """Return the declared arguments, with defaults. Raises InvalidParams."""
        values: Json = {}
        for argument in self.prompt.arguments:
            value = given.get(argument.name)
            if value is None and argument.required:
                raise InvalidParams(f"missing required argument: {argument.name}")
            if not isinstance(value, (str, type(None))):
                raise InvalidParams(f"argument {argument.name} must be a string")
            values[argument.name] = argument.default or "" if value is None else value
        return values

    def result(self, value: Any) -> Json:
        """Return ``prompts/get``'s result for what the function returned."""
        if isinstance(value, Messages):
            description = value.description or self.prompt.description
            return {"description": description, "messages": list(value.messages)}
        values = value if isinstance(value, (list, tuple)) else [value]
        messages = []
        for item in values:
            block = content.Text(item) if isinstance(item, str) else item
            if not isinstance(block, content.Block):
                raise SkillError(f"prompt {self.prompt.name} must return text or content blocks")
            messages.append({"role": "user", "content": block.block()})
        return {"description": self.prompt.description, "messages": messages}


class PromptReader:
    """Reads prompts, and rereads only prompts that have changed on disk. Use it from any number of
    threads. No thread waits for another thread's disk access."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def read(self, skill: SkillMetadata) -> tuple[list[Prompt], list[Failure]]:
        known = self._known.get(skill.name)
        if known is None or known.reading.skill is not skill or not known.is_current():
            known = self._read(skill)
        return known.reading.sorted(), list(known.reading.failures)

    def known(self, skill: SkillMetadata) -> dict[str, Prompt] | None:
        """Return the prompts by served name, as :meth:`read` last read them, or None if the files
        have changed since then, or if checking them is slow. Opens no file."""
        known = self._known.get(skill.name)
        if known is None or known.reading.skill is not skill or not known.quick:
            return None
        return known.served if known.is_current() else None

    def _read(self, skill: SkillMetadata) -> _Known:
        from callboard.skills.prompts.files import read  # This imports YAML and workflows.

        self._known.pop(skill.name, None)
        began = time.time_ns()
        known = _Known(read(skill))
        if settled(known.stamps.values(), began):
            self._known[skill.name] = known
        return known

    def forget(self, skill_name: str) -> None:
        self._known.pop(skill_name, None)


class _Known:
    """The prompts read from one skill, and the stamps of their files."""

    def __init__(self, reading: PromptReading) -> None:
        self.reading = reading
        #: The first prompt of each served name.
        self.served = {prompt.served_name: prompt for prompt in reversed(reading.sorted())}
        began = time.perf_counter()
        self.stamps = _stamps(reading)
        #: True when the last check of the files was fast.
        self.quick = time.perf_counter() - began < AT_ONCE

    def is_current(self) -> bool:
        """Return whether the files are still those that were read."""
        began = time.perf_counter()
        current = self.stamps == _stamps(self.reading)
        self.quick = time.perf_counter() - began < AT_ONCE
        return current


_Stamps = dict[str, Stamp]


def _stamps(reading: PromptReading) -> _Stamps:
    """Return the stamps of every file that was read, and of every file that a glob finds now."""
    stamps = {str(path): stamp(path) for path in reading.files}
    for pattern in reading.globs:
        for match in _glob(reading.skill.path, pattern):
            stamps[str(match)] = stamp(match)
    return stamps


def _glob(folder: Path, reference: str) -> list[Path]:
    try:
        return list(folder.glob(reference))
    except (OSError, ValueError, NotImplementedError, IndexError):
        return []


class PromptRegistry:
    """Every prompt of one server. Register prompts from any thread, before or after start.
    Registering never waits for a disk."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._skills: tuple[SkillMetadata, ...] = ()
        self._reader = PromptReader()
        self._manual: dict[str, Prompt] = {}
        self._functions: dict[str, FunctionPrompt] = {}
        self._changes: Changes[[]] = Changes()
        #: Number of changes so far. Anything read at a different number may be out of date.
        self.version = 0

    def all(self) -> PromptSet:
        """Return the prompts as they are on disk now. Changed files are read again. Call it on any
        thread except the loop's and the main one, because a disk may be slow."""
        with self._lock:
            skills = self._skills
            functions = [function.prompt for function in self._functions.values()]
            registered = [*self._manual.values(), *functions]
        # This import is only needed for lists.
        from callboard.skills.prompts.prompt_set import collect

        return collect(skills, self._reader, registered)

    def find(self, name: str) -> Prompt:
        """Return the prompt with that served name, or with a bare name that only one prompt has. If
        the name begins with a skill's prefix, that skill's prompts are read first. Call it on the
        same threads as :meth:`all`. Raises InvalidParams."""
        wanted = self.registered(name)
        if wanted is not None:
            return wanted
        for skill in self._skills_of(name):
            for prompt in self._reader.read(skill)[0]:
                if prompt.served_name == name:
                    return prompt
        return self.all().find(name)

    def _skills_of(self, name: str) -> list[SkillMetadata]:
        """Return the skills whose prefix a served name may begin with."""
        return [skill for skill in self._skills if name.startswith(skill.name + ".")]

    def at_hand(self, name: str) -> Prompt | None:
        """Return the prompt with that served name if it is registered, or was read from files that
        haven't changed since. Return None if files must be read. Opens no file, so any thread may
        call it."""
        wanted = self.registered(name)
        if wanted is None:
            for skill in self._skills_of(name):
                read = self._reader.known(skill)
                if read is None or (wanted := read.get(name)) is not None:
                    break
        return wanted

    def registered(self, name: str) -> Prompt | None:
        """Return the prompt registered under exactly this name. Call it from any thread."""
        function = self._functions.get(name)
        return function.prompt if function is not None else self._manual.get(name)

    def describe(self, features: Revision, prompts: PromptSet | None = None) -> list[Json]:
        """Return the entries for ``prompts/list``, sorted by name. ``prompts`` is the result of
        ``all``, if the caller has it."""
        entries = (prompts or self.all()).list_entries()
        for entry in entries:
            function = self._functions.get(entry["name"])
            if features.structured_output and function is not None and function.title is not None:
                entry["title"] = function.title
        described: list[Json] = shown(entries)
        return described

    def function(self, name: str) -> FunctionPrompt | None:
        return self._functions.get(name)

    def render(self, name: str, arguments: Mapping[str, Any]) -> Json:
        """Return the result for a prompt with a template. Raises InvalidParams."""
        return render(self.find(name), arguments)

    def set_skills(self, skills: Sequence[SkillMetadata]) -> None:
        """Replace the loaded skills, and forget what was read from the previous ones."""
        with self._lock:
            for skill in self._skills:
                self._reader.forget(skill.name)
            self._skills = tuple(sorted(skills, key=lambda one: one.name))
            self.version += 1
        self.changed()

    def changed(self) -> None:
        """Notify the listeners that the list may have changed."""
        self._changes.tell()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` whenever the list may have changed. Return a function that removes the
        listener."""
        return self._changes.watch(listener)

    # -- for adapters ---------------------------------------------------------------------

    def register_prompt(
        self,
        name: str,
        description: str = "",
        arguments: Sequence[Mapping[str, Any]] | None = None,
        template: str = "",
    ) -> None:
        """Add a prompt, or replace the one with that name. Raises ValueError for an empty name and
        for empty or duplicate argument names."""
        spec = {
            "name": name,
            "description": description or name,
            "arguments": arguments,
            "template": template,
        }
        prompt = make_prompt(spec, MANUAL_SKILL, "manual")
        with self._lock:
            self._manual[prompt.name] = prompt
            self.version += 1
        self.changed()

    def register_function(
        self,
        name: str,
        function: Callable[..., Any],
        description: str = "",
        arguments: Sequence[Argument] = (),
        *,
        title: str | None = None,
        affinity: Affinity = "any",
        complete: Completer | None = None,
    ) -> None:
        """Add a prompt whose messages ``function`` makes. See :class:`FunctionPrompt`."""
        prompt = Prompt(
            name, MANUAL_SKILL, "manual", description or name, "", tuple(arguments), literal=True
        )
        with self._lock:
            self._functions[name] = FunctionPrompt(prompt, function, title, affinity, complete)
            self.version += 1
        self.changed()

    def replace_functions(self, gone: Iterable[str], now: Iterable[FunctionPrompt]) -> list[str]:
        """Remove the prompts served under the names in ``gone``, and add those in ``now`` whose
        names aren't taken. Return the names of the added ones."""
        with self._lock:
            functions = {name: one for name, one in self._functions.items() if name not in {*gone}}
            served = [
                one
                for one in now
                if one.prompt.served_name not in functions
                and one.prompt.served_name not in self._manual
            ]
            before = self._functions
            self._functions = {**functions, **{one.prompt.served_name: one for one in served}}
            changed = before != self._functions
            self.version += changed
        if changed:
            self.changed()
        return [one.prompt.served_name for one in served]

    def unregister_prompt(self, name: str) -> None:
        """Remove a registered prompt. An unknown name isn't an error."""
        with self._lock:
            removed = self._manual.pop(name, None) or self._functions.pop(name, None)
            self.version += 1
        if removed is not None:
            self.changed()

    def clear(self) -> None:
        """Remove every registered prompt. Skills' prompts stay."""
        with self._lock:
            empty = not self._manual and not self._functions
            self._manual.clear()
            self._functions.clear()
            self.version += 1
        if not empty:
            self.changed()
