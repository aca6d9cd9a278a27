"""Objects by name. An object is a transform; its path is the full DAG path, ``|group|ball``, its
bare name the last part, with the namespace: ``char:ball``."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager

from maya import cmds

from callboard.errors import HostError
from callboard_qt import only_one, translated

_NODE = r"(?:[A-Za-z_]\w*:)*[A-Za-z_]\w*"
#: What may be looked up at all: everything else is a pattern, or no name, to Maya.
_LOOKUP = re.compile(rf"\|?{_NODE}(?:\|{_NODE})*", re.ASCII)
_NAME = re.compile(_NODE, re.ASCII)


def bare(path: str) -> str:
    return path.rsplit("|", 1)[-1]


def parent_of(path: str) -> str | None:
    return path.rsplit("|", 1)[0] or None


def paths() -> list[str]:
    """Every object, parents before children, without the cameras that each scene starts with."""
    own = set(startup_cameras())
    transforms = cmds.ls(dagObjects=True, type="transform", long=True) or []
    return [path for path in transforms if path not in own]


def tree(path: str) -> list[str]:
    """An object and every object below it, parents before children."""
    return list(cmds.ls(path, dagObjects=True, type="transform", long=True) or [])


def startup_cameras() -> list[str]:
    """persp, top, front and side; nobody made them, and nobody can delete them."""
    cameras = cmds.ls(type="camera", long=True) or []
    return [
        path
        for shape in cameras
        if cmds.camera(shape, query=True, startupCamera=True) and (path := parent_of(shape))
    ]


def find(name: str) -> str:
    """The full path of the object of that name. Raises ObjectNotFound, AmbiguousName."""
    namesakes: list[str] = []
    if len(name) <= 1024 and _LOOKUP.fullmatch(name):
        namesakes = list(dict.fromkeys(cmds.ls(name, type="transform", long=True) or []))
    return only_one(name, namesakes, lambda: map(bare, paths()), str)


def full_path(node: str) -> str:
    """Of a name that Maya itself has just answered with."""
    return str(cmds.ls(node, long=True)[0])


def check_new_name(name: str) -> None:
    """Raises HostError for what Maya would quietly turn into another name."""
    if not _NAME.fullmatch(name):
        raise HostError(
            f"'{name[:64]}' can't be a name in Maya: use letters, digits and _, and don't begin "
            "with a digit"
        )


def telling(what: str) -> AbstractContextManager[None]:
    """Maya's own errors inside become a HostError. Of many lines the last is the reason."""
    return translated("Maya", what, (RuntimeError, ValueError), _last_line)


def _last_line(error: Exception) -> str:
    return str(error).strip().rsplit("\n", 1)[-1]
