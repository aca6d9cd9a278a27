"""Names of tools and resources that are reserved for callboard and its bundled skills, loaded or
not."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

#: Prefixes of the server's own tools, and of the skills that come with single applications.
_OWN = frozenset(
    (
        *("batch", "farm", "files", "hosts", "instances", "jobs", "skills", "tools", "workflows"),
        *("blender_animation", "blender_data", "blender_files", "blender_library"),
        *("blender_modelling", "blender_nodes", "blender_settings"),
        *("houdini_networks", "max_modifiers", "maya_modelling"),
    )
)
#: Schemes in which every address belongs to callboard or the machine.
SCHEMES = frozenset(
    ("file", "files", "host", "instance", "job", "log", "report", "scene", "workspace")
)
#: Schemes in which only the addresses below a package's own name are free, such as
#: ``ui://studio-panel/…`` for the bundle ``studio-panel``.
_NAMED = frozenset(("skill", "ui"))


@cache
def _shipped() -> frozenset[str]:
    folders = (Path(__file__).parent / "bundled").iterdir()
    return _OWN | {_word(folder.name) for folder in folders if (folder / "SKILL.md").is_file()}


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "_", name.lower())


def is_own_prefix(name: str) -> bool:
    """Return whether tools under ``name`` would look like the server's own."""
    return _word(name).partition("__")[0] in _OWN


def is_shipped_prefix(name: str) -> bool:
    """Return whether tools under ``name`` would look like the server's or a shipped skill's."""
    return _word(name).partition("__")[0] in _shipped()


def is_reserved_uri(uri: str, name: str) -> bool:
    """Return whether a resource's address is reserved and doesn't belong to ``name``."""
    scheme, _, rest = uri.partition(":")
    if scheme.lower() in SCHEMES:
        return True
    authority = rest.lstrip("/").partition("/")[0]
    return scheme.lower() in _NAMED and authority != name
