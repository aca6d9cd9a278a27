"""A test bench for a skill's own tests. It runs a whole server on this thread, on a host without an
application, and doesn't use the network."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from callboard.app import Callboard
from callboard.clients.holder import LOCAL
from callboard.config import McpHttpConfig
from callboard.content import Json
from callboard.errors import CallboardError, HostError
from callboard.guest.inbox import MainThreadInbox
from callboard.host import Host
from callboard.host_kit.headless import HOSTS, make_host
from callboard.protocol.peer import Ask, AskFailed, ClientInfo, Peer, PeerRequest
from callboard.protocol.revisions import NEWEST_WITH_SESSIONS
from callboard.skills.load import load_skill
from callboard.skills.model import SKILL_FILE
from callboard_testing.lint.skill_lint import lint

T = TypeVar("T")
#: A result, or a function of the question's params that makes one.
Answer = Json | Callable[[Json], Json]

_ids = count(1)
_ASKABLE: Json = {"elicitation": {"form": {}, "url": {}}, "sampling": {}}


class ToolFailed(AssertionError):
    """A tool, or a workflow, answered with an error. ``result`` is the whole result."""

    def __init__(self, text: str, result: Json) -> None:
        super().__init__(text)
        self.result = result


class SkillBench:
    """One skill, loaded on a fresh host with the skills that it depends on. Use it as a context
    manager on the thread that makes it, which is the host's main thread inside the ``with`` block.

    ``answers`` has the answer for each kind of question that a tool may ask its client
    (``elicitation/create``, ``sampling/createMessage``). ``progress`` collects all calls'
    ``{progress, total?, message?}``.
    """

    def __init__(
        self,
        folder: Path,
        *,
        host: str = "openusd",
        skill_paths: Sequence[str | Path] = (),
        roots: Sequence[str | Path] = (),
        withdrawn: Sequence[str] = (),
        keep_scene: bool = False,
    ) -> None:
        """``folder`` is the skill's folder. ``skill_paths`` are searched for the skills that it
        depends on. ``roots`` are the client's folders, and ``withdrawn`` the capabilities that the
        artist has switched off. The scene is empty. With ``keep_scene``, it is the scene that the
        last bench left.
        """
        self.folder = folder
        self.skill = load_skill(folder)
        self.answers: dict[str, Answer] = {}
        self.progress: list[Json] = []
        self._skill_paths = [Path(path).absolute() for path in skill_paths]
        self._inbox, self.host = _host(host, keep_scene)
        config = McpHttpConfig(
            announce=False,
            records=False,
            deny=withdrawn,
            skill_paths=[folder.absolute(), *self._skill_paths],
        )
        self._app = Callboard(self.host, config)
        self._peer = _BenchPeer(roots)

    def __enter__(self) -> SkillBench:
        self._app.start()
        try:
            self._app.catalog.load(self.skill.name)
            self._run(self._name_roots())
        except BaseException:
            self._app.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._app.stop()

    @property
    def tools(self) -> list[str]:
        """The names under which the skill's tools are served, sorted."""
        return sorted(self.skill.wire_name(tool.name) for tool in self.skill.tools)

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool to completion, and return its structured result. The skill's own tools may be
        named without the skill's name. Raises ToolFailed when the tool fails, and CallboardError if
        the call never reaches the tool, for example because of missing capabilities or a path
        outside the roots."""
        __tracebackhide__ = True  # see result()
        result = self.result(tool, **arguments)
        return result.get("structuredContent", result["content"])

    def result(self, tool: str, **arguments: Any) -> Json:
        """Do the same as :meth:`call`, but return the whole ``tools/call`` result."""
        # A failing test then shows its own line, and none of ours.
        __tracebackhide__ = True
        own = self.skill.wire_name(tool)
        name = own if own in self._app.tools else tool
        request = _BenchRequest(self, "tools/call")
        try:
            called = self._app.tools.get(name)
            result = self._run(self._app.dispatcher.call(request, called, arguments))
        except CallboardError as error:
            raise error.with_traceback(None) from error.__cause__
        if result["isError"]:
            raise ToolFailed(_text(result), result)
        return result

    def prompt(self, name: str, **arguments: str) -> str:
        """Return a prompt's text."""
        params = {"name": name, "arguments": arguments}
        result = self._run(self._app.service.handle(_BenchRequest(self, "prompts/get", params)))
        return "\n".join(message["content"].get("text", "") for message in result["messages"])

    def read(self, uri: str) -> str | bytes:
        """Return a resource's content. Raises ResourceNotFound or CapabilityMissing."""
        params = {"uri": uri}
        result = self._run(self._app.service.handle(_BenchRequest(self, "resources/read", params)))
        (content,) = result["contents"]
        return content["text"] if "text" in content else base64.b64decode(content["blob"])

    def workflow(self, name: str, **inputs: Any) -> Json:
        """Run one of the skill's workflows to completion, and return its status with every step's
        result. Raises ToolFailed if the workflow fails."""
        __tracebackhide__ = True  # see result()
        full = name if "." in name else f"{self.skill.name}.{name}"
        run: Json = self.call("workflows__run", name=full, inputs=inputs)
        return run

    def lint(self) -> list[str]:
        """Return the findings of ``callboard lint``, one line for each."""
        return [str(finding) for finding in lint(self.folder, self._skill_paths)]

    async def _name_roots(self) -> None:
        self._app.roots.ask_session(self._peer)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._app.guest.loop)
        future.add_done_callback(lambda done: self._inbox.stop())
        self._inbox.run()
        return future.result()


class _BenchPeer(Peer):
    """The bench's client, whose part the test plays."""

    def __init__(self, roots: Sequence[str | Path]) -> None:
        folders = [Path(root).absolute() for root in roots]
        self._roots = [{"uri": root.as_uri(), "name": root.name} for root in folders]
        askable = {**_ASKABLE, "roots": {}} if roots else _ASKABLE
        super().__init__("test", NEWEST_WITH_SESSIONS, ClientInfo("pytest"), askable, LOCAL)

    async def ask(self, ask: Ask, patience: float | None = None) -> Json:
        return {"roots": self._roots}


class _BenchRequest(PeerRequest):
    def __init__(self, bench: SkillBench, method: str, params: Mapping[str, Any] | None = None):
        super().__init__(bench._peer, next(_ids), method, {**(params or {}), "_meta": {}})
        self.meta["progressToken"] = "bench"
        self._bench = bench

    def notify(self, method: str, params: Json) -> None:
        if method == "notifications/progress":
            step = {key: value for key, value in params.items() if key != "progressToken"}
            self._bench.progress.append(step)

    async def ask_all(self, asks: Mapping[str, Ask]) -> dict[str, Json | AskFailed]:
        return {key: self._answer(ask) for key, ask in asks.items()}

    def _answer(self, ask: Ask) -> Json | AskFailed:
        answer = self._bench.answers.get(ask.method)
        if answer is None:
            return AskFailed(f"the test has no answer to this; set answers['{ask.method}']")
        return answer(ask.params) if callable(answer) else answer


#: The latest bench's host, and the inbox that runs functions on its main thread.
_newest: tuple[MainThreadInbox, Host] | None = None


def _host(kind: str, keep_scene: bool) -> tuple[MainThreadInbox, Host]:
    """Return a fresh host with an empty scene, whatever the application had open. With
    ``keep_scene``, return the latest host instead, if it is of that kind."""
    global _newest
    if _newest is not None:
        if keep_scene and _newest[1].identity.kind == kind:
            return _newest
        _newest[1].close()
    inbox = MainThreadInbox()
    _newest = inbox, make_host(kind, inbox.post)
    if not keep_scene:
        _newest[1].empty_scene()
    return _newest


def skill_folder(inside: Path) -> Path:
    """Return the folder of the skill that a file belongs to: the nearest one above it with a
    SKILL.md. Raises FileNotFoundError."""
    for folder in inside.parents:
        if (folder / SKILL_FILE).is_file():
            return folder
    raise FileNotFoundError(f"no {SKILL_FILE} in any folder above {inside}")


def host_for_tests() -> str:
    """Return the kind of host that tests run on: openusd, unless ``CALLBOARD_TEST_HOST`` names
    another one. Raises HostError."""
    host = os.environ.get("CALLBOARD_TEST_HOST") or "openusd"
    if host not in HOSTS:
        raise HostError(
            f"CALLBOARD_TEST_HOST is '{host}', which isn't a host; set it to one of "
            f"{', '.join(HOSTS)}"
        )
    return host


def _text(result: Json) -> str:
    return "\n".join(block.get("text", "") for block in result["content"])
