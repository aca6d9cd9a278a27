"""The Maya host: its ports, its undo, and what Maya tells of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import maya.api.OpenMaya as om
from maya import cmds

from callboard.hosting import contract as host
from callboard.hosting.misread_paths import from_elsewhere, holds_variable, misread_by_usd
from callboard_maya.animation import MayaAnimation
from callboard_maya.edit import MayaSceneEditor
from callboard_maya.files import MayaFiles
from callboard_maya.messages import Messages
from callboard_maya.render import MayaRender
from callboard_maya.scene import MayaSceneReader
from callboard_maya.scripts import MayaScripts
from callboard_maya.undo import MayaUndo
from callboard_maya.usd import PLUGIN, MayaUsd, load_plugin, usd_is_there
from callboard_maya.viewport import MayaViewport

SKILLS = Path(__file__).parent / "skills"

#: Events after which the scene may look different to who watches it.
SCENE_EVENTS = ("DagObjectCreated", "NameChanged", "SelectionChanged", "Undo", "Redo")
PROJECT_EVENTS = ("SceneOpened", "NewSceneOpened", "SceneSaved", "workspaceChanged")


class MayaHost(host.Host):
    """Made and closed on Maya's main thread. ``post`` is whatever runs functions there;
    ``dialog`` tells, on any thread, which modal dialog is open."""

    def __init__(
        self,
        post: Callable[[Callable[[], None]], None],
        dialog: Callable[[], str | None] = lambda: None,
    ) -> None:
        super().__init__()
        self._post = post
        self._dialog = dialog
        version, batch = str(cmds.about(version=True)), bool(cmds.about(batch=True))
        self._identity = host.HostIdentity("maya", "Maya", version, headless=batch)
        self.undo = MayaUndo()
        files = MayaFiles()
        self._steady: dict[str, object] = {
            host.SCENE_READ: MayaSceneReader(),
            host.SCENE_MUTATE: MayaSceneEditor(),
            host.FILESYSTEM_READ: files,
            host.FILESYSTEM_WRITE: files,
            host.ANIMATION: MayaAnimation(),
            host.SCRIPT: MayaScripts(),
            host.RENDER: MayaRender(lambda: self._messages.during("rendering")),
        }
        if not batch:
            self._steady[host.VIEWPORT] = MayaViewport()
        advice = f"the plug-in {PLUGIN} isn't loaded; it comes with Maya"
        self.plug_ins = {host.USD: host.PlugIn(PLUGIN, advice, load_plugin)}
        self._usd = MayaUsd()
        self._publish()
        self._messages = Messages()
        self._listen(self._messages, self.undo)

    def _listen(self, messages: Messages, undo: MayaUndo) -> None:
        messages.on_plugins(self._publish)
        for event in SCENE_EVENTS:
            messages.on_event(event, lambda: self.announce("scene"))
        for event in PROJECT_EVENTS:
            messages.on_event(event, lambda: self.announce("project"))
        for event in ("Undo", "Redo"):
            messages.on_event(event, undo.somebody_undid)
        for message in (om.MSceneMessage.kBeforeNew, om.MSceneMessage.kBeforeOpen):
            messages.on_scene(message, undo.scene_replaced)
        messages.on_scene(om.MSceneMessage.kMayaExiting, self.close)

    def _publish(self) -> None:
        usd = {host.USD: self._usd} if usd_is_there() else {}
        ports = {**self._steady, **usd}
        if ports.keys() != self.ports.keys():
            self.set_ports(ports)

    @property
    def identity(self) -> host.HostIdentity:
        return self._identity

    @property
    def skill_paths(self) -> Sequence[str]:
        return (str(SKILLS),)

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)

    def misreads(self, path: str) -> str | None:
        return (
            from_elsewhere(path)
            or misread_by_usd(path)
            or holds_variable(path, "Maya", r"[$]|^~|%\w+%")
        )

    def project_roots(self) -> list[str]:
        root = str(cmds.workspace(query=True, rootDirectory=True) or "")
        return [str(Path(root))] if root else []

    def blocked_by(self) -> str | None:
        return self._dialog() or self._messages.busy_with()

    def close(self) -> None:
        """Stops listening to Maya. Idempotent."""
        self._messages.close()
        self.announce("closing")
