"""Which name each running instance has: its application, with a number where several run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from callboard.transport import instances
from callboard.transport.instances import Instance, ListedInstance
from callboard.transport.relay.finder import OneServerFinder, announced_files

#: A kind, and a number from 2 on. Kinds that can't be part of an address get no name.
NAME = re.compile(r"([a-z0-9]{1,32})(?:_([2-9]|[1-9][0-9]{1,3}))?")


@dataclass(frozen=True)
class LostInstance:
    """One that is gone while somebody still uses its name. ``known`` are the ids of all that were
    there when it was missed: none of them is its successor."""

    instance: Instance
    known: frozenset[str]


class HostNames:
    """The names, for as long as the gateway runs. Any thread.

    A name that somebody uses stays with its instance, and after its end with the next one of the
    same application that has the same scene open and started later. A name that nobody uses is
    free once its instance is gone."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._named: dict[str, ListedInstance] = {}
        self._lost: dict[str, LostInstance] = {}
        self._uses: Counter[str] = Counter()
        self._files: object = None
        #: Another number once another instance has a name, or an answer.
        self.generation = 0

    def use(self, name: str) -> None:
        """Somebody works with that name until :meth:`leave`."""
        with self._lock:
            self._uses[name] += 1

    def leave(self, name: str) -> None:
        with self._lock:
            self._uses[name] -= 1
            if self._uses[name] <= 0:
                del self._uses[name]
                self._lost.pop(name, None)

    def changed(self) -> bool:
        """Whether instances came, went or opened another scene since the last look."""
        return announced_files() != self._files

    def current(self) -> dict[str, ListedInstance]:
        """Those that ran at the last look, by name, oldest first."""
        with self._lock:
            return dict(self._named)

    def refresh(self) -> dict[str, ListedInstance]:
        """Those that run, looked at now. Takes up to two seconds where one is silent."""
        files = announced_files()
        running = instances.listed()
        with self._lock:
            # One that is silent may be gone in a moment, and no file tells.
            silent = any(entry.state != "serving" for entry in running)
            self._files = None if silent else files
            before = dict(self._named)
            self._assign(running)
            self.generation += self._named != before
            return dict(self._named)

    def lost(self, name: str) -> Instance | None:
        """Whom a name waits for."""
        with self._lock:
            lost = self._lost.get(name)
            return None if lost is None else lost.instance

    def _assign(self, running: Sequence[ListedInstance]) -> None:
        there = {entry.instance.id: entry for entry in running}
        known = frozenset(there) | {entry.instance.id for entry in self._named.values()}
        newcomers = frozenset(there) - {entry.instance.id for entry in self._named.values()}
        for name, entry in list(self._named.items()):
            still = there.get(entry.instance.id)
            if still is not None:
                self._named[name] = still
                continue
            del self._named[name]
            if self._uses[name]:
                self._lost[name] = LostInstance(entry.instance, known - newcomers)
        for name, lost in list(self._lost.items()):
            taken = {e.instance.id for other, e in self._named.items() if self._uses[other]}
            successors = (e for e in running if _succeeds(e.instance, lost, taken))
            if (successor := next(successors, None)) is not None:
                self._rename(successor, name)
        named = {entry.instance.id for entry in self._named.values()}
        for entry in running:
            if entry.instance.id not in named and (free := self._free(entry.instance.kind)):
                self._named[free] = entry

    def _rename(self, entry: ListedInstance, name: str) -> None:
        """Gives an instance the name that waited for it, in place of one that nobody uses."""
        del self._lost[name]
        for other, named in list(self._named.items()):
            if named.instance.id == entry.instance.id:
                del self._named[other]
        self._named[name] = entry

    def _free(self, kind: str) -> str | None:
        if NAME.fullmatch(kind) is None:
            return None
        number, name = 1, kind
        while name in self._named or name in self._lost:
            number += 1
            name = f"{kind}_{number}"
        return name


class NameFinder(OneServerFinder):
    """Finds the instance that has a name."""

    def __init__(self, name: str, names: HostNames) -> None:
        matched = NAME.fullmatch(name)
        super().__init__(matched[1] if matched else None, f"this address is {name}'s only")
        self._name = name
        self._names = names
        self._look_again = True
        self._seen = 0

    def find(self) -> Instance | None:
        self._look_again = False
        entry = self._names.refresh().get(self._name)
        self._seen = self._names.generation
        if entry is not None and entry.state == "serving":
            self.reason = ""
            return entry.instance
        if entry is not None:
            how = "is busy and" if entry.state == "busy" else "runs, but"
            self.reason = f"{self._name} {how} does not answer now"
            self._look_again = True
        elif (lost := self._names.lost(self._name)) is not None:
            scene = f" with {lost.scene}" if lost.scene else ""
            self.reason = f"{self._name} is gone, and is back once {lost.name}{scene} runs again"
        else:
            self.reason = f"no {self._name} runs"
        return None

    def changed(self) -> bool:
        # Somebody else may have looked.
        return super().changed() or self._seen != self._names.generation or self._names.changed()

    def running(self) -> list[Instance]:
        entry = self._names.refresh().get(self._name)
        return [] if entry is None else [entry.instance]


def _succeeds(instance: Instance, lost: LostInstance, taken: set[str]) -> bool:
    same = instance.kind == lost.instance.kind and instance.scene == lost.instance.scene
    return same and instance.id not in lost.known and instance.id not in taken
