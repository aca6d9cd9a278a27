"""Pictures of the 3D view: the port ``viewport``, where Blender has a user interface.

The view is drawn once more, off the screen, so it doesn't matter how large its window is, what
covers it, or whether it is shown at all.
"""

from __future__ import annotations

import struct
import zlib

import bpy
import gpu  # type: ignore[import-not-found,unused-ignore]
from mathutils import Matrix

from callboard.errors import HostError
from callboard_blender.names import scene, view_layer
from callboard_blender.views import View, find_view


class BlenderViewport:
    def capture(self, width: int, height: int) -> bytes:
        view = find_view()
        if view is None:
            raise HostError("no workspace of this file has a 3D view")
        view_layer().update()
        looking, projecting = _matrices(view, width, height)
        try:
            offscreen = gpu.types.GPUOffScreen(width, height)
        except RuntimeError as error:
            raise HostError(f"the graphics card gave no room for the picture: {error}") from None
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
            return _png(bytes(buffer), width, height)
        finally:
            offscreen.free()


def _matrices(view: View, width: int, height: int) -> tuple[Matrix, Matrix]:
    """How the artist looks; the picture holds at least what the view shows, undistorted."""
    shown = view.space.region_3d
    camera = view.space.camera if view.space.use_local_camera else scene().camera
    if shown.view_perspective == "CAMERA" and camera is not None and camera.type == "CAMERA":
        graph = bpy.context.evaluated_depsgraph_get()
        projection = camera.calc_matrix_camera(graph, x=width, y=height)
        return camera.matrix_world.normalized().inverted(), projection
    projection = shown.window_matrix.copy()
    wanted = width / height
    if wanted >= view.region.width / max(view.region.height, 1):
        projection[0][0] = projection[1][1] / wanted
    else:
        projection[1][1] = projection[0][0] * wanted
    return shown.view_matrix.copy(), projection


def _png(rgba: bytes, width: int, height: int) -> bytes:
    """``rgba`` starts at the bottom left; the picture is opaque."""
    rows = bytearray()
    for row in range(height - 1, -1, -1):
        line = rgba[row * width * 4 : (row + 1) * width * 4]
        rgb = bytearray(width * 3)
        rgb[0::3], rgb[1::3], rgb[2::3] = line[0::4], line[1::4], line[2::4]
        rows += b"\0" + rgb
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(bytes(rows), 6))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
