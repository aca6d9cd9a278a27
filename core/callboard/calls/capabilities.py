"""The capabilities that this host offers, those that a tool is missing, and the check that every
call passes.

The same :class:`Capabilities` object decides what is advertised, what is refused and what the panel
shows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import CapabilityMissing
from callboard.ports.capability_names import (
    ANIMATION,
    ATTRIBUTES,
    CAMERAS,
    CHECK,
    DOCS,
    EXCHANGE,
    FARM,
    FILE,
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    GEOMETRY,
    LIGHTS,
    LOOK,
    MATERIALS,
    MODELLING,
    NETWORK,
    RENDER,
    SCENE_MUTATE,
    SCENE_READ,
    SCRIPT,
    STRUCTURE,
    USD,
    VIEWPORT,
)
from callboard.ports.host import Host, HostEvent

#: The order in which known capabilities are shown. Other capabilities follow, sorted.
VOCABULARY = (
    USD,
    SCENE_READ,
    SCENE_MUTATE,
    STRUCTURE,
    ATTRIBUTES,
    FILE,
    GEOMETRY,
    MODELLING,
    MATERIALS,
    LIGHTS,
    CAMERAS,
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    EXCHANGE,
    NETWORK,
    VIEWPORT,
    LOOK,
    CHECK,
    ANIMATION,
    RENDER,
    DOCS,
    FARM,
    SCRIPT,
)
#: Capabilities offered only while an artist can be asked, unless allowed from the start.
ATTENDED_ONLY = frozenset({FARM, SCRIPT})
#: Capabilities that are off until the artist switches them on, unless allowed from the start.
OFF_AT_FIRST = frozenset({NETWORK})


def missing(required: Sequence[str], declared: Iterable[str]) -> list[str]:
    """Return the items of ``required`` that aren't declared, in the order of ``required``."""
    if not required:
        return []
    offered = frozenset(declared)
    return [capability for capability in required if capability not in offered]


class Offer(NamedTuple):
    """The capabilities and ports offered at one moment."""

    declared: tuple[str, ...] = ()
    #: The declared capabilities that the host has a port for. A program may declare more for tools
    #: of its own, but a bundled tool always needs a port.
    ported: tuple[str, ...] = ()
    #: The host's ports when the offer was made, by capability.
    ports: Mapping[str, object] = MappingProxyType({})

    def to(self, ships: bool) -> tuple[str, ...]:
        """Return the capabilities that are offered to a bundled tool if ``ships`` is true, or else
        to any other tool."""
        return self.ported if ships else self.declared


class Capabilities:
    """The live set: the host's ports, or an explicit list, minus what the artist has withdrawn.

    Use it from any thread. Listeners are called on the thread that caused the change.
    """

    def __init__(
        self,
        host: Host,
        explicit: Sequence[str] | None,
        deny: Iterable[str],
        allow: Iterable[str] = (),
        forbidden: Iterable[str] = (),
        own: Sequence[str] = (),
    ) -> None:
        """The capabilities in ``allow`` are offered even while no artist is attending, and even if
        they are off by default. The capabilities in ``forbidden`` are denied for good. ``own``
        are capabilities that the server offers in addition to the host's."""
        self._host = host
        self._own = tuple(own)
        self._explicit = None if explicit is None else list(explicit)
        self.forbidden = frozenset(forbidden)
        self._denied = set(deny)
        self._unattended = ATTENDED_ONLY - frozenset(allow)
        self._off = set(OFF_AT_FIRST.difference(allow))
        self._attended = False
        self._withdrawn: set[str] = set()
        #: Called when the artist withdraws or restores a capability.
        self.decided: Changes[[]] = Changes()
        self._lock = threading.Lock()
        self._changes: Changes[[]] = Changes()
        #: The current offer, with its ports. Replaced as a whole whenever the host's ports or the
        #: artist's choices change.
        self.offer = self._compute()
        self._stop_watching = host.watch(self._host_changed)

    @property
    def declared(self) -> tuple[str, ...]:
        """The capabilities offered now."""
        return self.offer.declared

    @property
    def offered_by_host(self) -> tuple[str, ...]:
        """The capabilities that would be offered if none were withdrawn."""
        return _ordered(self._all())

    @property
    def withdrawn(self) -> frozenset[str]:
        off = self._off.intersection(self._host.ports)
        return frozenset(self._withdrawn | self._denied | self.forbidden | off)

    def describe(self) -> Json:
        """Return the capabilities as JSON: those that are offered, those of the host, and those
        that are withdrawn."""
        return {
            "declared": list(self.declared),
            "offered_by_host": list(self.offered_by_host),
            "withdrawn": sorted(self.withdrawn),
        }

    def attend(self, attended: bool) -> None:
        """Note whether an artist can be asked from now on."""
        self._attended = attended
        self.refresh()

    @property
    def withdrawn_by_artist(self) -> frozenset[str]:
        """The capabilities that the artist withdrew, not counting those that are off from the
        start."""
        return frozenset(self._withdrawn)

    def use_withdrawn(self, capabilities: Iterable[str]) -> None:
        """Replace the capabilities that the artist withdrew with those withdrawn for the opened
        project."""
        with self._lock:
            self._withdrawn = set(capabilities)
        self.refresh()

    def withdraw(self, capability: str) -> None:
        """Stop offering a capability until it is restored, whatever ports the host gains."""
        with self._lock:
            self._withdrawn.add(capability)
        self.refresh()
        self.decided.tell()

    def restore(self, capability: str) -> None:
        """Offer a capability again, unless it is forbidden."""
        with self._lock:
            self._withdrawn.discard(capability)
            self._denied.discard(capability)
            self._off.discard(capability)
        self.refresh()
        self.decided.tell()

    def forbid(self, capabilities: Iterable[str]) -> None:
        """Replace the capabilities that the studio forbids."""
        with self._lock:
            self.forbidden = frozenset(capabilities)
        self.refresh()

    def refresh(self) -> None:
        """Compute the offer again and notify the listeners if it changed."""
        with self._lock:
            before, self.offer = self.offer, self._compute()
            changed = before[:2] != self.offer[:2]
        if changed:
            self._changes.tell()

    def in_words(self, missing_capabilities: Sequence[str]) -> str:
        """Explain to a model why these capabilities aren't offered, and who can change that. Many
        models never see the error that refuses a call."""
        return "Not available now: " + "; ".join(map(self._why_not, missing_capabilities)) + "."

    def _why_not(self, capability: str) -> str:
        where = self._host.where
        if capability in self.forbidden:
            return f"the studio's settings forbid {capability}; ask the person who maintains them"
        if capability in self._off and capability in self._host.ports:
            return (
                f"{capability} is off until the artist switches it on in {where}, or starts"
                f" callboard with `callboard serve --allow {capability}`"
            )
        if capability in self.withdrawn:
            return f"the artist switched {capability} off, and can switch it on in {where}"
        if capability not in self.offered_by_host:
            plug_in = self._host.plug_ins.get(capability)
            if plug_in is None:
                return f"{self._host.identity.name} does not offer {capability}"
            return f"{capability} comes with {plug_in.name}: {plug_in.advice.rstrip('.')}"
        if capability in self.declared:
            return f"{self._host.identity.name} has no port for {capability}, which it declares"
        return (
            f"{capability} is offered only while an artist is there to be asked: have the artist "
            f"open callboard, in {where}, or start it with `callboard serve --allow {capability}`"
        )

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` whenever the offer changes. Return a function that removes the
        listener."""
        return self._changes.watch(listener)

    def close(self) -> None:
        self._stop_watching()

    def check(self, tool: str, required: Sequence[str], ships: bool = False) -> None:
        """Raise CapabilityMissing when a required capability isn't offered."""
        offered = self.offer.to(ships)
        missing_capabilities = missing(required, offered)
        if missing_capabilities:
            raise CapabilityMissing(tool, required, missing_capabilities, offered)

    def _host_changed(self, event: HostEvent) -> None:
        if event == "ports":
            self.refresh()

    def _compute(self) -> Offer:
        absent = frozenset() if self._attended else self._unattended
        declared = _ordered(c for c in self._all() if c not in self.withdrawn | absent)
        ports = self._host.ports
        return Offer(declared, tuple(c for c in declared if c in ports), ports)

    def _all(self) -> Iterable[str]:
        of_host = self._host.ports if self._explicit is None else self._explicit
        return (*of_host, *self._own)


def _ordered(capabilities: Iterable[str]) -> tuple[str, ...]:
    unordered = set(capabilities)
    known = [capability for capability in VOCABULARY if capability in unordered]
    return (*known, *sorted(unordered.difference(VOCABULARY)))
