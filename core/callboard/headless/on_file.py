"""The process that runs a client's code over one file. A server in another host of the same kind
starts it for one call.

Orders arrive on stdin, and answers leave on stdout, one JSON object a line. So no port is open that
others could connect to, and no token exists. The process ends with its call: when stdin ends, the
process kills itself and the programs that the code has started, even if the code is still running.
"""

from __future__ import annotations

import io
import json
import os
import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from typing import Any, NoReturn

from callboard.calls.outcomes import ToolRaised, finished, made
from callboard.calls.output import OUTPUT_LIMIT, Output
from callboard.calls.results import failure, message_of, name_of, raised
from callboard.content import Json, json_object
from callboard.errors import CallboardError, HostError
from callboard.ground.named_files import may_use
from callboard.headless.clean_stdout import keep_stdout_clean
from callboard.host_kit.headless import make_host
from callboard.ports.capability_names import FILESYSTEM_READ, FILESYSTEM_WRITE
from callboard.ports.host import Host
from callboard.skills.discovery import BUNDLED
from callboard.skills.load import load_skill
from callboard.skills.scripts import SkillScripts

#: Maximum number of bytes in an answer.
LONGEST = 4 * 2**20
#: Seconds between two lines about what the code prints.
_BETWEEN = 0.1


def main(kind: str) -> None:
    """Carry out the orders for one file in a headless host of this kind. Runs on the process's main
    thread, which becomes the host's."""
    starter = _Starter()
    try:
        host = make_host(kind, lambda work: None)
        starter.tell("ready")
        while (order := starter.order()) is not None:
            _carry_out(order, host, starter)
    except Exception as error:
        words = error.message if isinstance(error, CallboardError) else message_of(error)
        known = isinstance(error, CallboardError)
        starter.tell("failed", message=words if known else f"{name_of(error)}: {words}")
    else:
        host.leave(0)


def _carry_out(order: Json, host: Host, starter: _Starter) -> None:
    if order["do"] == "open":
        if order["strict"]:
            may_use.set(starter.may_use)
        _port(host, FILESYSTEM_READ).open(order["path"])
        starter.tell("opened")
    elif order["do"] == "run":
        starter.tell("ran", result=_run(order["code"], order["language"], host, starter))
    else:
        saved = _port(host, FILESYSTEM_WRITE).save(order["path"])
        starter.tell("saved", bytes=saved["bytes"])


def _port(host: Host, capability: str) -> Any:
    if capability not in host.ports:
        raise HostError(f"{host.identity.name} doesn't offer {capability} without its window")
    return host.ports[capability]


def _run(code: str, language: str, host: Host, starter: _Starter) -> Json:
    """Return the result that ``script__execute`` gives for this code in the open scene."""
    skill = load_skill(BUNDLED / "script")
    tool = next(tool for tool in skill.tools if tool.name == "execute")
    function = SkillScripts(skill).entry(tool).function
    output = Output()
    with _told(output, starter):
        given = _Context(host, output), code, language
        try:
            result: Json = finished(partial(function, *given), made)
        except ToolRaised as error:
            result = error.result
        except CallboardError as error:
            result = raised(error)
    if (size := len(json.dumps(result))) > LONGEST:
        return failure(
            f"the answer is {size / 1e6:.0f} MB, and at most {LONGEST / 1e6:.0f} MB are sent; "
            "return less, or write it to a file"
        )
    return result


class _Context:
    """The part of a tool's ``ctx`` that ``script__execute`` uses."""

    def __init__(self, host: Host, output: Output) -> None:
        self._host, self._output = host, output

    def port(self, capability: str) -> Any:
        return _port(self._host, capability)

    def printed(self, stream: str) -> str:
        return self._output.excerpt(stream)


@contextmanager
def _told(output: Output, starter: _Starter) -> Iterator[None]:
    """Tell the starter what is printed inside the block, a few times a second: its loop is in the
    artist's application."""
    streams = [_Told(name, output, starter) for name in ("stdout", "stderr")]
    ended = threading.Event()

    def send() -> None:
        while not ended.wait(_BETWEEN):
            for stream in streams:
                stream.send()

    sending = threading.Thread(target=send, name="callboard-output", daemon=True)
    sending.start()
    try:
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
            yield
    finally:
        ended.set()
        sending.join()
        for stream in streams:
            stream.send()


class _Told(io.TextIOBase):
    """A stream that is kept in ``output``, and told to the starter. Use it from any thread."""

    def __init__(self, name: str, output: Output, starter: _Starter) -> None:
        self._name, self._output, self._starter = name, output, starter
        self._lock = threading.Lock()
        self._text, self._room = "", OUTPUT_LIMIT

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._output.write(self._name, text)
        with self._lock:
            self._text += text[: self._room]
            self._room = max(0, self._room - len(text))
        return len(text)

    def send(self) -> None:
        """Tell what has been printed since the last time."""
        with self._lock:
            text, self._text = self._text, ""
        if text:
            self._starter.tell("printed", stream=self._name, text=text)


class _Starter:
    """The server that started this process, at the other end of its stdin and stdout. The client's
    code gets an empty stdin, and a stdout that isn't the server's."""

    def __init__(self) -> None:
        self._out, self._lock = keep_stdout_clean(), threading.Lock()
        self._lines: queue.SimpleQueue[Json | None] = queue.SimpleQueue()
        orders, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        read = partial(self._read, os.fdopen(orders, "rb"))
        threading.Thread(target=read, name="callboard-orders", daemon=True).start()

    def _read(self, orders: io.BufferedReader) -> None:
        for line in orders:
            order = json_object(line) or {}
            if order.get("do") == "leave":
                self._lines.put(None)
                return
            self._lines.put(order)
        _die()

    def order(self) -> Json | None:
        """Wait for the next order. None means that there are no more."""
        return self._lines.get()

    def tell(self, event: str, **facts: Any) -> None:
        """Send a line. Call it from any thread."""
        try:
            with self._lock:
                print(json.dumps({"event": event, **facts}), file=self._out, flush=True)
        except OSError:
            _die()

    def may_use(self, path: str, write: bool) -> bool:
        """Ask whether the roots of the call let it use this file."""
        self.tell("may_use", path=path, write=write)
        answer = self._lines.get() or {}
        return answer.get("allowed") is True


def _die() -> NoReturn:
    """End this process, and everything in its group if the starter gave it one of its own."""
    if os.name == "posix" and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
