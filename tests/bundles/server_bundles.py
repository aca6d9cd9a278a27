"""Bundles for the tests, installed in a folder that servers search."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

from callboard.bundles.files.host_resources import CAPABILITY
from callboard.bundles.installed.install import InstalledBundle
from callboard.bundles.installed.install_folders import PROVIDED, user_bundles
from callboard.bundles.installed.manifest import HOST_KEY
from serving import Served

Kid = Callable[..., AbstractContextManager[Served]]
CHILD = Path(__file__).with_name("child.py")
FILES = {"host_version": "1.1"}
SKILL = """---
name: {name}
description: reads files
metadata:
  dcc-mcp:
    tools: tools.yaml
---
"""


def manifest(name: str, version: str = "1.0.0", **more: Any) -> str:
    return json.dumps(
        {
            "manifest_version": "0.3",
            "name": name,
            "version": version,
            "description": f"Is {name}",
            "author": {"name": "A studio"},
            **more,
        }
    )


def server_bundle(
    folder: Path,
    *arguments: str,
    name: str = "kid",
    version: str = "1.0.0",
    python: str = sys.executable,
    script: str | None = None,
    files: bool | Literal["preferred"] = False,
) -> InstalledBundle:
    """Install a user bundle with its own server. ``files`` determines whether the bundle requires
    access to the host's files, merely prefers it, or does without it."""
    source = folder / f"{name}-{version}-source"
    source.mkdir(parents=True)
    (source / "child.py").write_text(CHILD.read_text() if script is None else script)
    config = {"command": python, "args": ["-u", "${__dirname}/child.py", *arguments]}
    server = {"type": "python", "entry_point": "child.py", "mcp_config": config}
    wanted = {CAPABILITY: {"required": files is True}}
    meta = {HOST_KEY: {**FILES, "host_capabilities": wanted}} if files else {}
    (source / "manifest.json").write_text(manifest(name, version, server=server, _meta=meta))
    return user_bundles().install(source, PROVIDED)


def skill_bundle(
    folder: Path, script: str, *, name: str = "reader", version: str = "1.0.0", **more: Any
) -> Path:
    """Return the folder of a bundle that consists of a skill with a ``run`` tool."""
    source = folder / f"{name}-{version}-source"
    (source / "scripts").mkdir(parents=True)
    (source / "SKILL.md").write_text(SKILL.format(name=name))
    (source / "tools.yaml").write_text(
        "tools:\n  - name: run\n    description: Runs.\n    affinity: any\n"
        "    input_schema: {type: object}\n"
    )
    (source / "scripts" / "run.py").write_text(script)
    (source / "manifest.json").write_text(manifest(name, version, **more))
    return source
