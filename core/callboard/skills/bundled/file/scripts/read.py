"""Tools that explain a file. They change nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import in_slices, outside

from ._purpose import purpose

#: Seconds after which a slice of the main thread ends. The time until the next pause is added to
#: this, and the sum should stay below five milliseconds.
SLICE = 0.003
#: Maximum number of users listed for a file, of backups listed, and of files reported as heavy.
_MOST_USERS, _MOST_BACKUPS, _MOST_HEAVY = 10, 20, 10
#: Maximum number of users listed for each file that has the name asked for.
_MOST_WITH_NAME = 5000
#: Suffixes of pictures whose first bytes are checked, and the bytes with which pictures begin.
_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".exr", ".hdr", ".bmp", ".webp", ".gif")
_STARTS = (
    *(b"\x89PNG", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"v/1\x01", b"#?"),
    *(b"BM", b"RIFF", b"GIF8", b"8BPS", b"DDS ", b"SDPX", b"XPDS", b"\0\0\0\x0cjP", b"\x01\xda"),
)
#: Kinds of files that are composed into the scene.
_COMPOSED = ("library", "sublayer", "reference", "payload")
#: Maximum number of entries in a tree, and maximum number of files in a folder that are checked for
#: backups.
_MOST_IN_TREE, _MOST_BESIDE = 500, 10_000


def overview(ctx: Any, path: str | None = None) -> Generator[None, None, Json]:
    port = ctx.port("file")
    facts = yield from in_slices(port.overview(path), SLICE)
    references = yield from in_slices(port.references(path), SLICE)
    stated = list(zip(references, _states(references), strict=True))
    heavy = {
        each.place: size
        for each, state in stated
        if state == "found" and each.kind not in _COMPOSED and (size := _bytes(each.place))
    }
    textures = len({each.place for each in references if each.kind == "image"})
    largest = sorted(heavy, key=lambda place: -heavy[place])[:_MOST_HEAVY]
    return {
        **facts,
        "heaviest_files": [{"path": place, "bytes": heavy[place]} for place in largest],
        "missing": len({each.place for each, state in stated if state == "missing"}),
        "purpose": purpose({**facts["kinds"], "textures": textures}),
    }


def references(
    ctx: Any,
    path: str | None = None,
    only: str | None = None,
    name: str | None = None,
    limit: int = 200,
) -> Generator[None, None, Json]:
    named = yield from in_slices(ctx.port("file").references(path), SLICE)
    return (yield from in_slices(_described(named, only, name, limit), SLICE))


def _described(
    named: Sequence[Any], only: str | None, name: str | None, limit: int
) -> Generator[None, None, Json]:
    most = _MOST_USERS if name is None else _MOST_WITH_NAME
    files = [_file(each, state, most) for each, state in zip(named, _states(named), strict=True)]
    totals = Counter(each["state"] for each in files)
    totals["absolute"] = sum(each["absolute"] for each in files)
    shown = [
        (each, file)
        for each, file in zip(named, files, strict=True)
        if (only is None or file["state"] == only or (only == "absolute" and file["absolute"]))
        and (name is None or any(name.lower() in one.lower() for one in (each.path, each.name)))
    ]
    if name is not None and not shown:
        raise WrongArgument(
            f"it names no {only + ' ' if only else ''}file with '{name}' in its path or name"
        )
    for each, file in shown[:limit]:
        yield
        if why := each.unreadable or (file["state"] == "found" and _why_no_picture(each)):
            file["unreadable"] = why
    answer: Json = {
        "files": [file for _, file in shown[:limit]],
        "totals": {"files": len(files), **{key: n for key, n in sorted(totals.items()) if n}},
        "tree": _tree(named, files),
    }
    return {**answer, "more": len(shown) - limit} if len(shown) > limit else answer


def history(ctx: Any, path: str | None = None) -> Json:
    info = ctx.port("scene.read").info()
    is_open = path is None or bool(info["file"] and Path(path) == Path(info["file"]))
    named = info["file"] if path is None else path
    file = Path(named) if named else None
    if path is not None and not Path(path).is_file():
        raise WrongArgument(f"there is no file '{path}'")
    answer: Json = {"file": named, "modified": is_open and info["modified"]}
    answer.update(_times(file) if file else {})
    answer["backups"] = _listed(_beside(file) if file else ())
    answer["autosaves"] = _listed(ctx.port("file").autosaves()) if is_open else []
    return answer


def _states(references: Sequence[Any]) -> list[str]:
    """Return each file's state. A file that the call isn't allowed to read always has the state
    ``outside``."""
    leaving = set(outside(each.place for each in references if each.state != "packed"))
    return ["outside" if each.place in leaving else each.state for each in references]


def _file(each: Any, state: str, most: int) -> Json:
    entry: Json = {"path": each.path, "kind": each.kind, "state": state, "absolute": each.absolute}
    entry["used_by"] = list(each.users[:most])
    entry["users"] = len(each.users)
    if each.name:
        entry["name"] = each.name
    if each.connected is not None:
        entry["connected"] = each.connected
    if each.unconnected_in:
        entry["unconnected_in"] = list(each.unconnected_in[:most])
    if each.objects:
        entry["objects"] = list(each.objects[:most])
        entry["object_count"] = len(each.objects)
    return {**entry, "named_in": each.named_in} if each.named_in else entry


def _why_no_picture(each: Any) -> str | None:
    """Return why the image's file can't be a picture, judged by its first bytes, or None."""
    if each.kind != "image" or Path(each.place).suffix.lower() not in _SUFFIXES:
        return None
    try:
        with Path(each.place).open("rb") as file:
            head = file.read(12)
    except OSError:  # The path may stand for several files, such as tiles.
        return None
    if not head:
        return "the file is empty"
    return None if head.startswith(_STARTS) else "the file doesn't begin like a picture"


def _tree(references: Sequence[Any], files: Sequence[Json]) -> list[Json]:
    """Return the composed files as a tree, in which each file is below the one that refers to it.
    If a file occurs several times, only its first occurrence has files below it."""
    below: dict[str, list[Json]] = {}
    opened: set[str] = set()
    pairs = [pair for pair in zip(references, files, strict=True) if pair[0].kind in _COMPOSED]
    for each, file in islice(pairs, _MOST_IN_TREE):
        entry: Json = {key: file[key] for key in ("path", "kind", "state")}
        below.setdefault(each.named_in, []).append(entry)
        if each.place not in opened:
            opened.add(each.place)
            entry["below"] = below.setdefault(each.place, [])
    return below.get("", [])


def _bytes(place: str) -> int:
    try:
        return Path(place).stat().st_size
    except OSError:
        return 0


def _times(file: Path) -> Json:
    try:
        stat = file.stat()
    except OSError:
        return {}
    saved = datetime.fromtimestamp(stat.st_mtime, timezone.utc)
    age = (datetime.now(timezone.utc) - saved).total_seconds() / 3600
    return {
        "saved": saved.isoformat(timespec="seconds"),
        "age_hours": round(age, 2),
        "bytes": stat.st_size,
    }


def _listed(places: Iterable[str]) -> list[Json]:
    readable = list(places)
    leaving = set(outside(readable))
    entries = [
        {"path": place, **times}
        for place in readable
        if place not in leaving and (times := _times(Path(place)))
    ]
    return sorted(entries, key=lambda entry: entry["age_hours"])[:_MOST_BACKUPS]


def _beside(file: Path) -> list[str]:
    """Return the file's backups (``shot.blend1``, ``shot.usda.bak``, ``shot.usda~``) and other
    numbered versions (``shot_v012``) in the same folder."""
    stem = re.sub(r"[._-]?v?\d+$", "", file.stem, flags=re.I)
    version = re.compile(rf"{re.escape(stem)}[._-]?v?\d*{re.escape(file.suffix)}", re.I)
    backup = re.compile(rf"{re.escape(file.name)}(\d+|~|\.bak|\.orig|\.old)", re.I)
    try:
        names = [each.name for each in islice(file.parent.iterdir(), _MOST_BESIDE)]
    except OSError:
        return []
    fitting = (n for n in names if n != file.name and (backup.fullmatch(n) or version.fullmatch(n)))
    return [str(file.parent / name) for name in fitting]
