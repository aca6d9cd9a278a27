"""The classes that Blender registers for preferences, operators and the sidebar's panels."""

from __future__ import annotations

import json
import signal
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import bpy

from callboard_blender.server import Settings, residence
from callboard_blender.ui import calls, folders, questions, sidebar

_classes: list[type] = []


class CALLBOARD_OT_start(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.start"
    bl_label = "Start"
    bl_description = "Let AI clients on this machine call tools in this Blender"

    def execute(self, context: Any) -> set[str]:
        if not residence.start(_settings(context)):
            self.report({"ERROR"}, residence.problem or "callboard could not start")
            return {"CANCELLED"}
        residence.attend()
        return {"FINISHED"}


class CALLBOARD_OT_stop(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.stop"
    bl_label = "Stop All"
    bl_description = (
        "Pause, and end every call that is running, waiting or asking. If the window doesn't "
        "respond, hold Escape for a second instead, or type: callboard stop"
    )

    def execute(self, context: Any) -> set[str]:
        if residence.app is not None:
            residence.app.controls.stop()
        return {"FINISHED"}


class CALLBOARD_OT_end(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.end"
    bl_label = "End Server"
    bl_description = "Stop serving; clients lose their connection"

    def execute(self, context: Any) -> set[str]:
        residence.stop()
        return {"FINISHED"}


class CALLBOARD_OT_window(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.window"
    bl_label = "Open Callboard"
    bl_description = "Open the large panel in a window of its own"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return not bpy.app.background

    def execute(self, context: Any) -> set[str]:
        if residence.app is None and bpy.ops.callboard.start() != {"FINISHED"}:
            return {"CANCELLED"}
        residence.open_window(Path(sys.modules[_package].__file__ or "").parent / "wheels")
        if residence.window is not None and residence.window.problem:
            self.report({"ERROR"}, residence.window.problem)
            return {"CANCELLED"}
        return {"FINISHED"}


class CALLBOARD_OT_serve(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.serve"
    bl_label = "Serve in Background"
    bl_description = "For blender --background: answer calls until Ctrl+C"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return bool(bpy.app.background)

    def execute(self, context: Any) -> set[str]:
        if not residence.start(_settings(context)):
            self.report({"ERROR"}, residence.problem or "callboard could not start")
            return {"CANCELLED"}
        assert residence.app is not None
        # While an operator is running, Blender handles the first Ctrl+C itself, and a second one
        # kills Blender without any cleanup.
        before = signal.signal(signal.SIGINT, _end_serving)
        try:
            print(f"callboard is running at {residence.app.url}; press Ctrl+C to stop", flush=True)
            with suppress(KeyboardInterrupt):
                residence.serve()
            print("callboard ends")
        finally:
            residence.stop()
            # None means that the handler wasn't installed from Python. Such a handler can't be
            # restored.
            signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        return {"FINISHED"}


def _end_serving(number: int, frame: FrameType | None) -> None:
    """Stop serving once the running call has ended. A second Ctrl+C interrupts that call."""
    # A KeyboardInterrupt here would only make the running call fail.
    residence.interrupt()
    signal.signal(signal.SIGINT, signal.default_int_handler)


class CALLBOARD_OT_pause(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.pause"
    bl_label = "Pause"
    bl_description = "Refuse calls for now; clients stay connected"

    def execute(self, context: Any) -> set[str]:
        if residence.app is not None:
            paused = residence.snapshot.paused
            controls = residence.app.controls
            controls.resume() if paused else controls.pause()
        return {"FINISHED"}


class CALLBOARD_OT_copy(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.copy"
    bl_label = "Copy Address"
    bl_description = "Copy the client configuration, with address and token"

    def execute(self, context: Any) -> set[str]:
        app = residence.app
        if app is None:
            return {"CANCELLED"}
        entry: dict[str, Any] = {"type": "http", "url": app.url}
        if app.token:
            entry["headers"] = {"Authorization": f"Bearer {app.token}"}
        text = json.dumps({"mcpServers": {"callboard": entry}}, indent=2)
        context.window_manager.clipboard = text
        self.report({"INFO"}, "Copied, with the token: paste it only into your client")
        return {"FINISHED"}


class CALLBOARD_OT_self_test(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.self_test"
    bl_label = "Callboard's Self-test"
    bl_description = "Try what Callboard does in this Blender, in an empty scene, and report it"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return residence.app is not None and not bpy.app.background

    def invoke(self, context: Any, event: Any) -> set[str]:
        answer: set[str] = context.window_manager.invoke_props_dialog(self, width=420)
        return answer

    def draw(self, context: Any) -> None:
        assert residence.app is not None
        question = residence.app.controls.self_test.question()
        for line in textwrap.wrap(question, 60):
            self.layout.label(text=line)

    def execute(self, context: Any) -> set[str]:
        if residence.app is None:
            return {"CANCELLED"}
        residence.app.controls.self_test.start(_tested)
        return {"FINISHED"}


def _tested(page: Path | None, words: str) -> None:
    print(words)
    if page is not None:
        bpy.ops.wm.url_open(url=page.as_uri())


class CALLBOARD_OT_capability(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.capability"
    bl_label = "Switch Capability"
    bl_description = "Offer this to clients, or withdraw it"

    name: bpy.props.StringProperty()  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        if residence.app is not None:
            controls = residence.app.controls
            capability = next(c for c in residence.snapshot.capabilities if c.name == self.name)
            (controls.restore if capability.withdrawn else controls.withdraw)(self.name)
        return {"FINISHED"}


def _preferences_class(package: str) -> type:
    class CALLBOARD_preferences(bpy.types.AddonPreferences):  # type: ignore[misc]
        bl_idname = package

        port: bpy.props.IntProperty(  # type: ignore[valid-type]
            name="Port", description="0 chooses a free port", min=0, max=65535, default=0
        )
        token: bpy.props.BoolProperty(  # type: ignore[valid-type]
            name="Ask Clients for the Token",
            description="Without the token, any program on this machine can make calls",
            default=True,
        )
        autostart: bpy.props.BoolProperty(  # type: ignore[valid-type]
            name="Start with Blender", default=True
        )
        skills: bpy.props.StringProperty(  # type: ignore[valid-type]
            name="Skills Folder", subtype="DIR_PATH"
        )

        def draw(self, context: Any) -> None:
            for name in ("port", "token", "autostart", "skills"):
                self.layout.prop(self, name)

    return CALLBOARD_preferences


_package = ""


def _settings(context: Any) -> Settings:
    addon = context.preferences.addons.get(_package)
    if addon is None:
        return Settings()
    preferences = addon.preferences
    skills = [bpy.path.abspath(preferences.skills)] if preferences.skills else []
    return Settings(preferences.port, preferences.token, skills)


def register(package: str) -> None:
    """Register the add-on. ``package`` is the add-on's module name in Blender."""
    global _package
    _package = package
    _classes.extend(
        (
            _preferences_class(package),
            CALLBOARD_OT_start,
            CALLBOARD_OT_stop,
            CALLBOARD_OT_window,
            CALLBOARD_OT_serve,
            CALLBOARD_OT_pause,
            CALLBOARD_OT_copy,
            CALLBOARD_OT_capability,
            CALLBOARD_OT_self_test,
            CALLBOARD_OT_end,
            *questions.CLASSES,
            *calls.CLASSES,
            *folders.CLASSES,
            *sidebar.CLASSES,
        )
    )
    for one in _classes:
        bpy.utils.register_class(one)
    bpy.types.VIEW3D_HT_header.prepend(questions.draw_mark)
    bpy.types.STATUSBAR_HT_header.append(questions.draw_line)
    addon = bpy.context.preferences.addons.get(package)
    # An add-on installed for the whole site isn't in the user's preferences.
    wanted = addon is None or addon.preferences.autostart
    if wanted and not bpy.app.background:
        # Blender is still reading its start-up file, so the current scene isn't the artist's yet.
        bpy.app.timers.register(_autostart, first_interval=0.1, persistent=True)


def _autostart() -> None:
    if residence.start(_settings(bpy.context)):
        residence.attend()
    else:
        # The sidebar, which says the same, may be closed.
        print(f"callboard: not serving: {residence.problem}", flush=True)


def unregister() -> None:
    """Undo the work of ``register``, and end everything that the artist started."""
    if bpy.app.timers.is_registered(_autostart):
        bpy.app.timers.unregister(_autostart)
    residence.end()
    bpy.types.VIEW3D_HT_header.remove(questions.draw_mark)
    bpy.types.STATUSBAR_HT_header.remove(questions.draw_line)
    while _classes:
        bpy.utils.unregister_class(_classes.pop())
