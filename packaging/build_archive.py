"""Writes archives with the same bytes every time: sorted names, one date, one mode, no owner."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

#: The earliest date that a zip can store.
_DATE = (1980, 1, 1, 0, 0, 0)
#: Files that are already compressed.
_COMPRESSED = (".png",)

Files = dict[str, bytes]


def write_zip(path: Path, files: Mapping[str, bytes], *, compress: bool = True) -> None:
    """Write all of ``files`` or nothing. ``files`` maps names with forward slashes to contents."""
    # Two commands may build the archive at the same time, so each writes a separate file.
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(partial, "w") as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            stored = not compress or name.endswith(_COMPRESSED)
            info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            archive.writestr(info, files[name], compresslevel=9)
    partial.replace(path)


def package_files(root: Path, package: str) -> Files:
    """Return the shipped files of one of our packages: all except caches and hidden files."""
    files: Files = {}
    for path in sorted((root / package).rglob("*")):
        parts = path.relative_to(root).parts
        hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not hidden and path.suffix not in (".pyc", ".pyo"):
            files["/".join(parts)] = path.read_bytes()
    if not files:
        raise FileNotFoundError(f"there is no package {package} in {root}")
    return files
