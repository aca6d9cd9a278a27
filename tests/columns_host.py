"""A host whose pictures are predictable, because each object in its scene is one column of the
picture."""

from __future__ import annotations

from collections.abc import Iterable

from callboard.content import Json
from callboard.ground.orbit import Point
from callboard.ground.png import Picture
from callboard.ports.capability_names import LOOK
from callboard.ports.look import Look
from callboard_testing.fake_host import FakeHost

COLORS = ((200, 60, 50), (60, 150, 80), (60, 90, 200), (200, 170, 60))


class Columns:
    def __init__(self, host: FakeHost) -> None:
        self._host = host

    def _names(self) -> list[str]:
        self._host.require_main_thread()
        return [str(one["path"]) for one in self._host.ports["scene.read"].summaries()]  # type: ignore[attr-defined]

    def picture(self, asked: Look) -> tuple[Picture, Json]:
        columns = [
            COLORS[i % 4] if name else (40, 40, 40) for i, name in enumerate(self._names() or [""])
        ]
        row = b"".join(bytes(columns[x * len(columns) // asked.width]) for x in range(asked.width))
        return Picture(asked.width, asked.height, row * asked.height), {}

    def under(self, asked: Look, x: float, y: float) -> tuple[str, Point] | None:
        names = self._names()
        if not names or y > 0.9:
            return None
        return names[min(int(x * len(names)), len(names) - 1)], [x, 0.0, y]

    def own_view(self) -> bool:
        return True

    def boxes(self) -> Iterable[tuple[Point, Point]]:
        return []


class ColumnsHost(FakeHost):
    def __init__(self) -> None:
        super().__init__()
        self.set_ports({**self.ports, LOOK: Columns(self)})
