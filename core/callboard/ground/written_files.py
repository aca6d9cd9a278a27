"""What an application wrote in a folder of our own is put where it was asked for."""

from __future__ import annotations

import base64
import filecmp
import json
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from callboard.errors import HostError
from callboard.ground.atomic_write import replacing_bytes

#: What belongs to the file that is asked for, and is replaced with it.
_PARTS = (".mtl", ".bin")


def put_in_place(written: Path, path: str) -> list[str]:
    """Moves the file to ``path``, and what lies beside it into the same folder; the asked one is
    the last to be replaced, and the first of the answer. A picture that is there with other content
    is nobody's to replace. Raises HostError before anything is written where that can be known."""
    target = Path(path)
    others = sorted(each for each in written.parent.iterdir() if each != written)
    moved = {each: target.parent / each.name for each in others if each.is_file()}
    for source, place in moved.items():
        if place.is_symlink():
            raise HostError(f"'{place.name}' beside it is a link; export to another folder")
        if place.suffix.lower() in _PARTS or not place.exists():
            continue
        if not (place.is_file() and filecmp.cmp(source, place, shallow=False)):
            raise HostError(
                f"'{place.name}' is there already with other content, and would be replaced;"
                " export to another folder"
            )
    with ExitStack() as written_whole:
        # Each takes its place when all are written, the asked one, the first here, as the last.
        for source, place in {written: target, **moved}.items():
            file = written_whole.enter_context(replacing_bytes(str(place)))
            with source.open("rb") as stream:
                shutil.copyfileobj(stream, file, 2**20)
    return [path, *map(str, moved.values())]


def embedded(described: dict[str, Any], binary: bytes) -> bytes:
    """A .gltf that needs no file beside it."""
    if binary:
        data = base64.b64encode(binary).decode("ascii")
        described["buffers"][0]["uri"] = f"data:application/octet-stream;base64,{data}"
    return json.dumps(described, separators=(",", ":")).encode()
