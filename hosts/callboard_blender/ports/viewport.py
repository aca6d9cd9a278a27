"""The ``viewport`` port: pictures of the 3D view, if Blender has a user interface.

The view is drawn once more, off-screen, so it doesn't matter how large its window is, what covers
the window, or whether the view is shown at all.
"""

from __future__ import annotations

import gpu  # type: ignore[import-not-found,unused-ignore]
from mathutils import Matrix

from callboard.errors import HostError
from callboard.host import Picture, encode
from callboard_blender.application.names import scene, view_layer
from callboard_blender.application.views import View, as_the_artist, find_view


class BlenderViewport:
    def capture(self, width: int, height: int) -> bytes:
        view = view_there()
        view_layer().update()
        return encode(drawn(view, width, height, *as_the_artist(view, width, height)))


def view_there() -> View:
    """Return the 3D view. Raises HostError if there is none."""
    view = find_view()
    if view is None:
        raise HostError("no workspace in this file has a 3D view")
    return view


def drawn(view: View, width: int, height: int, looking: Matrix, projecting: Matrix) -> Picture:
    """Draw the view off-screen, with its own settings, and return the picture."""
    try:
        offscreen = gpu.types.GPUOffScreen(width, height)
    except RuntimeError as error:
        message = f"the graphics card doesn't have enough memory for the picture: {error}"
        raise HostError(message) from None
    try:
        offscreen.draw_view3d(
            scene(),
            view_layer(),
            view.space,
            view.region,
            looking,
            projecting,
            do_color_management=True,
        )
        with offscreen.bind():
            buffer = gpu.state.active_framebuffer_get().read_color(
                0, 0, width, height, 4, 0, "UBYTE"
            )
        buffer.dimensions = width * height * 4
        return _opaque(bytes(buffer), width, height)
    finally:
        offscreen.free()


def _opaque(rgba: bytes, width: int, height: int) -> Picture:
    """Return the picture without alpha. ``rgba`` starts at the bottom left."""
    stride = width * 4
    flipped = b"".join(rgba[row * stride : (row + 1) * stride] for row in range(height - 1, -1, -1))
    rgb = bytearray(width * height * 3)
    rgb[0::3], rgb[1::3], rgb[2::3] = flipped[0::4], flipped[1::4], flipped[2::4]
    return Picture(width, height, bytes(rgb))
