"""What the artist's roots leave of a client's: inside them it narrows, outside a person decides."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from callboard.workspace.containment import Root, RootsPolicy, WorkspaceRoots


class LimitedRoots(NamedTuple):
    """A client's roots beside the artist's. ``inside`` keep what the artist marked read-only."""

    client: WorkspaceRoots
    artist: tuple[Root, ...]
    inside: tuple[Root, ...]
    outside: tuple[Root, ...]

    def roots(self, allowed: Sequence[str], policy: RootsPolicy) -> WorkspaceRoots:
        """What a call sees; ``allowed`` are paths of ``outside`` that a person let count."""
        added = [root for root in self.outside if root.path in allowed]
        ceiling = WorkspaceRoots([*self.artist, *added], policy=policy)
        seen = [*self.inside, *added]
        return WorkspaceRoots(seen, policy=policy, ceiling=ceiling) if seen else ceiling


def judge(client: WorkspaceRoots, artist: Sequence[Root]) -> LimitedRoots:
    """Looks where the client's roots really are, and may wait for a disk. A root that holds one of
    the artist's is neither: it asks for no less than there is, and gets no more."""
    ceiling = WorkspaceRoots(artist)
    inside: list[Root] = []
    outside: list[Root] = []
    for root in client.roots:
        if root.path is None or is_whole_disk(root):
            continue
        try:
            holding = ceiling.above(os.path.realpath(root.path))
        except (OSError, ValueError):
            continue  # where it is can't be found out: it counts for nothing
        if holding is not None:
            inside.append(root._replace(read_only=root.read_only or holding.read_only))
        elif not any(one.path and WorkspaceRoots([root]).contains(one.path) for one in artist):
            outside.append(root)
    return LimitedRoots(client, tuple(artist), tuple(inside), tuple(outside))


def is_whole_disk(root: Root) -> bool:
    """Whether it is ``/`` or a drive: no folder that somebody works in."""
    return root.path is not None and Path(root.path).parent == Path(root.path)
