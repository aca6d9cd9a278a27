"""Names that belong to what ships, whether that is loaded or not: of tools, and of resources."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

#: The server's own tools begin so, and the skills that single applications bring.
_OWN = frozenset(
    (
        *("batch", "farm", "files", "hosts", "instances", "jobs", "skills", "tools", "workflows"),
        *("blender_library", "blender_modelling", "houdini_networks", "max_modifiers"),
        "maya_modelling",
    )
)
#: Schemes of which every address is ours or the machine's.
_SCHEMES = frozenset(("file", "host", "job", "log", "report", "scene"))
#: Schemes of which a name's own addresses are free: ``ui://studio-panel/…`` to that bundle.
_NAMED = frozenset(("skill", "ui"))


@cache
def _shipped() -> frozenset[str]:
    folders = (Path(__file__).parent / "bundled").iterdir()
    return _OWN | {_word(folder.name) for folder in folders if (folder / "SKILL.md").is_file()}


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "_", name.lower())


def is_own_prefix(name: str) -> bool:
    """Whether tools under ``name`` would look like the server's own, which no skill provides."""
    return _word(name).partition("__")[0] in _OWN


def is_shipped_prefix(name: str) -> bool:
    """Whether tools under ``name`` would look like those of the server or of a skill that ships."""
    return _word(name).partition("__")[0] in _shipped()


def is_reserved_uri(uri: str, name: str) -> bool:
    """Whether a resource's address belongs to what ships, and not to whoever is called ``name``."""
    scheme, _, rest = uri.partition(":")
    if scheme.lower() in _SCHEMES:
        return True
    authority = rest.lstrip("/").partition("/")[0]
    return scheme.lower() in _NAMED and authority != name
