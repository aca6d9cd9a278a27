"""The gateway that runs, and one that is started where it is needed and none does."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any

from callboard.errors import HostError
from callboard.ground.folders import data_folder
from callboard.transport.instances import Instance, announced, answer_of, is_alive, withdraw

#: Seconds without an instance and a client after which one that was started on demand ends.
IDLE = 600.0
#: Seconds for one to start.
_PATIENCE = 20.0
#: Seconds in which a start that failed may be explained by another one's.
_OTHERS_START = 1.5

#: Those that this process started, which may outlive it.
_processes: list[subprocess.Popen[bytes]] = []


def folder() -> Path:
    """Where a running gateway has its file."""
    return data_folder() / "gateways"


def running_gateway() -> Instance | None:
    """This user's, if one answers. Takes up to two seconds where one is silent."""
    for gateway in announced(folder()):
        if not gateway.is_here:
            continue
        if not is_alive(gateway):
            withdraw(folder() / f"{gateway.id}.json")
        elif (answer_of(gateway, "GET", "/v1/healthz") or {}).get("instance") == gateway.id:
            return gateway
    return None


def started_gateway() -> Instance:
    """The one that runs, or one that is started now, and outlives this process. Takes a moment.
    Raises HostError."""
    there = running_gateway()
    if there is not None:
        return there
    with tempfile.TemporaryFile() as words:
        process = _start(words)
        until, ended = monotonic() + _PATIENCE, False
        while monotonic() < until:
            there = running_gateway()
            if there is not None:
                return there
            if not ended and process.poll() is not None:
                # Two may start at once. Only one of them gets the port.
                until, ended = monotonic() + _OTHERS_START, True
            sleep(0.05)
        words.seek(0)
        last = words.read().decode("utf-8", "replace").strip().splitlines()[-1:]
    why = last[0].removeprefix("callboard: ") if last else "it doesn't answer"
    raise HostError(f"the gateway can't be started: {why}")


def _start(words: IO[bytes]) -> subprocess.Popen[bytes]:
    """``words`` takes what it says. Raises HostError."""
    command = [sys.executable, "-m", "callboard", "gateway", "--idle", f"{IDLE:g}"]
    # It isn't ended with what its starter is ended with, and gets none of its Ctrl+C.
    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        new_group = subprocess.CREATE_NEW_PROCESS_GROUP
        apart = {"creationflags": new_group | subprocess.CREATE_NO_WINDOW}
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=words, **apart)
    except OSError as error:
        raise HostError(f"the gateway can't be started: {error}") from None
    _processes.append(process)
    return process
