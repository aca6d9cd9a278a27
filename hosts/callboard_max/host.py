"""The 3ds Max host, with its ports, its undo, and 3ds Max's events."""

from __future__ import annotations

from pathlib import Path

from pymxs import runtime as rt

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
from callboard_max.application import artist_acts
from callboard_max.application.messages import PROJECT, REPLACING, SCENE, MaxMessages
from callboard_max.application.named_sets import NamedSets
from callboard_max.application.native_windows import window_takes_input
from callboard_max.application.undo import MaxUndo
from callboard_max.ports.animation import MaxAnimation
from callboard_max.ports.attributes import MaxAttributes
from callboard_max.ports.cameras import MaxCameras
from callboard_max.ports.check import MaxChecks
from callboard_max.ports.docs import MaxDocs
from callboard_max.ports.edit import MaxSceneEditor
from callboard_max.ports.exchange import MaxExchange
from callboard_max.ports.files import MaxFiles
from callboard_max.ports.geometry import MaxGeometry
from callboard_max.ports.lights import MaxLights
from callboard_max.ports.look import MaxLook
from callboard_max.ports.materials import MaxMaterials
from callboard_max.ports.render import MaxRender
from callboard_max.ports.scene import MaxSceneReader, scene_file
from callboard_max.ports.script import MaxScripts
from callboard_max.ports.structure import MaxStructure
from callboard_max.ports.usd import ADVICE, MaxUsd, usd_is_there
from callboard_max.ports.viewport import MaxViewport
from callboard_qt import Dialog, Post, QtHost, no_dialog

SKILLS = Path(__file__).parent / "skills"


class MaxHost(QtHost):
    where = "3ds Max's menu Callboard > Open Callboard"
    guide = (
        "Nodes are named, and names need not be unique; use the path in answers. A modifier "
        "stack lies on each object: the base object is parametric until it is collapsed. "
        "Instances share one object and its modifiers. Material ids choose a Multi/Sub-Object's "
        "part. Z is up; system units and display units may differ, and lengths are system units. "
        "Groups are nodes with closed members. Hidden and frozen layers hide what is on them."
    )

    def __init__(self, post: Post, dialog: Dialog = no_dialog) -> None:
        headless = bool(rt.maxOps.isInNonInteractiveMode())
        identity = host.HostIdentity("3dsmax", "3ds Max", _version(), headless=headless)
        super().__init__(identity, post, dialog, SKILLS)
        sets = NamedSets()
        self.undo = self._steps = MaxUndo(sets)
        self.plug_ins = {host.USD: host.PlugIn("USD for 3ds Max", ADVICE)}
        self.acts = artist_acts.acts()
        files = MaxFiles()
        reader, cameras, materials = MaxSceneReader(), MaxCameras(), MaxMaterials()
        checks = MaxChecks(reader, cameras, materials)
        usd = MaxUsd() if usd_is_there() else None
        render = MaxRender()
        self._open(
            {
                host.SCENE_READ: reader,
                host.SCENE_MUTATE: MaxSceneEditor(),
                STRUCTURE: MaxStructure(sets),
                ATTRIBUTES: MaxAttributes(),
                host.FILESYSTEM_READ: files,
                host.FILESYSTEM_WRITE: files,
                host.ANIMATION: MaxAnimation(),
                host.CAMERAS: cameras,
                host.LIGHTS: MaxLights(),
                host.MATERIALS: materials,
                host.SCRIPT: MaxScripts(),
                host.RENDER: render,
                host.VIEWPORT: MaxViewport(render.boxes),
                LOOK: MaxLook(render),
                CHECK: checks,
                GEOMETRY: MaxGeometry(),
                EXCHANGE: MaxExchange(reader, checks, materials, lambda: usd),
                DOCS: MaxDocs(),
                **({} if usd is None else {host.USD: usd}),
            }
        )

    def _listen(self) -> MaxMessages:
        messages = MaxMessages()
        for event in REPLACING:
            messages.on(event, self._steps.scene_replaced)
        for event in ("sceneUndo", "sceneRedo"):
            messages.on(event, self._steps.artist_undid)
        for event in SCENE:
            messages.on(event, self.tell("scene"))
        messages.on("filePostSave", self.tell("saved"))
        for event in PROJECT:
            messages.on(event, self.tell("project"))
        return messages

    def _native_dialog(self) -> str | None:
        if self.identity.headless or window_takes_input(int(rt.windows.getMAXHWND())):
            return None
        return "a dialog of 3ds Max that is open"

    def misreads(self, path: str) -> str | None:
        """Return how 3ds Max would misread the path, or None. 3ds Max replaces ``$`` and the name
        after it with a project's folder."""
        return from_elsewhere(path) or misread_by_usd(path) or holds_variable(path, "3ds Max")

    def project_roots(self) -> list[str]:
        folder = str(rt.pathConfig.getCurrentProjectFolder() or "")
        return [str(Path(folder))] if folder else []

    def scene_file(self) -> str | None:
        return scene_file()


def _version() -> str:
    """Return the version by which the product is known: 27000 is 2025."""
    return str(int(rt.maxVersion()[0]) // 1000 + 1998)
