"""Acts as a user who installed callboard: programs that import it, its command line, and a raw
client.

This module doesn't import callboard. Its client uses httpx, and has no MCP library.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

from e2e.serving import DEADLINE, callboard, environment
from seeds.outside_skills import write_skills
from skills.skill_tree import write_files

Json = dict[str, Any]
#: A program that runs a server. Each line that the program reads is an expression, and the program
#: answers with its value.
SERVER = """
import json, sys
import callboard
settings = json.loads(sys.argv[1])
config = callboard.McpHttpConfig(announce=False, **settings)
server = callboard.create_skill_server("maya", config)
handle = server.start()
print(json.dumps([handle.url, handle.token]), flush=True)
for line in sys.stdin:
    try:
        answer = eval(json.loads(line))
    except Exception as error:
        kind = ValueError if isinstance(error, ValueError) else type(error)
        answer = f"{kind.__name__} {getattr(error, 'code', '')}: {error}"
    print(json.dumps(answer, default=str), flush=True)
handle.shutdown()
"""


class Wire:
    """A client in a session. ``answers`` are its answers to the server's requests, by method."""

    def __init__(self, url: str, token: str, answers: Mapping[str, Json], declared: Json) -> None:
        headers = {"Accept": "application/json, text/event-stream"}
        headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(headers=headers, timeout=DEADLINE, trust_env=False)
        self._url, self.answers = url, dict(answers)
        self._ids = itertools.count(1)
        #: The server's requests and notifications, in order. A request is added once it has been
        #: answered.
        self.told: list[Json] = []
        #: The methods of the server's requests, each as soon as it has arrived.
        self.asked: list[str] = []
        self._arrived = threading.Condition()
        self._threads: list[threading.Thread] = []
        params = {"protocolVersion": "2025-11-25", "capabilities": declared}
        info = {"name": "outside", "version": "1"}
        self.opened = self.ask("initialize", **params, clientInfo=info)["result"]
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> Json:
        """Return the response, a result or an error."""
        return self._send({"id": next(self._ids), "method": method, "params": params})[-1]

    def end(self) -> None:
        self._http.delete(self._url)
        for thread in self._threads:
            thread.join(DEADLINE)
        self._http.close()

    def call(self, tool: str, **arguments: Any) -> Json:
        return self.ask("tools/call", name=tool, arguments=arguments)

    def tell(self, method: str) -> None:
        self._send({"method": method})

    def _send(self, message: Json) -> list[Json]:
        message = {"jsonrpc": "2.0", **message}
        with self._http.stream("POST", self._url, json=message) as response:
            if session := response.headers.get("mcp-session-id"):
                self._http.headers["Mcp-Session-Id"] = session
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                return list(self._read(response))
            body = response.read()
        return [json.loads(body)] if body else []

    def _read(self, response: httpx.Response) -> Iterator[Json]:
        for line in response.iter_lines():
            if not line.startswith("data:") or not (data := line[5:].strip()):
                continue
            message = json.loads(data)
            if "method" not in message:
                yield message
                continue
            if "id" in message:
                self.asked.append(message["method"])
                if (answer := self.answers.get(message["method"])) is not None:
                    self._send({"id": message["id"], **answer})
            with self._arrived:
                self.told.append(message)
                self._arrived.notify_all()

    def listen(self) -> Wire:
        """Read the session's own stream in a thread, to its end."""
        opened = threading.Event()

        def read() -> None:
            with suppress(httpx.HTTPError), self._http.stream("GET", self._url) as response:
                opened.set()
                list(self._read(response))

        self._threads.append(threading.Thread(target=read, daemon=True))
        self._threads[-1].start()
        assert opened.wait(DEADLINE)
        return self

    def heard(self, method: str, count: int = 1) -> Json:
        """Wait for ``count`` messages with that method. Return the last of them."""

        def those() -> list[Json]:
            return [message for message in self.told if message["method"] == method]

        with self._arrived:
            assert self._arrived.wait_for(lambda: len(those()) >= count, DEADLINE), self.told
            return those()[count - 1]


class Program:
    """A program that serves, with the settings of ``McpHttpConfig``."""

    def __init__(self, home: Path, **settings: Any) -> None:
        command = [sys.executable, "-c", SERVER, json.dumps(settings)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(home), text=True
        )
        self.url, self.token = self._line()
        self._clients: list[Wire] = []

    def run(self, expression: str) -> Any:
        """Return the value of an expression in the program, or its error's name and text."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(expression) + "\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def client(self, declared: Json | None = None, **answers: Json) -> Wire:
        """Return a client. ``roots`` is its answer to ``roots/list``."""
        asked = {"roots/list": answers["roots"]} if "roots" in answers else {}
        if asked and declared is None:
            declared = {"roots": {"listChanged": True}}
        self._clients.append(Wire(self.url, self.token, asked, declared or {}))
        return self._clients[-1]

    def get(self, path: str) -> Json:
        """Return the response to a GET request over REST."""
        url, headers = self.url.removesuffix("/mcp"), {"Authorization": f"Bearer {self.token}"}
        answer: Json = httpx.get(url + path, headers=headers, trust_env=False).json()
        return answer

    def end(self) -> None:
        for client in self._clients:
            client.end()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(DEADLINE)
        assert self._process.stdout is not None
        self._process.stdout.close()


class Outside:
    """The programs on which the statements are tested. Each starts when a statement first needs
    it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home"
        self.skills = folder / "skills"
        self._ending = ExitStack()
        #: Two folders that clients name as their roots.
        self.project, self.other = folder / "project", folder / "other"
        for each in (self.project, self.other, self.skills):
            each.mkdir()
        write_skills(self.skills)

    def serve(self, *paths: Path, **settings: Any) -> Program:
        program = Program(self.home, skill_paths=list(map(str, paths)), **settings)
        self._ending.callback(program.end)
        return program

    @cached_property
    def guide(self) -> Program:
        """The guide's server, which declares all but ``filesystem.write`` and ``viewport``."""
        declared = ["usd", "scene.read", "scene.mutate", "filesystem.read"]
        return self.serve(self.skills, declared_capabilities=declared)

    @cached_property
    def client(self) -> Wire:
        return self.guide.client()

    @cached_property
    def tools(self) -> dict[str, Json]:
        return {tool["name"]: tool for tool in self.client.ask("tools/list")["result"]["tools"]}

    def dcc(self, tool: str) -> Json:
        """Return ``_meta.dcc`` of one of the pipeline's tools."""
        meta: Json = self.tools[f"maya_pipeline__{tool}"].get("_meta", {}).get("dcc", {})
        return meta

    def refusal(self, tool: str = "export_usd") -> Json:
        error: Json = self.client.call(f"maya_pipeline__{tool}", path="a.usd")["error"]
        return error

    def prompts(self) -> dict[str, Json]:
        listed = self.client.ask("prompts/list")["result"]["prompts"]
        return {prompt["name"]: prompt for prompt in listed}

    def prompt(self, name: str, **arguments: str) -> str:
        """Return a rendered prompt's text, or the error's."""
        answer = self.client.ask("prompts/get", name=name, arguments=arguments)
        if "error" in answer:
            return f"{answer['error']['code']} {answer['error']['message']}"
        text: str = answer["result"]["messages"][0]["content"]["text"]
        return text

    def roots(self, *folders: Path | str, **named: str) -> Json:
        """Return a client's answer to ``roots/list``."""
        uris = (each if isinstance(each, str) else each.as_uri() for each in folders)
        return {"result": {"roots": [{"uri": uri, **named} for uri in uris]}}

    def resolved(self, path: str, answer: Json | None = None, tool: str = "import_usd") -> Any:
        """Return the path that a tool gets when the client gives ``answer`` about its roots."""
        client = self.guide.client() if answer is None else self.guide.client(roots=answer)
        called = client.call(f"maya_pipeline__{tool}", path=path)
        if "error" in called:
            return called["error"]
        result = called["result"]["structuredContent"]
        return result["error"] or result["context"]["path"]

    def own_roots(self, client: Wire) -> Json:
        read = client.ask("resources/read", uri="host://roots")["result"]["contents"][0]
        roots: Json = json.loads(read["text"])
        return roots

    def program(self, *lines: str) -> str:
        """Return the output of a Python program, or the last line of its error."""
        env = environment(self.home) | {"CALLBOARD_SKILL_PATHS": str(self.skills)}
        command = [sys.executable, "-c", "\n".join(lines)]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        return (done.stdout or done.stderr.strip().splitlines()[-1]).strip()

    def install(self, host: Json | None, name: str = "research") -> str:
        """Return the output of ``install-skill`` for a bundle with this block for its host."""
        manifest: Json = {
            "manifest_version": "0.3",
            "name": name,
            "version": "1.0.0",
            "description": "Researches.",
            "author": {"name": "A studio"},
        }
        if host is not None:
            manifest["_meta"] = {"ai.nimblebrain/host": host}
        folder = self.folder / f"bundle-{next(_NUMBERS)}"
        skill = f"---\nname: {name}\ndescription: Researches.\n---\n"
        write_files(folder, {"manifest.json": json.dumps(manifest), "SKILL.md": skill})
        command = callboard("install-skill", str(folder))
        env = environment(self.home) | {"CALLBOARD_HOME": str(folder / "home")}
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        return f"{done.returncode} {done.stdout}{done.stderr}"

    def end(self) -> None:
        self._ending.close()


_NUMBERS = itertools.count(1)
