"""The Houdini host: its ports, its undo, and what Houdini tells of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import hou

from callboard.hosting import contract as host
from callboard.hosting.misread_paths import from_elsewhere, holds_variable, misread_by_usd
from callboard_houdini.animation import HoudiniAnimation
from callboard_houdini.edit import HoudiniSceneEditor
from callboard_houdini.files import HoudiniFiles
from callboard_houdini.messages import Messages
from callboard_houdini.parms import FRAME
from callboard_houdini.render import HoudiniRender
from callboard_houdini.scene import HoudiniSceneReader
from callboard_houdini.scripts import HoudiniScripts
from callboard_houdini.undo import HoudiniUndo
from callboard_houdini.usd import HoudiniUsd
from callboard_houdini.viewport import HoudiniViewport

SKILLS = Path(__file__).parent / "skills"


class HoudiniHost(host.Host):
    """Made and closed on Houdini's main thread. ``post`` is whatever runs functions there;
    ``dialog`` tells, on any thread, which modal dialog is open."""

    def __init__(
        self,
        post: Callable[[Callable[[], None]], None],
        dialog: Callable[[], str | None] = lambda: None,
    ) -> None:
        super().__init__()
        self._post = post
        self._dialog = dialog
        headless = not hou.isUIAvailable()
        version = hou.applicationVersionString()
        self._identity = host.HostIdentity("houdini", "Houdini", version, headless=headless)
        self.undo = HoudiniUndo()
        files = HoudiniFiles()
        ports: dict[str, object] = {
            host.SCENE_READ: HoudiniSceneReader(),
            host.SCENE_MUTATE: HoudiniSceneEditor(),
            host.FILESYSTEM_READ: files,
            host.FILESYSTEM_WRITE: files,
            host.USD: HoudiniUsd(),
            host.ANIMATION: HoudiniAnimation(),
            host.SCRIPT: HoudiniScripts(),
            host.RENDER: HoudiniRender(lambda: self._messages.during("rendering")),
        }
        if not headless:
            ports[host.VIEWPORT] = HoudiniViewport()
        self.set_ports(ports)
        self._messages = Messages(
            scene=lambda: self.announce("scene"),
            file=lambda: self.announce("project"),
            replaced=self.undo.scene_replaced,
        )

    @property
    def identity(self) -> host.HostIdentity:
        return self._identity

    @property
    def skill_paths(self) -> Sequence[str]:
        return (str(SKILLS),)

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)

    def misreads(self, path: str) -> str | None:
        """Houdini replaces variables and runs what stands between backticks. The frame's number is
        let through in a file's name: it leads to no other folder."""
        folder, _, name = path.replace("\\", "/").rpartition("/")
        return (
            from_elsewhere(path)
            or misread_by_usd(path)
            or holds_variable(f"{folder}/{FRAME.sub('', name)}", "Houdini", r"[$`]|^~|^/~")
            or holds_variable(path, "Houdini", "^(?:op|opdef|oplib|oplibraw|temp|ram|iop):")
        )

    def project_roots(self) -> list[str]:
        """``$JOB``, unless it is the home folder, which it is when nobody has set it; then
        ``$HIP``, once the scene has been saved."""
        job = Path(hou.text.expandString("$JOB"))
        found = [job] if job.is_absolute() and job != Path.home() else []
        if not hou.hipFile.isNewFile():
            found.append(Path(hou.text.expandString("$HIP")))
        return list(dict.fromkeys(map(str, found)))

    def blocked_by(self) -> str | None:
        return self._dialog() or self._messages.busy_with()

    def close(self) -> None:
        """Stops listening to Houdini. Idempotent."""
        self._messages.close()
        self.announce("closing")
