"""Writes the table of clients in docs/clients.md. It runs third-party clients and proxies,
unmodified, against a host, through the gateway, and through the bridge with two hosts running.

    PYTHONPATH=core:hosts:tests python tests/conformance/client_table.py [CLIENT…]

Each client is installed once, into the user's cache. Without CLIENT, all of them run, which takes a
few minutes.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from e2e.client_environments import node_with, npm_with, python_with
from e2e.serving import PROJECT, Program, callboard, environment, serve
from waiting import until

HERE = Path(__file__).resolve().parent
PAGE = PROJECT / "docs" / "clients.md"
CELLS = ("list", "call", "error", "progress", "question")
Json = dict[str, Any]
#: Runs a client on a target, and returns what it saw.
Run = Callable[[Json], Json]


def done(command: list[str], target: Json, timeout: float = 150) -> str:
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, env=target["env"], cwd=PROJECT
    )
    return ran.stdout or "\n".join(ran.stderr.strip().splitlines()[-3:])


def cells(command: list[str], target: Json) -> Json:
    """Return the cells that a program prints on its last line, or its error."""
    line = done([*command, json.dumps(target)], target).strip().splitlines()[-1]
    try:
        seen: Json = json.loads(line)
    except ValueError:
        return {"list": line[:200]}
    return seen


def python(name: str, *requirements: str) -> Run:
    script = str(HERE / "table_clients.py")
    return lambda target: cells([python_with(*requirements), script, name], target)


def typescript(version: str, package: str) -> Run:
    script = HERE / "table_client.mjs"
    return lambda target: cells([*node_with(script, package), version], target)


def inspector(target: Json) -> Json:
    """Run MCP Inspector's command line, which makes one call per process."""
    folder = npm_with("node@22", "@modelcontextprotocol/inspector@2") / "node_modules"
    command = [str(folder / ".bin" / "node"), str(folder / ".bin" / "mcp-inspector"), "--cli"]
    if "url" in target:
        command += [target["url"], "--transport", "http"]
        command += ["--header", f"Authorization: Bearer {target['token']}"]
    else:
        # The inspector passes on little of its own environment.
        passed = (f"{key}={target['env'][key]}" for key in ("CALLBOARD_HOME", "PYTHONPATH"))
        command += [word for each in passed for word in ("-e", each)] + target["command"]
    host = [f"{key}={value}" for key, value in target["host"].items()]

    def call(tool: str, *arguments: str) -> str:
        given = [word for each in (*arguments, *host) for word in ("--tool-arg", each)]
        named = ["--method", "tools/call", "--tool-name", f"probe__{tool}"]
        return done([*command, *named, *given], target)

    listed = done([*command, "--method", "tools/list"], target)
    answers = {"list": (listed, "probe__add"), "call": (call("add", "a=30", "b=50"), '"sum": 80')}
    answers |= {"error": (call("fail"), "as asked")}
    seen = {
        name: "ok" if wanted in text else text[:200] for name, (text, wanted) in answers.items()
    }
    return {**seen, "progress": "–", "question": "–"}


def behind(command: Callable[[Json], list[str]]) -> Run:
    """Return an MCP SDK 1 client that starts a proxy, which connects to the target over HTTP."""

    def run(target: Json) -> Json:
        if "url" not in target:
            return dict.fromkeys(CELLS, "–")
        through = {**target, "command": command(target)}
        del through["url"]
        return MCP_1(through)

    return run


def before(command: Callable[[Json, int], list[str]], other: Run) -> Run:
    """Return a client like ``other``, except that it reaches the bridge over HTTP, through a proxy
    that starts the bridge."""

    def run(target: Json) -> Json:
        if "url" in target:
            return other(target)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        proxy = subprocess.Popen(
            command(target, port),
            env=target["env"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            until(lambda: reachable(port), "the proxy to listen")
            return MCP_1({**target, "url": f"http://127.0.0.1:{port}/mcp", "token": "none"})
        finally:
            proxy.terminate()
            proxy.wait()

    return run


def reachable(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def bearer(target: Json) -> str:
    return f"Bearer {target['token']}"


def bin_of(package: str, program: str) -> str:
    return str(npm_with(package) / "node_modules" / ".bin" / program)


def mcp_proxy() -> str:
    return str(Path(python_with("mcp-proxy")).with_name("mcp-proxy"))


MCP_1 = python("mcp1", "mcp>=1.30,<2")
CLIENTS: dict[str, Run] = {
    "mcp 1": MCP_1,
    "mcp 2": python("mcp2", "mcp>=2.3,<3"),
    "TypeScript SDK 1": typescript("1", "@modelcontextprotocol/sdk@1"),
    "TypeScript SDK 2": typescript("2", "@modelcontextprotocol/client@2"),
    "fastmcp": python("fastmcp", "fastmcp>=4.1,<5"),
    "pydantic-ai": python("pydantic_ai", "pydantic-ai-slim[mcp]"),
    "langchain-mcp-adapters": python("langchain", "langchain-mcp-adapters"),
    "openai-agents": python("openai_agents", "openai-agents"),
    "smolagents": python("smolagents", "smolagents[mcp]", "mcp<2"),
    "MCP Inspector (command line)": inspector,
    "mcp-remote": behind(
        lambda target: [
            *(bin_of("mcp-remote", "mcp-remote"), target["url"], "--transport", "http-only"),
            *("--header", f"Authorization: {bearer(target)}"),
        ]
    ),
    "mcp-proxy": before(
        lambda target, port: [
            mcp_proxy(),
            "--port",
            str(port),
            "--pass-environment",
            *("--", *target["command"]),
        ],
        behind(
            lambda target: [
                *(
                    mcp_proxy(),
                    "--transport",
                    "streamablehttp",
                    "-H",
                    "Authorization",
                    bearer(target),
                ),
                target["url"],
            ]
        ),
    ),
    "supergateway": before(
        lambda target, port: [
            *(bin_of("supergateway", "supergateway"), "--port", str(port), "--stateful"),
            *("--stdio", " ".join(target["command"]), "--outputTransport", "streamableHttp"),
        ],
        behind(
            lambda target: [
                *(bin_of("supergateway", "supergateway"), "--streamableHttp", target["url"]),
                *("--oauth2Bearer", target["token"], "--logLevel", "none"),
            ]
        ),
    ),
}


@contextmanager
def targets() -> Iterator[dict[str, Json]]:
    """Yield a host, the same host through the gateway, and the bridge to it and to another one."""
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        env = environment(Path(home))
        gateway = Program(callboard("gateway", "--port", "0"), env)
        gateway, host, _ = map(stack.enter_context, (gateway, *(serve(Path(home)) for _ in "12")))
        listed = subprocess.check_output(callboard("list", "--json"), env=env)
        ids = [row["id"] for row in json.loads(listed)]
        yield {
            "host": {"env": env, "url": host.url, "token": host.token, "host": {}},
            "gateway": {
                "env": env,
                "url": f"{gateway.url}/openusd",
                "token": gateway.token,
                "host": {},
            },
            "bridge, two hosts": {
                "env": env,
                "command": callboard("stdio"),
                "host": {"host": ids[0]},
            },
        }


def in_words(seen: Json) -> str:
    """Return a cell of the table: what works, and what doesn't."""
    for one, word in (("–", "–"), ("ok", "all five")):
        if [seen.get(name) for name in CELLS] == [one] * len(CELLS):
            return word
    wrong = [name for name in CELLS if seen.get(name, "no answer") not in ("ok", "–")]
    works = [name for name in CELLS if seen.get(name) == "ok"]
    return (", ".join(works) or "nothing") + (f"; not {', '.join(wrong)}" if wrong else "")


def main(names: list[str]) -> None:
    rows = {}
    with targets() as places:
        for name in names or CLIENTS:
            try:
                seen = {place: CLIENTS[name](target) for place, target in places.items()}
            except pytest.skip.Exception as skipped:
                print(f"{name}: {skipped}", file=sys.stderr)
                continue
            rows[name] = [in_words(each) for each in seen.values()]
            print(name, json.dumps(seen, ensure_ascii=False), file=sys.stderr, flush=True)
    lines = PAGE.read_text("utf-8").splitlines() if PAGE.exists() else []
    for name, row in rows.items():
        line = f"| {name} | {' | '.join(row)} |"
        known = [number for number, old in enumerate(lines) if old.startswith(f"| {name} |")]
        if known:
            lines[known[0]] = line
        else:
            print(line)
    if lines:
        PAGE.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
