"""Folders that ``callboard install`` writes into a host's own: noted file by file, so that they can
be renewed and removed without touching anything else."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from callboard.errors import HostError

#: What is written is listed in this file, in the folder itself.
RECEIPT = ".callboard-installed.json"


def place(folder: Path, files: Mapping[str, bytes], *, dry_run: bool) -> list[str]:
    """Makes ``folder`` hold ``files``, names with forward slashes to content. Says what it did, or
    would do; nothing where it is so already. Raises HostError where that would overwrite what
    ``place`` didn't write, before it changes anything."""
    known = _receipt(folder)
    wanted = {name: _digest(data) for name, data in files.items()}
    there = {name: _digest_of(folder / name) for name in {*wanted, *known}}
    foreign = [name for name, found in there.items() if found not in (None, known.get(name))]
    foreign = [name for name in foreign if there[name] != wanted.get(name)]
    if foreign:
        raise HostError(
            f"{folder / sorted(foreign)[0]} was not written by callboard install, or was changed "
            "since; move it away first"
        )
    if there == {**dict.fromkeys(known, None), **wanted} and known == wanted:
        return []
    told = f"{'replace' if known else 'write'} {folder} ({len(wanted)} files)"
    if dry_run:
        return [told]
    for name in set(known).difference(wanted):
        _remove(folder, name)
    # Listed first: what is cut short here can be finished, or removed, by the next run.
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECEIPT).write_text(json.dumps({**known, **wanted}, indent=1), "utf-8")
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / RECEIPT).write_text(json.dumps(wanted, indent=1), "utf-8")
    return [told]


def remove(folder: Path, *, dry_run: bool) -> list[str]:
    """Removes what ``place`` wrote and nobody changed; says what it did, and what it left."""
    known = _receipt(folder)
    if not known:
        return []
    changed = [n for n, digest in known.items() if _digest_of(folder / n) not in (None, digest)]
    told = [f"leave {folder / name}: it was changed" for name in sorted(changed)]
    told.append(f"remove {folder} ({len(known) - len(changed)} files)")
    if not dry_run:
        for name in set(known).difference(changed):
            _remove(folder, name)
        (folder / RECEIPT).unlink()
        _remove_if_empty(folder)
    return told


def is_placed(folder: Path) -> bool:
    """Whether ``place`` wrote there."""
    return bool(_receipt(folder))


def _receipt(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / RECEIPT).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    # Somebody may have written to it: names that lead out of the folder are not ours.
    root = folder.resolve()
    return {
        name: digest
        for name, digest in found.items()
        if isinstance(digest, str) and (root / name).resolve().is_relative_to(root)
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of(path: Path) -> str | None:
    """None where there is nothing; what is no plain file is like nothing we ever wrote."""
    try:
        return _digest(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError:
        return "unreadable"


def _remove(folder: Path, name: str) -> None:
    path = folder / name
    path.unlink(missing_ok=True)
    # Python's own, made of ours.
    caches = path.parent / "__pycache__"
    for cached in caches.glob(f"{path.stem}.*.pyc"):
        cached.unlink()
    for above in (caches, *path.parents):
        if above != caches and not above.is_relative_to(folder):
            break
        _remove_if_empty(above)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        shutil.rmtree(folder)
