"""Saves the pictures, sounds and files in a tool's result to disk."""

from __future__ import annotations

import base64
import mimetypes
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from callboard.content import Json
from callboard.errors import HostError, PeerError, SkillError
from callboard.ground.atomic_write import replacing_bytes
from callboard.ground.plain_text import plain
from callboard_programs.client.tool_call import not_text

_KINDS = {"image": "a picture", "audio": "a sound", "resource": "a file"}


class ResultFile(NamedTuple):
    """One file of a result. ``kind`` is its human-readable kind. ``holder`` is the part of the
    result that holds the file's bytes."""

    kind: str
    data: bytes
    suffix: str
    holder: Json


def files_in(result: Json) -> list[ResultFile]:
    """Return the pictures, sounds and files in a ``tools/call`` result. Raises SkillError if one of
    them can't be decoded."""
    return [_file(block) for block in not_text(result.get("content", ()))]


def require_place(out: str) -> None:
    """Make the folder ``out`` if it ends with a slash. Raises PeerError if ``out`` is a file whose
    folder doesn't exist, or if a folder can't be made or written to."""
    path = Path(out)
    if out.endswith(("/", os.sep)):
        require_folder(out, path)
        return
    if not path.parent.is_dir():
        raise PeerError(f"--out {out}: there is no folder {path.parent}; make it first")
    with suppress(OSError):  # A name that is too long fails later, when the answer is saved.
        if path.is_dir() or not path.exists():
            _require_writable(out, path if path.is_dir() else path.parent)


def require_folder(out: str, folder: Path) -> None:
    """Make the folder that ``--out`` names. Raises PeerError if it can't be made or written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise PeerError(
            f"--out {out}: the folder can't be created: {why}; choose another one"
        ) from None
    _require_writable(out, folder)


def _require_writable(out: str, folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PeerError(f"--out {out}: files can't be created in {folder}; choose another folder")


def keep(files: list[ResultFile], out: str, name: str) -> None:
    """Write the files. If ``out`` is a folder, the files are named after ``name`` and overwrite
    nothing. Otherwise the first file overwrites ``out``, and a number is added to the name of each
    later file. In the result, the paths replace the bytes. The paths are also printed on stderr.
    Raises HostError."""
    path = Path(out)
    try:
        kept = keep_beside(path, name, files) if path.is_dir() else _keep_over(path, files)
        for file, written in zip(files, kept, strict=True):
            print(plain(f"callboard: {file.kind} is in {written}"), file=sys.stderr)
    except OSError as error:
        raise unkept(out, error) from None


def unkept(out: object, error: OSError) -> HostError:
    """Return the error for a finished tool whose answer can't be saved."""
    why = error.strerror or type(error).__name__
    return HostError(f"the tool has finished, but its answer can't be saved in {out}: {why}")


def keep_beside(folder: Path, name: str, files: list[ResultFile]) -> Iterator[Path]:
    """Write each file into the folder without overwriting any, and yield its path. In the result,
    the paths replace the bytes. Call it from any thread. If a file can't be written, no part of it
    is left. Raises OSError."""
    numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
    for file in files:
        written = _beside(folder, name, file, numbers[file.suffix])
        _point(file, written)
        yield written


def _keep_over(path: Path, files: list[ResultFile]) -> Iterator[Path]:
    for index, file in enumerate(files):
        written = path.with_name(f"{path.stem}-{index + 1}{path.suffix}") if index else path
        if written.exists() and not written.is_file():  # This is a device or a pipe.
            written.write_bytes(file.data)
        else:
            with replacing_bytes(str(written)) as new:
                new.write(file.data)
        _point(file, written)
        yield written


def _point(file: ResultFile, written: Path) -> None:
    for key in ("data", "blob", "text"):
        file.holder.pop(key, None)
    file.holder["file"] = str(written)


def _file(block: Json) -> ResultFile:
    holder = block.get("resource") if block["type"] == "resource" else block
    if not isinstance(holder, dict):
        raise SkillError("the tool's answer contains a file that is broken: it is empty")
    kind = str(holder.get("mimeType", "application/octet-stream"))
    suffix = mimetypes.guess_extension(kind) or ".bin"
    reported = f"{_KINDS[block['type']]} ({kind})"
    if isinstance(text := holder.get("text"), str):
        return ResultFile(reported, text.encode("utf-8", "replace"), suffix, holder)
    try:
        encoded = holder.get("data") or holder.get("blob")
        if not isinstance(encoded, str):
            raise ValueError("it is empty")
        data = base64.b64decode(encoded, validate=True)
    except ValueError as error:
        raise SkillError(f"the tool's answer contains {reported} that is broken: {error}") from None
    return ResultFile(reported, data, suffix, holder)


def _beside(folder: Path, name: str, file: ResultFile, numbers: Iterator[int]) -> Path:
    while True:
        number = next(numbers)
        path = folder / f"{name}{f'-{number}' if number > 1 else ''}{file.suffix}"
        try:
            new = path.open("xb")
        except FileExistsError:
            continue
        try:
            with new:
                new.write(file.data)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path
