"""The ``animation`` port: the timeline, and the keys of objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from callboard.content import Json
from callboard.ports.edit import Vector


class AnimationPort(Protocol):
    """Capability ``animation``. A key is ``{frame, translate?, rotate?, scale?}``, local, with the
    components that have a key at that frame. A port may also have ``animated()``, which yields
    ``{path, keys, start, end, of}`` for everything that is animated by keys, and None where a slice
    may end. ``keys`` is the number of frames with a key, and ``of`` describes what is animated, in
    the host's words. ``others(name)``, optional too, returns what else to answer about one object:
    ``action``, the host's name for what holds the keys, ``shared_by``, what else uses that, and
    ``others``, the keys of anything of it but the transform, as ``{of, keys, frames, action,
    why?}``, where ``why`` says why they do nothing."""

    def timeline(self) -> Json:
        """Return ``{start, end, current, fps}``: the playback range and the current frame."""

    def set_current(self, frame: float) -> None: ...
    def set_range(self, start: float, end: float) -> None: ...
    def set_fps(self, fps: float) -> None:
        """Set the frames per second. Keys stay at their frames. This method, ``interpolations`` and
        ``set_interpolation`` are optional."""

    def interpolations(self, name: str, component: str | None = None) -> Mapping[float, str]:
        """Return the interpolation after each key, by frame: ``constant``, ``linear``, ``smooth``,
        or the host's own word. With ``component``, only its keys count."""

    def set_interpolation(
        self, name: str, component: str, frame: float, interpolation: str
    ) -> None:
        """Set it for the key of ``translate``, ``rotate`` or ``scale`` alone."""

    def keys(self, name: str) -> list[Json]:
        """Return the object's keys in order of their frames, or an empty list when the object isn't
        animated by keys."""

    def set_key(
        self,
        name: str,
        frame: float,
        translate: Vector | None,
        rotate: Vector | None,
        scale: Vector | None,
    ) -> str:
        """Key the components that aren't None; replace existing keys at that frame. Return the
        path."""

    def delete_keys(self, name: str, start: float, end: float) -> int:
        """Delete the object's keys from ``start`` to ``end``, both included. Return the number of
        frames that had a key."""

    def bake(self, names: Sequence[str], start: int, end: int, step: int) -> list[str]:
        """Key the local transform at every ``step``-th frame, in place of whatever moved the
        objects: constraints, expressions, other keys. Return the paths."""
