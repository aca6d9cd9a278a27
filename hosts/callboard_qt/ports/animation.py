"""A host's ``animation`` port, with translate, rotate and scale keys as applications report
them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from callboard.content import Json
from callboard.host import Components, Vector, without_jumps

_Node = TypeVar("_Node")

COMPONENTS = ("translate", "rotate", "scale")


class KeyedAnimation(ABC, Generic[_Node]):
    """A part of the port. The host adds the timeline and ``delete_keys``. Use it on the main
    thread."""

    @abstractmethod
    def node(self, name: str) -> _Node:
        """Return the object with that name. Raises ObjectNotFound or AmbiguousName."""

    @abstractmethod
    def path(self, node: _Node) -> str:
        """Return the object's path, as it is reported in answers."""

    @abstractmethod
    def read_keys(self, node: _Node) -> Iterable[tuple[str, float, Sequence[float]]]:
        """Return the component, the frame and the value of each key, in any order."""

    @abstractmethod
    def write_key(self, node: _Node, frame: float, values: Mapping[str, Vector]) -> None:
        """Set a key for each of the components."""

    def keys(self, name: str) -> list[Json]:
        by_frame: dict[float, Json] = {}
        for component, frame, value in self.read_keys(self.node(name)):
            by_frame.setdefault(frame, {"frame": frame})[component] = list(value)
        return [by_frame[frame] for frame in sorted(by_frame)]

    def set_key(
        self,
        name: str,
        frame: float,
        translate: Vector | None,
        rotate: Vector | None,
        scale: Vector | None,
    ) -> str:
        node = self.node(name)
        asked = zip(COMPONENTS, (translate, rotate, scale), strict=True)
        self.write_key(node, frame, {name: value for name, value in asked if value is not None})
        return self.path(node)


class SampledBake(KeyedAnimation[_Node]):
    """The port for an application that has no way to bake. It reads the poses and sets keys."""

    @abstractmethod
    def sample(self, node: _Node, frame: float) -> Components:
        """Return the local transform at that frame, whatever causes it."""

    @abstractmethod
    def set_free(self, node: _Node) -> None:
        """Remove the object's keys and everything else that moves it. After this, only new keys can
        move the object."""

    def bake_nodes(self, nodes: Sequence[_Node], frames: Sequence[int]) -> None:
        # All objects are sampled before the first one is changed, because one may move another.
        moves = [[self.sample(node, frame) for frame in frames] for node in nodes]
        for node, samples in zip(nodes, moves, strict=True):
            self.set_free(node)
            turns = without_jumps([rotate for _, rotate, _ in samples])
            for frame, turn, (move, _, scale) in zip(frames, turns, samples, strict=True):
                self.write_key(node, frame, {"translate": move, "rotate": turn, "scale": scale})
