"""The part of a client's roots that the artist's roots allow. Roots inside the artist's roots
narrow the workspace. A person decides about roots outside of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from callboard.workspace.containment import Root, RootsPolicy, WorkspaceRoots


class LimitedRoots(NamedTuple):
    """A client's roots compared with the artist's. The roots in ``inside`` keep the artist's
    read-only marks."""

    client: WorkspaceRoots
    artist: tuple[Root, ...]
    inside: tuple[Root, ...]
    outside: tuple[Root, ...]

    def roots(
        self, allowed: Sequence[str], policy: RootsPolicy, limit: WorkspaceRoots | None = None
    ) -> WorkspaceRoots:
        """Return the roots of a call. ``allowed`` are the paths of ``outside`` that a person
        allowed. Paths must lie in ``limit`` too."""
        added = [root for root in self.outside if root.path in allowed]
        ceiling = WorkspaceRoots([*self.artist, *added], policy=policy, ceiling=limit)
        seen = [*self.inside, *added]
        return WorkspaceRoots(seen, policy=policy, ceiling=ceiling) if seen else ceiling


def judge(client: WorkspaceRoots, artist: Sequence[Root]) -> LimitedRoots:
    """Classify the client's roots by their real paths. May wait for a disk. A root that contains
    one of the artist's is neither inside nor outside: it doesn't limit the artist's roots, so it
    changes nothing."""
    ceiling = WorkspaceRoots(artist)
    inside: list[Root] = []
    outside: list[Root] = []
    for root in client.roots:
        if root.path is None or is_whole_disk(root):
            continue
        try:
            holding = ceiling.above(os.path.realpath(root.path))
        except (OSError, ValueError):
            continue  # Its real path can't be determined, so it doesn't count.
        if holding is not None:
            inside.append(root._replace(read_only=root.read_only or holding.read_only))
        elif not any(one.path and WorkspaceRoots([root]).contains(one.path) for one in artist):
            outside.append(root)
    return LimitedRoots(client, tuple(artist), tuple(inside), tuple(outside))


def within(roots: Sequence[Root], limit: WorkspaceRoots | None) -> list[Root]:
    """Return the roots that the limit leaves, as their paths are written, or the limit's own
    folders if it leaves none. Doesn't access a disk, because the check of each path determines the
    path's real location."""
    if limit is None:
        return list(roots)
    as_written = WorkspaceRoots(limit.roots, realpath=os.path.normpath)
    left: list[Root] = []
    for root in roots:
        if root.path is not None and as_written.contains(root.path):
            left.append(root)
            continue
        around = WorkspaceRoots([root], realpath=os.path.normpath)
        inside = (one for one in limit.roots if one.path is not None and around.contains(one.path))
        left += [one._replace(read_only=one.read_only or root.read_only) for one in inside]
    return left or list(limit.roots)


def is_whole_disk(root: Root) -> bool:
    """Return whether the root is ``/`` or a drive, and therefore not a folder to work in."""
    return root.path is not None and Path(root.path).parent == Path(root.path)
