"""The scene: nodes, parameters, wires, keys and time. It is copied as a whole for each undo
step."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from . import _geometry as shapes
from ._math import Matrix4, apply, hmath
from ._types import MANAGERS, Parm, Type


@dataclass
class Channel:
    """One parameter: its value, or its keys ``{frame: (value, expression)}``."""

    value: Any
    keys: dict[float, tuple[float, str]] = field(default_factory=dict)
    locked: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        # There are thousands of channels, and each undo step copies them.
        return Channel, (self.value, self.keys, self.locked)


@dataclass
class NodeData:
    id: int
    name: str
    type: Type
    parent: int | None
    parms: dict[str, list[Channel]] = field(default_factory=dict)
    inputs: dict[int, int] = field(default_factory=dict)
    selected: bool = False
    display: bool = True
    shown: int | None = None
    pre: Matrix4 = field(default_factory=hmath.identityTransform)
    locked_asset: bool = False
    #: The file that defines an asset; empty for other nodes.
    asset: str = ""
    user_data: dict[str, str] = field(default_factory=dict)
    #: Parameters added to those of the type.
    spare: dict[str, Parm] = field(default_factory=dict)


#: Nodes that pass on their input, changed or not.
_PASSING = (
    *("null", "xform", "merge", "attribwrangle", "python", "file", "material"),
    *("reverse", "divide", "normal", "subdivide"),
)
#: The take that every scene has.
FIRST_TAKE = "Main"


@dataclass
class TakeData:
    """A take. ``held`` maps the parameters that the take includes, by node and name, to the
    take's own values."""

    name: str
    parent: str | None
    held: dict[tuple[int, str], list[Channel]] = field(default_factory=dict)


@dataclass
class Scene:
    nodes: dict[int, NodeData] = field(default_factory=dict)
    takes: dict[str, TakeData] = field(
        default_factory=lambda: {FIRST_TAKE: TakeData(FIRST_TAKE, None)}
    )
    #: The current take.
    take: str = FIRST_TAKE
    first_take: str = FIRST_TAKE
    #: Bundles of nodes by name. A smart bundle has a pattern.
    bundles: dict[str, list[int]] = field(default_factory=dict)
    patterns: dict[str, str] = field(default_factory=dict)
    frame: float = 1.0
    range: tuple[float, float] = (1.0, 240.0)
    playback: tuple[float, float] = (1.0, 240.0)
    last_id: int = 0

    def add(self, type: Type, name: str, parent: int | None) -> NodeData:
        self.last_id += 1
        node = NodeData(self.last_id, "", type, parent)
        node.name = self.free_name(name, parent)
        for key, parm in type.parms.items():
            values = parm.default if isinstance(parm.default, list) else [parm.default]
            node.parms[key] = [Channel(value) for value in values]
        self.nodes[node.id] = node
        self.count_instances(node)
        return node

    def count_instances(self, node: NodeData) -> None:
        """Give the node as many numbered parameters as their counter says."""
        for counter, each in node.type.multi.items():
            count = node.parms[counter][0].value
            wanted = {f"{key}{i}": parm for i in range(1, count + 1) for key, parm in each.items()}
            for name in [key for key in node.parms if key.rstrip("0123456789") in each]:
                if name not in wanted:
                    del node.parms[name]
            for name, parm in wanted.items():
                node.parms.setdefault(name, [Channel(parm.default)])

    def free_name(self, wanted: str, parent: int | None) -> str:
        taken = {node.name for node in self.children(parent)}
        if wanted not in taken:
            return wanted
        stem = wanted.rstrip("0123456789")
        number = int(wanted[len(stem) :] or 0) + 1
        while f"{stem}{number}" in taken:
            number += 1
        return f"{stem}{number}"

    def children(self, id: int | None) -> list[NodeData]:
        return [node for node in self.nodes.values() if node.parent == id]

    def below(self, id: int) -> list[NodeData]:
        return [each for c in self.children(id) for each in (c, *self.below(c.id))]

    def path(self, node: NodeData) -> str:
        above = self.nodes[node.parent] if node.parent is not None else None
        return f"{self.path(above) if above else ''}/{node.name}"

    def find(self, path: str) -> NodeData | None:
        at: NodeData | None = None
        for part in path.strip("/").split("/"):
            near = self.children(at.id if at else None)
            at = next((node for node in near if node.name == part), None)
            if at is None:
                return None
        return at

    def remove(self, node: NodeData) -> None:
        for each in [node, *self.below(node.id)]:
            self.nodes.pop(each.id, None)
        for name, held in self.bundles.items():
            self.bundles[name] = [id for id in held if id in self.nodes]
        for other in self.nodes.values():
            other.inputs = {i: id for i, id in other.inputs.items() if id in self.nodes}
            if other.shown not in self.nodes:
                other.shown = None

    # -- takes ----------------------------------------------------------------------------------

    def add_take(self, name: str, parent: str) -> None:
        self.takes[name] = TakeData(name, parent)

    def may_change(self, id: int, parms: str) -> bool:
        return self.take == self.first_take or (id, parms) in self.takes[self.take].held

    def include(self, id: int, parms: str) -> None:
        """Include parameters in the current take. The first take keeps its own values from then
        on."""
        node, current, key = self.nodes[id], self.takes[self.take], (id, parms)
        if self.take == self.first_take or key in current.held:
            return
        self.takes[self.first_take].held.setdefault(key, node.parms[parms])
        current.held[key] = node.parms[parms] = copy.deepcopy(node.parms[parms])

    def go_to_take(self, name: str) -> None:
        self.take = name
        for id, parms in self.takes[self.first_take].held:
            at = self.takes[name]
            while (id, parms) not in at.held:
                assert at.parent is not None
                at = self.takes[at.parent]
            if id in self.nodes:
                self.nodes[id].parms[parms] = at.held[id, parms]

    # -- values ---------------------------------------------------------------------------------

    def value(self, channel: Channel, frame: float | None = None) -> Any:
        if not channel.keys:
            return channel.value
        at = self.frame if frame is None else frame
        frames = sorted(channel.keys)
        if at <= frames[0]:
            return channel.keys[frames[0]][0]
        for low, high in pairwise(frames):
            if at <= high:
                a, b = channel.keys[low][0], channel.keys[high][0]
                return a + (b - a) * (at - low) / (high - low)
        return channel.keys[frames[-1]][0]

    def values(self, node: NodeData, name: str, frame: float | None = None) -> list[Any]:
        return [self.value(channel, frame) for channel in node.parms[name]]

    # -- transforms -----------------------------------------------------------------------------

    def parm_transform(self, node: NodeData, frame: float | None = None) -> Matrix4:
        if any(self.values(node, "p")) or any(self.values(node, "pr")):
            raise NotImplementedError("the double doesn't model pivots")
        uniform = self.values(node, "scale", frame)[0]
        return hmath.buildTransform(
            {
                "translate": self.values(node, "t", frame),
                "rotate": self.values(node, "r", frame),
                "scale": [value * uniform for value in self.values(node, "s", frame)],
            },
            transform_order=node.parms["xOrd"][0].value,
            rotate_order=node.parms["rOrd"][0].value,
        )

    def local(self, node: NodeData, frame: float | None = None) -> Matrix4:
        return self.parm_transform(node, frame) * node.pre

    def above(self, node: NodeData, frame: float | None = None) -> Matrix4:
        wired = node.inputs.get(0)
        if wired is not None:
            return self.local(self.nodes[wired], frame) * self.above(self.nodes[wired], frame)
        around = self.nodes[node.parent] if node.parent is not None else None
        if around is not None and around.type.category == "Object":
            return self.world(around, frame)
        return hmath.identityTransform()

    def world(self, node: NodeData, frame: float | None = None) -> Matrix4:
        return self.local(node, frame) * self.above(node, frame)

    # -- cooking --------------------------------------------------------------------------------

    def cook(self, node: NodeData) -> shapes.Geometry:
        kind = node.type.name
        first = node.inputs.get(0)
        if kind in _PASSING:
            made = shapes.Geometry()
            for id in node.inputs.values():
                _join(made, self.cook(self.nodes[id]))
            if kind == "material":
                self._give_materials(node, made)
            if kind == "reverse":
                group = node.parms["group"][0].value
                made._turn(set(map(int, group.split())) if group else set(range(len(made._prims))))
            if kind == "divide":
                made._triangulate()
            if kind == "normal":
                made._normals = True
            if kind == "subdivide":
                for _ in range(node.parms["iterations"][0].value):
                    made._round()
            if kind == "xform":
                move = hmath.buildTransform(
                    {"translate": self.values(node, "t"), "scale": self.values(node, "s")}
                )
                made._points = [apply(point, move) for point in made._points]
            return made
        if first is not None:
            raise NotImplementedError(f"the double doesn't model a {kind} with an input")
        return self._source(node, kind)

    def _give_materials(self, node: NodeData, made: shapes.Geometry) -> None:
        for i in range(1, node.parms["num_materials"][0].value + 1):
            path, group = (
                node.parms[f"{key}{i}"][0].value for key in ("shop_materialpath", "group")
            )
            if path:
                made._materials = made._materials or [""] * len(made._prims)
                faces = map(int, group.split()) if group else range(len(made._prims))
                for face in faces:
                    made._materials[face] = path

    def _source(self, node: NodeData, kind: str) -> shapes.Geometry:
        if kind == "stash":
            return node.parms["stash"][0].value or shapes.Geometry()
        made_of = node.parms["type"][0].value
        if kind == "box":
            return shapes.box(*self.values(node, "size"))
        if kind == "grid":
            return shapes.grid(*self.values(node, "size"), node.parms["orient"][0].value)
        if kind == "torus":
            from math import cos, pi, sin

            major, minor = self.values(node, "rad")
            turn = [2 * pi * i / 24 for i in range(24)]
            rows = [(major + minor * cos(a), minor * sin(a)) for a in turn]
            return shapes.rings(rows, 24, node.parms["orient"][0].value, closed=True)
        if kind == "tube":
            top, bottom = self.values(node, "rad")
            height = self.value(node.parms["height"][0])
            axis, around = node.parms["orient"][0].value, node.parms["cols"][0].value
            if made_of == "prim":
                return shapes.quadric([(0, 0, 0)])
            return shapes.rings([(bottom, -height / 2), (top, height / 2)], around, axis)
        if kind == "sphere":
            return self._sphere(node, made_of)
        raise NotImplementedError(f"the double doesn't model cooking a {kind}")

    def _sphere(self, node: NodeData, made_of: str) -> shapes.Geometry:
        from math import cos, pi, sin

        if made_of == "prim":
            return shapes.quadric([(0, 0, 0)])
        count, around = node.parms["rows"][0].value, node.parms["cols"][0].value
        turn = [pi * i / (count - 1) for i in range(count)]
        made = shapes.rings([(sin(a), -cos(a)) for a in turn], around, "y")
        sizes = self.values(node, "rad")
        made._points = [[v * s for v, s in zip(p, sizes, strict=True)] for p in made._points]
        return made


def _join(into: shapes.Geometry, other: shapes.Geometry) -> None:
    first = len(into._points)
    into._points += [list(point) for point in other._points]
    if into._materials or other._materials:
        named = into._materials or [""] * len(into._prims)
        into._materials = [*named, *(other._materials or [""] * len(other._prims))]
    into._normals = into._normals or other._normals
    into._prims += [type(p)(tuple(first + i for i in p._corners), p._uvs) for p in other._prims]


def new_scene() -> Scene:
    scene = Scene()
    for name, holds in MANAGERS.items():
        scene.add(Type(name, "Manager", holds), name, None)
    return scene
