"""The ``scene.read`` port: the objects of the scene."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint

#: Maximum number of frames with keys in an object's details.
MOST_KEYS = 100


class ObjectNotFound(HostError, LookupError):
    """Raised when no object has that name. ``nearest`` holds the closest names, best first."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = names_hint(name, nearest) or "; the scene is empty"
        super().__init__(f"no object named '{name}'{hint}. List names with scene__list_objects.")
        self.name = name
        self.nearest = list(nearest)


class AmbiguousName(HostError, LookupError):
    """Raised when several objects have that bare name. ``paths`` are the full paths to choose
    from."""

    def __init__(self, name: str, paths: Sequence[str]) -> None:
        super().__init__(f"'{name}' names {len(paths)} objects; use one of: {', '.join(paths)}")
        self.name = name
        self.paths = list(paths)


class SceneReader(Protocol):
    """Capability ``scene.read``. Objects are dicts with at least ``name, path, type, parent,
    children, translate, rotate, scale, visible``. ``type`` is the kind of a primitive, or else the
    host's own word in lower case. ``color`` is ``[r, g, b]`` in 0..1, linear, or None. ``bounds``
    is ``{min, max}`` in world space, of the object with its descendants, or None. ``doubt`` says
    why the next load of the saved file may show something other than what is read now (a constraint
    moves the object, an opinion isn't saved); otherwise it is absent. ``doubtful`` lists the values
    that the doubt concerns, such as ``rotate``; without it, the doubt concerns all of them."""

    def info(self) -> Json:
        """Return ``{file, modified, units_per_meter, up_axis, frame_range, fps, object_count,
        selection}``."""

    def covers(self) -> str | None:
        """Return which part of the file the answers cover and how to see the rest, or None if they
        cover all of it. Optional."""

    def names(self) -> list[str]:
        """Return every object's full path, in scene order."""

    def get(self, name: str) -> Json:
        """Return one object. Raises ObjectNotFound or AmbiguousName."""

    def called(self, name: str) -> list[str]:
        """Return the names, as in ``uses``, of the file's data with that full or bare name. Raises
        HostError when there is none or the name is ambiguous. Optional."""

    def details(self, name: str) -> Json:
        """Return an object's details: ``materials``, paths; ``modifiers``, ``{name, type, shown}``;
        ``faces`` of a mesh, before its modifiers; a camera's ``lens``, millimeters; a light's
        ``energy`` or ``intensity``; ``keys``, the first frames with a key, and ``key_count``.
        Optional."""

    def whole(self, name: str, users: bool = False) -> Json:
        """Return everything else about an object in the host's own words, with ``uses``, the names
        of everything it refers to, ``properties`` by name, and ``visibility``, which says why it
        isn't shown. With ``users``, also return ``used_by``. Optional."""

    def shown_faces(self, name: str) -> int | None:
        """Return how many faces a view shows of an object, after its modifiers, or None if the host
        doesn't evaluate the object now. Optional."""

    def summaries(self) -> Iterable[Json]:
        """Return ``{name, path, type, parent}`` for every object, in scene order. If the result
        supports ``len`` and slicing, only the entries of the requested page are made. The result
        may be read after the scene has changed; the entry of an object removed since then has only
        its name. If a slice has ``named(fits)``, entries are made only for objects whose bare
        name fits."""

    def selection(self) -> list[str]:
        """Return the full paths of the selected objects, in selection order if the host knows
        it."""
