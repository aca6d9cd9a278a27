"""The Blender host: its ports, its undo, and where it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import bpy

from callboard import host
from callboard_blender.changes import Changes
from callboard_blender.edit import BlenderSceneEditor
from callboard_blender.files import BlenderFiles
from callboard_blender.render import BlenderRender
from callboard_blender.scene import BlenderSceneReader
from callboard_blender.undo import BlenderUndo
from callboard_blender.usd import BlenderUsd, usd_is_there


class BlenderHost(host.Host):
    """Made on Blender's main thread. ``post`` is whatever runs functions there."""

    def __init__(self, post: Callable[[Callable[[], None]], None]) -> None:
        super().__init__()
        self._post = post
        self._identity = host.HostIdentity(
            "blender", "Blender", bpy.app.version_string, headless=bool(bpy.app.background)
        )
        self._changes = changes = Changes(lambda: self.announce("project"))
        self.undo = BlenderUndo(changes)
        files = BlenderFiles()
        ports: dict[str, object] = {
            host.SCENE_READ: BlenderSceneReader(changes),
            host.SCENE_MUTATE: BlenderSceneEditor(changes),
            host.FILESYSTEM_READ: files,
            host.FILESYSTEM_WRITE: files,
            host.RENDER: BlenderRender(changes),
        }
        if usd_is_there():
            ports[host.USD] = BlenderUsd(changes)
        self.set_ports(ports)

    @property
    def identity(self) -> host.HostIdentity:
        return self._identity

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)

    def project_roots(self) -> list[str]:
        file = bpy.data.filepath
        return [str(Path(file).parent)] if file else []

    def close(self) -> None:
        """Stops listening to Blender. Main thread."""
        self._changes.close()
        self.announce("closing")
