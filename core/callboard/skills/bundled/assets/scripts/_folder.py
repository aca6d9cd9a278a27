"""Finds the assets in one of the studio's folders, by their ``asset.json`` or by their files'
names. Use it from any thread."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from callboard.errors import HostError

from ._asset import HDRIS, MANIFEST, MAPS, MODELS, PICTURES, PREVIEWS, Asset, plain, read_manifest

#: Maximum number of files and folder levels that are searched, and maximum number of problems that
#: are reported.
_MOST_FILES, _DEEPEST, _MOST_PROBLEMS = 50_000, 10, 20
_WORDS = {word: name for name, words in MAPS.items() for word in words}
_MAP = re.compile(
    rf"(?:(.*)[_. -])?({'|'.join(sorted(_WORDS, key=len, reverse=True))})(?:[_. -]\d+k)?",
    re.IGNORECASE,
)
_RESOLUTION = re.compile(r"[_. -]\d+k(?:[_. -](?:jpg|png|exr|tif|hdr))?$", re.IGNORECASE)


def library(folder: str | None, roots: Any) -> Path:
    """Return the given folder, or ``assets`` in the first root. Raises HostError."""
    if folder is None and (roots is None or roots.first is None):
        raise HostError("there is no workspace root; give the folder of your assets in 'folder'")
    path = Path(roots.resolve("workspace://assets") if folder is None else folder)
    if not path.is_dir():
        raise HostError(
            f"there is no folder '{path.name}'; give the folder of your assets in 'folder'"
        )
    return path


def assets_in(folder: Path) -> tuple[list[Asset], list[str]]:
    """Return all assets, sorted by id, and the problems of those that can't be offered."""
    assets: dict[str, Asset] = {}
    problems: list[str] = []
    for where, names in _folders(folder, problems):
        above = where.relative_to(folder).as_posix().removeprefix(".")
        try:
            assets.update((one.id, one) for one in _assets_of(where, names, above))
        except HostError as error:
            problems.append(str(error))
    return [assets[id] for id in sorted(assets)], problems[:_MOST_PROBLEMS]


def asset(folder: Path, id: str) -> Asset:
    """Return one asset, reading only the folders that its id names. Raises HostError, which names
    similar ids."""
    near: list[str] = []
    *above, last = id.split("/")
    for parts in ([*above, last], above):
        if not all(map(plain, parts)):
            continue
        where = folder.joinpath(*parts)
        # A link in the path may lead out of the library.
        straight = where.resolve() == folder.resolve().joinpath(*parts)
        if not (straight and where.is_dir()):
            continue
        files = (path for path in where.iterdir() if plain(path.name) and path.is_file())
        names = sorted(path.name for path in files if _is_own(path))
        for one in _assets_of(where, names, "/".join(parts)):
            if one.id == id:
                return one
            near.append(one.id)
    from callboard.host import nearest_names
    from callboard.skill import names_hint

    hint = names_hint(id, nearest_names(id, near))
    raise HostError(f"no asset '{id}' in that folder{hint}. List them with assets__search.")


def _assets_of(where: Path, names: list[str], above: str) -> Iterable[Asset]:
    """Return the assets in one folder, whose path below the library is ``above``."""
    if MANIFEST in names:
        return [read_manifest(where / MANIFEST, above or where.name)]
    return _sizes_by_name(where, names, above)


def _folders(folder: Path, problems: list[str]) -> Iterator[tuple[Path, list[str]]]:
    """Yield each folder with its files. Links to folders aren't followed, and nothing below a
    folder with an ``asset.json`` is searched."""
    left = _MOST_FILES
    for where, folders, files in os.walk(folder):
        path = Path(where)
        deep = len(path.relative_to(folder).parts)
        odd = [name for name in (*folders, *files) if not name.startswith(".") and not plain(name)]
        problems += [
            f"rename '{name}': some applications treat its characters specially" for name in odd[:3]
        ]
        names = sorted(name for name in files if plain(name) and _is_own(path / name))
        left -= len(files)
        if left < 0:
            problems.append(f"more than {_MOST_FILES} files; give a folder further down")
            return
        ends = MANIFEST in names or deep >= _DEEPEST
        folders[:] = [] if ends else sorted(name for name in folders if plain(name))
        yield path, names


def _is_own(path: Path) -> bool:
    """Return False for a link that leads out of its folder. An ``asset.json`` is always accepted,
    because the code that reads it checks its link and reports the problem."""
    if path.name == MANIFEST or not path.is_symlink():
        return True
    try:
        return path.resolve().is_relative_to(path.parent.resolve())
    except OSError:  # These may be another user's files, such as those in /proc.
        return False


def _sizes_by_name(where: Path, names: list[str], above: str) -> Iterator[Asset]:
    by_suffix = {name: Path(name).suffix.lower() for name in names}
    models = [name for name in names if by_suffix[name] in MODELS]
    # The parent folder counts only if it is inside the library.
    sets = {} if models or (above and _holds_models(where.parent)) else _sets(names)
    used = {name for maps in sets.values() for name in maps.values()}
    previews = _previews(name for name in names if name not in used)
    hdris = [name for name in names if by_suffix[name] in HDRIS and name not in used]
    for kind, files in (("model", models), ("hdri", [] if models else hdris)):
        for name in files:
            id = f"{above}/{name}" if above else name
            preview = _preview(name, previews)
            stem = _RESOLUTION.sub("", Path(name).stem)
            yield Asset(id, stem, kind, "folder", where, {kind: name}, preview=preview)
    for prefix, maps in sets.items():
        stem = prefix or where.name
        id = f"{above}/{stem}" if above else stem
        preview = _preview(stem, previews)
        color = maps.get("color")
        if preview is None and color and by_suffix[color] in PREVIEWS:
            preview = color
        yield Asset(id, stem, "textures", "folder", where, maps, preview=preview)


def _sets(names: list[str]) -> dict[str, dict[str, str]]:
    """Return sets of maps by the common start of their names. A single picture isn't a set."""
    sets: dict[str, dict[str, str]] = {}
    for name in names:
        path = Path(name)
        match = _MAP.fullmatch(path.stem) if path.suffix.lower() in PICTURES else None
        if match is not None:
            prefix = _RESOLUTION.sub("", match[1] or "")
            sets.setdefault(prefix, {}).setdefault(_WORDS[match[2].lower()], name)
    return {prefix: maps for prefix, maps in sets.items() if len(maps) > 1}


def _holds_models(folder: Path) -> bool:
    try:
        return any(path.suffix.lower() in MODELS for path in folder.iterdir())
    except OSError:
        return False


def _previews(names: Iterable[str]) -> dict[str, str]:
    """Return pictures that may be previews, by their names without a suffix."""
    by_stem: dict[str, str] = {}
    for name in names:
        path = Path(name)
        if path.suffix.lower() in PREVIEWS:
            by_stem.setdefault(path.stem.lower(), name)
    return by_stem


def _preview(name: str, previews: Mapping[str, str]) -> str | None:
    """Return the asset's own preview, or else the folder's."""
    stem = _RESOLUTION.sub("", Path(name).stem if Path(name).suffix else name).lower()
    wanted = (stem, f"{stem}_preview", f"{stem}_thumb", "preview", "thumbnail")
    return next((previews[each] for each in wanted if each in previews), None)
