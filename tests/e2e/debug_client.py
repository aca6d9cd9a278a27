"""An editor's requests to debugpy: as much of the Debug Adapter Protocol as a test needs."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from types import TracebackType
from typing import Any

from e2e.serving import DEADLINE

Message = dict[str, Any]


class DebugClient:
    """One editor, connected to one port of this machine."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), DEADLINE)
        self._stream = self._socket.makefile("rwb")
        self._sent = 0
        self._thread = 0

    def __enter__(self) -> DebugClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()
        self._socket.close()

    def attach(self, file: Path, line: int) -> None:
        """Attach, with a breakpoint at the given line."""
        self._ask("initialize", {"adapterID": "python", "clientID": "test"})
        attached = self._send("attach", {"justMyCode": False})
        self._until(lambda it: it.get("event") == "initialized")
        where = {"source": {"path": str(file)}, "breakpoints": [{"line": line}]}
        self._ask("setBreakpoints", where)
        self._ask("configurationDone", {})
        self._answer(attached)

    def stopped_at(self) -> tuple[str, str, int]:
        """Return the function, file and line at which the program stops next."""
        event = self._until(lambda it: it.get("event") == "stopped")
        self._thread = event["body"]["threadId"]
        top = self._ask("stackTrace", {"threadId": self._thread})["body"]["stackFrames"][0]
        return top["name"], top["source"]["path"], top["line"]

    def go_on(self) -> None:
        self._ask("continue", {"threadId": self._thread})

    def _ask(self, command: str, arguments: Message) -> Message:
        return self._answer(self._send(command, arguments))

    def _answer(self, number: int) -> Message:
        answer = self._until(lambda it: it.get("request_seq") == number)
        assert answer["success"], answer
        return answer

    def _send(self, command: str, arguments: Message) -> int:
        self._sent += 1
        message = {"seq": self._sent, "type": "request", "command": command}
        body = json.dumps({**message, "arguments": arguments}).encode()
        self._stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._stream.flush()
        return self._sent

    def _until(self, wanted: Any) -> Message:
        while True:
            length = 0
            while header := self._stream.readline().strip():
                name, _, value = header.partition(b":")
                if name == b"Content-Length":
                    length = int(value)
            assert length, "the debugger ended the connection"
            message: Message = json.loads(self._stream.read(length))
            if wanted(message):
                return message
