"""The 3ds Max host: its ports, its undo, and what 3ds Max tells of itself."""

from __future__ import annotations

from pathlib import Path

from pymxs import runtime as rt

from callboard.hosting import contract as host
from callboard.hosting import picture_ports
from callboard.hosting.misread_paths import from_elsewhere, holds_variable, misread_by_usd
from callboard_max.animation import MaxAnimation
from callboard_max.cameras import MaxCameras
from callboard_max.edit import MaxSceneEditor
from callboard_max.files import MaxFiles
from callboard_max.lights import MaxLights
from callboard_max.looks import MaxMaterials
from callboard_max.messages import PROJECT, REPLACING, SCENE, MaxMessages
from callboard_max.native_windows import window_takes_input
from callboard_max.render import MaxRender
from callboard_max.scene import MaxSceneReader
from callboard_max.scripts import MaxScripts
from callboard_max.undo import MaxUndo
from callboard_max.usd import MaxUsd, usd_is_there
from callboard_max.viewport import MaxViewport
from callboard_qt.host import Dialog, Post, QtHost, no_dialog

SKILLS = Path(__file__).parent / "skills"


class MaxHost(QtHost):
    where = "3ds Max's menu Callboard > Open Callboard"

    def __init__(self, post: Post, dialog: Dialog = no_dialog) -> None:
        headless = bool(rt.maxOps.isInNonInteractiveMode())
        identity = host.HostIdentity("3dsmax", "3ds Max", _version(), headless=headless)
        super().__init__(identity, post, dialog, SKILLS)
        self.undo = self._steps = MaxUndo()
        advice = "install Autodesk's component USD for 3ds Max, then restart 3ds Max"
        self.plug_ins = {host.USD: host.PlugIn("USD for 3ds Max", advice)}
        files = MaxFiles()
        self._open(
            {
                host.SCENE_READ: MaxSceneReader(),
                host.SCENE_MUTATE: MaxSceneEditor(),
                host.FILESYSTEM_READ: files,
                host.FILESYSTEM_WRITE: files,
                host.ANIMATION: MaxAnimation(),
                picture_ports.CAMERAS: MaxCameras(),
                picture_ports.LIGHTS: MaxLights(),
                picture_ports.MATERIALS: MaxMaterials(),
                host.SCRIPT: MaxScripts(),
                host.RENDER: MaxRender(),
                host.VIEWPORT: MaxViewport(),
                **({host.USD: MaxUsd()} if usd_is_there() else {}),
            }
        )

    def _listen(self) -> MaxMessages:
        messages = MaxMessages()
        for event in REPLACING:
            messages.on(event, self._steps.scene_replaced)
        for event in ("sceneUndo", "sceneRedo"):
            messages.on(event, self._steps.somebody_undid)
        for event in SCENE:
            messages.on(event, self.tell("scene"))
        for event in PROJECT:
            messages.on(event, self.tell("project"))
        return messages

    def _native_dialog(self) -> str | None:
        if self.identity.headless or window_takes_input(int(rt.windows.getMAXHWND())):
            return None
        return "a dialog of 3ds Max that is open"

    def misreads(self, path: str) -> str | None:
        """3ds Max puts a project's folder in the place of ``$`` and a name."""
        return from_elsewhere(path) or misread_by_usd(path) or holds_variable(path, "3ds Max")

    def project_roots(self) -> list[str]:
        folder = str(rt.pathConfig.getCurrentProjectFolder() or "")
        return [str(Path(folder))] if folder else []


def _version() -> str:
    """As on the box: 27000 is 2025."""
    return str(int(rt.maxVersion()[0]) // 1000 + 1998)
