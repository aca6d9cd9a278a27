"""Finds objects by name. An object is a transform. Its path is the full DAG path, ``|group|ball``.
Its bare name is the last part with the namespace, ``char:ball``."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager

from maya import cmds

from callboard.errors import HostError
from callboard_qt import only_one, translated

_NODE = r"(?:[A-Za-z_]\w*:)*[A-Za-z_]\w*"
#: Names that may be looked up. To Maya, anything else is a pattern, or isn't a name.
_LOOKUP = re.compile(rf"\|?{_NODE}(?:\|{_NODE})*", re.ASCII)
_NAME = re.compile(_NODE, re.ASCII)


def bare(path: str) -> str:
    return path.rsplit("|", 1)[-1]


def parent_of(path: str) -> str | None:
    return path.rsplit("|", 1)[0] or None


def paths() -> list[str]:
    """Return every object, parents before children, without the cameras that each scene starts
    with."""
    own = set(startup_cameras())
    transforms = cmds.ls(dagObjects=True, type="transform", long=True) or []
    return [path for path in transforms if path not in own]


def tree(path: str) -> list[str]:
    """Return an object and every object below it, parents before children."""
    return list(cmds.ls(path, dagObjects=True, type="transform", long=True) or [])


def startup_cameras() -> list[str]:
    """Return persp, top, front and side, which Maya makes and the artist can't delete."""
    cameras = cmds.ls(type="camera", long=True) or []
    return [
        path
        for shape in cameras
        if cmds.camera(shape, query=True, startupCamera=True) and (path := parent_of(shape))
    ]


def find(name: str) -> str:
    """Return the full path of the object with that name. Raises ObjectNotFound or AmbiguousName."""
    namesakes: list[str] = []
    if len(name) <= 1024 and _LOOKUP.fullmatch(name):
        namesakes = list(dict.fromkeys(cmds.ls(name, type="transform", long=True) or []))
    return only_one(name, namesakes, lambda: map(bare, paths()), str)


def full_path(node: str) -> str:
    """Return the full path for a name that Maya itself has just returned."""
    return str(cmds.ls(node, long=True)[0])


def check_new_name(name: str) -> None:
    """Raise HostError for a name that Maya would quietly change."""
    if not _NAME.fullmatch(name):
        raise HostError(
            f"'{name[:64]}' can't be a name in Maya: use letters, digits and _, and don't begin "
            "with a digit"
        )


def telling(what: str) -> AbstractContextManager[None]:
    """Turn Maya's own errors into a HostError. The last line of Maya's message is the reason."""
    return translated("Maya", what, (RuntimeError, ValueError), _last_line)


def _last_line(error: Exception) -> str:
    return str(error).strip().rsplit("\n", 1)[-1]
