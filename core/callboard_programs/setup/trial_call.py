"""Makes one trial call as a client would make it, through the bridge to a host."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, Queue
from threading import Thread
from time import monotonic, sleep
from typing import Any

from callboard.client_files.known import bridge
from callboard.errors import HostError
from callboard.transport.instances import Instance, listed
from callboard_programs.install import blender

#: Seconds allowed for an application to start, and for an answer to arrive.
PATIENCE = 60.0
_PAUSE = 0.1
_REVISION = "2025-11-25"


def try_out(client: str, tell: Callable[[str], None]) -> str:
    """Make the call, and return a sentence about the host that answered. ``client`` names the
    client whose token is presented. ``tell`` receives a line about each step that may take seconds.
    Raises HostError."""
    serving = [each.instance for each in listed() if each.state == "serving"]
    if serving:
        return _call(client, serving[0])
    with _started(tell) as instance:
        if instance is None:
            return "nothing to try yet: start the application, then ask your client for its scene"
        return _call(client, instance)


@contextmanager
def _started(tell: Callable[[str], None]) -> Iterator[Instance | None]:
    """Start Blender without a window for the trial. Yield None if it isn't on PATH."""
    started = blender.background_server()
    if started is None:
        yield None
        return
    tell("start Blender without a window, for one call to try it")
    command, environment = started
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield _announced(process)
    finally:
        # Except on Windows, this is the signal that Ctrl+C sends. It makes the server remove its
        # file.
        process.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _announced(process: subprocess.Popen[bytes]) -> Instance:
    end = monotonic() + PATIENCE
    while monotonic() < end and process.poll() is None:
        for each in listed():
            if each.instance.pid == process.pid and each.state == "serving":
                return each.instance
        sleep(_PAUSE)
    raise HostError("Blender was started for a trial, but callboard in it does not answer")


def _call(client: str, instance: Instance) -> str:
    command = [*(bridge() or ()), "--client", client, "--instance", instance.id]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONUTF8": "1"},
        encoding="utf-8",
    ) as process:
        try:
            conversation = _Conversation(process)
            info = {"name": "callboard setup", "version": "1"}
            conversation.ask(
                "initialize", protocolVersion=_REVISION, capabilities={}, clientInfo=info
            )
            conversation.tell("notifications/initialized")
            result = conversation.ask("tools/call", name="scene__scene_info", arguments={})
            if result.get("isError"):
                raise HostError(f"the trial call failed: {json.dumps(result)[:500]}")
        finally:
            process.kill()
    return f"{instance.name} answered a call by {client} through the bridge"


class _Conversation:
    """Requests to the bridge, whose answers must arrive before a deadline."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: Queue[str] = Queue()
        self._number = 0
        Thread(target=self._read, daemon=True).start()

    def tell(self, method: str, **message: Any) -> None:
        assert self._process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", "method": method, **message})
        print(line, file=self._process.stdin, flush=True)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request. Raises HostError."""
        self._number += 1
        end = monotonic() + PATIENCE
        try:
            self.tell(method, id=self._number, params=params)
            while True:
                line = self._lines.get(timeout=max(0.0, end - monotonic()))
                if not line:
                    raise HostError("the bridge ended without an answer")
                answer = json.loads(line)
                if answer.get("id") == self._number:
                    break
        except Empty:
            raise HostError(f"the bridge did not answer {method} within {PATIENCE:g} s") from None
        except OSError as error:
            raise HostError(f"the bridge ended: {error}") from None
        if "error" in answer:
            raise HostError(f"the trial call failed: {answer['error'].get('message')}")
        result: dict[str, Any] = answer["result"]
        return result

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")
