"""Which callboards run on this machine: one small file each, readable by their user only."""

from __future__ import annotations

import json
import logging
import os
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
from callboard.ground.private_file import read_private, write_private
from callboard.transport import instance_proof
from callboard.transport.machine import this_boot, this_machine

if TYPE_CHECKING:
    from http.client import HTTPConnection

log = logging.getLogger(__name__)

#: Seconds a listed instance gets to say that it serves. One that is late is busy, and not gone.
PROBE_TIMEOUT = 1.5
#: Seconds for a whole answer, which may come in pieces.
ANSWER_TIME = 3.0
#: Bytes of an instance's file.
_MOST_BYTES = 2**20
#: Seconds by which the system's notion of a process's start may differ from the clock.
CLOCK_SLACK = 5.0
#: Seconds since 1970 that no clock shows.
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
    #: Where it looks for skills, absolute.
    skill_paths: tuple[str, ...] = ()
    #: The machine that it runs on.
    machine: str = field(default_factory=this_machine)
    boot: str = field(default_factory=this_boot)
    #: How many other scenes it has opened since its start; -1 where it doesn't say. Saving under
    #: another name opens none.
    opened: int = -1

    @property
    def is_here(self) -> bool:
        """Whether it is this machine's. Another one's is never asked, and its file is its own."""
        return self.machine == this_machine()


@dataclass
class OpenScene:
    """The file of a server's scene, None where it was never saved, and how many others were opened
    before."""

    file: str | None = None
    opened: int = 0

    def show(self, file: str | None) -> None:
        """Another scene is open, unless the file is the same."""
        self.opened += file != self.file
        self.file = file


_FIELDS = frozenset(each.name for each in fields(Instance))


class ListedInstance(NamedTuple):
    """An instance and whether it answered: ``serving``; or, while its process lives, ``busy`` where
    its port takes connections, and ``silent`` where nothing does. ``elsewhere`` is one of another
    machine that shares the home: it isn't asked. ``tools`` is how many it lists, None where it
    doesn't say."""

    instance: Instance
    state: str
    tools: int | None = None


def folder() -> Path:
    """Where the files are."""
    return data_folder() / "instances"


def file_of(id: str) -> Path:
    """The file of one instance: another scene is another content, and without it the instance is
    gone."""
    return folder() / f"{id}.json"


def new_id() -> str:
    return secrets.token_hex(8)


def announce(instance: Instance, at: Path | None = None) -> Path:
    """Writes the instance's file, mode 0600, whole or not at all. Raises OSError."""
    path = (at or folder()) / f"{instance.id}.json"
    write_private(path, json.dumps(asdict(instance)))
    return path


class Announcement:
    """The file of one server, for as long as it serves. On its loop or main thread."""

    def __init__(self, at: Path | None = None) -> None:
        self._at = at
        self._path: Path | None = None

    def begin(self, instance: Instance) -> None:
        try:
            self._path = announce(instance, self._at)
        except OSError as error:
            log.warning("other programs will not find it: %s", error)

    def renew(self, instance: Instance) -> None:
        """Another scene is open; not where it was never announced, or is withdrawn."""
        if self._path is not None:
            self.begin(instance)

    def end(self) -> None:
        path, self._path = self._path, None
        if path is not None:
            withdraw(path)


def withdraw(path: Path) -> None:
    path.unlink(missing_ok=True)


def listed(*, everywhere: bool = False) -> list[ListedInstance]:
    """The instances that run on this machine, oldest first, and where ``everywhere`` those that
    other machines announced. Files of dead processes of this one are removed."""
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
    """What the file of one instance says, whether it is so or not."""
    return _read(file_of(id))


def announced(at: Path) -> list[Instance]:
    """What the files of a folder say, whether it is so or not."""
    return [instance for instance in map(_read, sorted(at.glob("*.json"))) if instance]


def _read(path: Path) -> Instance | None:
    try:
        value = json.loads(read_private(path, _MOST_BYTES))
        # A newer callboard's file says more.
        instance = Instance(**{name: each for name, each in value.items() if name in _FIELDS})
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    # Its id names the file that is removed: it mustn't be another one.
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
    )
    try:
        return whole and urlsplit(instance.url).port != 0
    except ValueError:
        return False


def tell_of_clients(instance: Instance) -> bool:
    """Makes it look at who may connect, now; whether it answered."""
    return answer_of(instance, "POST", "/v1/clients/look") is not None


def _probe(instance: Instance) -> tuple[str, int | None]:
    accepted, answer = _asked(instance, "GET", "/v1/healthz")
    if answer is not None:
        # Another server may have taken a dead one's port.
        if answer.get("instance") != instance.id:
            return "gone", None
        tools = answer.get("tools")
        return "serving", tools if type(tools) is int else None
    if not is_alive(instance):
        return "gone", None
    return "busy" if accepted else "silent", None


def is_alive(instance: Instance) -> bool:
    """Whether its process is there, for one of this machine."""
    restarted = instance.boot and this_boot() and instance.boot != this_boot()
    if restarted or not _alive(instance.pid):
        return False
    from callboard.transport.process_age import began_at  # a server never asks

    # A number is given to another process once its own is gone.
    began = began_at(instance.pid)
    return began is None or began <= instance.started + CLOCK_SLACK


def answer_of(
    instance: Instance, method: str, path: str, body: Json | None = None, *, most: int = 65_536
) -> Json | None:
    """The JSON object that it answers over REST, a problem too, of so many bytes at most; None
    where it doesn't answer."""
    return _asked(instance, method, path, body, most)[1]


def _asked(
    instance: Instance, method: str, path: str, body: Json | None = None, most: int = 65_536
) -> tuple[bool, Json | None]:
    """Whether its port took the connection, and the answer. Another machine's isn't asked, and
    nobody is who doesn't prove to be it."""
    if not instance.is_here:
        return False, None
    import http.client  # with half of `email`: a server never asks

    parts = urlsplit(instance.url)
    headers = {"Authorization": f"Bearer {instance.token}"} if instance.token else {}
    sent = None if body is None else json.dumps(body)
    if sent is not None:
        headers["Content-Type"] = "application/json"
    accepted = False
    try:
        connection = http.client.HTTPConnection(
            parts.hostname or "127.0.0.1", parts.port or 80, timeout=PROBE_TIMEOUT
        )
        try:
            connection.connect()
            accepted = True
            with _cut_off(connection.sock):
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
    """Whether the instance listens there. Raises what reading an answer raises."""
    challenge = instance_proof.Challenge.new(token, connection.port)
    connection.request(
        "GET", instance_proof.PATH, headers={instance_proof.HEADER: challenge.header}
    )
    answer = connection.getresponse()
    proved = challenge.is_proof(answer.status, answer.read(instance_proof.MOST_BYTES))
    connection.auto_open = 0  # what is sent next goes to who proved it, or to nobody
    return proved


@contextmanager
def _cut_off(answering: socket.socket) -> Iterator[None]:
    """Ends a connection that sends for too long: byte after byte, its timeout never comes."""

    def end() -> None:
        with suppress(OSError):
            answering.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(ANSWER_TIME, end)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _alive(pid: int) -> bool:
    if os.name == "nt":
        return _alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    try:
        # One that has ended is there until its parent asks how. The name may hold brackets too.
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return True
    return not stat.rpartition(")")[2].startswith(" Z")


def _alive_on_windows(pid: int) -> bool:
    # os.kill would end the process there.
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(0x1000, False, pid)
    if not handle:
        return False
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return code.value == 259
