"""The Houdini host, with its ports, its undo, and Houdini's events."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import hou

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
from callboard_houdini.application import artist_acts
from callboard_houdini.application.messages import HoudiniMessages
from callboard_houdini.application.undo import HoudiniUndo
from callboard_houdini.parts.parms import FRAME
from callboard_houdini.ports.animation import HoudiniAnimation
from callboard_houdini.ports.attributes import HoudiniAttributes
from callboard_houdini.ports.cameras import HoudiniCameras
from callboard_houdini.ports.check import HoudiniChecks
from callboard_houdini.ports.docs import HoudiniDocs
from callboard_houdini.ports.edit import HoudiniSceneEditor
from callboard_houdini.ports.exchange import HoudiniExchange
from callboard_houdini.ports.files import HoudiniFiles
from callboard_houdini.ports.geometry import HoudiniGeometry
from callboard_houdini.ports.lights import HoudiniLights
from callboard_houdini.ports.look import HoudiniLook
from callboard_houdini.ports.materials import HoudiniMaterials
from callboard_houdini.ports.render import HoudiniRender
from callboard_houdini.ports.scene import HoudiniSceneReader, scene_file
from callboard_houdini.ports.script import HoudiniScripts
from callboard_houdini.ports.structure import HoudiniStructure
from callboard_houdini.ports.usd import HoudiniUsd
from callboard_houdini.ports.viewport import HoudiniViewport
from callboard_qt import Dialog, Post, QtHost, no_dialog

SKILLS = Path(__file__).parent / "skills"


class HoudiniHost(QtHost):
    where = "Houdini's menu Callboard > Open Callboard"
    guide = (
        "Objects are nodes in /obj; geometry is made by the SOP network inside each, and its "
        "display flag says which result is seen. Edit by changing nodes and parameters, not "
        "points. What is inside a locked digital asset can't be edited. Materials live in /mat "
        "and are assigned by path. Nodes cook when their result is needed, so heavy ones take "
        "time at the next look. Y is up; one unit is a meter."
    )

    def __init__(self, post: Post, dialog: Dialog = no_dialog) -> None:
        version, headless = hou.applicationVersionString(), not hou.isUIAvailable()
        identity = host.HostIdentity(
            "houdini", "Houdini", version, headless=headless, program=_program()
        )
        super().__init__(identity, post, dialog, SKILLS)
        self.undo = self._steps = HoudiniUndo()
        self._own_loop = None
        if not headless:
            # Without a GUI, there is neither Qt nor a loop.
            from callboard_houdini.application.event_loop import HoudiniEventLoop

            self._own_loop = HoudiniEventLoop()
        self.acts = artist_acts.acts()
        files = HoudiniFiles()
        reader, cameras, materials = HoudiniSceneReader(), HoudiniCameras(), HoudiniMaterials()
        render, usd = HoudiniRender(self.rendering), HoudiniUsd()
        checks = HoudiniChecks(reader, cameras, materials)
        self._open(
            {
                host.SCENE_READ: reader,
                host.SCENE_MUTATE: HoudiniSceneEditor(),
                STRUCTURE: HoudiniStructure(),
                ATTRIBUTES: HoudiniAttributes(),
                host.FILESYSTEM_READ: files,
                host.FILESYSTEM_WRITE: files,
                host.USD: usd,
                host.ANIMATION: HoudiniAnimation(),
                host.CAMERAS: cameras,
                host.LIGHTS: HoudiniLights(),
                host.MATERIALS: materials,
                host.SCRIPT: HoudiniScripts(),
                host.RENDER: render,
                host.VIEWPORT: HoudiniViewport(render.boxes),
                LOOK: HoudiniLook(render),
                CHECK: checks,
                GEOMETRY: HoudiniGeometry(),
                EXCHANGE: HoudiniExchange(reader, checks, materials, lambda: usd),
                DOCS: HoudiniDocs(),
            }
        )

    def _listen(self) -> HoudiniMessages:
        steps, tell = self._steps, self.tell("scene")

        def scene() -> None:
            # Houdini doesn't report an undo, but it reports the changes to nodes and to the
            # selection.
            steps.catch_up()
            tell()

        return HoudiniMessages(
            scene, self.tell("project"), self.tell("saved"), steps.scene_replaced
        )

    def _native_dialog(self) -> str | None:
        return self._own_loop.held_by() if self._own_loop is not None else None

    def close(self) -> None:
        if self._own_loop is not None:
            self._own_loop.close()
        super().close()

    def misreads(self, path: str) -> str | None:
        """Return how Houdini would misread the path, or None. Houdini replaces variables and runs
        code between backticks. The variable for the frame number is allowed in a file's name,
        because it can't lead to another folder."""
        folder, _, name = path.replace("\\", "/").rpartition("/")
        return (
            from_elsewhere(path)
            or misread_by_usd(path)
            or holds_variable(f"{folder}/{FRAME.sub('', name)}", "Houdini", r"[$`]|^~|^/~")
            or holds_variable(path, "Houdini", "^(?:op|opdef|oplib|oplibraw|temp|ram|iop):")
        )

    def project_roots(self) -> list[str]:
        """Return ``$JOB``, unless it has its default value, the home folder. Once the scene has
        been saved, also return ``$HIP``."""
        job = Path(hou.text.expandString("$JOB"))
        folders = [job] if job.is_absolute() and job != Path.home() else []
        if not hou.hipFile.isNewFile():
            folders.append(Path(hou.text.expandString("$HIP")))
        return list(dict.fromkeys(map(str, folders)))

    def scene_file(self) -> str | None:
        return scene_file()


def _program() -> tuple[str, ...]:
    """Return the command for ``HostIdentity.program``: the installation's hython, if any."""
    folder = os.environ.get("HFS")
    program = folder and shutil.which("hython", path=str(Path(folder, "bin")))
    return (program, "-c") if program else ()
