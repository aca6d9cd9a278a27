"""Reports the work that keeps Blender busy, for callers that wait for that work to end."""

from __future__ import annotations

import atexit
from functools import partial

import bpy

from callboard.host import Work
from callboard_blender.application.handlers import Handlers
from callboard_blender.application.main_thread import window_is_gone
from callboard_blender.application.window_events import WindowEvents

#: Each task in the artist's terms, with the handler that reports its start and the handlers that
#: report its end.
_TASKS = (
    ("rendering", "render_init", ("render_complete", "render_cancel")),
    ("opening a file", "load_pre", ("load_post", "load_post_fail")),
    ("saving a file", "save_pre", ("save_post", "save_post_fail")),
    ("playing the animation", "animation_playback_pre", ("animation_playback_post",)),
)
#: Jobs that read the scene on a separate thread. Blender crashes if the scene changes while such a
#: job is running.
_JOBS = {"RENDER": "rendering", "OBJECT_BAKE": "baking"}
_RENDERING = "RENDER_OT_render"
#: The artist's activity while one part of the interface captures all events.
POPUP = "a menu, a pop-up or a text field that is open"
_DRAGS = {
    "TRANSFORM_OT_translate": "dragging",
    "TRANSFORM_OT_rotate": "rotating",
    "TRANSFORM_OT_resize": "scaling",
    "TRANSFORM_OT_trackball": "rotating",
}


class Busy:
    """Listens to Blender's handlers to track what keeps Blender busy. The handlers may run on the
    render thread, so they only record what happened."""

    def __init__(self) -> None:
        self._doing: list[str] = []
        self._handlers = Handlers()
        for task, begin, ends in _TASKS:
            self._handlers.add(begin, partial(self._begin, task))
            for end in ends:
                self._handlers.add(end, partial(self._end, task))
        self._events = WindowEvents()
        # A handler that is left behind keeps the bpy module alive, and then the process doesn't
        # end.
        atexit.register(self.close)

    @property
    def doing(self) -> str | None:
        """The most recent task that hasn't ended, or None. Call it from any thread."""
        newest = self._doing[-1:]
        return newest[0] if newest else None

    def may_run(self, work: Work) -> str | None:
        """Return why this work may not run now, as :meth:`callboard.host.Host.may_run` does."""
        if bpy.app.background:
            return None
        if window_is_gone():
            return "opening a file"
        if work == "read":
            return None
        if work != "files":  # A scene can be saved during its render.
            for job, doing in _JOBS.items():
                if bpy.app.is_job_running(job):
                    return doing
        for taker in self._events.takers():
            if taker.operator != _RENDERING:
                return _in_words(taker.operator)
        return None

    def close(self) -> None:
        """Stop listening. Idempotent."""
        self._handlers.remove()
        atexit.unregister(self.close)

    def _begin(self, task: str) -> None:
        self._doing = [*(one for one in self._doing if one != task), task]

    def _end(self, task: str) -> None:
        self._doing = [one for one in self._doing if one != task]


def _in_words(operator: str | None) -> str:
    """Return a description of what the artist is doing, in the artist's terms."""
    if operator is None:
        return POPUP
    verb = _DRAGS.get(operator)
    if verb is None:
        return f"using {_label(operator)}"
    active = bpy.context.view_layer.objects.active if bpy.context.view_layer else None
    return f"{verb} {active.name if active is not None else 'something'}"


def _label(operator: str) -> str:
    module, _, name = operator.partition("_OT_")
    try:
        label: str = getattr(getattr(bpy.ops, module.lower()), name).get_rna_type().name
    except (AttributeError, KeyError):
        return operator
    return label
