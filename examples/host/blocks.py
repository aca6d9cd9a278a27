"""A more complete host than ``notes.py``: a table with blocks that agents build with.

    python examples/host/blocks.py

It reads and changes its scene, and each call is one undo step. ``test_blocks.py`` checks it against
the contract. docs/host.md describes how it was made.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from callboard.app import Callboard
from callboard.changes import Changes
from callboard.errors import HostError
from callboard.ground.matrices import Rows, compose, inverse, times
from callboard.guest.inbox import MainThreadInbox
from callboard.host import (
    SCENE_MUTATE,
    SCENE_READ,
    AmbiguousName,
    Host,
    HostIdentity,
    ObjectNotFound,
    nearest_names,
)

Values = Sequence[float]


def unmoved() -> Rows:
    return compose([0, 0, 0], [0, 0, 0], [1, 1, 1])


@dataclass
class Block:
    kind: str
    #: Half of the block's size along X, Y (up) and Z, before scaling.
    half: tuple[float, float, float]
    translate: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    rotate: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    scale: list[float] = field(default_factory=lambda: [1.0, 1.0, 1.0])
    color: list[float] | None = None
    #: The transform between the parent and the block's own values, so that a new parent doesn't
    #: move the block.
    offset: Rows = field(default_factory=unmoved)


def half_of(kind: str, sizes: Mapping[str, float]) -> tuple[float, float, float]:
    if kind == "cube":
        return (sizes["size"] / 2,) * 3
    if kind == "plane":
        return sizes["width"] / 2, 0.0, sizes["depth"] / 2
    if kind == "torus":
        outer = sizes["major_radius"] + sizes["minor_radius"]
        return outer, sizes["minor_radius"], outer
    radius = sizes["radius"]
    return radius, sizes.get("height", 2 * radius) / 2, radius


def leaf(path: str) -> str:
    return path.rpartition("/")[2]


def above(path: str) -> str | None:
    return path.rpartition("/")[0] or None


def within(path: str, group: str) -> bool:
    return f"{path}/".startswith(f"{group}/")


class Table:
    """The program's own data, and the ports ``scene.read`` and ``scene.mutate`` on it."""

    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._blocks: dict[str, Block] = {}
        self._selected: list[str] = []

    @property
    def blocks(self) -> dict[str, Block]:
        """The blocks by path, such as ``/tower/roof``. All access goes through this property."""
        if threading.get_ident() != self._main:
            raise RuntimeError("the table was used off the main thread; go through post")
        return self._blocks

    # -- scene.read ---------------------------------------------------------------------------

    def info(self) -> dict[str, Any]:
        facts = {"file": None, "modified": bool(self.blocks), "units_per_meter": 100.0}
        times_ = {"up_axis": "Y", "frame_range": [1, 1], "fps": 24.0}
        return {
            **facts,
            **times_,
            "object_count": len(self.blocks),
            "selection": self.selection(),
        }

    def names(self) -> list[str]:
        return list(self.blocks)

    def get(self, name: str) -> dict[str, Any]:
        path = self.find(name)
        block = self.blocks[path]
        values = {key: list(getattr(block, key)) for key in ("translate", "rotate", "scale")}
        return {
            **self._summary(path),
            **values,
            "children": [each for each in self.blocks if above(each) == path],
            "visible": True,
            "color": None if block.color is None else list(block.color),
            "bounds": self._bounds(path),
        }

    def summaries(self) -> Iterator[dict[str, Any]]:
        return iter([self._summary(path) for path in self.blocks])

    def selection(self) -> list[str]:
        return list(self._selected)

    # -- scene.mutate -------------------------------------------------------------------------

    def create(self, kind: str, name: str | None, dimensions: Mapping[str, float]) -> str:
        path = self._free(f"/{named(name or kind)}")
        self.blocks[path] = Block(kind, half_of(kind, dimensions))
        return path

    def set_transform(
        self, name: str, translate: Values | None, rotate: Values | None, scale: Values | None
    ) -> str:
        path = self.find(name)
        block = self.blocks[path]
        block.translate = block.translate if translate is None else [*map(float, translate)]
        block.rotate = block.rotate if rotate is None else [*map(float, rotate)]
        block.scale = block.scale if scale is None else [*map(float, scale)]
        return path

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str:
        path = self.find(name)
        group = None if parent is None else self.find(parent)
        if group is not None and within(group, path):
            raise HostError(f"{group} is {path} or below it; choose another parent")
        offset = unmoved()
        if keep_world:
            held = times(self.blocks[path].offset, self._world(above(path)))
            offset = times(held, inverse(self._world(group)))
        self.blocks[path].offset = offset
        wanted = f"{group or ''}/{leaf(path)}"
        return path if wanted == path else self._move(path, self._free(wanted))

    def rename(self, name: str, new_name: str) -> str:
        path = self.find(name)
        wanted = f"{above(path) or ''}/{named(new_name)}"
        if wanted != path and wanted in self.blocks:
            raise HostError(f"{wanted} already exists; choose another name")
        return self._move(path, wanted)

    def delete(self, names: Sequence[str]) -> list[str]:
        groups = [self.find(name) for name in names]
        gone = [path for path in self.blocks if any(within(path, group) for group in groups)]
        for path in gone:
            del self.blocks[path]
        self._selected = [path for path in self._selected if path in self.blocks]
        return gone

    def duplicate(self, name: str, new_name: str | None) -> str:
        path = self.find(name)
        copy = self._free(f"{above(path) or ''}/{named(new_name or leaf(path))}")
        for each in [each for each in self.blocks if within(each, path)]:
            self.blocks[copy + each[len(path) :]] = deepcopy(self.blocks[each])
        return copy

    def select(self, names: Sequence[str]) -> list[str]:
        self._selected = list(dict.fromkeys(map(self.find, names)))
        return self.selection()

    def set_color(self, name: str, color: Values) -> str:
        path = self.find(name)
        self.blocks[path].color = [*map(float, color)]
        return path

    # -- for undo, and internals ---------------------------------------------------------------

    def snapshot(self) -> tuple[dict[str, Block], list[str]]:
        """Return the whole state as an independent value."""
        return deepcopy(self.blocks), self.selection()

    def restore(self, state: tuple[dict[str, Block], list[str]]) -> None:
        self.blocks.clear()
        self.blocks.update(deepcopy(state[0]))
        self._selected = list(state[1])

    def find(self, name: str) -> str:
        """Return the path of the block with the given path or bare name."""
        if name in self.blocks:
            return name
        paths = [path for path in self.blocks if leaf(path) == name]
        if len(paths) > 1:
            raise AmbiguousName(name, paths)
        if not paths:
            raise ObjectNotFound(name, nearest_names(name, map(leaf, self.blocks)))
        return paths[0]

    def _summary(self, path: str) -> dict[str, Any]:
        kind, parent = self.blocks[path].kind, above(path)
        return {"name": leaf(path), "path": path, "type": kind, "parent": parent}

    def _world(self, path: str | None) -> Rows:
        if path is None:
            return unmoved()
        block = self.blocks[path]
        local = times(compose(block.translate, block.rotate, block.scale), block.offset)
        return times(local, self._world(above(path)))

    def _bounds(self, path: str) -> dict[str, list[float]]:
        corners = []
        for each in self.blocks:
            if within(each, path):
                rows, half = self._world(each), self.blocks[each].half
                for signs in product((-1, 1), repeat=3):
                    corner = [sign * width for sign, width in zip(signs, half, strict=True)]
                    corners.append(
                        [
                            sum(corner[k] * rows[k][i] for k in range(3)) + rows[3][i]
                            for i in range(3)
                        ]
                    )
        low, high = ([*map(pick, zip(*corners, strict=True))] for pick in (min, max))
        return {"min": low, "max": high}

    def _free(self, path: str) -> str:
        number, free = 1, path
        while free in self.blocks:
            free, number = f"{path}{number}", number + 1
        return free

    def _move(self, path: str, wanted: str) -> str:
        def moved(each: str) -> str:
            return wanted + each[len(path) :] if within(each, path) else each

        blocks = {moved(each): block for each, block in self.blocks.items()}
        self.restore((blocks, [*map(moved, self._selected)]))
        return wanted


def named(name: str) -> str:
    if not name or "/" in name:
        raise HostError(f"a block can't be called '{name}': choose another name, with no slash")
    return name


@dataclass
class Step:
    id: str
    before: Any
    after: Any


class TableUndo:
    """The undo port. Each call is one step, which stores the table before and after the call."""

    joins = True

    def __init__(self, table: Table, changed: Callable[[], None]) -> None:
        self.stepped: Changes[[Sequence[str], bool]] = Changes()
        self._table = table
        self._changed = changed
        self._steps: list[Step] = []
        self._undone: list[Step] = []
        self._count = 0

    def begin(self, label: str) -> object:
        return self._table.snapshot()

    def commit(self, token: object) -> str | None:
        after = self._table.snapshot()
        if after == token:
            return None
        self._count += 1
        self._steps.append(Step(str(self._count), token, after))
        self._undone.clear()
        self._changed()
        return self._steps[-1].id

    def rollback(self, token: Any) -> bool:
        self._table.restore(token)
        return True

    def undo(self, undo_id: str) -> bool:
        return self._step(self._steps, self._undone, undo_id, "after", "before")

    def redo(self, undo_id: str) -> bool:
        return self._step(self._undone, self._steps, undo_id, "before", "after")

    def join(self, undo_ids: Sequence[str]) -> str | None:
        newest = self._steps[-len(undo_ids) :]
        if [step.id for step in newest] != list(undo_ids):
            return None
        self._steps[-len(newest) :] = [Step(newest[-1].id, newest[0].before, newest[-1].after)]
        return newest[-1].id

    def _step(self, of: list[Step], to: list[Step], undo_id: str, here: str, there: str) -> bool:
        newest = of[-1] if of else None
        # A change made since the step must not be lost.
        if newest is None or newest.id != undo_id:
            return False
        if self._table.snapshot() != getattr(newest, here):
            return False
        self._table.restore(getattr(newest, there))
        to.append(of.pop())
        self._changed()
        return True


class BlocksHost(Host):
    """The host of a table. ``post`` makes a function run on the thread that created this object."""

    def __init__(
        self, post: Callable[[Callable[[], None]], None], table: Table | None = None
    ) -> None:
        super().__init__()
        self._post = post
        self.table = table or Table()
        self.undo = TableUndo(self.table, lambda: self.announce("scene"))
        self.set_ports({SCENE_READ: self.table, SCENE_MUTATE: self.table})

    @property
    def identity(self) -> HostIdentity:
        return HostIdentity("blocks", "Blocks", "1.0")

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)

    def empty_scene(self) -> None:
        self.table.restore(({}, []))


def main(make: Callable[[Callable[[Callable[[], None]], None]], Host] = BlocksHost) -> None:
    inbox = MainThreadInbox()
    server = Callboard(make(inbox.post)).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: inbox.stop())
    ready = {"event": "ready", "url": server.url, "token": server.token}
    print(json.dumps(ready), file=sys.__stdout__, flush=True)
    try:
        inbox.run()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
