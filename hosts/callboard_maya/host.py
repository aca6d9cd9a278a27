"""The Maya host, with its ports, its undo, and Maya's messages."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import maya.api.OpenMaya as om
from maya import cmds

from callboard import host
from callboard.host import (
    ATTRIBUTES,
    CHECK,
    DOCS,
    EXCHANGE,
    GEOMETRY,
    LOOK,
    STRUCTURE,
    from_elsewhere,
    holds_variable,
    misread_by_usd,
)
from callboard_maya.application import artist_acts, plug_ins
from callboard_maya.application.messages import MayaMessages
from callboard_maya.application.undo import MayaUndo
from callboard_maya.parts import arnold
from callboard_maya.ports import usd
from callboard_maya.ports.animation import MayaAnimation
from callboard_maya.ports.attributes import MayaAttributes
from callboard_maya.ports.cameras import MayaCameras
from callboard_maya.ports.check import MayaChecks
from callboard_maya.ports.docs import MayaDocs
from callboard_maya.ports.edit import MayaSceneEditor
from callboard_maya.ports.exchange import MayaExchange
from callboard_maya.ports.files import MayaFiles
from callboard_maya.ports.geometry import MayaGeometry
from callboard_maya.ports.lights import MayaLights
from callboard_maya.ports.look import MayaLook
from callboard_maya.ports.materials import MayaMaterials
from callboard_maya.ports.render import MayaRender
from callboard_maya.ports.scene import MayaSceneReader
from callboard_maya.ports.script import MayaScripts
from callboard_maya.ports.structure import MayaStructure
from callboard_maya.ports.viewport import MayaViewport
from callboard_qt import HISTORY, Dialog, Post, QtHost, no_dialog

SKILLS = Path(__file__).parent / "skills"

#: Events after which reading the scene may give different results.
SCENE_EVENTS = ("DagObjectCreated", "NameChanged", "SelectionChanged", "Undo", "Redo")
PROJECT_EVENTS = ("SceneOpened", "NewSceneOpened", "SceneSaved", "workspaceChanged")


class MayaHost(QtHost):
    where = "Maya's menu Callboard > Open Callboard"
    guide = (
        "Objects are transforms; shapes lie below them, and an object's path runs down the DAG, "
        "such as |group|crate. A bare name may stand for several. Construction history keeps "
        "nodes that still drive the mesh. Materials are bound to faces or shapes by shading "
        "groups. Referenced nodes carry a namespace (rig:arm) and can't be renamed, deleted or "
        "reparented. Locked or connected attributes refuse values. Y is up unless the scene says "
        "Z; centimeters by default."
    )

    def __init__(self, post: Post, dialog: Dialog = no_dialog) -> None:
        version, batch = str(cmds.about(version=True)), bool(cmds.about(batch=True))
        identity = host.HostIdentity("maya", "Maya", version, headless=batch, program=_program())
        super().__init__(identity, post, dialog, SKILLS)
        if batch:
            # mayapy starts with undo switched off.
            cmds.undoInfo(state=True, infinity=False, length=HISTORY)
        self.undo = self._steps = MayaUndo()
        self.plug_ins = {
            host.USD: plug_ins.described(usd.PLUGIN),
            host.LIGHTS: plug_ins.described(arnold.PLUGIN),
        }
        self._brought: dict[str, object] = {
            host.USD: usd.MayaUsd(),
            host.LIGHTS: MayaLights(),
        }
        self.acts = artist_acts.acts()
        files = MayaFiles()
        reader, cameras, materials = MayaSceneReader(), MayaCameras(), MayaMaterials()
        render, checks = MayaRender(self.rendering), MayaChecks(reader, cameras, materials)
        self._open(
            {
                host.SCENE_READ: reader,
                host.SCENE_MUTATE: MayaSceneEditor(),
                STRUCTURE: MayaStructure(),
                ATTRIBUTES: MayaAttributes(),
                host.FILESYSTEM_READ: files,
                host.FILESYSTEM_WRITE: files,
                host.ANIMATION: MayaAnimation(),
                host.CAMERAS: cameras,
                host.MATERIALS: materials,
                host.SCRIPT: MayaScripts(),
                host.RENDER: render,
                host.VIEWPORT: MayaViewport(render.boxes),
                LOOK: MayaLook(render),
                CHECK: checks,
                GEOMETRY: MayaGeometry(checks),
                EXCHANGE: MayaExchange(reader, checks, materials, self._usd),
                DOCS: MayaDocs(),
                **self._brought_now(),
            }
        )

    def _listen(self) -> MayaMessages:
        messages = MayaMessages()
        messages.on_plugins(self._plugins_changed)
        for event in SCENE_EVENTS:
            messages.on_event(event, self.tell("scene"))
        for event in PROJECT_EVENTS:
            messages.on_event(event, self.tell("project"))
        messages.on_scene(om.MSceneMessage.kAfterSave, self.tell("saved"))
        for event in ("Undo", "Redo"):
            messages.on_event(event, self._steps.catch_up)
        for message in (om.MSceneMessage.kBeforeNew, om.MSceneMessage.kBeforeOpen):
            messages.on_scene(message, self._steps.scene_replaced)
        messages.on_scene(om.MSceneMessage.kMayaExiting, self.close)
        return messages

    def _usd(self) -> object | None:
        return self.ports.get(host.USD)

    def _brought_now(self) -> dict[str, object]:
        """Return the ports whose plug-in is loaded."""
        loaded = plug_ins.is_loaded
        return {key: port for key, port in self._brought.items() if loaded(self.plug_ins[key].name)}

    def _plugins_changed(self) -> None:
        now = self._brought_now()
        if now.keys() != self._brought.keys() & self.ports.keys():
            others = {key: port for key, port in self.ports.items() if key not in self._brought}
            self.set_ports({**others, **now})

    def misreads(self, path: str) -> str | None:
        return (
            from_elsewhere(path)
            or misread_by_usd(path)
            or holds_variable(path, "Maya", r"[$]|^~|%\w+%")
        )

    def project_roots(self) -> list[str]:
        root = str(cmds.workspace(query=True, rootDirectory=True) or "")
        return [str(Path(root))] if root else []

    def scene_file(self) -> str | None:
        return str(cmds.file(query=True, sceneName=True) or "") or None


def _program() -> tuple[str, ...]:
    """Return the command for ``HostIdentity.program``: the installation's mayapy, if any."""
    folder = os.environ.get("MAYA_LOCATION")
    program = folder and shutil.which("mayapy", path=str(Path(folder, "bin")))
    return (program, "-c") if program else ()
