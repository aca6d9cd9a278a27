"""Builds the wheel and the source archive that pip, pipx and uv install, with the same bytes every
time. Both carry the archives that `callboard install` puts into hosts, so nothing else is needed,
not even a source checkout."""

from __future__ import annotations

import gzip
import io
import re
import sys
import tarfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from build_archive import Files, package_files
from build_library import library
from build_requirements import PROJECT, BuildError, described
from build_sbom import NAME as BILL
from build_sbom import notices_and_bill
from build_wheel import ROOTS, write_wheel

#: The wheel's folder for the hosts' archives.
ARCHIVES = "callboard_programs/install/archives"
#: The files in the source archive, other than the packages.
_BESIDE = ("CHANGELOG.md", "LICENSE", "README.md", "constraints.txt", "pyproject.toml")
#: 1980, as in our zips.
_TIME = 315532800
_PICTURE = re.compile(r"\[?<img [^>]*>(?:\]\([^)]*\))?\n*")
_LINK = re.compile(r"\[([^\[\]]+)\]\((?!https?:)([^()\s]+)\)")


def build_wheel(out: Path, archives: Files) -> Path:
    """Build the wheel. ``archives`` maps the files' names to their content. Raises BuildError."""
    project = _project()
    files = {name: data for _, name, data in _shipped(project)}
    files.update({f"{ARCHIVES}/{name}": data for name, data in archives.items()})
    info = {
        "METADATA": metadata(project),
        "entry_points.txt": _entry_points(project),
        "top_level.txt": "".join(f"{name}\n" for name in _packages()).encode(),
    }
    for name, data in papers():
        name = f"sboms/{BILL}" if name == f"licenses/{BILL}" else name
        info[name] = data
    return write_wheel(out, files, info)


def build_source(out: Path, archives: Files) -> Path:
    """Build the archive from which pip builds the same wheel. Raises BuildError."""
    project = _project()
    base = f"callboard-{project['version']}"
    files: Files = {name: (PROJECT / name).read_bytes() for name in _BESIDE}
    files.update({f"{root}/{name}": data for root, name, data in _shipped(project)})
    files.update({f"core/{ARCHIVES}/{name}": data for name, data in archives.items()})
    files["PKG-INFO"] = metadata(project)
    path = out / f"{base}.tar.gz"
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), _TIME, 0o644
            archive.addfile(entry, io.BytesIO(data))
    out.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(whole.getvalue(), 9, mtime=_TIME))
    return path


def papers() -> Iterator[tuple[str, bytes]]:
    """Return the licenses, and the bill of materials of the packages in the archives. Raises
    BuildError."""
    _, carried = library(())  # All archives carry the same packages.
    return notices_and_bill([described(path) for path in carried])


def metadata(project: dict[str, Any]) -> bytes:
    """Return pyproject.toml's metadata in the form that installers read."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"Classifier: {each}" for each in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
        *(f"License-File: {name}" for name in project["license-files"]),
        *(f"Requires-Dist: {Requirement(each)}" for each in project["dependencies"]),
    ]
    for extra, wanted in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {_of_extra(each, extra)}" for each in wanted]
    readme: str = (PROJECT / project["readme"]).read_text("utf-8")
    return ("\n".join(lines) + "\n\n" + without_links(readme)).encode()


def without_links(readme: str) -> str:
    """Return the page in a form that a package index can show on its own: a link to another of our
    pages becomes that page's path, and pictures are left out."""
    return _LINK.sub(
        lambda link: link[1] if link[1] == link[2] else f"{link[1]} ({link[2]})",
        _PICTURE.sub("", readme),
    )


def _of_extra(wanted: str, extra: str) -> str:
    bare, _, marker = wanted.partition(";")
    marker = f'({marker.strip()}) and extra == "{extra}"' if marker else f'extra == "{extra}"'
    return str(Requirement(f"{bare} ; {marker}"))


def _entry_points(project: dict[str, Any]) -> bytes:
    lines = [f"{name} = {target}" for name, target in project["scripts"].items()]
    return ("\n".join(["[console_scripts]", *lines]) + "\n").encode()


def _shipped(project: dict[str, Any]) -> Iterator[tuple[str, str, bytes]]:
    """Yield the root, name and content of each file that pyproject.toml puts into the packages."""
    listed = project["package-data"]
    for root in ROOTS:
        for package in _packages(root):
            there = package_files(PROJECT / root, package)
            chosen = {
                path.relative_to(PROJECT / root).as_posix()
                for pattern in listed.get(package, ())
                for path in (PROJECT / root / package).glob(pattern)
            }
            for name, data in there.items():
                folders = name.split("/")[:-1]
                modules = all(
                    "/".join([*folders[:depth], "__init__.py"]) in there
                    for depth in range(1, len(folders) + 1)
                )
                ours = name.endswith(".py") or name.rpartition("/")[2] in listed["*"]
                if name in chosen or (modules and ours):
                    yield root, name, data


def _packages(*roots: str) -> list[str]:
    return sorted(
        path.parent.name
        for root in roots or ROOTS
        for path in (PROJECT / root).glob("callboard*/__init__.py")
    )


def _project() -> dict[str, Any]:
    if sys.version_info < (3, 11):
        raise BuildError("building the wheel needs Python 3.11 or later")
    whole = import_module("tomllib").loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    return {**whole["project"], "package-data": whole["tool"]["setuptools"]["package-data"]}
