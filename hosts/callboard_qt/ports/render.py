"""The ``render`` port for applications that render one picture at a time from a camera."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Generic, TypeVar

from callboard.content import Json
from callboard.host import View, around, checked_suffix, numbered, orbiting, replacing_bytes

Camera = TypeVar("Camera")

PICTURES = (".png", ".jpg", ".jpeg")


class FileRender(ABC, Generic[Camera]):
    """Implements the port. Everything is restored after each picture, because the artist may use
    the scene between two pictures. The answer names the renderer and the camera. Use it on the main
    thread."""

    @abstractmethod
    def camera(self) -> Camera:
        """Return the scene's own camera. Raises HostError when there is no camera."""

    @abstractmethod
    def camera_path(self, camera: Camera) -> str:
        """Return the camera's path, as answers report it."""

    @abstractmethod
    def camera_at(self, view: View, aspect: float) -> AbstractContextManager[Camera]:
        """Return a context with a temporary camera. ``aspect`` is the picture's width divided by
        its height."""

    @abstractmethod
    def boxes(self) -> Iterable[tuple[list[float], list[float]]]:
        """Return the boxes of everything visible, each as its low and high corners in the world."""

    @abstractmethod
    def up_axis(self) -> str:
        """Return ``Y`` or ``Z``."""

    @abstractmethod
    def current_frame(self) -> float: ...

    @abstractmethod
    def unnoticed(self) -> AbstractContextManager[None]:
        """Return a context for each picture that leaves neither an undo step nor anything to
        save."""

    @abstractmethod
    def telling(self, what: str) -> AbstractContextManager[None]:
        """Return a context that turns the application's own errors into HostErrors, which say that
        the application could not ``what``."""

    @abstractmethod
    def draw(
        self, file: Path, width: int, height: int, camera: Camera, frame: float
    ) -> tuple[Path, str]:
        """Render into the new file, which is alone in its folder and whose suffix is one of
        PICTURES. Return the file that the application wrote in that folder, perhaps under a
        different name, and the renderer's name."""

    def has_light(self) -> bool:
        """Return whether the scene has its own light."""
        return True

    def made_by(self, engine: str) -> Json:
        """Return the facts about a picture made by that renderer."""
        return {"engine": engine, **self._doubt(engine)}

    def _doubt(self, engine: str) -> dict[str, str]:
        # Other renderers add their own light to a scene without lights.
        if "arnold" not in engine.lower() or self.has_light():
            return {}
        return {"doubt": f"the scene has no light, and {engine} renders that black; add one"}

    def still(self, path: str, width: int, height: int, frame: int | None) -> Json:
        camera = self.camera()
        started = perf_counter()
        at = round(self.current_frame()) if frame is None else frame
        with self.unnoticed():
            engine = self._picture(path, width, height, camera, at)
        return {
            "path": path,
            "width": width,
            "height": height,
            "frame": at,
            "seconds": perf_counter() - started,
            "camera": self.camera_path(camera),
            **self.made_by(engine),
        }

    def turntable(self, pattern: str, width: int, height: int, frames: int) -> Iterator[Json]:
        low, high = around(self.boxes())
        for index in range(frames):
            path = numbered(pattern, index + 1)
            aspect = width / height
            view = orbiting(low, high, index / frames, aspect, self.up_axis())
            with self.unnoticed(), self.camera_at(view, aspect) as camera:
                engine = self._picture(path, width, height, camera, self.current_frame())
            yield {"path": path, "frame": index + 1, **self.made_by(engine)}

    def _picture(self, path: str, width: int, height: int, camera: Camera, frame: float) -> str:
        checked_suffix(path, PICTURES)
        asked = Path(path)
        with (
            replacing_bytes(path) as image,
            TemporaryDirectory(prefix="callboard-") as folder,
            self.telling(f"render '{asked.name}'"),
        ):
            # The file gets a neutral name, because the application may replace parts of the name
            # that the artist chose.
            file = Path(folder, f"callboard{asked.suffix.lower()}")
            made, engine = self.draw(file, width, height, camera, frame)
            with made.open("rb") as source:
                shutil.copyfileobj(source, image)
        return engine
