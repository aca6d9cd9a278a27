"""The Maya host: its ports, its undo, and what Maya tells of itself."""

from __future__ import annotations

from pathlib import Path

import maya.api.OpenMaya as om
from maya import cmds

from callboard.hosting import contract as host
from callboard.hosting import picture_ports
from callboard.hosting.misread_paths import from_elsewhere, holds_variable, misread_by_usd
from callboard.hosting.undo_steps import HISTORY
from callboard_maya.animation import MayaAnimation
from callboard_maya.cameras import MayaCameras
from callboard_maya.edit import MayaSceneEditor
from callboard_maya.files import MayaFiles
from callboard_maya.looks import MayaMaterials
from callboard_maya.messages import MayaMessages
from callboard_maya.render import MayaRender
from callboard_maya.scene import MayaSceneReader
from callboard_maya.scripts import MayaScripts
from callboard_maya.undo import MayaUndo
from callboard_maya.usd import PLUGIN, MayaUsd, load_plugin, usd_is_there
from callboard_maya.viewport import MayaViewport
from callboard_qt.host import Dialog, Post, QtHost, no_dialog

SKILLS = Path(__file__).parent / "skills"

#: Events after which the scene may look different to who watches it.
SCENE_EVENTS = ("DagObjectCreated", "NameChanged", "SelectionChanged", "Undo", "Redo")
PROJECT_EVENTS = ("SceneOpened", "NewSceneOpened", "SceneSaved", "workspaceChanged")


class MayaHost(QtHost):
    where = "Maya's menu Callboard > Open Callboard"

    def __init__(self, post: Post, dialog: Dialog = no_dialog) -> None:
        version, batch = str(cmds.about(version=True)), bool(cmds.about(batch=True))
        identity = host.HostIdentity("maya", "Maya", version, headless=batch)
        super().__init__(identity, post, dialog, SKILLS)
        if batch:
            # mayapy starts without undo.
            cmds.undoInfo(state=True, infinity=False, length=HISTORY)
        self.undo = self._steps = MayaUndo()
        advice = f"the plug-in {PLUGIN} isn't loaded; it comes with Maya"
        self.plug_ins = {host.USD: host.PlugIn(PLUGIN, advice, load_plugin)}
        self._usd = MayaUsd()
        files = MayaFiles()
        self._open(
            {
                host.SCENE_READ: MayaSceneReader(),
                host.SCENE_MUTATE: MayaSceneEditor(),
                host.FILESYSTEM_READ: files,
                host.FILESYSTEM_WRITE: files,
                host.ANIMATION: MayaAnimation(),
                picture_ports.CAMERAS: MayaCameras(),
                picture_ports.MATERIALS: MayaMaterials(),
                host.SCRIPT: MayaScripts(),
                host.RENDER: MayaRender(self.rendering),
                host.VIEWPORT: MayaViewport(),
                **({host.USD: self._usd} if usd_is_there() else {}),
            }
        )

    def _listen(self) -> MayaMessages:
        messages = MayaMessages()
        messages.on_plugins(self._usd_came_or_went)
        for event in SCENE_EVENTS:
            messages.on_event(event, self.tell("scene"))
        for event in PROJECT_EVENTS:
            messages.on_event(event, self.tell("project"))
        for event in ("Undo", "Redo"):
            messages.on_event(event, self._steps.catch_up)
        for message in (om.MSceneMessage.kBeforeNew, om.MSceneMessage.kBeforeOpen):
            messages.on_scene(message, self._steps.scene_replaced)
        messages.on_scene(om.MSceneMessage.kMayaExiting, self.close)
        return messages

    def _usd_came_or_went(self) -> None:
        if usd_is_there() != (host.USD in self.ports):
            others = {name: port for name, port in self.ports.items() if name != host.USD}
            self.set_ports({**others, host.USD: self._usd} if usd_is_there() else others)

    def misreads(self, path: str) -> str | None:
        return (
            from_elsewhere(path)
            or misread_by_usd(path)
            or holds_variable(path, "Maya", r"[$]|^~|%\w+%")
        )

    def project_roots(self) -> list[str]:
        root = str(cmds.workspace(query=True, rootDirectory=True) or "")
        return [str(Path(root))] if root else []
