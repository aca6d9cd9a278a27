"""Each of these pages is followed from top to bottom, as tests/docs/reader.py describes."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from callboard.records.store import Store
from callboard_testing.fake_client import FakeClient
from docs.blocks import PROJECT, blocks
from docs.flamenco_manager import flamenco_manager
from docs.reader import Reader, write_program
from needed import missing, needs
from skills.skill_tree import write_files, write_skill
from skills.wheels import make_wheel

pytestmark = [
    needs("bash"),
    needs("pxr"),
    pytest.mark.timeout(600),
]
#: A studio's tool, and its script, which fails.
PUBLISH = "tools:\n  - {name: publish, description: Publishes the set.}\n"
FAILS = "def main(folder):\n    raise ValueError('there is no set to publish')\n"
#: Two scenes that render quickly: denoising one picture takes six seconds of processor time.
SCENES = """
import bpy
from pathlib import Path
bpy.context.scene.render.engine = "CYCLES"
bpy.context.scene.cycles.samples, bpy.context.scene.cycles.use_denoising = 1, False
bpy.context.scene.render.resolution_x = bpy.context.scene.render.resolution_y = 64
for name in ("crate/crate", "lamp"):
    path = Path(f"assets/{name}.blend").absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
"""
#: The host that shows most of the features on a page about scenes.
HOST = "openusd" if missing("bpy") else "blender"


def serve(reader: Reader, *calls: tuple[str, dict[str, Any]], host: str = "openusd") -> None:
    """Start a host with the reader's folder as its root, and make the given calls."""
    reader.type(f"callboard serve --host {host} --root .")
    server = reader.servers[-1]
    with FakeClient(server.url, server.token) as client:
        for tool, arguments in calls:
            made = client.request("tools/call", {"name": tool, "arguments": arguments})
            assert not made["result"]["isError"], made


def cubes(*names: str) -> list[tuple[str, dict[str, Any]]]:
    return [("scene__create_primitive", {"kind": "cube", "name": name}) for name in names]


def looks(reader: Reader) -> None:
    serve(reader, *cubes("Ring", "Table", "Cup", "Plate"), ("cameras__create", {"name": "Camera"}))


def scene(reader: Reader) -> None:
    lamp = ("lights__create", {"kind": "point", "name": "Lamp", "power": 10})
    serve(reader, *cubes("Cup", "Plate"), lamp, host=HOST)


def shapes(reader: Reader) -> None:
    (reader.folder / "models").mkdir()
    serve(reader, *cubes("Body", "Hole", "Cup"), host=HOST)


def eyes(reader: Reader) -> None:
    serve(reader, *cubes("Table", "Vase"), ("cameras__create", {"name": "View"}))


def rest(reader: Reader) -> None:
    serve(reader)
    server = reader.servers[-1]
    reader.here["http://127.0.0.1:PORT"] = server.url.removesuffix("/mcp")
    reader.here["TOKEN=…"] = f"TOKEN={server.token}"


def bundles(reader: Reader) -> None:
    manifests = [block for block in blocks("docs/bundles.md") if block.language == "json"]
    reader.type("callboard new-bundle shot-notes")
    write_files(reader.folder, {manifest.words: manifest.text for manifest in manifests})


def report(reader: Reader) -> None:
    Store(reader.home / "callboard" / "records").flush()


def python(reader: Reader) -> None:
    pass


def bundle(reader: Reader) -> None:
    shutil.copytree(PROJECT / "examples" / "bundle", reader.folder, dirs_exist_ok=True)
    write_files(reader.home, {"shots/lamp.md": "Brighter.", "shots/lamp.md.tags": "sc010"})


def assets(reader: Reader) -> None:
    write_files(reader.folder, {"assets/crate/crate.obj": "v 0 0 0"})


def connect(reader: Reader) -> None:
    write_program(reader.folder / ".venv" / "bin" / "callboard", "callboard")
    serve(reader)


def readme(reader: Reader) -> None:
    write_program(reader.folder / ".venv" / "bin" / "callboard", "callboard")
    reader.here["python3 packaging/bootstrap.py serve"] = "callboard serve"
    # The page's command would run this test too, so the test runs another command instead.
    reader.here["python3 packaging/bootstrap.py test"] = "pytest --version"


#: The skill that docs/commands.md treats as the studio's own.
STUDIO = {
    "tools.yaml": "tools:\n- name: publish\n  source_file: scripts/publish.py\n",
    "scripts/publish.py": """
        FORM = {
            "type": "object",
            "properties": {"shot": {"type": "string"}},
            "required": ["shot"],
        }


        def publish(ctx, text: str = "", shot: str = "") -> dict:
            \"\"\"Publishes a shot.\"\"\"
            return {"shot": shot or ctx.elicit("Which shot?", FORM).content["shot"], "text": text}
        """,
    "release.workflow.yaml": """
        name: release
        description: Publishes one shot.
        inputs:
          shot: {type: string}
        steps:
          - id: publish
            tool: studio_publish__publish
            args: {shot: "{{inputs.shot}}"}
        """,
}


def commands(reader: Reader) -> None:
    """Prepare a skill, some scenes, a .blend file that isn't one, and a running host."""
    block = "tools: tools.yaml\nworkflows: '*.workflow.yaml'"
    write_skill(reader.folder / "skills", "studio-publish", block=block, files=STUDIO)
    reader.env["CALLBOARD_SKILL_PATHS"] = str(reader.folder / "skills")
    write_files(reader.folder, {"publish.json": '{"text": "done"}', "shots/old/bad.blend": "?"})
    write_files(reader.folder, {"assets/ball.usda": '#usda 1.0\ndef Sphere "Ball" {}\n'})
    if not missing("bpy"):
        for scene in (reader.folder / name for name in ("shots/sc010.blend", "assets/cube.blend")):
            reader.type(f"python -c \"import bpy; bpy.ops.wm.save_mainfile(filepath='{scene}')\"")
    serve(reader, *cubes("ball"))


def deployment(reader: Reader) -> None:
    """Prepare the site's folder, with the skills that its settings name."""
    reader.env["CALLBOARD_SITE"] = str(reader.folder)
    reader.here["/studio/callboard"] = str(reader.folder)
    for name in ("studio-publish/1.4.0", "studio-review/2.1.0"):
        (reader.folder / "skills" / name).mkdir(parents=True)


def gateway(reader: Reader) -> None:
    """Use another port, because the gateway's own may be taken, and don't open a real browser."""
    reader.here["callboard gateway"] = "callboard gateway --port 0"
    reader.here["--port 0 --open"] = "--open"  # the running gateway's page
    reader.env["BROWSER"] = "true"
    if sys.platform == "linux":  # On this system, every 127.* address belongs to this machine.
        network = ".".join(str(random.randint(1, 254)) for _ in range(3))
        reader.here["10.0.0.5"] = f"127.{network}"
    else:
        reader.here["10.0.0.5"] = "127.0.0.1"


def scale(reader: Reader) -> None:
    """Prepare a run of 300 frames, in three ranges, instead of the page's ten million."""
    files = {
        "tools.yaml": "tools:\n- name: frames\n  source_file: scripts/frames.py\n",
        "scripts/frames.py": """
            def frames(first: int, last: int) -> dict:
                \"\"\"Renders them.\"\"\"
                return {"frames": last - first + 1}
            """,
    }
    write_skill(reader.folder / "skills", "studio-render", files=files)
    reader.here["10_000_001"] = "301"
    if not missing("distributed"):
        reader.type("callboard farm local -n 1 --host openusd --skills skills")
        ready = json.loads(reader.servers[-1].line)
        reader.here["tcp://127.0.0.1:8786"] = ready["scheduler"]


def primitives(reader: Reader) -> None:
    (reader.folder / "examples").symlink_to(PROJECT / "examples")
    reader.type("python examples/primitives/tool.py")


def skills(reader: Reader) -> None:
    (reader.folder / "examples").symlink_to(PROJECT / "examples")
    for package, version in (("Pillow", "11.3.0"), ("OpenTimelineIO", "0.17.0")):
        make_wheel(reader.folder / "wheels", package, version, "")
    reader.env |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(reader.folder / "wheels")}
    publish(reader)
    shelves = [reader.folder / "shelves" / host for host in ("blender", "maya")]
    for shelf in shelves:
        block = f"dcc: {shelf.name}\nrequires: [Pillow]"
        write_skill(shelf, "studio-stamp", block=block)
    reader.env["CALLBOARD_SKILL_PATHS"] = os.pathsep.join(map(str, shelves))


def publish(reader: Reader) -> None:
    files = {"tools.yaml": PUBLISH, "scripts/publish.py": FAILS}
    write_skill(reader.folder, "studio-publish", files=files)


def skill_tests(reader: Reader) -> None:
    publish(reader)
    reader.type("callboard serve --skills . --root .")


def skill_from_run(reader: Reader) -> None:
    serve(reader, *cubes("LampA", "LampB"))
    Store(reader.home / "callboard" / "records").flush()
    listed = reader.type("callboard report --calls").splitlines()
    reader.here["ID ID …"] = " ".join(line.split()[2] for line in listed)


def farm(reader: Reader) -> None:
    reader.here["-n 4"] = "-n 2"  # There are two files.
    if HOST == "blender":
        subprocess.run([sys.executable, "-c", SCENES], cwd=reader.folder, check=True)


def farm_reference(reader: Reader) -> None:
    """Start a farm that keeps running."""
    farm(reader)
    if HOST == "blender" and not missing("distributed"):
        reader.type("callboard farm local -n 2 --host blender")
        ready = json.loads(reader.servers[-1].line)
        reader.here["tcp://127.0.0.1:40873"] = ready["scheduler"]


def farm_managers(reader: Reader) -> None:
    farm(reader)
    reader.here["/shared/"] = f"{reader.folder / 'drive'}/"
    reader.here["http://manager:8080"] = reader.stack.enter_context(flamenco_manager())


#: The preparation that each page assumes.
GRANTED: dict[str, Callable[[Reader], None]] = {
    "README.md": readme,
    "docs/assets.md": assets,
    "docs/bundles.md": bundles,
    "docs/commands.md": commands,
    "docs/connect.md": connect,
    "docs/deployment.md": deployment,
    "docs/eyes.md": eyes,
    "docs/gateway.md": gateway,
    "docs/farm.md": farm,
    "docs/farm-managers.md": farm_managers,
    "docs/farm-reference.md": farm_reference,
    "docs/looks.md": looks,
    "docs/python.md": python,
    "docs/report.md": report,
    "docs/rest.md": rest,
    "docs/scale.md": scale,
    "docs/scene.md": scene,
    "docs/shapes.md": shapes,
    "docs/skill-from-run.md": skill_from_run,
    "docs/skill-tests.md": skill_tests,
    "docs/skills.md": skills,
    "examples/bundle/README.md": bundle,
    "examples/primitives/README.md": primitives,
}


@pytest.mark.parametrize("page", GRANTED)
def test_a_page_can_be_followed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as stack:
        reader = Reader(tmp_path, stack)
        # The page's Python is run here.
        monkeypatch.setenv("CALLBOARD_HOME", reader.env["CALLBOARD_HOME"])
        monkeypatch.chdir(reader.folder)
        GRANTED[page](reader)
        reader.follow(page)
