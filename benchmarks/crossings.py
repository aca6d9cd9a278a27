"""Counts each request's modules, switches between modules and Python calls in core.

    python benchmarks/crossings.py [--tree DIR]

One process holds a real server on a real OpenUSD stage, with its loop, watcher and main thread, and
a client that uses the standard library only. Every kind of request is sent until caches are warm.
Then a profiler on all threads counts the calls that each request makes. A call to a Python function
counts if the function is core's own (bundled skills are left out, like a user's own). A switch is a
call into a module other than the previous call's. Each row shows the round with the fewest
switches, because a busy machine only adds steps of the loop and the watcher to a request.

The gateway is measured in this process too, in front of a host in another process.
``install-skill`` runs in a separate process, as when a user starts it, and is counted from its
first import.

``--tree`` names another checkout, even an older one, so that the costs before and after a change
can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

THIS_TREE = Path(__file__).resolve().parent.parent
REVISION = "2025-06-18"
WARM_UP = 5
#: Seconds without a call after which a request is considered over, and seconds after which the
#: measurement gives up.
QUIET, PATIENCE = 0.05, 20.0

SKILL = """---
name: rounding
description: Geometry.
metadata:
  dcc-mcp:
    prompts: prompts.yaml
---
"""
PROMPTS = """
prompts:
  - name: bevel
    description: Bevel edges.
    arguments:
      - {name: width, description: Scene units., required: true}
    template: "width={{ width }}"
"""
BUNDLE = {
    "manifest_version": "0.3",
    "name": "rigging",
    "version": "1.0.0",
    "description": "Rigs bipeds",
    "author": {"name": "A studio"},
}
SPHERE = {"tool": "scene__create_primitive", "arguments": {"kind": "sphere"}}
INSTALL = "import sys, crossings; crossings.install(*sys.argv[1:])"


@dataclass(frozen=True)
class Count:
    modules: int
    switches: int
    calls: int


class Profile:
    """Records the module of every call into core, on every thread, while the profile is switched
    on."""

    def __init__(self, tree: Path) -> None:
        self.modules: list[str] = []
        self.on = False
        self._core = str(tree / "core") + os.sep
        self._bundled = str(tree / "core" / "callboard" / "skills" / "bundled") + os.sep

    def install(self) -> None:
        """Profile this thread and the threads that it starts."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: Any, event: str, argument: Any) -> None:
        if self.on and event == "call":
            file = frame.f_code.co_filename
            if file.startswith(self._core) and not file.startswith(self._bundled):
                self.modules.append(file[len(self._core) :])

    def count(self) -> Count:
        pairs = zip(self.modules, self.modules[1:], strict=False)
        switches = sum(one != other for one, other in pairs)
        return Count(len(set(self.modules)), switches, len(self.modules))

    def of(self, request: Callable[[], None]) -> Count:
        """Return the cost of one request, including the server's work after its answer."""
        self.modules.clear()
        self.on = True
        request()
        began, seen = time.monotonic(), -1
        while seen != len(self.modules) and time.monotonic() - began < PATIENCE:
            seen = len(self.modules)
            time.sleep(QUIET)
        self.on = False
        return self.count()


class Client:
    """One session over one connection. It answers ``roots/list`` if it declares roots."""

    def __init__(self, url: str, token: str, roots: list[str] | None = None) -> None:
        self._parts = urlsplit(url)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        self._connection = self._connect()
        self._roots = roots
        self._asked: queue.Queue[Any] = queue.Queue()
        opened = {
            "protocolVersion": REVISION,
            "capabilities": {} if roots is None else {"roots": {"listChanged": True}},
            "clientInfo": {"name": "crossings", "version": "1"},
        }
        response = self._post({"id": 1, "method": "initialize", "params": opened})
        self._headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
        self._headers["MCP-Protocol-Version"] = REVISION
        if roots is not None:
            self._listen()
        self._post({"method": "notifications/initialized"})
        if roots is not None:
            self._answer_roots()

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """Return the result. An error, or a tool's failure, ends the program."""
        body = self._post({"id": 2, "method": method, "params": params}).body
        message = next(messages(body.splitlines()))
        if "result" not in message or message["result"].get("isError"):
            raise SystemExit(f"{method} {params}: {message}")
        return message["result"]

    def rest(self, path: str, body: Any) -> None:
        answer = self._send(path, body)
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {answer.body!r}")

    def change_roots(self) -> None:
        """Announce changed roots, and send them when the server asks."""
        self._post({"method": "notifications/roots/list_changed"})
        self._answer_roots()

    def _answer_roots(self) -> None:
        asked = self._asked.get(timeout=PATIENCE)
        roots = [{"uri": Path(root).as_uri(), "name": "root"} for root in self._roots or ()]
        self._post({"id": asked["id"], "result": {"roots": roots}})

    def _listen(self) -> None:
        connection = self._connect()
        connection.request("GET", self._parts.path, headers=self._headers)
        stream = connection.getresponse()

        def read() -> None:
            for message in messages(stream):
                if message.get("method") == "roots/list":
                    self._asked.put(message)

        threading.Thread(target=read, daemon=True).start()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(
            self._parts.hostname or "127.0.0.1", self._parts.port, timeout=PATIENCE
        )

    def _post(self, message: dict[str, Any]) -> Answer:
        return self._send(self._parts.path, {"jsonrpc": "2.0", **message})

    def _send(self, path: str, body: Any) -> Answer:
        self._connection.request("POST", path, json.dumps(body), self._headers)
        response = self._connection.getresponse()
        return Answer(response.status, dict(response.headers), response.read())


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


def messages(lines: Any) -> Iterator[Any]:
    """Yield the JSON-RPC messages of an answer: JSON on one line, or an event stream."""
    for line in lines:
        text = line.strip().removeprefix(b"data:").strip()
        if text.startswith(b"{"):
            yield json.loads(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=THIS_TREE, help="another checkout")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--show", metavar="KIND", help="also list the modules of that kind of request, by calls"
    )
    arguments = parser.parse_args()
    tree = arguments.tree.resolve()
    with tempfile.TemporaryDirectory() as folder:
        counts = served(tree, Path(folder), arguments)
        counts |= by_gateway(tree, Path(folder), arguments)
        counts["install-skill"] = install_counts(tree)
    print(f"| {tree.name} | modules | switches | Python calls |\n|---|---|---|---|")
    for kind, count in counts.items():
        print(f"| {kind} | {count.modules} | {count.switches} | {count.calls} |")
    return 0


def served(tree: Path, folder: Path, arguments: argparse.Namespace) -> dict[str, Count]:
    """Return the costs of requests to a running server. This thread becomes the host's main
    thread."""
    use(tree)
    os.environ["CALLBOARD_HOME"] = str(folder / "home")
    write(folder / "skills" / "rounding" / "SKILL.md", SKILL)
    write(folder / "skills" / "rounding" / "prompts.yaml", PROMPTS)
    profile = Profile(tree)
    profile.install()
    inbox = named("MainThreadInbox", "callboard.guest.inbox", "callboard.guest.headless")()
    host = named("OpenUsdHost", "callboard_openusd.host")(inbox.post)
    config = named("McpHttpConfig", "callboard")(
        announce=False, skill_paths=[folder / "skills"], roots=[str(folder)]
    )
    app = named("Callboard", "callboard.app")(host, config)
    schema = {"type": "object", "properties": {"value": {"type": "integer"}}}
    reads = {"readOnlyHint": True}
    app.tools.register(
        "trivial", lambda value: {"value": value}, "Gives it back.", schema, annotations=reads
    )
    app.start()
    counts: dict[str, Count] = {}
    failed: list[BaseException] = []

    def drive() -> None:
        try:
            for kind, request in requests(app, str(folder)):
                for _ in range(WARM_UP):
                    profile.of(request)
                rounds = [profile.of(request) for _ in range(arguments.rounds)]
                counts[kind] = quietest(rounds)
                if kind == arguments.show:
                    show(profile.modules)
        except BaseException as error:
            failed.append(error)
        finally:
            inbox.stop()
            app.guest.interrupt()

    driver = threading.Thread(target=drive)
    driver.start()
    inbox.run()
    driver.join()
    sys.setprofile(None)
    threading.setprofile(None)
    app.stop()
    if failed:
        raise failed[0]
    return counts


def by_gateway(tree: Path, folder: Path, arguments: argparse.Namespace) -> dict[str, Count]:
    """Return the cost of a call in the gateway's process. The host runs in another process."""
    kind = "tools/call, in the gateway"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(parts(tree))}
    command = [sys.executable, "-m", "callboard", "serve", "--host", "openusd", "--port", "0"]
    host = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    loop = asyncio.new_event_loop()
    ending, ready = asyncio.Event(), threading.Event()
    profile = Profile(tree)
    try:
        assert host.stdout is not None
        host.stdout.readline()
        profile.install()
        gateway = named(
            "Gateway", "callboard.gateway.gateway", "callboard_programs.gateway.gateway"
        )(0)
        serving = threading.Thread(
            target=loop.run_until_complete, args=[gateway.serve(ready.set, ending)]
        )
        serving.start()
        ready.wait(PATIENCE)
        client = Client(f"{gateway.url}/openusd", gateway.token)
        call = {"name": "scene__scene_info", "arguments": {}}
        for _ in range(WARM_UP):
            profile.of(lambda: client.request("tools/call", call))
        rounds = [
            profile.of(lambda: client.request("tools/call", call)) for _ in range(arguments.rounds)
        ]
        if kind == arguments.show:
            show(profile.modules)
        loop.call_soon_threadsafe(ending.set)
        serving.join()
        return {kind: quietest(rounds)}
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        host.terminate()
        host.wait()


def requests(app: Any, folder: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield every kind of request, with a function that sends one and waits for its answer."""
    client = Client(app.url, app.token)
    trivial = {"name": "trivial", "arguments": {"value": 1}}
    cube = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}
    prompt = next(
        prompt["name"]
        for prompt in client.request("prompts/list", {})["prompts"]
        if prompt["name"].endswith("bevel")
    )
    bevel = {"name": prompt, "arguments": {"width": "2"}}
    yield "tools/call, trivial", lambda: client.request("tools/call", trivial)
    yield "tools/call, scene__create_primitive", lambda: client.request("tools/call", cube)
    yield "prompts/get", lambda: client.request("prompts/get", bevel)
    yield (
        "REST call, trivial",
        lambda: client.rest("/v1/call", {"tool": "trivial", "arguments": {"value": 1}}),
    )
    rooted = Client(app.url, app.token, [folder])

    def roots_changed() -> None:
        rooted.change_roots()
        rooted.request("tools/call", trivial)

    yield "roots changed, roots/list, tools/call", roots_changed
    carry_out = named("carried_out", "callboard.farm.orders", "callboard_programs.farm.orders")
    own = direct_client()(app)
    scene = Path(folder) / "task.usda"
    write(scene, "#usda 1.0\n")
    order = {**SPHERE, "scene": str(scene), "save": False, "skills": {}}
    yield "a farm's task, in its host", lambda: carry_out(own, order)


def install_counts(tree: Path) -> Count:
    """Return the cost of a process that installs a small bundle. Only the second such process
    counts, because the first one also compiles the bytecode."""
    counts = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            bundle = Path(folder) / "rigging"
            write(bundle / "manifest.json", json.dumps(BUNDLE))
            write(bundle / "SKILL.md", "---\nname: rigging\ndescription: rigs\n---\n")
            write(bundle / "scripts" / "rig.py", "VERSION = 1\n")
            done = subprocess.run(
                [sys.executable, "-c", INSTALL, str(tree), str(bundle)],
                env={
                    **os.environ,
                    "CALLBOARD_HOME": str(Path(folder) / "home"),
                    "PYTHONPATH": str(Path(__file__).parent),
                },
                stdout=subprocess.PIPE,
                check=True,
            )
            counts.append(Count(*json.loads(done.stdout.splitlines()[-1])))
    return counts[-1]


def install(tree: str, bundle: str) -> None:
    """Run ``callboard install-skill`` in a separate process."""
    use(Path(tree))
    profile = Profile(Path(tree))
    profile.install()
    profile.on = True
    status = named("main", "callboard.cli", "callboard_programs.cli")(["install-skill", bundle])
    profile.on = False
    if status:
        raise SystemExit(status)
    count = profile.count()
    print(json.dumps([count.modules, count.switches, count.calls]))


def use(tree: Path) -> None:
    """Import callboard from that checkout, regardless of the installed one."""
    sys.path[:0] = parts(tree)


def parts(tree: Path) -> list[str]:
    return [str(tree / part) for part in ("core", "hosts", "ui")]


def named(name: str, *homes: str) -> Any:
    """Return the object with that name, from the first of the modules that exists. The module of
    older trees is first, because the newer one may be installed as well."""
    for home in homes:
        try:
            return getattr(import_module(home), name)
        except ModuleNotFoundError as error:
            if not any(f"{one}.".startswith(f"{error.name}.") for one in homes):
                raise
    raise SystemExit(f"{name} isn't in any of {', '.join(homes)}")


def direct_client() -> Any:
    """Return the class of the farm's client inside a host. Older trees call it ``OwnClient``."""
    try:
        return named("OwnClient", "callboard.farm.own_calls", "callboard_programs.farm.own_calls")
    except SystemExit:
        return named("DirectClient", "callboard_programs.farm.direct_client")


def quietest(rounds: list[Count]) -> Count:
    return min(rounds, key=lambda count: (count.switches, count.calls))


def show(modules: list[str]) -> None:
    for module in sorted(set(modules), key=lambda name: (-modules.count(name), name)):
        print(f"{modules.count(module):5} {module}", file=sys.stderr)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
