"""The name of each running instance. A name belongs to a scene, and isn't given to another scene
until a person frees it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from itertools import count
from threading import Lock

from callboard.content import Json
from callboard.errors import HostError
from callboard.transport import instances
from callboard.transport.instances import Instance, ListedInstance
from callboard_programs.gateway import kept_names
from callboard_programs.gateway.kept_names import SceneIdentity
from callboard_programs.relay.finder import NotThatScene, OneServerFinder, announced_files

log = logging.getLogger(__name__)

#: A kind, optionally followed by a number from 2 on. Kinds that can't be part of an address get no
#: name.
NAME = re.compile(r"([a-z0-9]{1,32})(?:_([2-9]|[1-9][0-9]{1,3}))?")
_LAST_NUMBER = 9999


class HostNames:
    """The names in the file, and the instances that are running under them. Use it on any
    thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[str, SceneIdentity] = {}
        self._named: dict[str, ListedInstance] = {}
        self._files: object = None
        self._stamp: object = None
        self._complaint = ""
        self._looks = count()
        self._newest_look = -1
        #: Increases whenever a named instance or its state changes.
        self.generation = 0

    def changed(self) -> bool:
        """Return whether, since the last :meth:`refresh`, an instance has started, ended or opened
        a different scene, or a name has been freed."""
        return announced_files() != self._files or kept_names.stamp() != self._stamp

    def current(self) -> dict[str, ListedInstance]:
        """Return the instances that were running at the last :meth:`refresh`, by name, in the order
        in which the names were assigned."""
        with self._lock:
            return dict(self._named)

    def standing(self, name: str) -> SceneIdentity | None:
        """Return the scene that a name stands for, as of the last :meth:`refresh`."""
        with self._lock:
            return self._kept.get(name)

    def kept(self) -> dict[str, SceneIdentity]:
        """Return all names in the file, as of the last :meth:`refresh`."""
        with self._lock:
            return dict(self._kept)

    def refresh(self) -> dict[str, ListedInstance]:
        """Look for instances now, and return the running instances by name. Takes up to two seconds
        if an instance is silent."""
        number = next(self._looks)
        files = announced_files()
        running = instances.listed()
        with self._lock:
            if number < self._newest_look:  # Another thread's search began later.
                return dict(self._named)
            self._newest_look = number
            # A silent instance may end at any moment without changing a file.
            silent = any(entry.state != "serving" for entry in running)
            self._files = None if silent else files
            before = dict(self._named)
            self._assign(running)
            self.generation += self._named != before
            return dict(self._named)

    def _assign(self, running: Sequence[ListedInstance]) -> None:
        """Give each instance the name that stands for its scene, or a new name."""
        try:
            kept = kept_names.kept_names()
            named, assigned = _assigned(dict(kept), running)
            if assigned != kept:
                with kept_names.changing() as names:
                    named, assigned = _assigned(names, running)
            self._complain("")
        except (HostError, OSError) as error:
            # A name that can't be saved would lead to a different scene after the next start, so no
            # new name is assigned.
            self._complain(f"no new names can be assigned: {error}")
            named, assigned = _assigned(dict(self._kept), running)
            assigned = {name: assigned[name] for name in self._kept}
        self._stamp = kept_names.stamp()
        self._named = {name: named[name] for name in assigned if name in named}
        self._kept = dict(assigned)

    def _complain(self, words: str) -> None:
        if words and words != self._complaint:
            log.warning("%s", words)
        self._complaint = words


def _assigned(
    kept: dict[str, SceneIdentity], running: Sequence[ListedInstance]
) -> tuple[dict[str, ListedInstance], dict[str, SceneIdentity]]:
    """Return the instances by name, and the scenes that the names stand for afterwards. The
    strongest evidence is used first: a scene that its instance has never closed, then the scene's
    file, then the instance of an unsaved scene."""
    named: dict[str, ListedInstance] = {}
    left = {entry.instance.id: entry for entry in running}
    proofs: tuple[Callable[[SceneIdentity, Instance], bool], ...] = (
        SceneIdentity.is_open_in,
        SceneIdentity.is_file_in,
        SceneIdentity.is_unsaved_in,
    )
    for proof in proofs:
        for name, standing in list(kept.items()):
            if name in named:
                continue
            proved = (entry for entry in left.values() if proof(standing, entry.instance))
            if (entry := next(proved, None)) is not None:
                named[name] = left.pop(entry.instance.id)
                kept[name] = SceneIdentity.of(entry.instance)
    for entry in list(left.values()):
        if (free := _free(entry.instance.kind, kept)) is not None:
            named[free] = entry
            kept[free] = SceneIdentity.of(entry.instance)
    return named, kept


def _free(kind: str, kept: dict[str, SceneIdentity]) -> str | None:
    if NAME.fullmatch(kind) is None:
        return None
    candidates = (kind if n == 1 else f"{kind}_{n}" for n in range(1, _LAST_NUMBER + 1))
    return next((name for name in candidates if name not in kept), None)


class NameFinder(OneServerFinder):
    """Finds the instance with a given name, for one conversation. With ``remembers``, the name
    never leads the conversation to a different scene than before, even if the name has been freed
    and assigned to another scene."""

    def __init__(self, name: str, names: HostNames, *, remembers: bool = True) -> None:
        matched = NAME.fullmatch(name)
        super().__init__(matched[1] if matched else None, f"this address is for {name} only")
        self._name = name
        self._names = names
        self._remembers = remembers
        self._look_again = True
        self._seen = 0
        #: The scene that the conversation works with, or None before its first use.
        self._meant: SceneIdentity | None = None

    def find(self) -> Instance | None:
        self._look_again = False
        entry = self._names.refresh().get(self._name)
        self._seen = self._names.generation
        self.reason, self.refusal = "", None
        standing = self._meant or self._names.standing(self._name)
        if entry is not None and not self._is_meant(entry.instance):
            self.refusal = not_that_scene(self._name, standing, self._names.current())
        elif entry is not None and entry.state == "serving":
            self._remember(entry.instance)
            return entry.instance
        elif entry is not None:
            how = "is busy and" if entry.state == "busy" else "is running, but"
            self.reason = f"{self._name} {how} does not answer now"
            self._look_again = True
        elif standing is None:
            self.reason = f"no {self._name} is running"
        else:
            self._miss(standing)
        return None

    def _miss(self, standing: SceneIdentity) -> None:
        """Set the reason or the refusal when no instance is found although the name stands for a
        scene."""
        there = self._names.current()
        ended = all(entry.instance.id != standing.instance for entry in there.values())
        # A conversation that worked in this scene waits until the scene's file is open again.
        waits = ended and standing.scene is not None and (self._meant is not None or not there)
        if waits:
            self.reason = (
                f"{self._name} is gone, and will be back once {standing.words} is open again"
            )
        else:
            self.refusal = not_that_scene(self._name, standing, there)

    def _remember(self, instance: Instance) -> None:
        if self._remembers:
            self._meant = SceneIdentity.of(instance)

    def _is_meant(self, instance: Instance) -> bool:
        return self._meant is None or self._meant.leads_to(instance)

    def changed(self) -> bool:
        # Another conversation may have refreshed the names.
        return super().changed() or self._seen != self._names.generation or self._names.changed()

    def leads_to(self, instance: Instance) -> bool:
        there = instances.announced_as(instance.id)
        if there is not None and SceneIdentity.of(there) == self._meant:
            return True
        entry = self._names.refresh().get(self._name)
        same = entry is not None and entry.instance.id == instance.id
        if entry is None or not same or not self._is_meant(entry.instance):
            return False
        self._seen = self._names.generation
        self._remember(entry.instance)
        return True

    def running(self) -> list[Instance]:
        entry = self._names.refresh().get(self._name)
        return [] if entry is None else [entry.instance]


def not_that_scene(
    name: str, standing: SceneIdentity | None, there: dict[str, ListedInstance]
) -> NotThatScene:
    """Return the error for a call to a name whose scene isn't open now."""
    rows: list[Json] = [
        {"name": each, **SceneIdentity.of(entry.instance).as_json()}
        for each, entry in there.items()
    ]
    listed = ", ".join(f"{row['name']} ({row['scene'] or 'unsaved'})" for row in rows[:20])
    stood = "nothing" if standing is None else standing.words
    saved = standing is not None and standing.scene is not None
    again = " until it is open again" if saved else ""
    return NotThatScene(
        f"not that scene: {name!r} stands for {stood}, which isn't open. Retrying does not help"
        f"{again}. Call by one of the current names: {listed or 'none'}. A person can free the "
        f"name for a different scene with `callboard gateway --forget {name}`.",
        data={
            "name": name,
            "stood_for": None if standing is None else standing.as_json(),
            "names": rows,
        },
    )
