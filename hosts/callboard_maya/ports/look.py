"""The ``look`` port: pictures of the scene for an agent. Either the artist's view draws them
off-screen, or Maya's renderer renders them. Only Maya with a GUI has this port."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from maya import cmds

from callboard.host import Json, Look, Picture, Point, decode
from callboard_maya.application.names import telling
from callboard_maya.parts.pick import first_hit
from callboard_maya.ports.cameras import camera_named
from callboard_maya.ports.render import MayaRender, at_frame
from callboard_maya.ports.viewport import drawn, view_panel
from callboard_qt import seen_or_rendered

_SHADED = {"displayAppearance": "smoothShaded", "wireframeOnShaded": False, "xray": False}
#: For each shading mode, the settings of a view's editor.
_SHADINGS: dict[str, dict[str, Any]] = {
    "solid": {**_SHADED, "useDefaultMaterial": True, "displayLights": "default"},
    "wireframe": {"displayAppearance": "wireframe", "xray": False},
    "xray": {**_SHADED, "xray": True, "useDefaultMaterial": True, "displayLights": "default"},
    "material": {**_SHADED, "useDefaultMaterial": False, "displayTextures": True},
}
#: Objects that a view may draw although they aren't rendered.
_OVERLAYS = (
    *("grid", "selectionHiliteDisplay", "cameras", "lights", "locators", "joints", "handles"),
    "manipulators",
)


class MayaLook:
    def __init__(self, render: MayaRender) -> None:
        self._render = render

    def picture(self, asked: Look) -> tuple[Picture, Json]:
        panel = view_panel()
        with self._render.unnoticed(), ExitStack() as stack:
            if asked.frame is not None:
                stack.enter_context(at_frame(asked.frame))
            camera = stack.enter_context(self._camera(asked, panel))
            if asked.shading == "rendered":
                return self._rendered(asked, camera)
            with telling("draw the view"), _set(panel, _wanted(asked, camera)):
                size = asked.width, asked.height
                picture = decode(drawn(panel, *size, ornaments=asked.overlays))
            return seen_or_rendered(picture, self.boxes(), lambda: self._rendered(asked, camera))

    def under(self, asked: Look, x: float, y: float) -> tuple[str, Point] | None:
        """Return the object under a point, as :meth:`callboard.ports.look.Picks.under` does."""
        panel = view_panel()
        with self._render.unnoticed(), ExitStack() as stack, telling("look at the scene"):
            if asked.frame is not None:
                stack.enter_context(at_frame(asked.frame))
            camera = stack.enter_context(self._camera(asked, panel))
            rendered = asked.shading == "rendered"
            return first_hit(camera, asked.width / asked.height, x, y, rendered)

    def own_view(self) -> bool:
        return True

    def boxes(self) -> Iterable[tuple[Point, Point]]:
        return self._render.boxes()

    @contextmanager
    def _camera(self, asked: Look, panel: str) -> Iterator[str]:
        if asked.camera is not None:
            yield camera_named(asked.camera)
        elif asked.view is not None:
            with self._render.camera_at(asked.view, asked.width / asked.height) as camera:
                yield camera
        else:
            yield str(cmds.modelEditor(panel, query=True, camera=True))

    def _rendered(self, asked: Look, camera: str) -> tuple[Picture, Json]:
        with TemporaryDirectory(prefix="callboard-") as folder, telling("render a picture"):
            file = Path(folder, "look.png")
            size = asked.width, asked.height
            frame = self._render.current_frame()
            made, engine = self._render.draw(file, *size, camera, frame)
            return decode(made.read_bytes()), self._render.made_by(engine)


def _wanted(asked: Look, camera: str) -> dict[str, Any]:
    wanted: dict[str, Any] = {"camera": camera}
    if asked.shading is not None:
        wanted |= _SHADINGS[asked.shading]
    if not asked.overlays:
        wanted |= dict.fromkeys(_OVERLAYS, False)
    return wanted


@contextmanager
def _set(panel: str, wanted: dict[str, Any]) -> Iterator[None]:
    """Set the view's flags, and restore the artist's own afterwards."""
    # The published stubs require each flag separately.
    editor: Any = cmds.modelEditor
    before = {flag: editor(panel, query=True, **{flag: True}) for flag in wanted}
    try:
        editor(panel, edit=True, **wanted)
        yield
    finally:
        editor(panel, edit=True, **before)
