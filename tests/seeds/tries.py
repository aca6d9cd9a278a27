"""The functions that the expressions in docs/statements.md call."""

from __future__ import annotations

import json
import socket
from functools import cache
from pathlib import Path
from typing import Any

from seeds.outside import Json, Outside, Program, Wire
from seeds.outside_skills import WORDS
from skills.skill_tree import write_skill

__all__ = ["WORDS", "json"]
HERO = "callboard.WorkspaceRoots(['/projects/hero'])"
READS, NOWHERE = "ai.nimblebrain/host-resources", "com.example/nowhere"
NAME = "mcpeye_request_capability"
CHANGED = "notifications/prompts/list_changed"
NOT_RUN = ("no workspace roots advertised", ["roots/list failed: Roots not supported"])


def run_or_imported(o: Outside) -> bool:
    o.refusal()
    return any(o.skills.rglob("*.ran"))


def at_the_port(o: Outside) -> bool:
    """Return whether a server listens on the port in its settings."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    return f":{port}/" in o.serve(port=port, skills=False).url


def listening(o: Outside) -> tuple[Program, Path, Wire, Wire]:
    """Return a server with one skill, the skill's folder, and two clients that listen."""
    folder = o.folder / f"changing-{len(list(o.folder.iterdir()))}"
    files = {"p.yaml": "prompts: [{name: greet, description: Greet., template: Hello}]\n"}
    skill = write_skill(folder, "greeter", block="prompts: p.yaml", files=files)
    program = o.serve(folder)
    return program, skill, program.client().listen(), program.client().listen()


def names(client: Wire) -> list[str]:
    return [prompt["name"] for prompt in client.ask("prompts/list")["result"]["prompts"]]


@cache
def unloaded_and_loaded(o: Outside) -> list[list[str]]:
    """Return the lists that two clients get as soon as they are notified, after an unload and after
    a load."""
    program, _, one, two = listening(o)
    lists = []
    for number, tool in enumerate(("skills__unload", "skills__load"), start=1):
        program.client().call(tool, name="greeter")
        for client in (one, two):
            client.heard(CHANGED, number)
            lists.append(names(client))
    return lists


@cache
def edited(o: Outside) -> tuple[list[str], list[str]]:
    """Return the names listed after an edit of the prompts, and after one of the skill itself."""
    _, skill, one, _ = listening(o)
    names(one)
    file = skill / "p.yaml"
    file.write_text(file.read_text().replace("greet,", "welcome,"))
    first = names(one)
    head = skill / "SKILL.md"
    head.write_text(head.read_text().replace("The greeter skill", "Greets"))
    one.heard(CHANGED)
    return first, names(one)


@cache
def without_prompts(o: Outside) -> tuple[bool, int, str, int]:
    client = o.serve(enable_prompts=False, skills=False).client()
    listed, got = client.ask("prompts/list"), client.ask("prompts/get", name="x")
    (code, words), other = listed["error"].values(), got["error"]["code"]
    return "prompts" in client.opened["capabilities"], code, words.split(":")[0], other


@cache
def diagnosed(o: Outside, **files: str) -> Json:
    """Return the diagnostics for an empty list of prompts, with one skill that has these files, or
    with no skill."""
    folder = o.folder / f"diagnosed-{len(list(o.folder.iterdir()))}"
    block = "prompts: p.yaml" if files else "version: '1'"
    if files != {"none": ""}:
        named = {name.replace("_", "."): text for name, text in files.items()}
        write_skill(folder, "one", block=block, files=named)
    result = o.serve(folder).client().ask("prompts/list")["result"]
    diagnostics: Json = result["_meta"]["dcc.prompt_diagnostics"]
    return diagnostics


REGISTER = (
    "server.prompts().register_prompt(name='bake_animation', description='Bake.', "
    "arguments=[{'name': 'start', 'required': True}], template='Bake from {{start}}.')"
)


@cache
def registered(o: Outside) -> dict[str, Any]:
    """Return the lists that clients get as a program registers, changes and removes prompts."""
    program = o.serve(skills=False)
    client, prompts = program.client(), "server.prompts()"
    seen: dict[str, Any] = {"returns": program.run(REGISTER)}
    seen["listed"] = names(client)
    program.run(REGISTER.replace("}}.", "}} now."))
    got = client.ask("prompts/get", name="bake_animation", arguments={"start": "1"})
    seen["upserted"] = (names(client), got["result"]["messages"][0]["content"]["text"])
    program.run(f"{prompts}.unregister_prompt('bake_animation')")
    seen["unregistered"] = names(client)
    program.run(REGISTER)
    program.run(f"{prompts}.clear()")
    seen["cleared"] = names(client)
    wrong = REGISTER.replace("[{'name'", "[{'name': ''}, {'name'")
    seen["empty"] = program.run(wrong).split()[0]
    seen["twice"] = program.run(wrong.replace("''", "'start'")).split()[0]
    return seen


def registered_first(o: Outside) -> str:
    return o.program(
        "import callboard, json, urllib.request",
        "config = callboard.McpHttpConfig(skills=False, announce=False, auth='none')",
        "server = callboard.McpHttpServer(callboard.ToolRegistry(), config)",
        REGISTER,
        "with server.start() as handle:",
        "    url = handle.url.replace('/mcp', '/v1/prompts')",
        "    print(json.load(urllib.request.urlopen(url))['prompts'][0]['name'])",
    )


def failures(o: Outside) -> list[Json]:
    listed = o.client.ask("prompts/list")["result"]
    reported: list[Json] = listed["_meta"]["dcc.prompt_diagnostics"]["failures"]
    return reported


def one_recipe(o: Outside) -> list[str]:
    folder = o.folder / f"recipe-{len(list(o.folder.iterdir()))}"
    write_skill(folder, "one", block="recipes: r.md", files={"r.md": "Stir."})
    return names(o.serve(folder).client())


def asked(o: Outside, declared: Json) -> list[str]:
    """Return the requests that the server has sent to a client with these capabilities by the end
    of a call."""
    client = o.guide.client(declared, roots=o.roots(o.project))
    client.listen().call("maya_pipeline__import_usd", path="a")
    return list(client.asked)


def changed(o: Outside, count: int = 1) -> tuple[list[str], str]:
    """Return the server's requests, and where a path leads, after that many changes to the
    roots."""
    client = o.guide.client(roots=o.roots(o.project)).listen()
    client.heard("roots/list")
    client.answers["roots/list"] = o.roots(o.other)
    for _ in range(count):
        client.tell("notifications/roots/list_changed")
    client.heard("roots/list", 2)
    done = client.call("maya_pipeline__open", path="workspace://a")["result"]
    return client.asked[:2], done["structuredContent"]["context"]["path"]


def refused(o: Outside, code: int) -> tuple[Any, list[str]]:
    """Return the tool's error when a client answers with this error, and the roots that the server
    ignored."""
    error = {"code": code, "message": "Roots not supported", "data": {"reason": "no capability"}}
    client = o.guide.client(roots={"error": error})
    got = client.call("maya_pipeline__import_usd", path="a")["result"]["structuredContent"]
    return got["error"], o.own_roots(client)["left_out"]


def vanished(o: Outside) -> str:
    gone = o.folder / f"gone-{len(list(o.folder.iterdir()))}"
    gone.mkdir()
    client = o.guide.client(roots=o.roots(gone))
    client.call("maya_pipeline__open", path="workspace://a")
    gone.rmdir()
    return json.dumps(client.call("maya_pipeline__open", path="workspace://a"))


def listened(o: Outside) -> Wire:
    return o.guide.client(roots=o.roots(o.project)).listen()


def asked_twice(o: Outside) -> list[str]:
    client = listened(o)
    for _ in range(3):
        client.call("maya_pipeline__import_usd", path="a")
    return list(client.asked)


def block(key: str, *, version: str = "1.1", **requirement: Any) -> Json:
    """Return a bundle's block that asks for a capability."""
    return {"host_version": version, "host_capabilities": {key: requirement}}


@cache
def wished(o: Outside) -> Json:
    """Return the report's row for a capability that one client asked for."""
    program = Program(o.folder / "wishes", skills=False)
    try:
        program.client().call(NAME, capability="export the report as a PDF")
        report = program.get("/v1/report")
    finally:
        program.end()
    row: Json = report["topMissingCapabilities"][0]
    return {"rows": len(report["topMissingCapabilities"]), **row}


def schema(o: Outside) -> Json:
    described: Json = o.tools[NAME]["inputSchema"]
    return described


def request_capability(o: Outside, expression: str) -> str:
    """Return the printed value of an expression that uses names from ``request_capability``."""
    names = "ACK, descriptor, input_schema"
    return o.program(
        f"from callboard.extensions.request_capability import {names}", f"print({expression})"
    )
