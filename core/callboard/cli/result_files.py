"""The pictures, sounds and files of a tool's result, as files."""

from __future__ import annotations

import base64
import mimetypes
import os
import sys
from pathlib import Path
from typing import NamedTuple

from callboard.cli.plain_text import plain
from callboard.content import Json
from callboard.errors import PeerError, SkillError
from callboard.transport.client.tool_call import not_text

_KINDS = {"image": "a picture", "audio": "a sound", "resource": "a file"}


class ResultFile(NamedTuple):
    """``kind`` is how it is called. ``holder`` is the part of the result that has its bytes."""

    kind: str
    data: bytes
    suffix: str
    holder: Json


def files_in(result: Json) -> list[ResultFile]:
    """What of a ``tools/call`` result isn't text. Raises SkillError for what can't be read."""
    return [_file(block) for block in not_text(result.get("content", ()))]


def require_place(out: str) -> None:
    """Makes the folder that ``out`` ends with. Raises PeerError for a file in a folder that isn't
    there, OSError."""
    path = Path(out)
    if out.endswith(("/", os.sep)):
        path.mkdir(parents=True, exist_ok=True)
    elif not path.parent.is_dir():
        raise PeerError(f"--out {out}: there is no folder {path.parent}; make it first")


def keep(files: list[ResultFile], out: str, name: str) -> None:
    """Writes them: into the folder ``out``, called by ``name``, beside what is there; else over
    that file, and each further one with a number. The result holds their paths instead of their
    bytes, and stderr tells them. Raises OSError."""
    path = Path(out)
    for index, file in enumerate(files):
        if path.is_dir():
            written = keep_beside(path, name, file)
        else:
            written = path.with_name(f"{path.stem}-{index + 1}{path.suffix}") if index else path
            written.write_bytes(file.data)
            _point(file, written)
        print(plain(f"callboard: {file.kind} is in {written}"), file=sys.stderr)


def keep_beside(folder: Path, name: str, file: ResultFile) -> Path:
    """Writes it into the folder, beside what is there. The result holds its path, which is
    returned, instead of its bytes. Any thread. Raises OSError."""
    written = _beside(folder, name, file)
    _point(file, written)
    return written


def _point(file: ResultFile, written: Path) -> None:
    for key in ("data", "blob", "text"):
        file.holder.pop(key, None)
    file.holder["file"] = str(written)


def _file(block: Json) -> ResultFile:
    holder = block["resource"] if block["type"] == "resource" else block
    kind = str(holder.get("mimeType", "application/octet-stream"))
    suffix = mimetypes.guess_extension(kind) or ".bin"
    told = f"{_KINDS[block['type']]} ({kind})"
    if "text" in holder:
        return ResultFile(told, holder["text"].encode("utf-8", "replace"), suffix, holder)
    try:
        data = base64.b64decode(holder.get("data") or holder["blob"], validate=True)
    except (KeyError, TypeError, ValueError) as error:
        raise SkillError(f"the tool answered with {told} that is broken: {error}") from None
    return ResultFile(told, data, suffix, holder)


def _beside(folder: Path, name: str, file: ResultFile) -> Path:
    number = 1
    while True:
        path = folder / f"{name}{f'-{number}' if number > 1 else ''}{file.suffix}"
        try:
            with path.open("xb") as new:
                new.write(file.data)
        except FileExistsError:
            number += 1
        else:
            return path
