"""Calls every tool of ``dcc-mcp-blender`` through callboard and through dcc-mcp's own server.

    python tests/e2e/every_dcc_mcp_tool.py SITE

``SITE`` is a folder with the packages ``dcc_mcp_blender`` and ``dcc_mcp_core``, as ``pip install
--target SITE`` makes it; the Python that runs this has bpy and callboard. Arguments are made from
each tool's schema. Both servers get the calls in the same order, in a process with the factory
scene. After a tool that ends the process, or takes too long, a new process is started. Both servers
work in a folder that is removed afterwards, because tools write files into the current folder.
Prints a line for each tool that differs, then the figures.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

from callboard.skills.discovery import skill_folders
from callboard.skills.load import load_skill
from callboard_programs.client import Client, RemoteError

try:
    from e2e.serving import Program, callboard, environment
except ModuleNotFoundError:  # This file runs as a program.
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from e2e.serving import Program, callboard, environment

#: Seconds that one tool may take.
PATIENCE = 25.0


class OwnTool(NamedTuple):
    name: str
    skill: str
    script: Path
    arguments: dict[str, Any]


class Sums(NamedTuple):
    tools: int
    work: int
    same: int
    #: The number of outcomes whose text is identical too.
    to_the_letter: int
    differing: list[str]


def value_of(schema: Any, name: str, folder: Path) -> Any:
    """Return a value that the schema accepts. Files are in ``folder``."""
    if not isinstance(schema, Mapping):
        return "Cube"
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if "default" in schema and schema["default"] is not None:
        return schema["default"]
    for key in ("oneOf", "anyOf", "allOf"):
        if schema.get(key):
            return value_of({**schema, key: None, **schema[key][0]}, name, folder)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind in ("number", "integer"):
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        return int(least) if kind == "integer" else float(least)
    if kind == "boolean":
        return False
    if kind == "array":
        count = max(1, int(schema.get("minItems", 1)))
        items = schema.get("items", {"type": "string"})
        return [value_of(items, name, folder) for _ in range(count)]
    if kind == "object" or "properties" in schema:
        return arguments_of(schema, folder)
    if any(word in name for word in ("path", "file", "directory", "folder")):
        return str(folder / f"{name}.blend")
    if "code" in name or "script" in name:
        return "result = 1"
    return "Cube"


def arguments_of(schema: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    required = schema.get("required") or ()
    return {name: value_of(properties.get(name, {}), name, folder) for name in required}


def tools_in(site: Path, folder: Path) -> list[OwnTool]:
    """Return the tools, each with arguments whose paths are in ``folder``."""
    folders = list(skill_folders(site / "dcc_mcp_blender" / "skills"))
    return sorted(
        OwnTool(
            skill.wire_name(tool.name),
            skill.name,
            tool.script,
            arguments_of(tool.input_schema, folder),
        )
        for skill in map(load_skill, folders)
        for tool in skill.tools
        if tool.script is not None
    )


def through_callboard(site: Path, tools: list[OwnTool], home: Path) -> dict[str, str]:
    skills = str(site / "dcc_mcp_blender" / "skills")
    command = callboard("serve", "--host", "blender", "--skills", skills, "--auth", "none")
    command += ["--allow", "script.execute"]
    load = lambda skill: {"name": "skills__load", "arguments": {"name": skill}}  # noqa: E731
    return outcomes_of(tools, Program(command, environment(home), cwd=home), load)


def through_their_server(site: Path, tools: list[OwnTool], home: Path) -> dict[str, str]:
    command = [sys.executable, str(Path(__file__).absolute()), str(site), "--theirs"]
    # Otherwise their server would join the user's gateway, and keep logs and jobs in the home
    # folder.
    own = {"HOME": str(home), "DCC_MCP_GATEWAY_PORT": "0", "DCC_MCP_REGISTRY_DIR": str(home)}
    load = lambda skill: {"name": "load_skill", "arguments": {"skill_name": skill}}  # noqa: E731
    return outcomes_of(tools, Program(command, {**environment(home), **own}, cwd=home), load)


def outcomes_of(
    tools: list[OwnTool], program: Program, load: Callable[[str], Mapping[str, Any]]
) -> dict[str, str]:
    """Return the outcome of each tool, called over MCP. ``load`` returns the params of the call
    that loads a skill."""
    outcomes: dict[str, str] = {}
    while rest := [tool for tool in tools if tool.name not in outcomes]:
        with program, ExitStack() as stack, suppress(Exception):
            stack.callback(program.process.kill)
            client = stack.enter_context(Client(program.url, None))
            for skill in sorted({tool.skill for tool in rest}):
                client.request("tools/call", dict(load(skill)))
            for tool in rest:
                outcomes[tool.name] = "ended"  # This outcome remains if there is no answer.
                watch = Timer(PATIENCE, program.process.kill)
                watch.start()
                try:
                    outcomes[tool.name] = outcome_of_call(client, tool)
                finally:
                    watch.cancel()
    return outcomes


def outcome_of_call(client: Client, tool: OwnTool) -> str:
    """Return the relevant part of a result: whether it succeeded, or the kind of error."""
    try:
        result = client.request("tools/call", {"name": tool.name, "arguments": tool.arguments})
    except RemoteError as error:
        return f"refused: {error.message[:120]}"
    text = result["content"][0].get("text", "") if result.get("content") else ""
    value = result.get("structuredContent")
    if value is None:
        with suppress(ValueError):
            value = json.loads(text)
    if isinstance(value, Mapping) and value.get("success") is False:
        return f"error: {value.get('error')}"[:160]
    return f"error: {text}"[:160] if result.get("isError") else "success"


def serve_theirs(site: Path) -> None:
    """Run dcc-mcp's server in the child process, headless, as its bootstrap does, and print the
    server's address."""
    telling = os.dup(1)
    os.dup2(2, 1)  # The server's log goes to stderr.
    sys.path.append(str(site))
    import bpy  # noqa: F401 - before what needs it
    from dcc_mcp_blender.host import BlenderHost
    from dcc_mcp_blender.server import BlenderMcpServer
    from dcc_mcp_core.host import BlockingDispatcher

    dispatcher = BlockingDispatcher()
    server = BlenderMcpServer(port=0, dispatcher=dispatcher)
    server.start()
    server.discover_skills()
    ready = {"event": "ready", "url": server.mcp_url, "token": None}
    os.write(telling, f"{json.dumps(ready)}\n".encode())
    BlenderHost(dispatcher).run_headless()


def compare(site: Path, home: Path) -> Sums:
    """Call all tools on both servers, and compare the outcomes."""
    tools = tools_in(site, home / "files")
    ours, theirs = through_callboard(site, tools, home), through_their_server(site, tools, home)
    differing = [
        f"{tool.name}: here {ours[tool.name]!r}, there {theirs[tool.name]!r}"
        for tool in tools
        if kind(ours[tool.name]) != kind(theirs[tool.name])
    ]
    working = sum(kind(ours[tool.name]) == "success" for tool in tools)
    alike = sum(ours[tool.name] == theirs[tool.name] for tool in tools)
    return Sums(len(tools), working, len(tools) - len(differing), alike, differing)


def kind(ended: str) -> str:
    return ended.partition(":")[0]


if __name__ == "__main__":
    place = Path(sys.argv[1]).absolute()
    if "--theirs" in sys.argv:
        serve_theirs(place)
    else:
        with tempfile.TemporaryDirectory() as folder:
            sums = compare(place, Path(folder))
        print("\n".join(sums.differing))
        print(
            f"{sums.tools} tools, {sums.work} succeed, {sums.same} end as on their own server, "
            f"{sums.to_the_letter} of them with identical text"
        )
