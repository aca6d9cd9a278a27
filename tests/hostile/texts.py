"""Malicious skills and bundles. Each is either read, or refused with an error that names it.
Nothing is written outside its folder."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from random import Random

from callboard.bundles.installed.manifest import ManifestError, folder_name, parse_manifest
from callboard.bundles.installed.unpack import UnpackError, check_name, remove_tree, unpack
from callboard.calls.json_schema import SchemaViolation, Validator
from callboard.errors import SkillError
from callboard.ground import safe_yaml
from callboard.skills.frontmatter import split_frontmatter
from callboard.skills.load import load_skill
from callboard.skills.prompts.files import read_prompts
from callboard.skills.prompts.prompt import fill, placeholders
from callboard.skills.workflows.files import read_workflows
from hostile.making import spoiled, spoiled_bytes, text, value

SKILL = b"""---
name: thing
description: Does things.
metadata:
  dcc-mcp:
    dcc: any
    version: 1.0.0
    tags: [a, b]
    tools: tools.yaml
    prompts: prompts.yaml
    workflows: flow.workflow.yaml
---
# Thing
"""
TOOLS = b"""tools:
  - name: go
    description: &text Goes.
    source_file: scripts/go.py
    required_capabilities: [usd, filesystem.read]
    affinity: any
    timeout_hint_secs: 5
    annotations: {read_only_hint: true}
    next-tools: {on-success: [thing__go], on-failure: []}
    input_schema:
      type: object
      properties:
        path: {type: string, format: workspace-path, pattern: "^a+$"}
        again: *text
"""
PROMPTS = b"""prompts:
  - name: ask
    description: Asks.
    template: "Do {{what}} with {{ how }}"
    arguments: [{name: what, required: true}, {name: how, default: care}]
workflows:
  - file: flow.workflow.yaml
"""
FLOW = b"""name: flow
description: Flows.
inputs: {what: {type: string}}
steps:
  - {id: one, tool: thing__go, arguments: {path: "${inputs.what}"}}
  - {id: two, tool: thing__go, if: "${steps.one.ok}", retry: {max_attempts: 2}}
"""
FILES = {
    "SKILL.md": SKILL,
    "tools.yaml": TOOLS,
    "prompts.yaml": PROMPTS,
    "flow.workflow.yaml": FLOW,
}
MANIFEST = {
    "manifest_version": "0.3",
    "name": "thing",
    "version": "1.0.0",
    "description": "Things.",
    "author": {"name": "Somebody"},
    "server": {
        "type": "python",
        "entry_point": "server/main.py",
        "mcp_config": {
            "command": "python",
            "args": ["${__dirname}/server/main.py", "${user_config.key}"],
            "env": {"A": "${HOME}"},
        },
    },
    "user_config": {"key": {"type": "string", "title": "Key", "required": True}},
    "compatibility": {"platforms": ["linux", "darwin", "win32"]},
    "_meta": {
        "ai.nimblebrain/host": {
            "host_version": "1.1",
            "name": "thing",
            "host_capabilities": {"ai.nimblebrain/host-resources": {"required": True}},
        }
    },
}
NAMES = (
    *("a.txt", "../a.txt", "../../out/a.txt", "/etc/a", "a/../../b", "C:\\a", "a\\..\\..\\b", ".."),
    *("con", "a/b/c.txt", "a", "a/", "\u202ea", "a:b", "x" * 250, ".git/config", "manifest.json"),
)


def check_skills(random: Random, folder: Path) -> Iterator[str]:
    skill = folder / "thing"
    (skill / "scripts").mkdir(parents=True)
    (skill / "scripts" / "go.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\n")
    for number in range(10**9):
        name = random.choice(list(FILES))
        bad = spoiled_bytes(random, FILES[name])
        yield f"{name} {bad!r}"
        written = bad.decode("utf-8", "replace")
        front = split_frontmatter(written) or (written, 1)
        with suppress(safe_yaml.YamlError):
            json.dumps(safe_yaml.load(*front).value)
        fill(written, lambda name: name[:1])
        placeholders(written)
        if number % 40 == 0:
            for each, good in FILES.items():
                (skill / each).write_bytes(bad if each == name else good)
            loaded = load_skill(skill)
            read_prompts(loaded)
            read_workflows(loaded)
            assert not (folder / "ran").exists(), "a script ran"
        if number % 5 == 0:
            _schema(random)


def _schema(random: Random) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}
    with suppress(SchemaViolation, SkillError):
        Validator(spoiled(random, schema)).check(value(random))


def check_bundles(random: Random, folder: Path) -> Iterator[str]:
    folder.joinpath("out").mkdir()
    good = json.dumps(MANIFEST).encode()
    for number in range(10**9):
        if random.random() < 0.5:
            bad = json.dumps(spoiled(random, MANIFEST)).encode()
        else:
            bad = spoiled_bytes(random, good)
        yield repr(bad)
        with suppress(ManifestError):
            manifest = parse_manifest(bad)
            assert isinstance(manifest.name, str)
            _is_one_folder(folder_name(manifest.name))
        if number % 25 == 0:
            _unpacked(random, folder, bad)


def _is_one_folder(name: str) -> None:
    assert name not in ("", ".", "..")
    assert PurePosixPath(name).name == name == PureWindowsPath(name).name
    check_name(PurePosixPath(name))


def _unpacked(random: Random, folder: Path, manifest: bytes) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("manifest.json", manifest)
        for _ in range(random.randrange(5)):
            info = zipfile.ZipInfo(random.choice((*NAMES, text(random) or "a")))
            info.external_attr = random.choice((0o100644, 0o120777, 0o040755, 0o060000)) << 16
            with suppress(ValueError, UnicodeError):
                archive.writestr(info, random.choice((b"../../out", b"x", b"\0" * 5000)))
    data = packed.getvalue()
    if random.random() < 0.5:
        data = spoiled_bytes(random, data)
    source, target = folder / "bundle.mcpb", folder / "in" / "target"
    source.write_bytes(data)
    target.mkdir(parents=True)
    with suppress(UnpackError, OSError):
        unpack(source, target, max_files=100, max_total=2**20)
    for path in target.rglob("*"):
        assert not path.is_symlink(), path
    assert {each.name for each in folder.iterdir()} == {"out", "bundle.mcpb", "in"}
    assert [each.name for each in (folder / "in").iterdir()] == ["target"]
    assert not list((folder / "out").iterdir())
    remove_tree(target)
