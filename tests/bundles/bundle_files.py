"""Bundles for the tests, as folders and as archives."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

SKILL = "---\nname: rigging\ndescription: rigs\n---\n"


def manifest(version: str = "1.0.0", **changes: Any) -> str:
    return json.dumps(
        {
            "manifest_version": "0.3",
            "name": "rigging",
            "version": version,
            "description": "Rigs bipeds",
            "author": {"name": "A studio"},
            **changes,
        }
    )


def files(version: str = "1.0.0", **changes: Any) -> dict[str, str]:
    return {
        "manifest.json": manifest(version, **changes),
        "SKILL.md": SKILL,
        "scripts/rig.py": f"VERSION = {version!r}\n",
        "scripts/deep/er/data.txt": "x" * 3000,
    }


def folder(where: Path, version: str = "1.0.0", **changes: Any) -> Path:
    for name, text in files(version, **changes).items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return where


def archive(where: Path, version: str = "1.0.0", **changes: Any) -> Path:
    with zipfile.ZipFile(where, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files(version, **changes).items():
            packed.writestr(name, text)
    return where
