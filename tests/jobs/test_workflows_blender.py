"""A workflow of ten steps in a real Blender, in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from jobs.test_workflows import begun, ended, poll, start
from needed import needs
from python_path import python_path
from skills.skill_tree import write_skill

pytestmark = [
    pytest.mark.slow,
    needs("bpy"),
]

TOOLS = """\
tools:
- {name: wait, description: Waits until it is cancelled., required_capabilities: [scene.mutate]}
- name: names
  description: What there is.
  required_capabilities: [scene.read]
  annotations: {read_only_hint: true}
"""
WAIT = """\
def main(ctx):
    ctx.port("scene.mutate").create("cube", "waiting", {"size": 1})
    while True:
        yield
"""
NAMES = "def main(ctx):\n    return {'names': ctx.port('scene.read').names()}\n"


def cube(n):
    args = f"{{kind: cube, name: o{n}, size: 1}}"
    return f"  - {{id: o{n}, tool: scene__create_primitive, args: {args}}}\n"


@contextmanager
def blender(tmp_path, monkeypatch, steps):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", python_path())
    write_skill(
        tmp_path / "skills",
        "s",
        block="tools: tools.yaml\nworkflows: w.workflow.yaml",
        files={
            "tools.yaml": TOOLS,
            "scripts/wait.py": WAIT,
            "scripts/names.py": NAMES,
            "w.workflow.yaml": "name: w\nsteps:\n" + "".join(steps),
        },
    )
    command = [sys.executable, "-m", "callboard", "serve", "--host", "blender", "--skills"]
    with subprocess.Popen(
        [*command, str(tmp_path / "skills")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            line = process.stdout.readline()
            assert line, process.stderr.read().decode()
            ready = json.loads(line)
            with FakeClient(ready["url"], ready["token"]) as client:
                yield client
        finally:
            process.terminate()
            try:
                process.communicate(timeout=DEADLINE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def objects(client):
    return client.call("s__names")["structuredContent"]["names"]


def test_ten_steps_run(tmp_path, monkeypatch):
    with blender(tmp_path, monkeypatch, [cube(n) for n in range(10)]) as client:
        before = objects(client)
        run = ended(client, start(client))
        assert run["status"] == "completed", run
        assert len(run["steps"]) == 10
        assert len(objects(client)) == len(before) + 10


def test_ten_steps_cancelled_in_the_middle_leave_the_scene_as_it_was(tmp_path, monkeypatch):
    steps = [cube(n) for n in range(10)]
    steps[5] = "  - {id: o5, tool: s__wait}\n"
    with blender(tmp_path, monkeypatch, steps) as client:
        before = objects(client)
        id = start(client)
        poll(client, id, begun("o5"))
        run = client.call("workflows__cancel", {"run_id": id})["structuredContent"]
        assert run["status"] == "cancelled"
        assert run["undone"] == {"steps": 5, "left": 0}
        assert objects(client) == before
