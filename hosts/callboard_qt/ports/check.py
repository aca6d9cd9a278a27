"""The parts of the ``check`` port that use an application's other ports. They check the materials
of objects, and a camera's view. Use them on the main thread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from math import radians, tan
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import (
    CamerasPort,
    Fault,
    MaterialsPort,
    MeshData,
    Rows,
    UsedFile,
    inverse,
    no_validators,
    placed,
    times,
)


class ApplicationChecks(ABC):
    """The checks for an application that has neither validators nor a tool that fixes meshes."""

    def __init__(self, reader: object, cameras: CamerasPort, materials: MaterialsPort) -> None:
        #: The ``scene.read`` port, perhaps without its optional parts.
        self._reader: Any = reader
        self._cameras = cameras
        self._materials = materials

    @abstractmethod
    def meshes(self) -> Sequence[str]: ...

    @abstractmethod
    def face_count(self, path: str) -> int: ...

    @abstractmethod
    def mesh(self, path: str) -> MeshData: ...

    def shared(self, path: str) -> str:
        return path

    @abstractmethod
    def files(self) -> Iterable[UsedFile]: ...

    def fix(self, rule: str, path: str) -> Json | None:
        return None

    def materials_of(self, name: str) -> list[str]:
        return list(self._materials.assigned(name))

    def seen(self, camera: str | None, points: Sequence[Sequence[float]]) -> float:
        reported = self._cameras.get(self._active() if camera is None else camera)
        if reported["fov"] is None:
            raise HostError(
                f"'{reported['name']}' isn't a perspective camera; look at its picture instead"
            )
        wide, high = (tan(radians(angle) / 2) for angle in reported["fov"])
        towards = inverse(placed(self._reader, reported["path"]))
        inside = sum(_is_inside(point, towards, wide, high) for point in points)
        return inside / max(1, len(points))

    def validate(self, path: str | None) -> Iterable[Fault]:
        if path is None:
            return []
        raise no_validators()

    def _active(self) -> str:
        for path in self._cameras.names():
            if self._cameras.get(path)["active"]:
                return path
        raise HostError("the scene has no camera; make one with cameras__create")


def _is_inside(point: Sequence[float], towards: Rows, wide: float, high: float) -> bool:
    """Return whether the point is in the picture of a camera that looks along its own -Z axis."""
    at = times([[0.0] * 3, [0.0] * 3, [0.0] * 3, [float(value) for value in point]], towards)[3]
    depth = -at[2]
    return depth > 0 and abs(at[0]) <= depth * wide and abs(at[1]) <= depth * high
