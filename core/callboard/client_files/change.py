"""The planned change to a client's file, to be shown before it is written."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from callboard.client_files import json_text, toml_text, yaml_text
from callboard.client_files.known import NAME, ClientFormat
from callboard.errors import PeerError
from callboard.ground.atomic_write import replacing_bytes
from callboard.ground.private_file import write_private

#: Maximum number of bytes in a client's file. Claude Code keeps much other data in its file.
_MOST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Change:
    """The current and the planned content of a client's file."""

    path: Path
    before: str
    after: str
    #: True when the file will hold a token, so that no other user may read it.
    secret: bool = False

    @property
    def difference(self) -> list[str]:
        """The lines of a unified diff."""
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        return list(difflib.unified_diff(before, after, str(self.path), str(self.path)))

    def write(self) -> None:
        """Replace the file atomically. A link stays a link. Raises OSError or HostError."""
        if not self.path.exists():
            # Only the user can read a new file, with or without a token.
            write_private(self.path, self.after)
            return
        if self.secret:
            self.path.chmod(0o600)
        with replacing_bytes(str(self.path)) as file:
            file.write(self.after.encode("utf-8"))


def planned(known: ClientFormat, path: Path, entry: Mapping[str, Any]) -> Change:
    """Return the change that puts the entry into the client's file. Nothing is written yet. Raises
    PeerError for a file that isn't in its client's format, and OSError for a file that can't be
    read."""
    secret = known.headers in entry
    before = _read(path)
    return Change(path, before, _edited(known, path, before, entry), secret)


def without(known: ClientFormat, path: Path) -> Change:
    """Return the change that removes our entry. Raises the same errors as :func:`planned`."""
    before = _read(path)
    return Change(path, before, _edited(known, path, before, None))


def _read(path: Path) -> str:
    if path.exists() and not path.is_file():  # Reading a pipe would block.
        raise PeerError(f"{path} is not a file; move it away, or add the entry by hand")
    if path.is_symlink() and not path.exists():
        raise PeerError(f"{path} is a broken link; fix it, or add the entry by hand")
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return ""
    if len(data) > _MOST_BYTES:
        raise PeerError(f"{path} is too large for a client's settings; add the entry by hand")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise PeerError(f"{path} is not UTF-8; add the entry by hand") from None


def _edited(known: ClientFormat, path: Path, before: str, entry: Mapping[str, Any] | None) -> str:
    after: str
    parsed, *ways = _editing(known.syntax)
    try:
        settings = parsed(before)
    except ValueError as error:
        kind = known.syntax.upper()
        raise PeerError(
            f"{path} is not the {kind} that {known.title} reads ({error}), so it was left as it "
            "is; fix it, or add the entry by hand"
        ) from None
    shape = isinstance(settings, dict) and isinstance(settings.get(known.key) or {}, dict)
    if not shape:
        raise PeerError(f"{path} doesn't have the expected structure; add the entry by hand")
    servers = settings.get(known.key) or {}
    if entry is None:
        if NAME not in servers:
            return before
        servers = {name: each for name, each in servers.items() if name != NAME}
    else:
        servers = {**servers, NAME: dict(entry)}
    wanted = {**settings, known.key: servers}
    if wanted == settings:
        return before
    # Whatever the edit did, the text is written only if it parses to exactly these settings.
    for with_entry, without_entry in ways:
        try:
            if entry is None:
                after = without_entry(before, known.key, NAME)
            else:
                after = with_entry(before, known.key, NAME, entry)
            if _bare(parsed(after), known.key) == _bare(wanted, known.key):
                return after
        except Exception:
            # This way of editing can't do it, or its library isn't installed.
            continue
    raise PeerError(
        f"the entry in {path} can't be changed without changing other parts; add or "
        "remove it by hand"
    )


def _bare(settings: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the settings without an empty member for servers, because leaving it out means the
    same."""
    return settings if settings.get(key) else {k: v for k, v in settings.items() if k != key}


def _editing(syntax: str) -> tuple[Any, ...]:
    """Return the function that parses a text, and pairs of functions that put an entry into it and
    take it out. The first pair that succeeds is used."""
    if syntax == "toml":
        anyhow = toml_text.rewritten, partial(toml_text.rewritten, entry=None)
        return toml_text.parsed, (toml_text.with_entry, toml_text.without_entry), anyhow
    if syntax == "yaml":
        return yaml_text.parsed, (yaml_text.with_entry, yaml_text.without_entry)
    way = partial(partial, comments=syntax == "jsonc")
    return way(json_text.parsed), (way(json_text.with_entry), way(json_text.without_entry))
