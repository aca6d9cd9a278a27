"""The list of clients that this user has let in. It is one file in the user's data folder, which
every host reads."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import NamedTuple

from callboard.changes import Changes
from callboard.clients.holder import ANYONE, LOCAL, TokenHolder, new_token, token_hash
from callboard.errors import HostError, PeerError
from callboard.ground.file_lock import lock
from callboard.ground.folders import data_folder
from callboard.ground.full_disk import in_words
from callboard.ground.private_file import read_private, write_private

log = logging.getLogger(__name__)

#: Characters that look and work the same in a file, a terminal and a panel.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RESERVED = {LOCAL.name, ANYONE.name}
_MOST_BYTES = 2**20
#: Maximum number of characters kept from each string with which a client describes itself.
_MOST_TEXT = 200
#: Seconds within which another process must finish changing the file.
_PATIENCE = 5.0


class KnownClient(NamedTuple):
    """One entry. ``made`` is Unix time in seconds. ``hash`` is the token's hash; the token itself
    isn't kept. ``remote`` is True if the user has allowed the client to connect from other
    machines. ``turned_away`` is True if the user has refused. Until the user has answered,
    ``asks_from`` is the address that the client asked from, and ``asks_as`` is the name that it
    gave itself."""

    name: str
    id: str
    hash: str
    made: float
    remote: bool = False
    asks_from: str = ""
    asks_as: str = ""
    turned_away: bool = False

    @property
    def fingerprint(self) -> str:
        """The token's fingerprint. The client shows its user the same fingerprint, so that a person
        can compare the two."""
        return " ".join(self.hash[start : start + 4] for start in range(0, 16, 4))

    @property
    def holder(self) -> TokenHolder:
        return TokenHolder(self.name, self.id)


class ClientBook:
    """The holders of tokens, as the file lists them now. A host uses it on the server's loop."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or data_folder() / "clients.json"
        self._name = str(self._path)
        self._stamp: object = None
        self._known: dict[str, KnownClient] = {}
        #: The time of each client's latest request, Unix time in seconds, by its id.
        self.heard: dict[str, float] = {}
        #: Notified when a client's token is no longer valid.
        self.revoked: Changes[[TokenHolder]] = Changes()
        #: Notified when the file's content has changed.
        self.changed: Changes[[]] = Changes()
        self.reread()

    def find(self, token: str) -> TokenHolder | None:
        """Return the holder of the token, or None."""
        known = self.entry(token)
        if known is None:
            return None
        self.heard[known.id] = time()
        return known.holder

    def entry(self, token: str) -> KnownClient | None:
        """Return the entry of the token's holder, or None."""
        self.reread()
        # The hash is looked up, so the time that the search takes reveals nothing about any token.
        return self._known.get(token_hash(token))

    def all(self) -> list[KnownClient]:
        """Return the entries, sorted by name."""
        self.reread()
        return sorted(self._known.values(), key=lambda known: known.name)

    def reread(self) -> None:
        """Read the file again if it has changed. A file that can't be trusted lets no client in."""
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return
        before, self._stamp = self._known, stamp
        try:
            self._known = self._read()
        except HostError as error:
            log.warning("%s", error.message)
            self._known = {}
        still = {known.holder for known in self._known.values()}
        for known in before.values():
            if known.holder not in still:
                self.heard.pop(known.id, None)
                self.revoked.tell(known.holder)
        if self._known != before:
            self.changed.tell()

    def newcomers(self) -> list[KnownClient]:
        """Return the clients that are asking to connect from other machines, sorted by name."""
        return [one for one in self.all() if one.asks_from]

    def make(self, name: str) -> tuple[KnownClient, str]:
        """Let a client in. Return its entry and its token, which is never shown again. An earlier
        client with the same name is revoked. Raises PeerError for an invalid name, and
        HostError."""
        if _NAME.fullmatch(name) is None or name in _RESERVED:
            raise PeerError(
                f"{name[:80]!r} can't be a client's name; use up to 64 letters, digits, dots, "
                f"dashes "
                f"and underscores, but not {' or '.join(sorted(_RESERVED))}"
            )
        token = new_token()
        made = KnownClient(name, secrets.token_hex(8), token_hash(token), round(time(), 3))
        with self._changing() as known:
            known[:] = [one for one in known if one.name != name] + [made]
        return made, token

    def approve(self, name: str) -> KnownClient | None:
        """Let the client with that name connect from other machines. Return its entry, or None when
        there is no such client. Raises HostError."""
        with self._changing() as known:
            known[:] = [_answered(one, True) if one.name == name else one for one in known]
        return next((one for one in self.all() if one.name == name), None)

    def ask(self, id: str, address: str, program: str) -> None:
        """Note that the client is asking to connect from another machine. A client that has already
        been answered isn't noted again. Raises HostError."""
        address, program = address[:_MOST_TEXT] or "somewhere", program[:_MOST_TEXT]
        with self._changing() as known:
            for at, one in enumerate(known):
                if one.id == id and not (one.remote or one.turned_away or one.asks_from):
                    known[at] = one._replace(asks_from=address, asks_as=program)

    def answer(self, id: str, *, yes: bool) -> None:
        """Note the user's answer to a client that is asking to connect from other machines. The
        client is identified by its id, because its name may later belong to another client. Raises
        PeerError if the client isn't asking, and HostError."""
        with self._changing() as known:
            if not any(one.id == id and one.asks_from for one in known):
                raise PeerError("that client is no longer asking; see `callboard clients`")
            known[:] = [_answered(one, yes) if one.id == id else one for one in known]

    def revoke(self, name: str) -> KnownClient | None:
        """Revoke the client with that name. Return its entry, or None when there is no such client.
        Raises HostError."""
        gone = None
        still = (
            f"{name[:80]!r} can still connect. Free some space and repeat it, or delete that file, "
            "which ends the access of every client"
        )
        with self._changing(still) as known:
            gone = next((one for one in known if one.name == name), None)
            known[:] = [one for one in known if one.name != name]
        return gone

    @contextmanager
    def _changing(self, still: str = "access is as it was") -> Iterator[list[KnownClient]]:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The lock isn't on the file itself, because the file is replaced.
            with self._path.with_suffix(".lock").open("ab") as held:
                lock(held.fileno(), _PATIENCE)
                known = list(self._read().values())
                yield known
                entries = [one._asdict() for one in known]
                write_private(self._path, json.dumps({"clients": entries}, indent=1))
        except OSError as error:
            raise HostError(
                f"{self._path} can't be changed ({in_words(error)}), so {still}"
            ) from None
        self.reread()

    def _read(self) -> dict[str, KnownClient]:
        """Return the entries by hash. If an entry is malformed, only that entry is left out. Raises
        HostError."""
        try:
            value = json.loads(read_private(self._path, _MOST_BYTES))
            entries = value["clients"]
            if not isinstance(entries, list):
                raise ValueError("it has no list of clients")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise HostError(
                f"{self._path}, the list of clients, can't be used ({error}), so only the command "
                "line may connect; move it away and run `callboard config CLIENT` again"
            ) from None
        return {one.hash: one for one in map(_entry, entries) if one is not None}

    def _stamp_now(self) -> object:
        try:
            # Runs before every request, and Path.stat takes as long as the rest of the check.
            status = os.stat(self._name)  # noqa: PTH116
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_uid, status.st_mode


def _answered(known: KnownClient, yes: bool) -> KnownClient:
    return known._replace(remote=yes, turned_away=not yes, asks_from="", asks_as="")


def _entry(value: object) -> KnownClient | None:
    if not isinstance(value, dict):
        return None
    texts = [value.get(key) for key in ("name", "id", "hash")]
    name, id, hash = (text if isinstance(text, str) else "" for text in texts)
    made = value.get("made")
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(id) and len(hash) == 64):
        return None
    if name in _RESERVED or id in _RESERVED:
        return None
    made = made if isinstance(made, (int, float)) else 0.0
    asks = [str(value.get(key) or "")[:_MOST_TEXT] for key in ("asks_from", "asks_as")]
    flags = [value.get(key) is True for key in ("remote", "turned_away")]
    return KnownClient(name, id, hash, made, flags[0], asks[0], asks[1], flags[1])
