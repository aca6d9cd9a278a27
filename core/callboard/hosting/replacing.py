"""Writing a file so that a reader sees the old one or the new one, never half of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE

from callboard.errors import HostError


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yields the name of a file to write, in the same folder and with the same suffix; it takes
    the place of ``path`` when the block ends, and is removed when the block fails. A symbolic link
    stays one: what it points at is replaced. A file that was there keeps its mode, and one that
    nobody may write is refused."""
    target = Path(path)
    if target.is_symlink():
        target = _pointed_at(target)
    if not target.parent.is_dir():
        raise HostError(f"the folder of '{target.name}' does not exist; create it first")
    if target.is_dir():
        raise HostError(f"'{target.name}' is a folder; give the name of a file")
    mode = S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None and not mode & 0o222:
        raise HostError(
            f"'{target.name}' is read-only, so it was left as it is; write to another name, or make"
            " it writable first"
        )
    written = target.with_name(f".{target.stem}.{token_hex(4)}{target.suffix}")
    try:
        yield str(written)
        if not written.is_file():
            raise HostError(f"'{target.name}' could not be written")
        if mode is not None:
            written.chmod(mode)
        written.replace(target)
    finally:
        written.unlink(missing_ok=True)


def _pointed_at(link: Path) -> Path:
    try:
        target = link.resolve()
    except (OSError, RuntimeError):  # a loop, before Python 3.13
        target = link
    if target.is_symlink():
        raise HostError(f"'{link.name}' is a symbolic link that leads back to itself")
    return target
