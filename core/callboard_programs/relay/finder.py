"""Finds the host that a bridge connects to: first the chosen one, and later its successors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from callboard.errors import CallboardError, HostError
from callboard.transport import instances
from callboard.transport.instances import Instance
from callboard_programs.relay.choose_tool import CHOOSE, names


class NotThatScene(HostError):
    """Raised when a conversation, or one of the gateway's names, would lead to a different scene
    than before. ``data`` has the ``name``, the scene that it ``stood_for``, and the current
    ``names``."""

    code = -31006


class Finder(Protocol):
    """Finds the intended instance if it is running. ``find`` and ``running`` are called on a worker
    thread."""

    #: The intended kind of host, under which the host's lists are kept; None for any kind.
    kind: str | None
    #: The reason that the caller gets when no host is found. Empty if nothing is running at all.
    reason: str
    #: True when the agent may choose: several hosts fit, or only other hosts are running.
    undecided: bool
    #: The error for calls, in place of ``reason``, when none of the running hosts is the intended
    #: one.
    refusal: CallboardError | None

    @property
    def was_connected(self) -> bool: ...

    def find(self) -> Instance | None:
        """Return the host to connect to, or None if it isn't running. Takes up to two seconds if an
        instance is silent."""

    def connected(self, instance: Instance) -> None:
        """Record that the host is connected."""

    def changed(self) -> bool:
        """Return whether a new search is due: files have changed, or ``forget`` was called."""

    def forget(self) -> None:
        """Make a new search due, even if no file has changed."""

    def leads_to(self, instance: Instance) -> bool:
        """Return whether that instance is still the intended one after its file has changed. Takes
        up to two seconds if an instance is silent."""

    def running(self) -> list[Instance]:
        """Return the hosts that the agent may choose from. Takes up to two seconds if an instance
        is silent."""

    def choose(self, instance: Instance) -> None:
        """Look for that instance from now on."""


class HostFinder:
    """Chooses among the running instances. ``wanted`` is a kind, the beginning of an id, or None
    for the only running instance. Once connected, the finder stays with that instance. After the
    instance has ended, the finder looks for a later instance of the same kind with the same scene
    open."""

    def __init__(self, wanted: str | None) -> None:
        #: The user's own choice, which limits the agent's choice.
        self.kind = self._limit = wanted
        self._wanted = wanted
        self._last: Instance | None = None
        self._seen: object = None
        #: The reason that the caller gets when no host is found. Empty if nothing is running at
        #: all.
        self.reason = ""
        #: True when the agent may choose: several hosts fit, or only other hosts are running.
        self.undecided = False
        self.refusal: CallboardError | None = None

    def leads_to(self, instance: Instance) -> bool:
        # The artist may open any scene in this instance. Only a successor must have the same scene
        # open.
        self._last = instances.announced_as(instance.id) or self._last
        return True

    def choose(self, instance: Instance) -> None:
        """Look for that instance from now on."""
        self._wanted, self._last = instance.id, None
        self.forget()

    def running(self) -> list[Instance]:
        """Return the hosts that the agent may choose from. Takes up to two seconds if an instance
        is silent."""
        serving = [entry.instance for entry in instances.listed() if entry.state == "serving"]
        if self._limit is None:
            return serving
        # A limit to one instance's id would leave no choice after that instance has ended.
        last = self._last
        gone = last is not None and all(i.id != last.id for i in serving)
        heirs = self._successors(serving) if gone else []
        return [i for i in serving if _is_meant(i, self._limit) or i in heirs]

    def connected(self, instance: Instance) -> None:
        self._last = instance

    @property
    def was_connected(self) -> bool:
        return self._last is not None

    def forget(self) -> None:
        """Make a new search due, even if no file has changed."""
        self._seen = None

    def changed(self) -> bool:
        """Return whether a new search is due: files have changed, or ``forget`` was called."""
        return announced_files() != self._seen

    def find(self) -> Instance | None:
        """Return the host to connect to, or None if it isn't running. Takes up to two seconds if an
        instance is silent."""
        files = announced_files()
        running = instances.listed()
        serving = [entry.instance for entry in running if entry.state == "serving"]
        busy = [entry.instance for entry in running if entry.state == "busy"]
        silent = [entry.instance for entry in running if entry.state == "silent"]
        self.refusal = None
        # A host that is only slow to answer may be the intended one, so don't choose another host
        # yet.
        chosen = self._choose([e.instance for e in running if e.state != "silent"])
        self._seen = files
        late = [] if chosen else self._choose(silent)
        others = [] if chosen or late else self._successors(serving)
        if self._last is not None and others:
            self.refusal = _other_scene(self._last, others)
        choosable = bool(others) or (self._limit is None and bool(serving))
        self.undecided = len(chosen) > 1 or (not chosen and choosable)
        if len(chosen) == 1 and chosen[0] in busy:
            self.reason = f"{names(chosen)} is busy and isn't answering; call again soon"
            self.forget()
            return None
        if len(chosen) == 1:
            return chosen[0]
        if chosen:
            self.reason = (
                f"several are running; call {CHOOSE}, or name one with --instance: {names(chosen)}"
            )
        elif late:
            self.reason = f"{names(silent)} is running, but does not answer now"
            self.forget()
        elif serving:
            awaited = self._last.kind if self._last is not None else self._wanted
            other = f", or call {CHOOSE}" if self._limit is None else ""
            self.reason = f"waiting for {awaited}{other}; running: {names(serving)}"
        else:
            self.reason = ""
        return None

    def _choose(self, running: list[Instance]) -> list[Instance]:
        last = self._last
        if last is None:
            wanted = self._wanted
            return [i for i in running if wanted is None or _is_meant(i, wanted)]
        for instance in running:
            if instance.id == last.id:
                return [instance]
        same = [i for i in self._successors(running) if i.scene == last.scene]
        return sorted(same, key=lambda instance: instance.started)[-1:]

    def _successors(self, running: list[Instance]) -> list[Instance]:
        """Return the instances of the same kind that were started later, no matter which scene they
        have open."""
        last = self._last
        if last is None:
            return []
        return [i for i in running if i.kind == last.kind and i.started >= last.started]


class OneServerFinder(ABC):
    """Always finds the same server, and offers no choice. Use it on any thread."""

    undecided = False

    def __init__(self, kind: str | None, no_choice: str) -> None:
        """``no_choice`` is the reason why no other server can be chosen."""
        self.kind = kind
        self.reason = ""
        self.refusal: CallboardError | None = None
        self.was_connected = False
        self._no_choice = no_choice
        self._look_again = False

    @abstractmethod
    def find(self) -> Instance | None: ...

    @abstractmethod
    def running(self) -> list[Instance]: ...

    def connected(self, instance: Instance) -> None:
        self.was_connected = True

    def leads_to(self, instance: Instance) -> bool:
        return True

    def changed(self) -> bool:
        return self._look_again

    def forget(self) -> None:
        self._look_again = True

    def choose(self, instance: Instance) -> None:
        raise HostError(self._no_choice)


def _is_meant(instance: Instance, wanted: str) -> bool:
    return instance.id.startswith(wanted) or instance.kind == wanted


def _other_scene(last: Instance, later: list[Instance]) -> NotThatScene:
    there = [{"name": i.id, "application": i.kind, "scene": i.scene} for i in later]
    listed = ", ".join(f"{i.id} ({i.scene or 'unsaved'})" for i in later)
    stood = last.scene or "an unsaved scene"
    return NotThatScene(
        f"not that scene: this conversation worked with {stood} in {last.name}, which is gone. "
        f"Retrying does not help until it is open again. Call {CHOOSE} with the id of a running "
        f"host: {listed}",
        data={
            "name": last.id,
            "stood_for": {"application": last.kind, "scene": last.scene, "instance": last.id},
            "names": there,
        },
    )


def announced_files() -> object:
    """Return a value that changes when an instance starts, ends or opens a different scene."""
    files = []
    for path in instances.files(instances.folder()):
        try:
            files.append((path.name, path.stat().st_mtime_ns))
        except OSError:
            continue  # The file has since been removed.
    return sorted(files)
