"""MIME types by file name. They are the same on every machine, whatever its registry says."""

from __future__ import annotations

import mimetypes

DEFAULT = "application/octet-stream"

#: Types that are common in 3D work but unknown to Python, or to its older versions.
_OURS = {
    ".abc": "application/x-alembic",
    ".blend": "application/x-blender",
    ".csv": "text/csv",
    ".exr": "image/x-exr",
    ".fbx": "application/x-fbx",
    ".glb": "model/gltf-binary",
    ".gltf": "model/gltf+json",
    ".hdr": "image/vnd.radiance",
    ".hip": "application/x-houdini",
    ".hipnc": "application/x-houdini",
    ".json": "application/json",
    ".ma": "text/x-maya-ascii",
    ".max": "application/x-3dsmax",
    ".mb": "application/x-maya-binary",
    ".md": "text/markdown",
    ".mel": "text/x-mel",
    ".mtl": "model/mtl",
    ".mtlx": "application/xml",
    ".obj": "model/obj",
    ".ply": "model/ply",
    ".py": "text/x-python",
    ".stl": "model/stl",
    ".toml": "application/toml",
    ".usd": "model/vnd.usd",
    ".usda": "model/vnd.usda",
    ".usdc": "model/vnd.usdc",
    ".usdz": "model/vnd.usdz+zip",
    ".vdb": "application/x-openvdb",
    ".vex": "text/x-vex",
    ".webp": "image/webp",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
_KNOWN = mimetypes.MimeTypes()


def guess(name: str) -> str:
    """Return the MIME type of a file with this name, or :data:`DEFAULT` when the type isn't
    known."""
    dot = name.rfind(".")
    suffix = name[dot:].lower() if dot > 0 else ""
    if suffix in _OURS:
        return _OURS[suffix]
    kind, encoding = _KNOWN.guess_type(f"x{suffix}")
    return DEFAULT if kind is None or encoding else kind


def is_text(mime: str) -> bool:
    """Return whether a file of this type is sent as text. True for ``text/*``, and for all kinds of
    JSON, XML and YAML."""
    kind = mime.partition(";")[0].strip().lower()
    subtype = kind.rpartition("/")[2]
    return kind.startswith("text/") or any(
        subtype in (word, f"x-{word}") or subtype.endswith(f"+{word}")
        for word in ("json", "xml", "yaml")
    )
