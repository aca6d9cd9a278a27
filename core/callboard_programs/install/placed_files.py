"""The files that ``callboard install`` writes into a host's folders. Each file is listed in a
receipt, so that our files can be replaced and removed without touching anything else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from callboard.errors import HostError
from callboard.ground.atomic_write import replacing

#: The file that lists the written files. It is in a folder that contains only our files.
RECEIPT = ".callboard-installed.json"


def place(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    dry_run: bool,
    ours: str = ".",
    beside: str | None = None,
) -> list[str]:
    """Make ``folder`` hold ``files``, which maps names with forward slashes to contents. All files
    except the one named ``beside`` are below ``ours``, a folder that contains nothing else. Return
    a line about the change that was made or, with ``dry_run``, would be made, or no line if nothing
    changes. Raises HostError, before any change, if a file that ``place`` didn't write would be
    overwritten."""
    known = _receipt(folder, ours, beside)
    wanted = {name: _digest(data) for name, data in files.items()}
    there = {name: _digest_of(folder / name) for name in {*wanted, *known}}
    foreign = [name for name, current in there.items() if current not in (None, known.get(name))]
    foreign = [name for name in foreign if there[name] != wanted.get(name)]
    if foreign:
        raise HostError(
            f"{folder / sorted(foreign)[0]} was not written by callboard install, or has been "
            "changed since; move it elsewhere first"
        )
    if there == {**dict.fromkeys(known, None), **wanted} and known == wanted:
        return []
    line = f"{'replace' if known else 'write'} {folder / ours} ({len(wanted)} files)"
    if dry_run:
        return [line]
    # If this is interrupted at any point, the next run can finish or undo the work: a file is
    # listed before it is written, and stays listed until it has been removed.
    for name, digest in known.items():
        if wanted.get(name) != digest:
            _remove(folder, name)
    _write(folder / ours / RECEIPT, json.dumps(wanted, indent=1).encode())
    for name, data in files.items():
        _write(folder / name, data)
    return [line]


def remove(folder: Path, *, dry_run: bool, ours: str = ".", beside: str | None = None) -> list[str]:
    """Remove the files that ``place`` wrote, except those that have been changed since. Return
    lines about the removed files and the remaining ones."""
    known = _receipt(folder, ours, beside)
    if not known:
        return []
    changed = [n for n, digest in known.items() if _digest_of(folder / n) not in (None, digest)]
    lines = [f"leave {folder / name}: it was changed" for name in sorted(changed)]
    lines.append(f"remove {folder / ours} ({len(known) - len(changed)} files)")
    if not dry_run:
        for name in set(known).difference(changed):
            _remove(folder, name)
        (folder / ours / RECEIPT).unlink()
        _remove_if_empty(folder / ours)
    return lines


def is_placed(folder: Path) -> bool:
    """Return whether ``place`` installed ``folder`` itself."""
    return bool(_receipt(folder, ".", None))


def _receipt(folder: Path, ours: str, beside: str | None) -> dict[str, str]:
    try:
        digests = json.loads((folder / ours / RECEIPT).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(digests, dict):
        return {}
    # The list may have been tampered with: names that lead elsewhere are not ours.
    root = (folder / ours).resolve()
    return {
        name: digest
        for name, digest in digests.items()
        if isinstance(digest, str)
        and "\0" not in name
        and (name == beside or (folder / name).resolve().is_relative_to(root))
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of(path: Path) -> str | None:
    """Return a file's digest, or None if the file doesn't exist. If it exists but isn't a readable
    file, return a value that isn't the digest of any file."""
    try:
        return _digest(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError:
        return "unreadable"


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A half-written file would look like one that the user changed.
    with replacing(str(path)) as partial:
        Path(partial).write_bytes(data)


def _remove(folder: Path, name: str) -> None:
    path = folder / name
    path.unlink(missing_ok=True)
    # These are Python's caches of our modules.
    caches = path.parent / "__pycache__"
    for cached in caches.glob(f"{path.stem}.*.pyc"):
        cached.unlink()
    for above in (caches, *path.parents):
        if above != caches and not above.is_relative_to(folder):
            break
        _remove_if_empty(above)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()
