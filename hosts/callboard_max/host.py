"""The 3ds Max host: its ports, its undo, and what 3ds Max tells of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pymxs import runtime as rt

from callboard.hosting import contract as host
from callboard.hosting.misread_paths import from_elsewhere, holds_variable, misread_by_usd
from callboard_max.animation import MaxAnimation
from callboard_max.edit import MaxSceneEditor
from callboard_max.files import MaxFiles
from callboard_max.messages import PROJECT, REPLACING, SCENE, Messages
from callboard_max.render import MaxRender
from callboard_max.scene import MaxSceneReader
from callboard_max.scripts import MaxScripts
from callboard_max.undo import MaxUndo
from callboard_max.usd import MaxUsd, usd_is_there
from callboard_max.viewport import MaxViewport

SKILLS = Path(__file__).parent / "skills"


class MaxHost(host.Host):
    """Made and closed on 3ds Max's main thread. ``post`` is whatever runs functions there;
    ``dialog`` tells, on any thread, which modal dialog is open."""

    def __init__(
        self,
        post: Callable[[Callable[[], None]], None],
        dialog: Callable[[], str | None] = lambda: None,
    ) -> None:
        super().__init__()
        self._post = post
        self._dialog = dialog
        headless = bool(rt.maxOps.isInNonInteractiveMode())
        self._identity = host.HostIdentity("3dsmax", "3ds Max", _version(), headless=headless)
        self.undo = MaxUndo()
        files = MaxFiles()
        ports: dict[str, object] = {
            host.SCENE_READ: MaxSceneReader(),
            host.SCENE_MUTATE: MaxSceneEditor(),
            host.FILESYSTEM_READ: files,
            host.FILESYSTEM_WRITE: files,
            host.ANIMATION: MaxAnimation(),
            host.SCRIPT: MaxScripts(),
            host.RENDER: MaxRender(),
        }
        advice = "install Autodesk's component USD for 3ds Max, then restart 3ds Max"
        self.plug_ins = {host.USD: host.PlugIn("USD for 3ds Max", advice)}
        if usd_is_there():
            ports[host.USD] = MaxUsd()
        if not headless:
            ports[host.VIEWPORT] = MaxViewport()
        self.set_ports(ports)
        self._messages = messages = Messages()
        for event in REPLACING:
            messages.on(event, self.undo.scene_replaced)
        for event in ("sceneUndo", "sceneRedo"):
            messages.on(event, self.undo.somebody_undid)
        for event in SCENE:
            messages.on(event, lambda: self.announce("scene"))
        for event in PROJECT:
            messages.on(event, lambda: self.announce("project"))

    @property
    def identity(self) -> host.HostIdentity:
        return self._identity

    @property
    def skill_paths(self) -> Sequence[str]:
        return (str(SKILLS),)

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)

    def misreads(self, path: str) -> str | None:
        """3ds Max puts a project's folder in the place of ``$`` and a name."""
        return from_elsewhere(path) or misread_by_usd(path) or holds_variable(path, "3ds Max")

    def project_roots(self) -> list[str]:
        folder = str(rt.pathConfig.getCurrentProjectFolder() or "")
        return [str(Path(folder))] if folder else []

    def blocked_by(self) -> str | None:
        return self._dialog() or self._messages.busy_with()

    def close(self) -> None:
        """Stops listening to 3ds Max. Idempotent."""
        self._messages.close()
        self.announce("closing")


def _version() -> str:
    """As on the box: 27000 is 2025."""
    return str(int(rt.maxVersion()[0]) // 1000 + 1998)
