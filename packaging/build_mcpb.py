"""The bridge's bundle: one file that desktop applications install with a click (MCPB)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from build_archive import Files, write_zip
from build_library import OLDEST_PYTHON, check_imports, check_library, library
from build_requirements import PROJECT, described
from build_sbom import notices_and_bill
from build_wheel import version

#: The bridge is one of the programs in ``callboard_programs``.
PACKAGES = ["callboard", "callboard_programs"]
_MAIN = "server/main.py"
_LIBRARY = "server/lib"


def build_mcpb(out: Path) -> Path:
    """Write the bundle into ``out``, with everything that the bridge imports. Raises BuildError."""
    inside, carried = library(PACKAGES)
    check_library(list(inside), PACKAGES)
    for name, data in inside.items():
        if name.endswith(".py"):
            check_imports(name, data)
    files: Files = {f"{_LIBRARY}/{name}": data for name, data in inside.items()}
    files[_MAIN] = (PROJECT / "packaging" / "mcpb" / "main.py").read_bytes()
    files["manifest.json"] = (json.dumps(manifest(), indent=2) + "\n").encode()
    files.update(notices_and_bill([described(path) for path in carried]))
    path = out / f"callboard-{version()}.mcpb"
    write_zip(path, files)
    return path


def manifest() -> dict[str, Any]:
    """Return the manifest that the application reads. It has no settings, because the bridge finds
    the hosts."""
    # Python runs isolated from any other Python setup on that machine.
    arguments = ["-I", f"${{__dirname}}/{_MAIN}"]
    return {
        "manifest_version": "0.3",
        "name": "callboard",
        "display_name": "callboard",
        "version": version(),
        "description": "Maya, 3ds Max, Houdini and Blender for AI clients",
        "long_description": (
            "A bridge to callboard inside the applications that run on this machine. callboard "
            "is installed into each of them separately. Hosts may start and quit at any time. "
            "If there are several, the agent chooses one."
        ),
        "author": {"name": "The callboard authors"},
        "license": "MIT",
        "keywords": ["maya", "3ds max", "houdini", "blender", "3d"],
        "server": {
            "type": "python",
            "entry_point": _MAIN,
            "mcp_config": {
                "command": "python3",
                "args": arguments,
                # On Windows, Python from python.org has no python3.
                "platform_overrides": {"win32": {"command": "python"}},
            },
        },
        # The tools come from the running host.
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": f">={OLDEST_PYTHON}"},
        },
    }
