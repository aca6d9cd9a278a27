"""Writing a file so that a reader sees the old one or the new one, never half of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from callboard.errors import HostError


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yields the name of a file to write, in the same folder and with the same suffix; it takes
    the place of ``path`` when the block ends, and is removed when the block fails."""
    target = Path(path)
    if not target.parent.is_dir():
        raise HostError(f"the folder of '{target.name}' does not exist; create it first")
    if target.is_dir():
        raise HostError(f"'{target.name}' is a folder; give the name of a file")
    written = target.with_name(f".{target.stem}.{token_hex(4)}{target.suffix}")
    try:
        yield str(written)
        if not written.is_file():
            raise HostError(f"'{target.name}' could not be written")
        written.replace(target)
    finally:
        written.unlink(missing_ok=True)
