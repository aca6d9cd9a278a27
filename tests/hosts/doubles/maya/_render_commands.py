"""Commands that render: Maya Software, Hardware 2.0, and Arnold's while its plug-in is loaded."""

from __future__ import annotations

from pathlib import Path

from ._dag_commands import one
from ._images import png
from ._registry import command
from ._session import session

_BEFORE_RENDER, _AFTER_RENDER = 24, 25
_PNG = 32


@command()
def render(camera, xresolution=0, yresolution=0):
    session.tell("scene", _BEFORE_RENDER)
    try:
        return _write(camera, xresolution, yresolution, "tmp", _globals("imageFormat") == _PNG)
    finally:
        session.tell("scene", _AFTER_RENDER)


@command()
def ogsRender(camera="", currentFrame=False, height=0, noRenderView=False, width=0):
    if not session.graphics_card:
        raise RuntimeError("ogsRender: the graphics device could not be initialized.")
    if not currentFrame:
        raise NotImplementedError("the double doesn't model a range of frames")
    return _write(camera, width, height, "tmp", _globals("imageFormat") == _PNG)


@command()
def arnoldRender(batch=False, camera="", height=0, width=0):
    if not batch:
        if session.batch:
            raise NotImplementedError("the double doesn't model the render view without a GUI")
        return None  # Arnold shows the picture only in its own window.
    files = one("defaultArnoldDriver").attributes
    if files["prefix"]:
        raise NotImplementedError("the double doesn't model a file name prefix for Arnold")
    if files["colorManagement"] != 1:
        raise NotImplementedError("the double doesn't model pictures without color management")
    return _write(camera, width, height, "", files["aiTranslator"] == "png")


def _globals(name):
    return one("defaultRenderGlobals").attributes[name]


def _write(camera, width, height, folder, is_png):
    node = one(camera)
    shape = session.scene.shape(node)
    if (shape or node).type != "camera":
        raise RuntimeError(f"{camera} isn't a camera")
    if abs(one("defaultResolution").attributes["deviceAspectRatio"] - width / height) > 1e-3:
        raise RuntimeError("the picture would be distorted")
    if not is_png:
        raise NotImplementedError("the double doesn't model pictures that aren't PNG")
    number = f".{session.scene.time:04.0f}" if _globals("animation") else ""
    images = Path(session.workspace, session.file_rules["images"], folder)
    images.mkdir(parents=True, exist_ok=True)
    file = images / f"{_globals('imageFilePrefix') or 'untitled'}{number}.png"
    file.write_bytes(png(width, height))
    return str(file)
