"""Every example runs as a program, and does what it shows."""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard.ground.png import png_size
from callboard_testing.fake_client import FakeClient
from e2e.serving import PROJECT, Program, callboard, environment
from needed import need
from waiting import job_ended

EXAMPLES = PROJECT / "examples" / "primitives"
Json = dict[str, Any]


def text(result: Json) -> str:
    assert not result["isError"], result
    return str(result["content"][0]["text"])


def names(client: FakeClient) -> list[str]:
    listed = client.call("scene__list_objects")["structuredContent"]
    return [each["name"] for each in listed["objects"]]


def result(client: FakeClient, method: str, **params: Any) -> Json:
    answer: Json = client.request(method, params)["result"]
    return answer


def tool(client: FakeClient, home: Path) -> None:
    assert text(client.call("stack", {"count": 3})) == "3 cubes stand on each other"
    top = client.call("scene__get_object", {"name": "cube_2"})["structuredContent"]
    assert top["translate"] == [0, 2, 0]


def structured_output(client: FakeClient, home: Path) -> None:
    client.call("scene__create_primitive", {"kind": "torus"})
    client.call("scene__create_primitive", {"kind": "torus"})
    assert client.call("census")["structuredContent"] == {"types": {"torus": 2}}


def image(client: FakeClient, home: Path) -> None:
    (block,) = client.call("swatch", {"red": 255, "green": 0, "blue": 0})["content"]
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(block["data"]).startswith(b"\x89PNG")


def progress(client: FakeClient, home: Path) -> None:
    called = client.call("primes", {"below": 1000}, _meta={"progressToken": "p"})
    assert called["structuredContent"] == {"primes": 168}
    told = [m["params"] for m in client.wait_for("notifications/progress")]
    assert told[0]["total"] == 1000
    assert told[0]["message"].endswith("primes so far")


def generator(client: FakeClient, home: Path) -> None:
    assert client.call("grid", {"size": 3})["structuredContent"] == {"created": 9}
    assert len(names(client)) == 9


def coroutine(client: FakeClient, home: Path) -> None:
    surveyed = client.call("survey", {"program": sys.executable})["structuredContent"]
    version = ".".join(map(str, sys.version_info[:3]))
    assert surveyed == {"version": f"Python {version}", "objects": 0}


def elicitation(client: FakeClient, home: Path) -> None:
    client.call("scene__create_primitive", {"kind": "cube"})
    for sure, left in ((False, 1), (True, 0)):
        content = {"action": "accept", "content": {"sure": sure}}
        client.answers["elicitation/create"] = lambda params, content=content: content
        client.call("clear")
        assert len(names(client)) == left


def sampling(client: FakeClient, home: Path) -> None:
    text(client.call("christen", {"kind": "cube"}))
    assert names(client) == ["boxy"]


def roots(client: FakeClient, home: Path) -> None:
    (home / "notes.txt").write_bytes(b"12345")
    measured = client.call("measure", {"path": "workspace://notes.txt"})["structuredContent"]
    assert measured == {"file": "notes.txt", "bytes": 5, "roots": ["project"]}
    left = client.request(
        "tools/call", {"name": "measure", "arguments": {"path": "../../etc/passwd"}}
    )
    assert left["error"]["code"] == -32602


def resources(client: FakeClient, home: Path) -> None:
    assert "studio://house-rules" in [
        each["uri"] for each in result(client, "resources/list")["resources"]
    ]
    (read,) = result(client, "resources/read", uri="studio://house-rules")["contents"]
    assert read["mimeType"] == "text/markdown"
    assert read["text"].startswith("# House rules")


def template(client: FakeClient, home: Path) -> None:
    (read,) = result(client, "resources/read", uri="shot://sq010/sh020")["contents"]
    assert json.loads(read["text"]) == {"frames": [1001, 1120]}
    unknown = client.request("resources/read", {"uri": "shot://sq030/sh010"})
    assert unknown["error"]["data"] == {"uri": "shot://sq030/sh010"}


def prompt(client: FakeClient, home: Path) -> None:
    arguments = {"department": "lighting"}
    (message,) = result(client, "prompts/get", name="review", arguments=arguments)["messages"]
    assert "in a friendly way what the lighting department" in message["content"]["text"]


def completion(client: FakeClient, home: Path) -> None:
    reference = {"type": "ref/prompt", "name": "light"}
    argument = {"name": "look", "value": "br"}
    completed = result(client, "completion/complete", ref=reference, argument=argument)
    assert completed["completion"]["values"] == ["brushed steel", "brass", "bronze"]


def job(client: FakeClient, home: Path) -> None:
    handle = client.call("populate", {"count": 5})["structuredContent"]
    status = job_ended(client, handle["job_id"])
    assert status["status"] == "completed"
    assert status["result"]["structuredContent"] == {"planted": 5}
    assert len(names(client)) == 5


SHOWN: dict[str, Callable[[FakeClient, Path], None]] = {
    check.__name__: check
    for check in (
        tool,
        structured_output,
        image,
        progress,
        generator,
        coroutine,
        elicitation,
        sampling,
        roots,
        resources,
        template,
        prompt,
        completion,
        job,
    )
}


def test_every_example_is_shown() -> None:
    folders = EXAMPLES.parent
    listed = re.findall(r"^\| \[(\S+)\]", (folders / "README.md").read_text("utf-8"), re.MULTILINE)
    assert {name.split("/")[0] for name in listed} == {
        path.name for path in folders.iterdir() if path.is_dir()
    }
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"serving"} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_the_example_runs_and_does_what_it_shows(name: str, tmp_path: Path) -> None:
    need("pxr")
    sampled = {"role": "assistant", "content": {"type": "text", "text": "boxy"}, "model": "test"}
    workspace = {"roots": [{"uri": tmp_path.as_uri(), "name": "project"}]}
    program = Program([sys.executable, str(EXAMPLES / f"{name}.py")], environment(tmp_path))
    with (
        program as server,
        FakeClient(
            server.url,
            server.token,
            capabilities={"elicitation": {}, "sampling": {}, "roots": {}},
            answers={
                "sampling/createMessage": lambda params: sampled,
                "roots/list": lambda params: workspace,
            },
        ) as client,
    ):
        SHOWN[name](client, tmp_path)


def test_a_program_of_ones_own_is_a_host(tmp_path: Path) -> None:
    program = str(PROJECT / "examples" / "host" / "notes.py")
    with (
        Program([sys.executable, program], environment(tmp_path)) as server,
        FakeClient(server.url, server.token) as client,
    ):
        assert names(client) == ["milk", "bread"]
        milk = client.call("scene__get_object", {"name": "milk"})["structuredContent"]
        assert milk["translate"] == [0.2, 1.5, 0.0]
        assert "nearest: milk" in str(client.call("scene__get_object", {"name": "mlik"}))
        arguments = {"names": ["milk"]}
        refused = client.request("tools/call", {"name": "scene__delete", "arguments": arguments})
        assert refused["error"]["data"]["missing"] == ["scene.mutate"]


def test_the_hosts_own_checks_are_collected_from_the_projects_folder() -> None:
    """The project's pytest settings are stricter than those of a host's author."""
    command = [sys.executable, "-m", "pytest", "examples/host", "--collect-only", "-q"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "PaintingHost" in done.stdout


def test_an_agent_builds_looks_checks_and_renders(tmp_path: Path) -> None:
    need("bpy")
    program = str(PROJECT / "examples" / "agent" / "still_life.py")
    with Program(
        callboard("serve", "--host", "blender", "--root", str(tmp_path)),
        environment(tmp_path / "home"),
    ) as server:
        done = subprocess.run(
            [sys.executable, program, server.url, server.token or "", str(tmp_path)],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1"},
        )
    assert done.returncode == 0, done.stdout + done.stderr
    # The example saw that the ball was in the air and fixed that, so no finding is left.
    page = (PROJECT / "docs" / "transcript.md").read_text("utf-8")
    assert [line for line in done.stdout.splitlines() if line.startswith("- ")] == [
        line for line in page.splitlines() if line.startswith("- ")
    ]
    for picture in ("viewport__look.png", "still.png"):
        assert png_size((tmp_path / picture).read_bytes()) == (320, 240)


def test_a_bundle_reads_the_files_that_it_requires_of_its_host(tmp_path: Path) -> None:
    need("pxr")
    env, bundle = environment(tmp_path / "home"), str(PROJECT / "examples" / "bundle")
    for command in (callboard("lint", bundle), callboard("install-skill", bundle)):
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    root = tmp_path / "shots"
    root.mkdir()
    (root / "lamp.md").write_text("Brighter, please.")
    (root / "lamp.md.tags").write_text("sc010\n")
    (root / "door.md").write_text("Of another shot.")
    serve = callboard("serve", "--host", "openusd", "--root", str(root))
    with Program(serve, env) as server, FakeClient(server.url, server.token) as client:
        notes = client.call("shot_notes__read", {"tag": "sc010"})["structuredContent"]["notes"]
        assert notes == {"lamp.md": "Brighter, please."}
    with (
        Program([*serve, "--deny", "filesystem.read"], env) as server,
        FakeClient(server.url, server.token) as client,
    ):
        offered = [each["name"] for each in result(client, "tools/list")["tools"]]
        assert "scene__list_objects" in offered
        assert "shot_notes__read" not in offered


def shown_command(start: str) -> list[str]:
    """Return the command in the example's README, split as a shell does."""
    page = (EXAMPLES.parent / "many" / "README.md").read_text("utf-8").replace("\\\n", " ")
    (line,) = [line for line in page.splitlines() if line.startswith(start)]
    return shlex.split(line.removeprefix(start))


def scenes_made(arguments: list[str], home: Path, env: dict[str, str]) -> Json:
    """Run callboard in a copy of the example. Return the results by the lists' names."""
    shutil.copytree(EXAMPLES.parent / "many", home / "many")
    done = subprocess.run(
        callboard(*arguments), cwd=home / "many", env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *lines, finished = map(json.loads, done.stdout.splitlines())
    assert finished == {"event": "finished", "done": 2, "failed": 0}
    for line in lines:
        assert Path(line["result"]["path"]).is_file()
    return {Path(line["file"]).stem: line["result"]["props"] for line in lines}


PROPS = {"hall": ["lamp", "chair"], "garden": ["bench"]}


def test_a_batch_in_mayapy(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    if "mayapy" not in Path(sys.executable).name:
        env["PYTHONPATH"] += os.pathsep + str(PROJECT / "tests" / "hosts" / "doubles")
    arguments = shown_command("mayapy -m callboard ")
    assert scenes_made(arguments, tmp_path, env) == PROPS
    assert (tmp_path / "many" / "lists" / "hall.ma").is_file()


def test_a_job_of_a_farm(tmp_path: Path) -> None:
    need("pxr")
    need("distributed")
    arguments = shown_command("callboard ")
    assert scenes_made(arguments, tmp_path, environment(tmp_path / "home")) == PROPS
    assert "lamp" in (tmp_path / "many" / "lists" / "hall.usda").read_text("utf-8")
