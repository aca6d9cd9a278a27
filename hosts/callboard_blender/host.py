"""The Blender host, with its ports, its undo, and its work on the main thread."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import bpy

from callboard import host
from callboard.host import (
    ATTRIBUTES,
    CHECK,
    DOCS,
    EXCHANGE,
    FILE,
    GEOMETRY,
    LOOK,
    MODELLING,
    NETWORK,
    STRUCTURE,
    Network,
    from_elsewhere,
    misread_by_usd,
)
from callboard_blender.application import artist_acts
from callboard_blender.application.busy import Busy
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.overrides import guard
from callboard_blender.application.undo import BlenderUndo
from callboard_blender.ports.animation import BlenderAnimation
from callboard_blender.ports.attributes import BlenderAttributes
from callboard_blender.ports.cameras import BlenderCameras
from callboard_blender.ports.check import BlenderChecks
from callboard_blender.ports.docs import BlenderDocs
from callboard_blender.ports.edit import BlenderSceneEditor
from callboard_blender.ports.exchange import BlenderExchange
from callboard_blender.ports.file import BlenderFile
from callboard_blender.ports.files import BlenderFiles
from callboard_blender.ports.geometry import BlenderGeometry
from callboard_blender.ports.lights import BlenderLights
from callboard_blender.ports.look import BlenderLook
from callboard_blender.ports.materials import BlenderMaterials
from callboard_blender.ports.modelling import BlenderModelling
from callboard_blender.ports.render import BlenderRender
from callboard_blender.ports.scene import BlenderSceneReader
from callboard_blender.ports.script import BlenderScripts
from callboard_blender.ports.structure import BlenderStructure
from callboard_blender.ports.usd import BlenderUsd, usd_is_there

#: Maximum number of bytes in a path in Blender.
_LONGEST = 1023


class BlenderHost(host.Host):
    """The host for one running Blender. ``post`` runs functions on Blender's main thread. Create
    the host on that thread."""

    where = "the sidebar of Blender's 3D view (key N), tab Callboard"
    guide = (
        "An object is a place for data: several objects may share one mesh, so editing data "
        "changes them all. Names are unique in the file and end in .001 when taken. Modifiers "
        "change what is seen, not the mesh; its size and faces are before them unless said. "
        "Materials sit in slots, of the data or of the object. Z is up, -Y is forward. Objects "
        "are seen through collections: one excluded from the view layer, or hidden with the eye, "
        "the viewport or the render switch, hides what is in it. Linked data can't be edited; "
        "override it first. A parent keeps an inverse matrix, so local values may surprise: "
        "scene__get_object with detail has the world transform, and blender_data__rotate turns "
        "objects about axes of the world. scene__rename with with_data names the data, too; "
        "scene__list_objects with details says which data each object has. Operators need a mode "
        "and a selection; tools don't."
    )

    def __init__(self, post: Callable[[Callable[[], None]], None]) -> None:
        super().__init__()
        self._post = post
        self._identity = host.HostIdentity(
            "blender",
            "Blender",
            bpy.app.version_string,
            headless=bool(bpy.app.background),
            program=_program(),
        )
        self._changes = changes = SceneChanges(lambda: self.announce("project"))
        for happened in (changes.noticed, changes.went, changes.emptied):
            happened.watch(lambda: self.announce("scene"))
        changes.saved.watch(lambda: self.announce("saved"))
        changes.saved.watch(lambda: self.announce("project"))
        #: Called after a different file has been opened.
        self.emptied = changes.emptied
        self._busy = Busy()
        self.undo = BlenderUndo(changes)
        files = BlenderFiles(changes)
        materials = BlenderMaterials(changes)
        checks = BlenderChecks(materials)
        ports: dict[str, object] = {
            host.SCENE_READ: BlenderSceneReader(changes),
            host.SCENE_MUTATE: BlenderSceneEditor(changes),
            STRUCTURE: BlenderStructure(changes),
            ATTRIBUTES: BlenderAttributes(changes),
            host.MATERIALS: materials,
            host.LIGHTS: BlenderLights(changes),
            CHECK: checks,
            GEOMETRY: BlenderGeometry(changes, checks),
            MODELLING: BlenderModelling(changes),
            host.CAMERAS: BlenderCameras(changes),
            host.FILESYSTEM_READ: files,
            host.FILESYSTEM_WRITE: files,
            host.ANIMATION: BlenderAnimation(changes),
            host.RENDER: BlenderRender(changes, self.undo),
            LOOK: BlenderLook(changes),
            host.SCRIPT: BlenderScripts(changes),
            DOCS: BlenderDocs(),
            FILE: BlenderFile(),
            NETWORK: Network(),
        }
        if not bpy.app.background:
            # The viewport port's module needs a graphics context.
            from callboard_blender.ports.viewport import BlenderViewport

            ports[host.VIEWPORT] = BlenderViewport()
            self.acts = artist_acts.acts()
        usd = BlenderUsd(changes) if usd_is_there() else None
        if usd is not None:
            ports[host.USD] = usd
        ports[EXCHANGE] = BlenderExchange(changes, usd)
        self.set_ports(ports)
        self._unguard = guard()

    @property
    def identity(self) -> host.HostIdentity:
        return self._identity

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)

    @property
    def skill_paths(self) -> Sequence[str]:
        return (str(Path(__file__).parent / "skills"),)

    def may_run(self, work: host.Work) -> str | None:
        return self._busy.may_run(work)

    def blocked_by(self) -> str | None:
        return self._busy.doing

    def misreads(self, path: str) -> str | None:
        """Return how Blender would misread the path, or None. Blender turns backslashes into
        slashes, treats two leading slashes as the scene's folder, and cuts a path that is too
        long."""
        if path.startswith("//"):
            return (
                "begins with two slashes, which Blender takes for the scene's folder; use one slash"
            )
        if len(os.fsencode(path)) > _LONGEST:
            return f"is longer than {_LONGEST} bytes, where Blender would cut it; use a shorter one"
        return from_elsewhere(path) or misread_by_usd(path)

    def project_roots(self) -> list[str]:
        file = bpy.data.filepath
        return [str(Path(file).parent)] if file else []

    def scene_file(self) -> str | None:
        return bpy.data.filepath or None

    def leave(self, code: int) -> None:
        # On exit, Python waits for its threads and then calls the function registered last.
        atexit.register(_end, bpy.app.tempdir, code)

    def close(self) -> None:
        """Stop listening to Blender. Call it on the main thread."""
        self._changes.close()
        self._busy.close()
        self._unguard()
        self.announce("closing")


def _program() -> tuple[str, ...]:
    """Return the command for ``HostIdentity.program``: this Blender with factory settings, or this
    Python if Blender is its module, which has factory settings, too."""
    if not bpy.app.binary_path:
        return (sys.executable, "-c")
    options = ("--background", "--factory-startup", "--disable-autoexec", "-noaudio")
    return (bpy.app.binary_path, *options, "--python-expr")


def _end(temporary: str, code: int) -> None:
    """End the process here, because the destructors of Blender's module occasionally hang or
    crash."""
    shutil.rmtree(temporary, ignore_errors=True)
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
