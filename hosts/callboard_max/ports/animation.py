"""The ``animation`` port: the timeline and keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pymxs
from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Components, Json, Vector
from callboard_max.application.names import Node, find, handle, path_of, telling
from callboard_max.parts import transforms
from callboard_max.parts.frames import current_frame, frame_of, frames_per_second
from callboard_qt import SampledBake

_CHANNELS = {"translate": "Position", "rotate": "Rotation", "scale": "Scale"}
_TURNS = ("x_rotation", "y_rotation", "z_rotation")


class MaxAnimation(SampledBake[Node]):
    def node(self, name: str) -> Node:
        return find(name)

    def path(self, node: Node) -> str:
        return path_of(node)

    def timeline(self) -> Json:
        shown = rt.animationRange
        return {
            "start": frame_of(shown.start),
            "end": frame_of(shown.end),
            "current": current_frame(),
            "fps": frames_per_second(),
        }

    def set_current(self, frame: float) -> None:
        rt.sliderTime = frame

    def set_range(self, start: float, end: float) -> None:
        with telling("set the frame range"):
            rt.animationRange = rt.Interval(start, end)

    def read_keys(self, node: Node) -> Iterator[tuple[str, float, Sequence[float]]]:
        for component, controller in _controllers(node):
            for frame in _frames(controller):
                with pymxs.attime(frame):
                    value = _value(component, controller)
                yield component, frame, value

    def write_key(self, node: Node, frame: float, values: Mapping[str, Vector]) -> None:
        transforms.refuse_locked(node, values)
        there = dict(_controllers(node))
        for component, value in values.items():
            controller = there.get(component)
            if controller is None or (component == "rotate" and not _is_euler(controller)):
                raise _not_euler(node.controller if controller is None else controller)
            with telling(f"key '{node.name}'"):
                _set_key(component, controller, frame, value)

    def delete_keys(self, name: str, start: float, end: float) -> int:
        node = find(name)
        deleted: set[float] = set()
        with telling(f"delete keys of '{node.name}'"):
            for _, controller in _controllers(node):
                deleted |= _delete(controller, lambda frame: start <= frame <= end)
        return len(deleted)

    def bake(self, names: Sequence[str], start: int, end: int, step: int) -> list[str]:
        nodes = list({handle(node): node for node in map(find, names)}.values())
        for node in nodes:
            transforms.refuse_locked(node)
        with telling("bake"):
            self.bake_nodes(nodes, range(start, end + 1, step))
        return [path_of(node) for node in nodes]

    def sample(self, node: Node, frame: float) -> Components:
        with pymxs.attime(frame):
            return transforms.read(node)

    def set_free(self, node: Node) -> None:
        node.controller = rt.prs()


def _controllers(node: Node) -> Iterator[tuple[str, Any]]:
    for component, name in _CHANNELS.items():
        controller = rt.getPropertyController(node.controller, name)
        if controller is not None:
            yield component, controller


def _value(component: str, controller: Any) -> list[float]:
    if component == "rotate":
        if not _is_euler(controller):
            raise _not_euler(controller)
        return [float(getattr(controller, name)) for name in _TURNS]
    value = controller.value
    return [float(value.x), float(value.y), float(value.z)]


def _set_key(component: str, controller: Any, frame: float, value: Vector) -> None:
    before = set(_frames(controller))
    with pymxs.animate(True), pymxs.attime(frame):
        if component == "rotate":
            for name, turn in zip(_TURNS, value, strict=True):
                setattr(controller, name, float(turn))
        else:
            controller.value = rt.Point3(*(float(part) for part in value))
    # When a controller gets its first key, 3ds Max adds another key at the start.
    added = set(_frames(controller)) - before - {float(frame)}
    if added:
        _delete(controller, added.__contains__)


def _is_euler(controller: Any) -> bool:
    return str(rt.classOf(controller)) == "Euler_XYZ"


def _not_euler(controller: Any) -> HostError:
    return HostError(
        f"the object is moved by a {rt.classOf(controller)} controller, which has no keys of this"
        " kind; bake it first"
    )


def _with_subs(controller: Any) -> Iterator[Any]:
    """Yield the controller and all controllers inside it."""
    yield controller
    for index in range(1, int(controller.numsubs) + 1):
        part = rt.getSubAnim(controller, index).controller
        if part is not None:
            yield from _with_subs(part)


def _frames(controller: Any) -> list[float]:
    """Return the frames with a key, in order."""
    frames = {
        frame_of(rt.getKeyTime(part, index))
        for part in _with_subs(controller)
        # The number of keys is -1 when a controller can't have any.
        for index in range(1, int(rt.numKeys(part)) + 1)
    }
    return sorted(frames)


def _delete(controller: Any, wanted: Any) -> set[float]:
    """Delete the keys at the wanted frames. Return the frames of the deleted keys."""
    gone: set[float] = set()
    for part in _with_subs(controller):
        for index in range(int(rt.numKeys(part)), 0, -1):
            frame = frame_of(rt.getKeyTime(part, index))
            if wanted(frame):
                rt.deleteKey(part, index)
                gone.add(frame)
    return gone
