"""Which callboards run on this machine: one small file each, readable by their user only."""

from __future__ import annotations

import json
import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from callboard.content import Json
from callboard.folders import data_folder
from callboard.hosting.private_file import write_private

#: Seconds a listed instance gets to say that it lives.
PROBE_TIMEOUT = 1.5
#: Seconds by which the system's notion of a process's start may differ from the clock.
CLOCK_SLACK = 5.0


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


@dataclass(frozen=True)
class ListedInstance:
    """An instance and whether it answered: ``serving``, or ``silent`` while its process lives."""

    instance: Instance
    state: str


def folder() -> Path:
    """Where the files are."""
    return data_folder() / "instances"


def new_id() -> str:
    return secrets.token_hex(8)


def announce(instance: Instance) -> Path:
    """Writes the instance's file, mode 0600, whole or not at all."""
    path = folder() / f"{instance.id}.json"
    write_private(path, json.dumps(asdict(instance)))
    return path


def withdraw(path: Path) -> None:
    path.unlink(missing_ok=True)


def listed() -> list[ListedInstance]:
    """The instances that run, oldest first. Files of dead processes are removed."""
    announced = [instance for instance in map(_read, sorted(folder().glob("*.json"))) if instance]
    if not announced:
        return []
    with ThreadPoolExecutor(min(16, len(announced))) as pool:
        states = list(pool.map(_probe, announced))
    result = []
    for instance, state in zip(announced, states, strict=True):
        if state == "gone":
            withdraw(folder() / f"{instance.id}.json")
        else:
            result.append(ListedInstance(instance, state))
    return sorted(result, key=lambda entry: entry.instance.started)


def _read(path: Path) -> Instance | None:
    try:
        value = json.loads(path.read_text("utf-8"))
        return Instance(**value)
    except (OSError, ValueError, TypeError):
        return None


def tell_of_clients(instance: Instance) -> bool:
    """Makes it look at who may connect, now; whether it answered."""
    return answer_of(instance, "POST", "/v1/clients/look") is not None


def _probe(instance: Instance) -> str:
    answer = answer_of(instance, "GET", "/v1/healthz")
    if answer is not None:
        # Another server may have taken a dead one's port.
        return "serving" if answer.get("instance") == instance.id else "gone"
    if not _alive(instance.pid):
        return "gone"
    from callboard.transport.process_age import began_at  # a server never asks

    # A number is given to another process once its own is gone.
    began = began_at(instance.pid)
    taken_over = began is not None and began > instance.started + CLOCK_SLACK
    return "gone" if taken_over else "silent"


def answer_of(instance: Instance, method: str, path: str, body: Json | None = None) -> Json | None:
    """The JSON object that it answers over REST, a problem too; None where it doesn't answer."""
    import http.client  # with half of `email`: a server never asks

    parts = urlsplit(instance.url)
    headers = {"Authorization": f"Bearer {instance.token}"} if instance.token else {}
    sent = None if body is None else json.dumps(body)
    if sent is not None:
        headers["Content-Type"] = "application/json"
    try:
        connection = http.client.HTTPConnection(
            parts.hostname or "127.0.0.1", parts.port or 80, timeout=PROBE_TIMEOUT
        )
        try:
            connection.request(method, path, sent, headers)
            answer = json.loads(connection.getresponse().read(65_536))
        finally:
            connection.close()
    except (OSError, ValueError, http.client.HTTPException):
        return None
    return answer if isinstance(answer, dict) else None


def _alive(pid: int) -> bool:
    if os.name == "nt":
        return _alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


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
