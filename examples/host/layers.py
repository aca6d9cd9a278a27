"""A host whose scene is flat: a painting with layers, without units, transforms or colors.

    python examples/host/layers.py

An agent adds a layer with the skill in the folder ``painting``, because layers aren't primitives.
Everything else works as in ``blocks.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from blocks import Block, BlocksHost, Table, Values, main, named

from callboard.host import HostIdentity, NotOffered


class Painting(Table):
    """The painting, and the ports ``scene.read``, ``scene.mutate`` and ``layers`` on it. The parent
    of a layer is its layer group."""

    def info(self) -> dict[str, Any]:
        return {**super().info(), "units_per_meter": 1.0, "frame_range": None}

    def get(self, name: str) -> dict[str, Any]:
        return {**super().get(name), "bounds": None}

    def create(self, kind: str, name: str | None, dimensions: Mapping[str, float]) -> str:
        raise NotOffered("a painting has no solids; add a layer with painting__add_layer")

    def set_transform(
        self, name: str, translate: Values | None, rotate: Values | None, scale: Values | None
    ) -> str:
        raise NotOffered("a layer has no position in space; move it into a group instead")

    def set_color(self, name: str, color: Values) -> str:
        raise NotOffered("a layer has no color of its own; only what is painted on it has color")

    def add(self, name: str) -> str:
        """Add a layer on top of the others, and return its path. This is the port ``layers``."""
        path = self._free(f"/{named(name)}")
        self.blocks[path] = Block("layer", (0.0, 0.0, 0.0))
        return path


class PaintingHost(BlocksHost):
    guide = (
        "The scene is a painting, and its objects are layers. Layers have a name, an order and a "
        "group. Their transforms mean nothing."
    )

    def __init__(self, post: Callable[[Callable[[], None]], None]) -> None:
        painting = Painting()
        super().__init__(post, painting)
        self.set_ports({**self.ports, "layers": painting})

    @property
    def identity(self) -> HostIdentity:
        return HostIdentity("painting", "Painting", "1.0")

    @property
    def skill_paths(self) -> Sequence[str]:
        return (str(Path(__file__).resolve().parent / "skills"),)


if __name__ == "__main__":
    main(PaintingHost)
