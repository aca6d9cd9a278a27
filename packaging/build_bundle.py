"""Builds the archives for Maya, Houdini and 3ds Max. They are unpacked into a folder that the host
searches. Each contains our own folder and, next to it, a file that leads the host to our folder if
the host needs one.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from build_archive import Files, write_zip
from build_library import check_imports, check_library, library
from build_requirements import PROJECT, BuildError, described
from build_sbom import notices_and_bill
from build_wheel import version

_VERSION = b"@VERSION@"


@dataclass(frozen=True)
class Layout:
    """The locations of a host's files in its archive. Paths have forward slashes."""

    host: str
    #: The adapter's package.
    package: str
    #: Files and folders in the package that the host itself reads, with their archive paths.
    static: Mapping[str, str]
    #: The path of our folder in the archive.
    ours: str
    #: The folder in the archive that the host, or a file that it reads, puts on ``sys.path``.
    library: str
    #: The archive paths outside of ``ours``.
    beside: tuple[str, ...] = ()

    @property
    def packages(self) -> list[str]:
        return ["callboard", self.package, "callboard_qt", "callboard_ui"]


def build_bundle(layout: Layout, out: Path) -> Path:
    """Write the archive into ``out`` and run the checks common to all hosts. Raises BuildError."""
    inside, carried = library(layout.packages)
    apart = tuple({f"{layout.package}/{each.partition('/')[0]}" for each in layout.static})
    files: Files = {
        f"{layout.library}/{name}": data
        for name, data in inside.items()
        if not name.startswith(apart)
    }
    files.update(_static(layout))
    for name, data in notices_and_bill([described(path) for path in carried]):
        files[f"{layout.ours}/{name}"] = data
    path = out / f"callboard-{layout.host}-{version()}.zip"
    write_zip(path, files)
    _check(layout, path)
    return path


def _static(layout: Layout) -> Files:
    files: Files = {}
    root = PROJECT / "hosts" / layout.package
    for source, target in layout.static.items():
        for path in [root / source, *sorted((root / source).rglob("*"))]:
            if path.is_file() and path.suffix != ".pyc":
                below = path.relative_to(root / source).as_posix()
                name = target if below == "." else f"{target}/{below}"
                files[name] = path.read_bytes().replace(_VERSION, version().encode())
    return files


def _check(layout: Layout, path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    within = f"{layout.library}/"
    check_library(
        [name.removeprefix(within) for name in files if name.startswith(within)], layout.packages
    )
    for name, data in files.items():
        if not name.startswith(f"{layout.ours}/") and name not in layout.beside:
            raise BuildError(f"{name} is outside of {layout.ours}")
        if name.endswith(".py"):
            check_imports(name, data)
        if _VERSION in data:
            raise BuildError(f"{name} still has the placeholder instead of its version")
    needed = {*layout.beside, *(f"{within}{package}/__init__.py" for package in layout.packages)}
    if lacking := needed.difference(files):
        raise BuildError(f"{path.name} is missing {', '.join(sorted(lacking))}")
