"""A host that enforces the contract. It ticks only on request, and checks the thread of each call.

There are two ways to use it. :class:`FakeHost` lives on the test's own thread, which is then the
host's main thread: no posted function runs before :meth:`FakeHost.tick`. :class:`HostThread` gives
a fake host a thread of its own, which runs posted functions as an application would, and which can
be made to block.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import TypeVar

from callboard.host import (
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    SCENE_MUTATE,
    SCENE_READ,
    USD,
    Host,
    HostIdentity,
)
from callboard_testing.fakes.scene import FakeFiles, FakeScene, FakeUsd
from callboard_testing.fakes.undo import FakeUndo

T = TypeVar("T")

#: Seconds that a wait for an event may last before it is considered a failure.
DEADLINE = 20.0


class WrongThread(AssertionError):
    """The host was touched from a thread that isn't its main thread."""


class FakeHost(Host):
    """A host with a scene in memory and an undo stack.

    Make it on the thread that is to be its main thread. Ports, undo and :meth:`tick` raise
    :class:`WrongThread` on any other thread.
    """

    def __init__(
        self, *, kind: str = "fake", budget: float = 0.008, burst: float = 0.0, undo: bool = True
    ) -> None:
        super().__init__()
        self._identity = HostIdentity(kind, "Fake Host", "1.0", headless=False)
        self._budget = budget
        self._burst = burst
        self._main = threading.get_ident()
        self._posted: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._reason: str | None = None
        #: Number of functions posted so far, and number of those that have run.
        self.posts = 0
        self.ran = 0
        self.project: list[str] = []
        #: The file of the open scene.
        self.scene_path: str | None = None
        self.scene = FakeScene(self.require_main_thread)
        self.undo_stack = FakeUndo(self.scene)
        self.undo = self.undo_stack if undo else None
        files = FakeFiles(self.scene)
        self.set_ports(
            {
                SCENE_READ: self.scene,
                SCENE_MUTATE: self.scene,
                FILESYSTEM_READ: files,
                FILESYSTEM_WRITE: files,
                USD: FakeUsd(self.scene),
            }
        )

    # -- the contract -------------------------------------------------------------------------

    @property
    def identity(self) -> HostIdentity:
        return self._identity

    @property
    def budget(self) -> float:
        return self._budget

    @property
    def burst(self) -> float:
        return self._burst

    def post(self, fn: Callable[[], None]) -> None:
        with self._changed:
            self._posted.append(fn)
            self.posts += 1
            self._changed.notify_all()

    def empty_scene(self) -> None:
        self.scene.load(None, {})

    def project_roots(self) -> list[str]:
        self.require_main_thread()
        return list(self.project)

    def scene_file(self) -> str | None:
        self.require_main_thread()
        return self.scene_path

    def blocked_by(self) -> str | None:
        return self._reason

    # -- for tests --------------------------------------------------------------------------------

    def require_main_thread(self) -> None:
        """Raise WrongThread on any thread but the main one."""
        if threading.get_ident() != self._main:
            raise WrongThread(f"the host was used on the thread {threading.current_thread().name}")

    def tick(self) -> int:
        """Run the functions posted so far, but not the functions that they post in turn. Return the
        number of functions that ran. Runs on the main thread."""
        self.require_main_thread()
        with self._changed:
            due = list(self._posted)
            self._posted.clear()
        for fn in due:
            fn()
            self.ran += 1
        return len(due)

    def wait_for_post(self, timeout: float = DEADLINE) -> bool:
        """Wait until a posted function is ready to run. Return False if the time runs out first.
        Call it from any thread."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._posted), timeout)

    def tick_until(self, condition: Callable[[], object], timeout: float = DEADLINE) -> None:
        """Tick at every post until ``condition()`` holds. Runs on the main thread. Raises
        TimeoutError."""
        end = monotonic() + timeout
        while not condition():
            if monotonic() >= end:
                raise TimeoutError("the host ticked, but the condition never became true")
            # A condition may also become true without a post, on another thread.
            self.wait_for_post(min(0.05, end - monotonic()))
            self.tick()

    @contextmanager
    def busy(self, reason: str) -> Iterator[None]:
        """Make :meth:`blocked_by` return ``reason`` during the block."""
        self._reason = reason
        try:
            yield
        finally:
            self._reason = None


class HostThread:
    """A fake host with a main thread of its own. Use it as a context manager.

    ``make`` builds the host on that thread. Use :meth:`call` to run a function on it.
    """

    def __init__(self, make: Callable[[], FakeHost] = FakeHost) -> None:
        self._make = make
        self._stopping = False
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="fake-host-main", daemon=True)
        self.host: FakeHost

    def __enter__(self) -> HostThread:
        self._thread.start()
        if not self._ready.wait(DEADLINE):
            raise TimeoutError("the fake host did not start")
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping = True
        self.host.post(lambda: None)
        self._thread.join(DEADLINE)
        if self._thread.is_alive():
            raise TimeoutError("the fake host's main thread is stuck")
        if self._failure is not None:
            raise self._failure

    def call(self, fn: Callable[[], T], timeout: float = DEADLINE) -> T:
        """Run ``fn`` on the host's main thread, and return its result or raise its error."""
        done = threading.Event()
        outcome: list[T] = []
        failure: list[BaseException] = []

        def run() -> None:
            try:
                outcome.append(fn())
            except BaseException as error:
                failure.append(error)
            finally:
                done.set()

        self.host.post(run)
        if not done.wait(timeout):
            raise TimeoutError("the fake host's main thread did not run the function in time")
        if failure:
            raise failure[0]
        return outcome[0]

    @contextmanager
    def block(self, reason: str = "a modal dialog") -> Iterator[None]:
        """Keep the main thread asleep during the block."""
        blocked, release = threading.Event(), threading.Event()

        def hold() -> None:
            blocked.set()
            release.wait(DEADLINE)

        self.host.post(hold)
        if not blocked.wait(DEADLINE):
            raise TimeoutError("the fake host's main thread did not block in time")
        try:
            with self.host.busy(reason):
                yield
        finally:
            release.set()

    def _run(self) -> None:
        try:
            self.host = self._make()
        except BaseException as error:
            self._failure = error
            return
        finally:
            self._ready.set()
        while not self._stopping:
            self.host.wait_for_post()
            try:
                self.host.tick()
            except BaseException as error:
                # In a real application, an error that escapes into the host's own loop would end
                # the program.
                self._failure = error
                return
