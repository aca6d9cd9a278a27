"""A server on this machine that speaks only Poly Haven's API. A request that the real server would
not understand fails the test."""

from __future__ import annotations

import hashlib
import json
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from callboard.ground.png import Picture, encode
from callboard.ports.network import SERVERS, Network

_, FILES, PICTURES = SERVERS
HDR = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n" + bytes((128, 128, 128, 129)) * 2
PNG = encode(Picture(8, 8, bytes(range(192))))
_USD = b"""#usda 1.0
(
 upAxis = "Y"
 metersPerUnit = 1
)
def Mesh "Crate"
{
 int[] faceVertexCounts = [3]
 int[] faceVertexIndices = [0, 1, 2]
 point3f[] points = [(0, 0, 0), (0.5, 0.5, 0), (0, 0.5, 0.5)]
}
"""
_TYPES = {"hdris": 0, "textures": 1, "models": 2}
#: A response from a server: the status, the headers and the body.
Answer = tuple[int, dict[str, str], bytes]


def gltf_box(metres: float) -> tuple[bytes, bytes]:
    """Return a triangle of the given length along each axis, as glTF and its buffer."""
    corners = [(0.0, 0.0, 0.0), (metres, metres, 0.0), (0.0, metres, metres)]
    buffer = b"".join(struct.pack("<3f", *corner) for corner in corners)
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "Crate"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [
            {
                "bufferView": 0,
                "componentType": 5126,
                "count": 3,
                "type": "VEC3",
                "min": [0.0, 0.0, 0.0],
                "max": [metres] * 3,
            }
        ],
        "bufferViews": [{"buffer": 0, "byteLength": len(buffer)}],
        "buffers": [{"uri": "crate.bin", "byteLength": len(buffer)}],
    }
    return json.dumps(document).encode(), buffer


class PolyHaven:
    """The assets that the server offers. A test changes ``info``, ``trees``, ``bodies`` and
    ``instead``."""

    def __init__(self) -> None:
        self.info: dict[str, Any] = {}
        self.trees: dict[str, Any] = {}
        #: The content of each file, by its path.
        self.bodies: dict[str, bytes] = {}
        #: Wrong answers, by the path that gets them.
        self.instead: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self._add()

    def _add(self) -> None:
        self.add("noon", 0, {"hdri": {"1k": {"hdr": self.file("HDRIs/hdr/1k/noon_1k.hdr", HDR)}}})
        maps = {"Diffuse": "diff", "nor_gl": "nor_gl", "nor_dx": "nor_dx", "Rough": "rough"}
        maps |= {"arm": "arm", "Displacement": "disp"}
        tree = {
            name: {"1k": {"jpg": self.file(f"Textures/png/1k/bricks/bricks_{word}_1k.png", PNG)}}
            for name, word in maps.items()
        }
        self.add("bricks", 1, tree, dimensions=[2000, 2000])
        document, buffer = gltf_box(0.5)
        model = self.file("Models/gltf/1k/crate/crate_1k.gltf", document)
        model["include"] = {
            "crate.bin": self.file("Models/gltf/1k/crate/crate.bin", buffer),
            "textures/crate_diff_1k.png": self.file("Models/png/1k/crate/crate_diff_1k.png", PNG),
        }
        usd = self.file("Models/usd/1k/crate/crate_1k.usda", _USD)
        formats = {"gltf": {"1k": {"gltf": model}}, "usd": {"1k": {"usd": usd}}}
        self.add("crate", 2, formats, dimensions=[500, 500, 500])

    def add(self, id: str, type: int, tree: Any, **more: Any) -> None:
        self.info[id] = {
            "name": id.title(),
            "type": type,
            "authors": {"Ann Author": "All"},
            "tags": ["wood"],
            "thumbnail_url": f"{PICTURES}/asset_img/thumbs/{id}.png?width=256",
            **more,
        }
        self.trees[id] = tree
        self.bodies[f"/asset_img/thumbs/{id}.png"] = PNG

    def file(self, path: str, body: bytes) -> dict[str, Any]:
        """Add a file to those that are served. Return its entry for ``/files``."""
        path = f"/file/ph-assets/{path}"
        self.bodies[path] = body
        md5 = hashlib.md5(body, usedforsecurity=False).hexdigest()
        return {"url": FILES + path, "size": len(body), "md5": md5}

    def answer(self, path: str) -> Answer:
        self.asked.append(path)
        parts = urlsplit(path)
        if parts.path in self.instead:
            return self.instead[parts.path]
        if parts.path in self.bodies:
            return 200, {}, self.bodies[parts.path]
        names = parts.path.strip("/").split("/")
        if names == ["assets"]:
            (type,) = parse_qs(parts.query, strict_parsing=True)["type"]
            number = _TYPES[type]
            return _json({id: one for id, one in self.info.items() if one["type"] == number})
        if len(names) == 2 and names[0] in ("info", "files"):
            of = self.info if names[0] == "info" else self.trees
            return _json(of[names[1]]) if names[1] in of else (404, {}, b"No such asset")
        self.wrong.append(path)
        return 404, {}, b""


def _json(value: Any) -> Answer:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


@contextmanager
def poly_haven() -> Iterator[tuple[PolyHaven, Network]]:
    """Yield the server's assets, and a port that reaches it under the real servers' names."""
    offered = PolyHaven()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.headers["User-Agent"].startswith("callboard/"):
                offered.wrong.append(f"User-Agent: {self.headers['User-Agent']}")
            status, headers, body = offered.answer(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serve: Callable[[], None] = lambda: server.serve_forever(poll_interval=0.01)  # noqa: E731
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        here = f"http://127.0.0.1:{server.server_address[1]}"
        yield offered, Network(dict.fromkeys(SERVERS, here))
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert offered.wrong == []
