"""Calls every tool of ``dcc-mcp-blender`` through callboard and through dcc-mcp's own way.

    python tests/e2e/every_dcc_mcp_tool.py SITE

``SITE`` is a folder with the packages ``dcc_mcp_blender`` and ``dcc_mcp_core``, as ``pip install
--target SITE`` makes it; the Python that runs this has bpy and callboard. Arguments are made from
each tool's schema. Dcc-mcp's own way is what its server does in the application: the script is
imported, its package importable, and ``main`` is called. Both sides go through the tools in one
order, in a process with the factory scene; after one that ends the process, another begins. Both
work in a folder that goes afterwards: tools write files where they stand. Prints a line for each
tool that differs, then the figures.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

from callboard.skills.discovery import skill_folders
from callboard.skills.load import load_skill
from callboard.testing.fake_client import FakeClient

try:
    from e2e.serving import Program, callboard, environment
except ModuleNotFoundError:  # run as a program
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from e2e.serving import Program, callboard, environment

#: Seconds that one tool may take.
PATIENCE = 25.0
MARK = "@outcome "


class OwnTool(NamedTuple):
    name: str
    skill: str
    script: Path
    arguments: dict[str, Any]


class Sums(NamedTuple):
    tools: int
    work: int
    same: int
    differing: list[str]


def value_of(schema: Any, name: str) -> Any:
    """Something that the schema takes."""
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
            return value_of({**schema, key: None, **schema[key][0]}, name)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind in ("number", "integer"):
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        return int(least) if kind == "integer" else float(least)
    if kind == "boolean":
        return False
    if kind == "array":
        count = max(1, int(schema.get("minItems", 1)))
        return [value_of(schema.get("items", {"type": "string"}), name) for _ in range(count)]
    if kind == "object" or "properties" in schema:
        return arguments_of(schema)
    if any(word in name for word in ("path", "file", "directory", "folder")):
        return str(Path(tempfile.gettempdir(), "callboard-dcc-mcp", f"{name}.blend"))
    if "code" in name or "script" in name:
        return "result = 1"
    return "Cube"


def arguments_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    return {name: value_of(properties.get(name, {}), name) for name in schema.get("required") or ()}


def tools_in(site: Path) -> list[OwnTool]:
    folders = list(skill_folders(site / "dcc_mcp_blender" / "skills"))
    return sorted(
        OwnTool(
            skill.wire_name(tool.name), skill.name, tool.script, arguments_of(tool.input_schema)
        )
        for skill in map(load_skill, folders)
        for tool in skill.tools
        if tool.script is not None
    )


def outcome(value: Any) -> str:
    """What counts of a result: whether it went well, and what kind of error it was."""
    if not isinstance(value, Mapping):
        return "success"
    if value.get("success") is False:
        return f"error: {value.get('error')}"[:160]
    return "success"


def through_callboard(site: Path, tools: list[OwnTool], home: Path) -> dict[str, str]:
    """The outcome of each, called over MCP."""
    outcomes: dict[str, str] = {}
    while rest := [tool for tool in tools if tool.name not in outcomes]:
        skills = str(site / "dcc_mcp_blender" / "skills")
        command = callboard("serve", "--host", "blender", "--skills", skills, "--auth", "none")
        command += ["--allow", "script.execute"]
        with (
            Program(command, environment(home), cwd=home) as program,
            ExitStack() as stack,
            suppress(Exception),
        ):
            stack.callback(program.process.kill)
            client = FakeClient(program.url, None)
            client.__enter__()
            for skill in sorted({tool.skill for tool in rest}):
                client.call("skills__load", {"name": skill})
            for tool in rest:
                params = {"name": tool.name, "arguments": tool.arguments}
                outcomes[tool.name] = "ended"  # until it answers
                answer = client.start("tools/call", params).result(PATIENCE)
                outcomes[tool.name] = outcome_of_answer(answer)
    return outcomes


def outcome_of_answer(answer: Mapping[str, Any]) -> str:
    if "error" in answer:
        return f"refused: {answer['error']['message'][:120]}"
    result = answer["result"]
    if "structuredContent" in result:
        return outcome(result["structuredContent"])
    told = result["content"][0].get("text", "") if result["content"] else ""
    return f"error: {told}"[:160] if result["isError"] else "success"


def in_their_way(site: Path, tools: list[OwnTool], home: Path) -> dict[str, str]:
    """The outcome of each, called as dcc-mcp's server does in the application."""
    outcomes: dict[str, str] = {}
    while rest := [tool for tool in tools if tool.name not in outcomes]:
        command = [sys.executable, str(Path(__file__).absolute()), str(site), "--theirs"]
        work = json.dumps([[tool.name, str(tool.script), tool.arguments] for tool in rest])
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(home),
            cwd=home,
            text=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(work)
        child.stdin.close()
        watch = Timer(PATIENCE, child.kill)
        watch.start()
        for line in child.stdout:
            if line.startswith(MARK):
                watch.cancel()
                watch = Timer(PATIENCE, child.kill)
                watch.start()
                name, ended = json.loads(line.removeprefix(MARK))
                outcomes[name] = ended
        watch.cancel()
        if child.wait() != 0:
            outcomes.setdefault(next(t.name for t in rest if t.name not in outcomes), "ended")
    return outcomes


def call_all(site: Path) -> None:
    """In the child: one line on stdout for each tool that is read from stdin."""
    work = json.load(sys.stdin)
    sys.path.append(str(site))
    importlib.import_module("bpy")
    for number, (name, script, arguments) in enumerate(work):
        try:
            sys.path.insert(0, str(Path(script).parent))
            spec = importlib.util.spec_from_file_location(f"own_{number}", script)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            ended = outcome(module.main(**arguments))
        except BaseException as error:
            ended = f"error: {type(error).__name__}: {error}"[:160]
        finally:
            sys.path.remove(str(Path(script).parent))
        print(f"\n{MARK}{json.dumps([name, ended])}", flush=True)


def compare(site: Path, home: Path) -> Sums:
    """Goes through all tools on both sides."""
    tools = tools_in(site)
    ours, theirs = through_callboard(site, tools, home), in_their_way(site, tools, home)
    differing = [
        f"{tool.name}: here {ours[tool.name]!r}, there {theirs[tool.name]!r}"
        for tool in tools
        if kind(ours[tool.name]) != kind(theirs[tool.name])
    ]
    working = sum(kind(ours[tool.name]) == "success" for tool in tools)
    return Sums(len(tools), working, len(tools) - len(differing), differing)


def kind(ended: str) -> str:
    return ended.partition(":")[0]


if __name__ == "__main__":
    place = Path(sys.argv[1]).absolute()
    if "--theirs" in sys.argv:
        call_all(place)
    else:
        with tempfile.TemporaryDirectory() as folder:
            sums = compare(place, Path(folder))
        print("\n".join(sums.differing))
        print(f"{sums.tools} tools, {sums.work} succeed, {sums.same} as in their own way")
