"""The ``render`` port: rendering to files."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import bpy
import imbuf  # type: ignore[import-not-found,unused-ignore]

from callboard.errors import HostError
from callboard.host import Json, holds_window, numbered, orbiting
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import scene, view_layer
from callboard_blender.application.outside_paths import (
    outputs_inside,
    outputs_outside,
    refuse_used_outside,
)
from callboard_blender.application.undo import BlenderUndo
from callboard_blender.parts.bake import frame_kept
from callboard_blender.parts.render_job import rendered, renders_unattended
from callboard_blender.parts.render_picture import (
    camera_at,
    made_by,
    render_to,
    settings,
    why_engine,
)
from callboard_blender.parts.world import bounds


class BlenderRender:
    def __init__(self, changes: SceneChanges, undo: BlenderUndo) -> None:
        self._changes = changes
        self._undo = undo

    def still(
        self, path: str, width: int, height: int, frame: int | None
    ) -> Json | Generator[object, None, Json]:
        camera = scene().camera
        if camera is None:
            raise HostError("the scene has no camera; render a turntable, which makes its own")
        refuse_used_outside("rendered")
        # A render in the background can't change the frame or mode, or mute outputs, because that
        # would have to last until the picture is finished.
        plain = frame is None and self._changes.mode.mode == "OBJECT" and not outputs_outside()
        if plain and renders_unattended():
            return self._beside(path, width, height)
        holds_window.set(not bpy.app.background)
        why = why_engine()
        with (
            _put_back(self._changes),
            settings(path, width, height),
            _at(frame),
            outputs_inside() as left_out,
        ):
            started = perf_counter()
            render_to(path)
            made = _made(path, width, height)
            made["seconds"] = perf_counter() - started
            return {**made, **why, **({"left_out": left_out} if left_out else {})}

    def _beside(self, path: str, width: int, height: int) -> Generator[object, None, Json]:
        started = perf_counter()
        made = _made(path, width, height)
        yield from rendered(path, width, height, self._changes, self._undo.end_jobs)
        return {**made, "seconds": perf_counter() - started}

    def turntable(self, pattern: str, width: int, height: int, frames: int) -> Iterator[Json]:
        view_layer().update()
        box = bounds([obj for obj in view_layer().objects if not obj.hide_render])
        if box is None:
            raise HostError("the scene holds nothing that can be rendered")
        refuse_used_outside("rendered")
        why = why_engine()
        for index in range(frames):
            path = numbered(pattern, index + 1)
            view = orbiting(box["min"], box["max"], index / frames, width / height, "Z")
            # Everything is restored after each frame, because the artist may work in the scene
            # before the next one.
            with (
                _put_back(self._changes),
                settings(path, width, height),
                camera_at(view),
                outputs_inside() as left_out,
            ):
                render_to(path)
                made = {**made_by(), **why}
            yield {
                "path": path,
                "frame": index + 1,
                **made,
                **({"left_out": left_out} if left_out else {}),
            }

    def small(self, path: str, longest: int) -> bytes:
        """Return a small picture, as :meth:`callboard.ports.render.MakesSmall.small` does."""
        with TemporaryDirectory(prefix="callboard-") as folder:
            file = str(Path(folder, f"small{Path(path).suffix}"))
            try:
                picture = imbuf.load(path)
                factor = min(1.0, longest / max(picture.size))
                if factor < 1:
                    wide, high = (max(1, round(side * factor)) for side in picture.size)
                    picture.resize((wide, high), method="BILINEAR")
                imbuf.write(picture, filepath=file)
                picture.free()
            except (OSError, RuntimeError) as error:
                raise HostError(f"Blender can't read '{Path(path).name}': {error}") from None
            return Path(file).read_bytes()


@contextmanager
def _put_back(changes: SceneChanges) -> Iterator[None]:
    """Ignore changes inside the block, and the restored settings that Blender reports at its next
    update."""
    with changes.unnoticed():
        try:
            yield
        finally:
            view_layer().update()


def _made(path: str, width: int, height: int) -> Json:
    """Return the answer for a still, without its duration."""
    shown = scene()
    return {
        "path": path,
        "width": width,
        "height": height,
        "frame": shown.frame_current,
        **made_by(),
        "camera": shown.camera.name_full,
    }


def _at(frame: int | None) -> AbstractContextManager[None]:
    """Go to the frame, if one is given. Going to any frame, even the current one, discards values
    that have no keys."""
    return frame_kept(frame) if frame is not None else nullcontext()
