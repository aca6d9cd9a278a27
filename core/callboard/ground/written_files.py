"""Moves files that an application wrote into one of our folders to the requested location."""

from __future__ import annotations

import filecmp
import shutil
from contextlib import ExitStack
from pathlib import Path

from callboard.errors import HostError
from callboard.ground.atomic_write import replacing_bytes

#: Suffixes of files that belong to the requested file, and are replaced with it.
_PARTS = (".mtl", ".bin")


def put_in_place(written: Path, path: str) -> list[str]:
    """Move the file to ``path``, and the files next to it into the same folder. The requested file
    is replaced last, and is the first in the result. Except for .mtl and .bin, a neighboring file
    with different content is never replaced. Raises HostError, if possible before anything is
    written."""
    target = Path(path)
    others = sorted(each for each in written.parent.iterdir() if each != written)
    moved = {each: target.parent / each.name for each in others if each.is_file()}
    for source, place in moved.items():
        if place.is_symlink():
            raise HostError(f"'{place.name}' in that folder is a link; export to another folder")
        if place.suffix.lower() in _PARTS or not place.exists():
            continue
        if not (place.is_file() and filecmp.cmp(source, place, shallow=False)):
            raise HostError(
                f"'{place.name}' already exists with other content, which would be replaced;"
                " export to another folder"
            )
    with ExitStack() as written_whole:
        # All files are written before any is renamed. The requested file is entered first, so it is
        # renamed last.
        for source, place in {written: target, **moved}.items():
            file = written_whole.enter_context(replacing_bytes(str(place)))
            with source.open("rb") as stream:
                shutil.copyfileobj(stream, file, 2**20)
    return [path, *map(str, moved.values())]
