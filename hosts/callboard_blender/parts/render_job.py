"""Has Blender render in the background, so that its interface stays usable.

Blender copies the scene at the start, which blocks the interface. Afterwards the artist's settings
are restored, so ours don't affect anything that is done or saved during the render. The picture is
written at the end, from the result that Blender keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from threading import Event

import bpy

from callboard.errors import HostError
from callboard.host import UNATTENDED, comes_back, replacing
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.handlers import Handlers
from callboard_blender.application.names import scene, view_layer
from callboard_blender.application.views import in_a_window
from callboard_blender.parts.render_picture import kept_as, put_back, settings

#: Seconds that Blender may take to copy the scene, which takes as long as changing the frame.
_COPIED_IN = 300.0
#: The first handler that is called with the copied scene, and the handlers called at the end.
_COPIED = "frame_change_post"
_ENDS = ("render_complete", "render_cancel")


def renders_unattended() -> bool:
    """Return whether this Blender can render while its interface stays usable. Blender 3 can't,
    because in that version such a render looks like a change by the artist."""
    return not bpy.app.background and bpy.app.version >= (4, 0) and comes_back.get()


def rendered(
    path: str, width: int, height: int, changes: SceneChanges, end_jobs: Callable[[], None]
) -> Generator[object, None, None]:
    """Render the scene, in its current state, into the file. Raises HostError. Closing the
    generator early ends the render with ``end_jobs``."""
    shown = scene().name_full
    with replacing(path) as written, _Job(changes, end_jobs) as job:
        with changes.unnoticed():
            with settings(path, width, height):
                job.start()
            view_layer().update()
        while job.goes_on():
            yield UNATTENDED
        job.require_result(path)
        source = bpy.data.scenes.get(shown)
        if source is None:
            raise HostError(f"the scene '{shown}' was removed while it was being rendered")
        with changes.unnoticed():
            with put_back(kept_as(path, source)):
                try:
                    bpy.data.images["Render Result"].save_render(written, scene=source)
                except RuntimeError as error:
                    raise HostError(
                        f"Blender could not write '{Path(path).name}': {error}"
                    ) from None
            view_layer().update()


class _Job:
    """One render. Use it on the main thread. The handlers that it adds run on the render's
    thread."""

    def __init__(self, changes: SceneChanges, end_jobs: Callable[[], None]) -> None:
        self._end_jobs = end_jobs
        self._copied = Event()
        self._begun = False
        self._ended: str | None = None
        #: The reason why there won't be a picture, or None.
        self._lost: str | None = None
        self._forget = changes.emptied.watch(partial(self._lose, "another file was opened"))
        self._handlers = Handlers()

    def __enter__(self) -> _Job:
        self._handlers.add(_COPIED, self._copied.set)
        for name in _ENDS:
            self._handlers.add(name, partial(self._end, name))
        self._handlers.add("render_init", self._other_begins)
        for name in ("undo_post", "redo_post"):
            self._handlers.add(name, partial(self._lose, "an undo or redo ended it"))
        return self

    def __exit__(self, *_: object) -> None:
        if self._begun and self._ended is None:
            self._end_jobs()
        self._forget()
        self._handlers.remove()

    def start(self) -> None:
        """Start the render, and return once Blender has its own copy of the scene. Raises
        HostError."""
        preferences = bpy.context.preferences
        # Prevent windows from opening over the artist's work, and prevent the preferences from
        # being marked as changed.
        quiet = [
            (preferences.view, "render_display_type", "NONE"),
            (preferences, "is_dirty", preferences.is_dirty),
        ]
        try:
            with in_a_window(), put_back(quiet):
                self._begun = bpy.ops.render.render("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
        except RuntimeError as error:
            raise HostError(f"Blender could not render: {error}") from None
        if not self._begun:
            raise HostError("Blender didn't start the render; ask the artist what it is doing")
        if not self._copied.wait(_COPIED_IN):
            raise HostError(
                "Blender didn't start rendering in time; ask the artist to check Blender"
            )

    def goes_on(self) -> bool:
        if self._lost is not None:
            return False
        return self._ended is None or bpy.app.is_job_running("RENDER")

    def require_result(self, path: str) -> None:
        """Raise HostError unless the whole picture was written."""
        name = Path(path).name
        if self._lost is not None:
            raise HostError(f"'{name}' was not written: {self._lost}; render it again")
        if self._ended == "render_cancel":
            raise HostError(
                f"the artist or Blender stopped the render of '{name}', and nothing was written;"
                " see Blender's Info editor and its console for the reason"
            )

    def _other_begins(self) -> None:
        if self._ended is not None:
            self._lose("another render took its place")

    def _end(self, name: str) -> None:
        if self._ended is None:
            self._ended = name
        self._copied.set()

    def _lose(self, why: str) -> None:
        self._lost = why
