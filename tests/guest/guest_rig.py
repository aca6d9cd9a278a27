"""A guest loop in a fake host. An echo server on the loop shows that the loop is running."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from callboard.guest.loop import GuestLoop
from callboard.guest.main_thread import PATIENCE, MainThread
from callboard.guest.turn import Transaction, Turn
from callboard.host import Work
from callboard_testing.fake_host import DEADLINE, FakeHost, HostThread
from double_server import DoubleServer


class Guest:
    """A guest and its echo server. Make, start and close it on the host's main thread."""

    def __init__(self, host: FakeHost, *, limit: int = 32, patience: float = PATIENCE) -> None:
        self.host = host
        self.loop = GuestLoop(host)
        self.main = MainThread(self.loop, limit, patience)
        self.port = 0
        self._server = DoubleServer(self._echo)

    def start(self) -> Guest:
        self.port = self.loop.run(self._server.start())
        self.loop.start()
        return self

    def close(self) -> None:
        self.main.abandon()
        try:
            if self.port:
                self.loop.run(self._server.stop())
        finally:
            self.loop.close()

    async def _echo(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(line)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    def connect(self) -> Echo:
        return Echo(self.port)

    def job(
        self,
        work: Callable[[], Any],
        transaction: Transaction | None = None,
        name: str = "job",
        kind: Work = "read",
    ) -> tuple[Turn, Future[Any]]:
        """Submit a job. The future receives the job's outcome. Call this from any thread."""
        outcome: Future[Any] = Future()

        def done(value: Any, error: BaseException | None) -> None:
            if outcome.done():
                raise AssertionError("a job ended twice")
            if error is None:
                outcome.set_result(value)
            else:
                outcome.set_exception(error)

        job = Turn(name, work, done, transaction=transaction, kind=kind)
        self.on_loop(lambda: self.main.submit(job))
        return job, outcome

    def on_loop(self, fn: Callable[[], Any]) -> Future[Any]:
        """Run ``fn`` on the loop. Call it from any thread."""
        outcome: Future[Any] = Future()

        def run() -> None:
            try:
                outcome.set_result(fn())
            except BaseException as error:
                outcome.set_exception(error)

        self.loop.loop.call_soon_threadsafe(run)
        return outcome


class Echo:
    """A client of the echo server."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), DEADLINE)
        self._file = self.socket.makefile("rb")

    def say(self, text: str = "hello") -> str:
        self.socket.sendall(text.encode() + b"\n")
        return self._file.readline().decode().rstrip("\n")

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def __enter__(self) -> Echo:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


class InThread:
    """Runs ``fn`` in a thread. ``done`` returns whether it has ended, and ``result`` waits for its
    outcome."""

    def __init__(self, fn: Callable[[], Any]) -> None:
        self.outcome: Future[Any] = Future()

        def run() -> None:
            try:
                self.outcome.set_result(fn())
            except BaseException as error:
                self.outcome.set_exception(error)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def done(self) -> bool:
        return self.outcome.done()

    def result(self) -> Any:
        value = self.outcome.result(DEADLINE)
        self._thread.join(DEADLINE)
        return value


@contextlib.contextmanager
def guest_in(host: FakeHost, *, limit: int = 32, patience: float = PATIENCE) -> Iterator[Guest]:
    """Yield a started guest in a host whose main thread is the thread that runs the test."""
    guest = Guest(host, limit=limit, patience=patience).start()
    try:
        yield guest
    finally:
        guest.close()


async def until_cancelled(ended: list[str]) -> None:
    """Wait forever, and note the cancellation."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        ended.append("cancelled")
        raise


@contextlib.contextmanager
def guest_on(thread: HostThread) -> Iterator[Guest]:
    """Yield a started guest in a host that has its own main thread."""
    guest = thread.call(lambda: Guest(thread.host).start())
    try:
        yield guest
    finally:
        thread.call(guest.close)
