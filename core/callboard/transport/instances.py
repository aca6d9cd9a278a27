"""Lists the callboards that are running on this machine. Each has a small file, which only its user
can read."""

from __future__ import annotations

import json
import logging
import secrets
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from callboard.content import Json
from callboard.ground.folders import data_folder
from callboard.ground.live_process import is_process_alive, start_ticks
from callboard.ground.private_file import read_private, write_private
from callboard.ground.session_folder import instead_of, make_instead_of
from callboard.transport import instance_proof
from callboard.transport.machine import this_boot, this_machine

if TYPE_CHECKING:
    from http.client import HTTPConnection

log = logging.getLogger(__name__)

#: Seconds within which a listed instance must answer. An instance that answers late is busy, not
#: gone.
PROBE_TIMEOUT = 1.5
#: Seconds for a whole answer, which may come in pieces.
ANSWER_TIME = 3.0
#: Maximum number of bytes in an instance's file.
_MOST_BYTES = 2**20
#: Seconds by which a process's start, as the system reports it, may differ from the clock.
CLOCK_SLACK = 5.0
#: A time later than any clock shows, in seconds since 1970.
_END_OF_TIME = 1e11


@dataclass(frozen=True)
class Instance:
    """One running server, as its file describes it."""

    id: str
    kind: str
    name: str
    url: str
    token: str | None
    pid: int
    started: float
    scene: str | None = None
    #: The folders in which the instance looks for skills, as absolute paths.
    skill_paths: tuple[str, ...] = ()
    #: The machine that the instance runs on.
    machine: str = field(default_factory=this_machine)
    boot: str = field(default_factory=this_boot)
    #: The number of other scenes opened since the instance's start, or -1 when unknown. Saving
    #: under another name doesn't count.
    opened: int = -1
    #: When its process began, in ticks since the machine started, or 0 when unknown.
    ticks: int = 0
    #: The versions of callboard and of the application, or empty when unknown.
    version: str = ""
    app_version: str = ""

    @property
    def is_here(self) -> bool:
        """True when the instance runs on this machine. Other machines' instances are never
        contacted, and their files are left alone."""
        return self.machine == this_machine()


@dataclass
class OpenScene:
    """The file of a server's scene, or None if the scene was never saved, and the number of scenes
    opened before it."""

    file: str | None = None
    opened: int = 0

    def show(self, file: str | None) -> None:
        """Note the file that is now open. A different file means a different scene."""
        self.opened += file != self.file
        self.file = file


_FIELDS = frozenset(each.name for each in fields(Instance))


class ListedInstance(NamedTuple):
    """An instance and its state. ``serving``: it answered. ``busy``: it didn't answer in time, but
    its process is alive and its port accepts connections. ``silent``: its process is alive, but the
    port doesn't accept connections. ``elsewhere``: it runs on another machine that shares the home
    and isn't contacted. ``tools`` is the number of tools that the instance lists, or None when
    unknown."""

    instance: Instance
    state: str
    tools: int | None = None


def folder() -> Path:
    """The folder of the instances' files."""
    return data_folder() / "instances"


def file_of(id: str) -> Path:
    """The file of one instance. Its content changes with the scene, and it is removed when the
    instance ends."""
    return file_in(folder(), id)


def file_in(at: Path, id: str) -> Path:
    """Return the instance's file in ``at``, or in the session's folder if it is there."""
    instead = instead_of(at)
    if instead is not None and (instead / f"{id}.json").exists():
        return instead / f"{id}.json"
    return at / f"{id}.json"


def files(at: Path) -> Iterator[Path]:
    """Yield the instances' files in the session's folder, which are there because ``at`` couldn't
    be written to, then those in ``at``. A file that moves to ``at`` is written there before it is
    removed from the session's folder, so it is found at least once."""
    for place in filter(None, (instead_of(at), at)):
        with suppress(OSError):  # The home may belong to another user.
            yield from place.glob("*.json")


def new_id() -> str:
    return secrets.token_hex(8)


def announce(instance: Instance, at: Path | None = None) -> Path:
    """Write the instance's file with mode 0600, atomically. Raises OSError."""
    path = (at or folder()) / f"{instance.id}.json"
    write_private(path, json.dumps(asdict(instance)))
    return path


class Announcement:
    """The file of one server, for as long as the server is running. Use it on the server's loop or
    the main thread."""

    def __init__(self, at: Path | None = None) -> None:
        self._at = at or folder()
        self._path: Path | None = None
        #: A sentence about the folder that can't be written to, or None.
        self.trouble: str | None = None

    def begin(self, instance: Instance) -> None:
        before = self._path
        try:
            self._path, self.trouble = announce(instance, self._at), None
        except OSError as error:
            self.trouble = f"{self._at} can't be written ({error.strerror or error})"
            try:
                self._path = announce(instance, make_instead_of(self._at))
                self.trouble += f", so other programs find this through {self._path.parent}"
            except OSError as other:
                self.trouble += f", nor another folder ({other}), so other programs won't find this"
            log.warning("%s", self.trouble)
        if before is not None and before != self._path:
            withdraw(before)

    def renew(self, instance: Instance) -> None:
        """Write the file again for a different scene, if the instance is announced."""
        if self._path is not None:
            self.begin(instance)

    def end(self) -> None:
        path, self._path = self._path, None
        if path is not None:
            withdraw(path)


def withdraw(path: Path) -> None:
    """Remove an instance's file, if its folder can be written to."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def listed(*, everywhere: bool = False) -> list[ListedInstance]:
    """Return the instances running on this machine, oldest first. With ``everywhere``, include the
    instances that other machines announced. Removes the files of processes on this machine that
    have ended."""
    known = announced(folder())
    there = [instance for instance in known if instance.is_here]
    states: list[tuple[str, int | None]] = []
    if there:
        with ThreadPoolExecutor(min(16, len(there))) as pool:
            states = list(pool.map(_probe, there))
    others = [instance for instance in known if everywhere and not instance.is_here]
    result = [ListedInstance(instance, "elsewhere") for instance in others]
    for instance, (state, tools) in zip(there, states, strict=True):
        if state == "gone":
            withdraw(file_of(instance.id))
        else:
            result.append(ListedInstance(instance, state, tools))
    return sorted(result, key=lambda entry: entry.instance.started)


def announced_as(id: str) -> Instance | None:
    """Return the content of one instance's file, without checking that it is still accurate."""
    return _read(file_of(id))


def announced(at: Path) -> list[Instance]:
    """Return the contents of a folder's files, without checking that they are still accurate."""
    by_id: dict[str, Instance] = {}
    for instance in filter(None, map(_read, files(at))):
        by_id.setdefault(instance.id, instance)
    return [by_id[id] for id in sorted(by_id)]


def _read(path: Path) -> Instance | None:
    try:
        value = json.loads(read_private(path, _MOST_BYTES))
        # The file of a newer callboard may have more fields.
        instance = Instance(**{name: each for name, each in value.items() if name in _FIELDS})
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    # The id names the file that may be removed later, so it must match this file's name.
    if not _is_whole(instance) or instance.id != path.stem:
        return None
    return replace(instance, skill_paths=tuple(instance.skill_paths))


def _is_whole(instance: Instance) -> bool:
    texts = (instance.id, instance.kind, instance.name, instance.url)
    whole = (
        all(isinstance(text, str) for text in texts)
        and type(instance.pid) is int
        and type(instance.started) in (int, float)
        and 0 <= instance.started < _END_OF_TIME
        and isinstance(instance.token, (str, type(None)))
        and isinstance(instance.scene, (str, type(None)))
        and isinstance(instance.skill_paths, (list, tuple))
        and all(isinstance(path, str) for path in instance.skill_paths)
        and isinstance(instance.machine, str)
        and isinstance(instance.boot, str)
        and type(instance.opened) is int
        and type(instance.ticks) is int
        and isinstance(instance.version, str)
        and isinstance(instance.app_version, str)
    )
    try:
        return whole and urlsplit(instance.url).port != 0
    except ValueError:
        return False


def tell_of_clients(instance: Instance) -> bool:
    """Make the instance read its client list again now. Return whether it answered."""
    return answer_of(instance, "POST", "/v1/clients/look") is not None


def _probe(instance: Instance) -> tuple[str, int | None]:
    accepted, answer = _asked(instance, "GET", "/v1/healthz")
    if answer is not None:
        # Another server may have taken the port of a dead one.
        if answer.get("instance") != instance.id:
            return "gone", None
        tools = answer.get("tools")
        return "serving", tools if type(tools) is int else None
    if not is_alive(instance):
        return "gone", None
    return "busy" if accepted else "silent", None


def is_alive(instance: Instance) -> bool:
    """Return whether the process of an instance on this machine is alive."""
    restarted = instance.boot and this_boot() and instance.boot != this_boot()
    if restarted or not is_process_alive(instance.pid):
        return False
    # The system reuses the id of a process that is gone.
    if instance.ticks:
        return start_ticks(instance.pid) in (instance.ticks, 0)
    from callboard.transport.process_age import began_at  # A server never needs this module.

    began = began_at(instance.pid)
    return began is None or began <= instance.started + CLOCK_SLACK


def answer_of(
    instance: Instance,
    method: str,
    path: str,
    body: Json | None = None,
    *,
    most: int = 65_536,
    patience: float = PROBE_TIMEOUT,
) -> Json | None:
    """Return the JSON object, or the problem, that the instance sends over REST. ``most`` is the
    maximum number of bytes read, and ``patience`` is the maximum number of seconds until the answer
    begins. Return None when the instance doesn't answer."""
    return _asked(instance, method, path, body, most, patience)[1]


def _asked(
    instance: Instance,
    method: str,
    path: str,
    body: Json | None = None,
    most: int = 65_536,
    patience: float = PROBE_TIMEOUT,
) -> tuple[bool, Json | None]:
    """Return whether the port accepted the connection, and the instance's answer. Other machines'
    instances aren't contacted, and nothing is sent to a listener that doesn't prove its
    identity."""
    if not instance.is_here:
        return False, None
    import http.client  # This imports half of `email`, which a server never needs.

    parts = urlsplit(instance.url)
    headers = {"Authorization": f"Bearer {instance.token}"} if instance.token else {}
    sent = None if body is None else json.dumps(body)
    if sent is not None:
        headers["Content-Type"] = "application/json"
    accepted = False
    try:
        connection = http.client.HTTPConnection(
            parts.hostname or "127.0.0.1", parts.port or 80, timeout=patience
        )
        try:
            connection.connect()
            accepted = True
            with _cut_off(connection.sock, max(ANSWER_TIME, patience)):
                if instance.token is not None and not _proved(connection, instance.token):
                    return False, None
                connection.request(method, path, sent, headers)
                answer = json.loads(connection.getresponse().read(most))
        finally:
            connection.close()
    except (OSError, ValueError, RecursionError, http.client.HTTPException):
        return accepted, None
    return accepted, answer if isinstance(answer, dict) else None


def _proved(connection: HTTPConnection, token: str) -> bool:
    """Return whether the connection leads to the instance with this token. Raises the errors of
    reading an answer."""
    challenge = instance_proof.Challenge.new(token, connection.port)
    connection.request(
        "GET", instance_proof.PATH, headers={instance_proof.HEADER: challenge.header}
    )
    answer = connection.getresponse()
    proved = challenge.is_proof(answer.status, answer.read(instance_proof.MOST_BYTES))
    # The connection must never be opened again to a listener that hasn't proved its identity.
    connection.auto_open = 0
    return proved


@contextmanager
def _cut_off(answering: socket.socket, seconds: float) -> Iterator[None]:
    """End a connection if its answer takes too long, because bytes that trickle in would never
    cause a timeout."""

    def end() -> None:
        with suppress(OSError):
            answering.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
