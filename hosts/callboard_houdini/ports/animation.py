"""The ``animation`` port: the timeline and keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import hou

from callboard.errors import HostError
from callboard.host import Components, Json, Vector
from callboard_houdini.application.names import find, parent_of, telling
from callboard_houdini.parts import transforms
from callboard_houdini.parts.assets import refuse_inside_asset
from callboard_houdini.parts.parms import numbers, parm_tuple
from callboard_qt import SampledBake

#: The expression of an interpolated key. Any other expression is a formula, not a key.
_INTERPOLATED = re.compile(r"\w+\(\)")
_CURVE = "bezier()"


class HoudiniAnimation(SampledBake[hou.ObjNode]):
    def node(self, name: str) -> hou.ObjNode:
        return find(name)

    def path(self, node: hou.ObjNode) -> str:
        return str(node.path())

    def timeline(self) -> Json:
        start, end = hou.playbar.playbackRange()
        return {"start": float(start), "end": float(end), "current": hou.frame(), "fps": hou.fps()}

    def set_current(self, frame: float) -> None:
        hou.setFrame(frame)

    def set_range(self, start: float, end: float) -> None:
        """Set the playback range. The scene's own range grows with it if needed."""
        first, last = hou.playbar.frameRange()
        with telling("set the frame range"):
            hou.playbar.setFrameRange(min(start, first), max(end, last))
            hou.playbar.setPlaybackRange(start, end)

    def read_keys(self, node: hou.ObjNode) -> Iterator[tuple[str, float, Sequence[float]]]:
        for component, several in _channels(node):
            for frame in _frames(several):
                yield component, frame, numbers(several, frame)

    def write_key(self, node: hou.ObjNode, frame: float, values: Mapping[str, Vector]) -> None:
        refuse_inside_asset(node, values_only=True)
        transforms.require_plain(node)
        with telling(f"key '{node.name()}'"):
            for component, several in _channels(node):
                if component in values:
                    _set_key(several, frame, values[component])

    def delete_keys(self, name: str, start: float, end: float) -> int:
        node = find(name)
        refuse_inside_asset(node, values_only=True)
        deleted: set[float] = set()
        with telling(f"delete keys of '{node.name()}'"):
            for _, several in _channels(node):
                for frame in _frames(several):
                    if start <= frame <= end:
                        deleted.add(frame)
                        for each in several:
                            if frame in _frames_of(each):
                                each.deleteKeyframeAtFrame(frame)
        return len(deleted)

    def bake(self, names: Sequence[str], start: int, end: int, step: int) -> list[str]:
        nodes = list({node.path(): node for node in map(find, names)}.values())
        for node in nodes:
            refuse_inside_asset(node, values_only=True)
        with telling("bake"):
            self.bake_nodes(nodes, range(start, end + 1, step))
        return [node.path() for node in nodes]

    def sample(self, node: hou.ObjNode, frame: float) -> Components:
        time = hou.frameToTime(frame)
        world, above = node.worldTransformAtTime(time), parent_of(node)
        if above is not None:
            world = world * above.worldTransformAtTime(time).inverted()
        return transforms.explode(world)

    def set_free(self, node: hou.ObjNode) -> None:
        for _, several in _channels(node):
            for parm in several:
                parm.deleteAllKeyframes()
        constrained = node.parm("constraints_on")
        if constrained is not None:
            constrained.set(0)
        node.setPreTransform(hou.hmath.identityTransform())
        for name in transforms.CHANNELS.values():
            parm_tuple(node, name)
        if not transforms.is_plain(node):
            raise HostError(
                f"'{node.name()}' has a pivot, or a different transform order; bake its parent"
            )


def _channels(node: hou.ObjNode) -> Iterator[tuple[str, hou.ParmTuple]]:
    for component, name in transforms.CHANNELS.items():
        channel = node.parmTuple(name)
        if channel is not None:
            yield component, channel


def _frames_of(parm: hou.Parm) -> list[float]:
    return [key.frame() for key in parm.keyframes() if _INTERPOLATED.fullmatch(key.expression())]


def _frames(several: hou.ParmTuple) -> list[float]:
    """Return the frames at which any of the parameters has a key, in order."""
    return sorted({frame for parm in several for frame in _frames_of(parm)})


def _set_key(several: hou.ParmTuple, frame: float, values: Sequence[float]) -> None:
    for parm, value in zip(several, values, strict=False):
        key = hou.Keyframe()
        key.setFrame(frame)
        key.setValue(value)
        key.setExpression(_CURVE, hou.exprLanguage.Hscript)
        key.setSlopeAuto(True)
        parm.setKeyframe(key)
