"""A folder that both instances may use, and the exchanged file in that folder."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from callboard.content import Json
from callboard.errors import PeerError
from callboard_programs.gateway.transfer.instance_calls import CallRefused, InstanceCalls

#: The resource in which an instance lists the caller's roots.
ROOTS = "host://roots"


async def common_root(source: InstanceCalls, far: InstanceCalls) -> str:
    """Return a folder that is within a root of each instance and that the source may write to.
    Raises PeerError, with advice, if there is no such folder."""
    there, here = await _roots_of(source), await _roots_of(far)
    for root in there:
        for other in here:
            inner = next((a for a, b in ((root, other), (other, root)) if _within(a, b)), None)
            writable = not root["read_only"] and not (inner is other and other["read_only"])
            if inner is not None and writable and Path(inner["path"]).is_dir():
                return str(inner["path"])
    reported = [
        f"{calls.name} has {_in_words(roots)}" for calls, roots in ((source, there), (far, here))
    ]
    raise PeerError(
        f"the two instances have no root in common: {reported[0]}, {reported[1]}. Ask the "
        f"artist to add one "
        "folder as a root in both (panel, Roots), or start the client with a root that contains "
        "both projects"
    )


async def own_root(source: InstanceCalls, folder: str) -> str:
    """Return ``folder`` if it is within one of the source's writable roots, so that the source may
    create a folder in it. Otherwise, raise PeerError with advice."""
    try:
        roots = await _known_roots(source)
    except CallRefused:
        return folder  # The source will decide when it exports.
    inside = [root for root in roots if Path(os.path.realpath(folder)).is_relative_to(root["path"])]
    if any(not root["read_only"] for root in inside):
        return folder
    where = "in a read-only root" if inside else "outside of the roots"
    raise PeerError(
        f"folder {folder} is {where} of {source.name}, which has {_in_words(roots)}, so the file "
        "can't be written there. Give a folder below one of its writable roots, leave folder out "
        "if both have a root in common, or ask the artist to add this one (panel, Roots)"
    )


class SharedFile:
    """The exchanged file, in a folder of its own below a common root. The source makes the folder.
    The folder's name can't be guessed."""

    def __init__(self, root: str, stem: str) -> None:
        self.folder = Path(root, f"transfer_{token_hex(6)}")
        self.path = str(self.folder / f"{stem}.usdc")

    async def end(self, *, used: bool) -> list[str]:
        """Remove the file. If ``used`` is true, the textures beside the file stay, because the far
        scene uses them. Return the paths of the remaining textures."""
        return await asyncio.to_thread(self._end, used)

    def _end(self, used: bool) -> list[str]:
        if not used:
            shutil.rmtree(self.folder, ignore_errors=True)
            return []
        with suppress(OSError):
            Path(self.path).unlink()
        with suppress(OSError):
            self.folder.rmdir()
        return [str(each) for each in sorted(self.folder.rglob("*")) if each.is_file()]


async def _roots_of(calls: InstanceCalls) -> list[dict[str, Any]]:
    try:
        return await _known_roots(calls)
    except CallRefused as refused:
        raise PeerError(f"{refused.message}; set folder to a path below a root of both") from None


async def _known_roots(calls: InstanceCalls) -> list[dict[str, Any]]:
    """Return the roots that an instance lists. Raises CallRefused."""
    reported = (await calls.read(ROOTS)).get("roots")
    return [
        {"path": os.path.realpath(each["path"]), "read_only": bool(each.get("read_only"))}
        for each in (reported if isinstance(reported, list) else ())
        if isinstance(each, dict) and _is_folder(each.get("path"))
    ]


def _is_folder(path: object) -> bool:
    return isinstance(path, str) and "\0" not in path and Path(path).is_absolute()


def _within(inner: Json, outer: Json) -> bool:
    return Path(inner["path"]).is_relative_to(outer["path"])


def _in_words(roots: Sequence[Json]) -> str:
    reported = (root["path"] + " (read-only)" * root["read_only"] for root in roots)
    return ", ".join(reported) or "none"
