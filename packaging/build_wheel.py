"""Our own packages as a wheel, with the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from build_archive import Files, package_files, write_zip

PROJECT = Path(__file__).resolve().parent.parent
ROOTS = ("core", "hosts", "ui")


def version() -> str:
    """Return the project's version in pyproject.toml."""
    stated = re.search(r'(?m)^version = "([^"]+)"', (PROJECT / "pyproject.toml").read_text("utf-8"))
    assert stated is not None
    return stated[1]


def our_files(packages: Sequence[str]) -> Files:
    """Return the files of our packages, from all folders of the project, without the recipes of
    other hosts."""
    files: Files = {}
    for package in packages:
        root = next((r for r in ROOTS if (PROJECT / r / package).is_dir()), ROOTS[0])
        files.update(package_files(PROJECT / root, package))
    hosts = {package.removeprefix("callboard_") for package in packages}
    recipes = re.compile(r".*/docs/recipes_(\w+)\.json")
    return {
        name: data
        for name, data in files.items()
        if not (of := recipes.fullmatch(name)) or of[1] in hosts
    }


def write_wheel(
    folder: Path, inside: Files, about: Files | None = None, *, compress: bool = True
) -> Path:
    """Write the distribution ``callboard`` with these files. ``about`` holds its metadata files.
    Without ``about``, the distribution requires no other distribution."""
    files = dict(inside)
    info = f"callboard-{version()}.dist-info"
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.4\nName: callboard\nVersion: {version()}\n"
        "Summary: An MCP server that lives inside Maya, 3ds Max, Houdini and Blender\n"
        "License-Expression: MIT\nLicense-File: LICENSE\nRequires-Python: >=3.10\n"
    ).encode()
    files.update({f"{info}/{name}": data for name, data in (about or {}).items()})
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: callboard\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info}/licenses/LICENSE"] = (PROJECT / "LICENSE").read_bytes()
    record = [f"{name},{_digest(data)},{len(data)}" for name, data in sorted(files.items())]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    path = folder / f"callboard-{version()}-py3-none-any.whl"
    write_zip(path, files, compress=compress)
    return path


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"
