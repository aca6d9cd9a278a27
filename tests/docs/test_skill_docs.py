"""The example skills work, and the guide shows them unchanged."""

from __future__ import annotations

import os
import pydoc
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

import callboard.host
from callboard.ports.edit import SceneEditor
from callboard.ports.scene import SceneReader
from callboard_testing.lint.skill_lint import lint
from needed import needs

PROJECT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted(path.parent for path in (PROJECT / "examples" / "skills").glob("*/SKILL.md"))
GUIDE = (PROJECT / "docs" / "skills.md").read_text(encoding="utf-8")
#: Pages that quote the example skills' files.
QUOTING = [
    (PROJECT / "docs" / f"{page}.md").read_text("utf-8") for page in ("prompts", "workflows")
]
#: Members of ports that not every host has.
OPTIONAL = {"called", "covers", "details", "shown_faces", "whole"}
QUOTED = [
    quote
    for page in QUOTING
    for quote in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
]


def test_there_are_examples_and_quotes():
    assert EXAMPLES
    assert len(QUOTED) == 2


@pytest.mark.parametrize(("path", "text"), QUOTED, ids=[path for path, _ in QUOTED])
def test_the_guide_quotes_files_as_they_are(path, text):
    assert text in (PROJECT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("port", "contract"), [("scene.read", SceneReader), ("scene.mutate", SceneEditor)]
)
def test_the_guide_tells_what_a_port_has(port, contract):
    table = GUIDE.partition(f'| `ctx.port("{port}")` |')[2].partition("\n\n")[0]
    told = dict(re.findall(r"`(\w+)\(([\w, ]*)\)`", table))
    assert told.keys() == {name for name in vars(contract) if name[0] != "_"} - OPTIONAL
    for name, parameters in told.items():
        taken = list(signature(getattr(contract, name)).parameters)[1:]
        assert parameters.split(", ") == (taken or [""])


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_has_no_findings(folder):
    assert [str(finding) for finding in lint(folder)] == []


@needs("pxr")
@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_passes_its_own_tests(folder, tmp_path):
    # Run the example as its author would, without our settings.
    options = ["-W", "error", "-p", "no:cacheprovider", "-c", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), str(folder)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_port_that_a_skill_may_ask_for_is_named_with_its_page():
    ports = {
        name
        for name in callboard.host.__all__
        if getattr(getattr(callboard.host, name), "_is_protocol", False)
    }
    # The ports that a host offers to its server alone. No skill may use them on behalf of an agent.
    ports -= {"UndoPort", "ScriptPort"}
    assert sorted(name for name in ports if f"`{name}`" not in GUIDE) == []
    assert "pydoc callboard.host.MaterialsPort" in GUIDE
    assert "MaterialsPort" in pydoc.render_doc("callboard.host.MaterialsPort")
