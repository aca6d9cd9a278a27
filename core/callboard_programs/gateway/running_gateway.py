"""Finds the running gateway, or starts one on demand."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any

from callboard.client_files.known import site_launcher
from callboard.errors import HostError
from callboard.ground.folders import data_folder
from callboard.transport.instances import (
    Instance,
    announced,
    answer_of,
    file_in,
    is_alive,
    withdraw,
)

#: Seconds after which a gateway that was started on demand ends if it has no instance and no
#: client.
IDLE = 600.0
#: Seconds allowed for a gateway to start.
_PATIENCE = 20.0
#: Seconds to wait for another gateway that was started at the same time, after ours has ended.
_OTHERS_START = 1.5

#: The gateways that this process started. They may outlive it.
_processes: list[subprocess.Popen[bytes]] = []


def folder() -> Path:
    """Return the folder that contains the file of a running gateway."""
    return data_folder() / "gateways"


def running_gateway() -> Instance | None:
    """Return this user's gateway, or None if none answers. Takes up to two seconds if the gateway
    is silent."""
    for gateway in announced(folder()):
        if not gateway.is_here:
            continue
        if not is_alive(gateway):
            withdraw(file_in(folder(), gateway.id))
        elif (answer_of(gateway, "GET", "/v1/healthz") or {}).get("instance") == gateway.id:
            return gateway
    return None


def started_gateway() -> Instance:
    """Return the running gateway. If there is none, start one that outlives this process, which
    takes a moment. Raises HostError."""
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
                # Two gateways may be started at once, but only one of them gets the port, and the
                # other ends.
                until, ended = monotonic() + _OTHERS_START, True
            sleep(0.05)
        words.seek(0)
        last = words.read().decode("utf-8", "replace").strip().splitlines()[-1:]
    why = last[0].removeprefix("callboard: ") if last else "it doesn't answer"
    raise HostError(f"the gateway can't be started: {why}")


def _start(words: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a gateway. ``words`` receives its error output. Raises HostError."""
    launcher = site_launcher()
    own = [sys.executable, "-m", "callboard"] if launcher is None else [launcher]
    command = [*own, "gateway", "--idle", f"{IDLE:g}"]
    # The gateway must not end with the process that starts it, nor get that process's Ctrl+C.
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
