"""A complete server inside a fake host that has its own main thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from callboard.app import Callboard
from callboard.config import McpHttpConfig
from callboard.ground.folders import cache_folder
from callboard.skills.catalog import SkillCatalog
from callboard.skills.discovery import BUNDLED
from callboard.transport.http.limits import HttpLimits
from callboard_testing.fake_client import Answerer, FakeClient
from callboard_testing.fake_host import DEADLINE, FakeHost, HostThread

T = TypeVar("T")
ANYTHING = {"type": "object"}


class Served:
    def __init__(self, thread: HostThread, app: Callboard) -> None:
        self.thread = thread
        self.host = thread.host
        self.app = app

    def tool(
        self,
        name: str,
        function: Callable[..., Any],
        schema: Mapping[str, Any] = ANYTHING,
        **options: Any,
    ) -> None:
        self.app.tools.register(name, function, f"Does {name}.", schema, **options)

    def client(
        self,
        capabilities: dict[str, Any] | None = None,
        answers: Mapping[str, Answerer] | None = None,
        **options: Any,
    ) -> FakeClient:
        return FakeClient(
            self.app.url, self.app.token, capabilities=capabilities, answers=answers, **options
        )

    def on_main(self, fn: Callable[[], T]) -> T:
        return self.thread.call(fn)


@cache
def _after_a_start() -> bytes:
    """Return the cache file that a server's first start leaves."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "skills.json")
        SkillCatalog([(BUNDLED, "bundled")], cache_file=file).refresh()
        return file.read_bytes()


def remember_skills() -> None:
    """Fill the cache with the bundled skills, as if an earlier server had read them. Reading them
    takes a tenth of a second, which is longer than most tests take."""
    file = cache_folder() / "skills.json"
    if "CALLBOARD_HOME" in os.environ and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_after_a_start())


@contextmanager
def served(
    make_host: Callable[[], FakeHost] = FakeHost,
    *,
    queue_limit: int | None = None,
    limits: HttpLimits | None = None,
    **config: Any,
) -> Iterator[Served]:
    """Yield a server with only the tools that the test registers, unless ``config`` says
    otherwise."""
    settings: dict[str, Any] = {
        "announce": False,
        "records": False,
        "rules": False,
        "skills": False,
        "capture_missing_capabilities": False,
    }
    settings.update(config)
    if settings["skills"]:
        remember_skills()

    def start(thread: HostThread) -> Callboard:
        app = Callboard(thread.host, McpHttpConfig(**settings))
        # On a busy machine, a client's answer may be late.
        app.roots.call_patience = app.roots.answer_timeout = DEADLINE
        if queue_limit is not None:
            app.dispatcher.main._limit = queue_limit
        if limits is not None:
            app._listener.limits = limits
        return app.start()

    with HostThread(make_host) as thread:
        app = thread.call(lambda: start(thread))
        try:
            yield Served(thread, app)
        finally:
            thread.call(app.stop)


def text_of(result: dict[str, Any]) -> str:
    """Return all the text in a tools/call result."""
    return "\n".join(block["text"] for block in result["content"])
