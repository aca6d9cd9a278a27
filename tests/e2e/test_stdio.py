"""``callboard stdio`` under the official client: without a host, with a host that starts later, and
with one that is killed during a call and comes back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from columns_host import ColumnsHost
from e2e.serving import DEADLINE, Program, callboard, environment, serve
from serving import served
from waiting import until

OFFLINE = "host offline: start Maya/Blender… or run callboard serve"
LIST_CHANGES = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)


class Heard:
    """The client's notifications and logs, and a way to wait for them."""

    def __init__(self) -> None:
        self.notifications: list[Any] = []
        self.logs: list[Any] = []
        self._news = anyio.Event()

    async def message(self, message: Any) -> None:
        if isinstance(message, types.ServerNotification):
            self.notifications.append(message.root)
        self._tell()

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logs.append(params.data)
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def wait(self, heard: Callable[[], bool]) -> None:
        with anyio.fail_after(DEADLINE):
            while not heard():
                await self._news.wait()

    def kinds(self) -> set[type]:
        return {type(notification) for notification in self.notifications}

    async def lists_changed(self) -> None:
        await self.wait(lambda: self.kinds() >= set(LIST_CHANGES))


async def elicited(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sampled(context: Any, params: types.CreateMessageRequestParams) -> Any:
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text="Paris"), model="test"
    )


@asynccontextmanager
async def bridged(
    home: Path, heard: Heard | None = None, *arguments: str
) -> AsyncIterator[ClientSession]:
    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=home.as_uri(), name="home")])  # type: ignore[arg-type]

    command, *rest = callboard("stdio", *arguments)
    parameters = StdioServerParameters(command=command, args=rest, env=environment(home))
    heard = heard or Heard()
    ended = False
    try:
        async with (
            stdio_client(parameters) as (read, write),
            ClientSession(
                read,
                write,
                elicitation_callback=elicited,
                sampling_callback=sampled,
                list_roots_callback=roots,
                logging_callback=heard.log,
                message_handler=heard.message,
            ) as session,
        ):
            with anyio.fail_after(DEADLINE):
                await session.initialize()
            yield session
            ended = True
    except Exception as error:
        if not (ended and _came_late(error)):
            raise


def _came_late(error: BaseException) -> bool:
    """Return whether the official client failed only because a message arrived after its session
    had closed."""
    inner = getattr(error, "exceptions", None)
    return all(map(_came_late, inner)) if inner else isinstance(error, anyio.BrokenResourceError)


def run(work: Callable[[], Awaitable[None]]) -> None:
    anyio.run(work)


async def started(program: Program) -> Program:
    return await anyio.to_thread.run_sync(program.__enter__)


async def stopped(program: Program) -> None:
    await anyio.to_thread.run_sync(program.__exit__, None, None, None)


def text(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def test_without_a_host_the_client_is_answered_and_told_what_to_do(tmp_path: Path) -> None:
    async def work() -> None:
        async with bridged(tmp_path) as session:
            assert (await session.list_tools()).tools == []
            result = await session.call_tool("scene__scene_info", {})
            assert result.isError
            assert text(result) == OFFLINE
            for refused in (
                partial(session.read_resource, "scene://current"),  # type: ignore[arg-type]
                partial(session.get_prompt, "probe.greeting", {"name": "Ada"}),
            ):
                with pytest.raises(McpError) as error:
                    await refused()
                assert error.value.error.message == OFFLINE
                assert error.value.error.code == -31005
            await session.send_ping()

    run(work)


def test_the_last_known_lists_outlive_the_host(tmp_path: Path) -> None:
    async def work() -> None:
        async def lists(session: ClientSession) -> list[Any]:
            return [
                (await session.list_tools()).tools,
                (await session.list_prompts()).prompts,
                (await session.list_resources()).resources,
                (await session.list_resource_templates()).resourceTemplates,
            ]

        program = await started(serve(tmp_path))
        try:
            async with bridged(tmp_path) as session:
                there = await lists(session)
        finally:
            await stopped(program)
        assert "probe__add" in [tool.name for tool in there[0]]
        assert all(there)
        async with bridged(tmp_path) as session:
            known = await lists(session)
            assert [[i.name for i in items] for items in known] == [
                [i.name for i in items] for items in there
            ]
            assert text(await session.call_tool("probe__add", {"a": 1, "b": 2})) == OFFLINE

    run(work)


def test_a_host_that_starts_later_is_found_and_everything_passes_through(tmp_path: Path) -> None:
    async def work() -> None:
        heard = Heard()
        async with bridged(tmp_path, heard) as session:
            await session.set_logging_level("info")
            await session.subscribe_resource("scene://current")  # type: ignore[arg-type]
            assert text(await session.call_tool("probe__add", {"a": 1, "b": 2})) == OFFLINE

            program = await started(serve(tmp_path))
            try:
                await heard.lists_changed()
                assert "probe__add" in [tool.name for tool in (await session.list_tools()).tools]
                result = await session.call_tool("probe__add", {"a": 1, "b": 2})
                assert result.structuredContent == {"sum": 3}
                await use_everything(session, heard, tmp_path)
            finally:
                await stopped(program)
            assert text(await session.call_tool("probe__add", {"a": 1, "b": 2})) == OFFLINE

    run(work)


async def use_everything(session: ClientSession, heard: Heard, home: Path) -> None:
    steps: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        steps.append(done)

    counted = await session.call_tool("probe__count", {"to": 3}, progress_callback=progress)
    assert counted.structuredContent == {"counted": 3}
    assert steps == [1, 2, 3]
    await heard.wait(lambda: len(heard.logs) >= 3)

    introduced = await session.call_tool("probe__introduce", {})
    assert introduced.structuredContent == {
        "action": "accept",
        "name": "Ada",
        "roots": [str(home)],
    }
    assert "Paris" in text(await session.call_tool("probe__think", {}))
    read = await session.read_resource("scene://current")  # type: ignore[arg-type]
    assert isinstance(read.contents[0], types.TextResourceContents)
    prompt = await session.get_prompt("probe.greeting", {"name": "Ada"})
    assert prompt.messages[0].content.text == "Greet Ada warmly."  # type: ignore[union-attr]
    reference = types.ResourceTemplateReference(type="ref/resource", uri="skill://{name}/SKILL.md")
    completed = await session.complete(reference, {"name": "name", "value": "pro"})
    assert completed.completion.values == ["probe"]

    heard.notifications.clear()
    await session.call_tool("scene__create_primitive", {"kind": "cube"})
    await heard.wait(lambda: types.ResourceUpdatedNotification in heard.kinds())
    await cancel_a_call(session)


async def cancel_a_call(session: ClientSession) -> None:
    waiting = anyio.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        waiting.set()

    async def wait() -> None:
        with pytest.raises(McpError):
            await session.call_tool("probe__wait", {}, progress_callback=progress)

    async with anyio.create_task_group() as group:
        # The client numbers its requests in turn.
        number = session._request_id
        group.start_soon(wait)
        with anyio.fail_after(DEADLINE):
            await waiting.wait()
        cancelled = types.CancelledNotification(
            params=types.CancelledNotificationParams(requestId=number)
        )
        await session.send_notification(types.ClientNotification(cancelled))
        result = await session.call_tool("probe__waits", {})
        assert result.structuredContent == {"cancelled": 1}
        # The cancelled request gets no answer, as the protocol requires. The client's own wait
        # ends.
        group.cancel_scope.cancel()


def test_a_host_killed_during_a_call_is_reported_once_and_replaced(tmp_path: Path) -> None:
    async def work() -> None:
        heard = Heard()
        program = await started(serve(tmp_path))
        async with bridged(tmp_path, heard, "--instance", "openusd") as session:
            results: list[types.CallToolResult] = []
            waiting = anyio.Event()

            async def progress(done: float, total: float | None, message: str | None) -> None:
                waiting.set()

            async def call() -> None:
                results.append(
                    await session.call_tool("probe__wait", {}, progress_callback=progress)
                )

            with anyio.fail_after(DEADLINE):
                async with anyio.create_task_group() as group:
                    group.start_soon(call)
                    await waiting.wait()
                    await anyio.to_thread.run_sync(program.kill)
            (lost,) = results
            assert lost.isError
            assert "went away during this call" in text(lost)
            with anyio.fail_after(DEADLINE):
                one = {"a": 1, "b": 2}
                while (told := text(await session.call_tool("probe__add", one))) != OFFLINE:
                    # The host's process may outlive its sockets by a moment.
                    assert "is running, but does not answer now" in told

            heard.notifications.clear()
            program = await started(serve(tmp_path))
            try:
                await heard.lists_changed()
                result = await session.call_tool("probe__add", {"a": 1, "b": 2})
                assert result.structuredContent == {"sum": 3}
            finally:
                await stopped(program)

    run(work)


# -- wrong messages, which no official client sends ------------------------------------------------


class RawBridge:
    """The bridge as a process, and its two pipes."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            callboard("stdio"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(home),
        )

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, message: Any) -> Any:
        self.send(json.dumps(message).encode())
        return self.receive()

    def end(self) -> None:
        """End the bridge, and discard its remaining output."""
        self.process.kill()
        self.process.wait(DEADLINE)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def close(self) -> int:
        """Close the input, and return the exit code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(DEADLINE)
        rest = self.process.stdout.read()
        self.process.stdout.close()
        assert rest == b""
        return code


@pytest.fixture
def raw(tmp_path: Path) -> Iterator[RawBridge]:
    bridge = RawBridge(tmp_path)
    try:
        yield bridge
    finally:
        if bridge.process.poll() is None:
            bridge.close()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawBridge]:
    """Yield one bridge for all hostile lines, without a host."""
    bridge = RawBridge(tmp_path_factory.mktemp("home"))
    yield bridge
    assert bridge.close() == 0


def stateless(id: Any, method: str, **params: Any) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {}},
    }
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": meta, **params}}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not json", -32700),
        (b'{"jsonrpc":"2.0","id":1', -32700),
        (b"\xff\xfe\x00", -32700),
        (b"[" * 10_000, -32700),
        (b"42", -32600),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}', -32602),
        (b'"' + b"x" * (9 * 1024 * 1024) + b'"', -32600),
        (json.dumps(stateless(1, "no\r\nX-Header: 1")).encode(), -32601),
    ],
    ids=range(15),
)
def test_a_hostile_line_is_answered_with_an_error_and_the_next_one_served(
    alone: RawBridge, line: bytes, code: int
) -> None:
    alone.send(line)
    answer = alone.receive()
    assert answer["jsonrpc"] == "2.0"
    assert answer["error"]["code"] == code
    pong = {"jsonrpc": "2.0", "id": "p", "result": {}}
    assert alone.ask({"jsonrpc": "2.0", "id": "p", "method": "ping"}) == pong


def test_an_empty_list_of_prompts_says_that_no_host_is_there(alone: RawBridge) -> None:
    listed = alone.ask(stateless(1, "prompts/list"))["result"]
    assert listed["prompts"] == []
    diagnostics = listed["_meta"]["dcc.prompt_diagnostics"]
    assert diagnostics["notes"] == [OFFLINE]
    assert diagnostics["prompt_count"] == diagnostics["loaded_skill_count"] == 0


def test_a_stateless_client_listens_over_every_host_that_comes_and_goes(
    raw: RawBridge, tmp_path: Path
) -> None:
    discovered = raw.ask(stateless(1, "server/discover"))["result"]
    assert discovered["resultType"] == "complete"
    assert discovered["supportedVersions"][0] == "2026-07-28"
    offline = raw.ask(stateless(2, "tools/call", name="probe__add", arguments={}))["result"]
    assert offline["isError"]
    assert offline["resultType"] == "complete"
    acknowledged = raw.ask(
        stateless("l", "subscriptions/listen", notifications={"toolsListChanged": True})
    )
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    for _ in range(2):
        with serve(tmp_path) as program:
            changed = raw.receive()
            assert changed["method"] == "notifications/tools/list_changed"
            assert changed["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "l"}
            name = {"name": "probe__route", "arguments": {"region": "Übersee"}}
            routed = raw.ask(stateless(3, "tools/call", **name))["result"]
            assert routed["structuredContent"] == {"region": "Übersee"}
            asked = raw.ask(stateless(4, "tools/call", name="probe__introduce"))["result"]
            assert asked["resultType"] == "input_required"
            program.kill()
        again = raw.ask(stateless(5, "tools/call", name="probe__add", arguments={}))
        assert again["result"]["isError"]


def test_a_cancelled_stateless_call_ends_in_the_host(raw: RawBridge, tmp_path: Path) -> None:
    raw.ask(stateless("l", "subscriptions/listen", notifications={"toolsListChanged": True}))
    with serve(tmp_path):
        # A slow machine's first connections may be too late, and a call then has to be repeated.
        assert raw.receive()["method"] == "notifications/tools/list_changed"
        call = stateless(1, "tools/call", name="probe__wait")
        call["params"]["_meta"]["progressToken"] = "t"
        begun = raw.ask(call)
        assert begun.get("method") == "notifications/progress", begun
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        raw.send(json.dumps({"jsonrpc": "2.0", **cancelled}).encode())
        ended = raw.ask(stateless(2, "tools/call", name="probe__waits"))
        assert ended["result"]["structuredContent"] == {"cancelled": 1}


@pytest.fixture
def two_hosts(tmp_path: Path) -> Iterator[list[str]]:
    """Yield the ids of two hosts that run in ``tmp_path``."""
    with serve(tmp_path), serve(tmp_path):
        listed = subprocess.run(
            callboard("list", "--json"), env=environment(tmp_path), capture_output=True, check=True
        )
        yield [row["id"] for row in json.loads(listed.stdout)]


def chosen_now(result: types.CallToolResult) -> dict[str, bool]:
    """Return, for each listed host's id, whether it is chosen."""
    assert result.structuredContent is not None
    return {row["id"]: row["chosen"] for row in result.structuredContent["hosts"]}


def test_among_several_hosts_the_agent_chooses_and_may_choose_again(
    tmp_path: Path, two_hosts: list[str]
) -> None:
    async def work() -> None:
        heard = Heard()
        async with bridged(tmp_path, heard) as session:
            *common, choose = (await session.list_tools()).tools
            assert choose.name == "hosts__choose"
            assert all("host" in tool.inputSchema["properties"] for tool in common)
            unmade = await session.call_tool("probe__add", {"a": 1, "b": 2})
            assert unmade.isError
            assert all(id in text(unmade) for id in two_hosts)
            assert OFFLINE not in text(unmade)
            listed = await session.call_tool(choose.name, {})
            assert chosen_now(listed) == dict.fromkeys(two_hosts, False)
            nobody = await session.call_tool(choose.name, {"host": "nobody"})
            assert nobody.isError
            assert "no host is called 'nobody'" in str(nobody.content)
            several = await session.call_tool(choose.name, {"host": "openusd"})
            assert "several hosts are called 'openusd'" in str(several.content)
            for number, id in enumerate(two_hosts):
                heard.notifications.clear()
                chosen = await session.call_tool(choose.name, {"host": id})
                assert not chosen.isError, chosen
                await heard.lists_changed()
                named = {tool.name for tool in (await session.list_tools()).tools}
                assert {choose.name, "probe__add"} <= named
                await session.call_tool("scene__create_primitive", {"kind": "cube"})
                scene = await session.call_tool("scene__list_objects", {})
                assert scene.structuredContent is not None
                assert len(scene.structuredContent["objects"]) == 1, (
                    f"host {number} should have only its own object"
                )
                listed = await session.call_tool(choose.name, {})
                assert chosen_now(listed) == {each: each == id for each in two_hosts}

    run(work)


def test_an_agent_that_lists_once_names_the_host_in_its_calls(
    tmp_path: Path, two_hosts: list[str]
) -> None:
    async def work() -> None:
        async with bridged(tmp_path, Heard()) as session:
            listed = {tool.name for tool in (await session.list_tools()).tools}
            assert {"probe__add", "scene__create_primitive", "scene__list_objects"} <= listed
            cube = {"kind": "cube"}
            for id in two_hosts:
                made = await session.call_tool("scene__create_primitive", {**cube, "host": id})
                assert not made.isError, made
                # The choice lasts for calls that name no host.
                await session.call_tool("scene__create_primitive", cube)
            for id in two_hosts:
                scene = await session.call_tool("scene__list_objects", {"host": id})
                assert scene.structuredContent is not None
                assert len(scene.structuredContent["objects"]) == 2
            with pytest.raises(McpError, match="no host is called 'nobody'"):
                await session.call_tool("scene__list_objects", {"host": "nobody"})

    run(work)


@pytest.mark.parametrize("mode", ["sessions", "stateless"])
def test_a_bridge_that_was_started_for_one_call_takes_it_to_the_named_host(
    two_hosts: list[str], raw: RawBridge, mode: str
) -> None:
    asked = {"name": "probe__add", "arguments": {"a": 1, "b": 2, "host": two_hosts[1]}}
    if mode == "stateless":
        answer = raw.ask(stateless(1, "tools/call", **asked))
    else:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        params["clientInfo"] = {"name": "once", "version": "1"}
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        assert "result" in raw.ask(opening)
        raw.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        answer = raw.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked})
        while "method" in answer:  # the lists change when a host appears
            answer = raw.receive()
    assert answer["result"]["structuredContent"] == {"sum": 3}


def test_a_stateless_agent_chooses_too_and_hears_the_other_ones_changes(
    two_hosts: list[str], raw: RawBridge
) -> None:
    listed = raw.ask(stateless(1, "tools/list"))["result"]["tools"]
    assert listed[-1]["name"] == "hosts__choose"
    named = {"name": "probe__add", "arguments": {"a": 1, "b": 2, "host": "nobody"}}
    assert "no host is called" in raw.ask(stateless(4, "tools/call", **named))["error"]["message"]
    raw.ask(stateless("l", "subscriptions/listen", notifications={"toolsListChanged": True}))
    for id in two_hosts:
        raw.send(json.dumps(stateless(2, "tools/call", **choosing(id))).encode())
        # The operating system decides the order of the answer and the notification.
        answers = [raw.receive(), raw.receive()]
        (changed,) = [each for each in answers if "method" in each]
        assert changed["method"] == "notifications/tools/list_changed"
        (answer,) = [each for each in answers if "result" in each]
        assert answer["result"]["structuredContent"]["host"]["id"] == id
        named = {tool["name"] for tool in raw.ask(stateless(3, "tools/list"))["result"]["tools"]}
        assert {"hosts__choose", "probe__add"} <= named


def choosing(host: str) -> dict[str, Any]:
    return {"name": "hosts__choose", "arguments": {"host": host}}


def test_the_user_chooses_by_instance_and_the_agent_is_not_asked(
    tmp_path: Path, two_hosts: list[str]
) -> None:
    async def work() -> None:
        async with bridged(tmp_path, None, "--instance", two_hosts[1]) as session:
            result = await session.call_tool("probe__add", {"a": 1, "b": 2})
            assert result.structuredContent == {"sum": 3}
            named = {tool.name for tool in (await session.list_tools()).tools}
            assert "hosts__choose" not in named

    run(work)


def test_the_artist_sees_the_clients_own_name_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    with served(announce=True) as server:
        status = server.app.controls.status
        stop = status.watch(lambda snapshot: None)
        bridge = RawBridge(tmp_path)
        try:
            bridge.ask(INITIALIZE)
            bridge.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

            def named() -> set[str]:
                return {client.name for client in status.snapshot.clients}

            until(lambda: named() == {"a client of its own"}, lambda: f"its name: {named()}")
            assert bridge.process.stdin is not None
            bridge.process.stdin.close()
            until(lambda: not server.app.endpoint.sessions, "the session's end")
        finally:
            bridge.end()
            stop()


def test_what_a_client_reads_first_is_there_without_a_host(raw: RawBridge) -> None:
    opened = raw.ask(INITIALIZE)["result"]
    assert "None of them was connected" in opened["instructions"]


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a client of its own", "version": "1"},
    },
}


# -- a page of MCP Apps ---------------------------------------------------------------------------


def _initialize(capabilities: dict[str, Any]) -> dict[str, Any]:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": {"name": "raw", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


@pytest.mark.parametrize("era", ["sessions", "stateless"])
@pytest.mark.parametrize("shows", [True, False])
def test_a_page_passes_to_who_shows_pages(
    raw: RawBridge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: str, shows: bool
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    types_shown = {"mimeTypes": ["text/html;profile=mcp-app"]}
    extensions = {"io.modelcontextprotocol/ui": types_shown} if shows else {}
    capabilities = {"extensions": extensions}

    def ask(method: str, **params: Any) -> Any:
        message = stateless(1, method, **params)
        if era == "sessions":
            del message["params"]["_meta"]
        else:
            meta = message["params"]["_meta"]
            meta["io.modelcontextprotocol/clientCapabilities"] = capabilities
        raw.send(json.dumps(message).encode())
        while (answer := raw.receive()).get("id") != 1:
            pass  # This line is a notification, not the answer.
        return answer

    with served(ColumnsHost, announce=True, skills=True):
        if era == "sessions":
            raw.ask(_initialize(capabilities))
            raw.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

        def carrier() -> Any:
            tools = ask("tools/list")["result"]["tools"]
            return next((one for one in tools if one["name"] == "viewport__look"), None)

        until(carrier, "the host behind the bridge")
        page = ask("resources/read", uri="ui://callboard/viewport")
        if shows:
            assert carrier()["_meta"]["ui"] == {"resourceUri": "ui://callboard/viewport"}
            (content,) = page["result"]["contents"]
            assert content["mimeType"] == "text/html;profile=mcp-app"
            assert not any(content["_meta"]["ui"]["csp"].values())
        else:
            assert "ui" not in carrier().get("_meta", {})
            assert "error" in page
        raw.close()  # The host announces its end, so the bridge ends first.
