"""Create, transform, parent, color and export over HTTP. Afterwards pxr finds exactly the requested
content in the file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.client_environments import INSTALL_TIMEOUT, python_with
from e2e.serving import SKILLS, Program, environment
from e2e.test_official_clients import CLIENTS, MCP_2
from needed import need

pytestmark = pytest.mark.timeout(INSTALL_TIMEOUT + 60)

IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
#: A matrix that scales along Y, rotates by 90 degrees about Y, and moves. Vectors are rows, as in
#: USD.
PLACED = [0, 0, -1, 0, 0, 2, 0, 0, 1, 0, 0, 0, 1, 2, 3, 1]
RED = [0.8, 0.1, 0.2]

OPENUSD = {
    "/World": {"type": "Xform", "matrix": IDENTITY},
    "/World/base": {"type": "Cube", "matrix": IDENTITY, "colour": None},
    "/World/base/ball": {"type": "Sphere", "matrix": PLACED, "colour": RED},
    "/World/base/ball/Look": {"type": "Material"},
    "/World/base/ball/Look/Surface": {"type": "Shader"},
}
# An object and its mesh are two prims; Blender scopes materials and adds its world's light.
BLENDER = {
    "/root": {"type": "Xform", "matrix": IDENTITY},
    "/root/base": {"type": "Xform", "matrix": IDENTITY},
    "/root/base/base": {"type": "Mesh", "matrix": IDENTITY, "colour": None},
    "/root/base/ball": {"type": "Xform", "matrix": PLACED},
    "/root/base/ball/ball": {"type": "Mesh", "matrix": IDENTITY, "colour": RED},
    "/root/_materials": {"type": "Scope"},
    "/root/_materials/ball_Look": {"type": "Material"},
    "/root/_materials/ball_Look/Principled_BSDF": {"type": "Shader"},
}


def openusd() -> str:
    need("pxr")
    return sys.executable


def blender_4_5() -> str:
    need("bpy")
    return sys.executable


def blender_5_0() -> str:
    if sys.version_info[:2] != (3, 11):
        pytest.skip("Blender 5.0 as a module exists only for Python 3.11")
    return python_with(
        "bpy==5.0.1", "tornado", "PyYAML", "fastjsonschema", "platformdirs", "watchdog", "qtpy"
    )


def with_mcp_1() -> str:
    return sys.executable


def with_mcp_2() -> str:
    return python_with(MCP_2)


@pytest.mark.parametrize("client", [with_mcp_1, with_mcp_2])
@pytest.mark.parametrize(
    ("interpreter", "kind", "up", "unit", "expected"),
    [
        (openusd, "openusd", "Y", 0.01, OPENUSD),
        (blender_4_5, "blender", "Z", 1.0, BLENDER),
        (blender_5_0, "blender", "Z", 1.0, BLENDER),
    ],
    ids=["openusd", "blender-4.5", "blender-5.0"],
)
def test_the_exported_file_holds_what_was_asked_for(
    tmp_path: Path,
    client: Any,
    interpreter: Any,
    kind: str,
    up: str,
    unit: float,
    expected: dict[str, Any],
) -> None:
    need("pxr")
    python, env, file = client(), environment(tmp_path), tmp_path / "scene.usda"
    command = [interpreter(), "-m", "callboard", "serve", "--host", kind, "--skills", str(SKILLS)]
    with Program(command, env) as host:
        build = [python, str(CLIENTS / "build_scene.py"), host.url, str(host.token), str(file)]
        built = subprocess.run(build, env=env, capture_output=True, text=True)
        assert built.returncode == 0, built.stderr[-4000:]
    read = [sys.executable, str(CLIENTS / "read_stage.py"), str(file)]
    stage = json.loads(subprocess.run(read, capture_output=True, check=True).stdout)
    assert (stage["up"], stage["unit"]) == (up, unit)
    assert stage["prims"].keys() == expected.keys()
    for path, prim in expected.items():
        assert stage["prims"][path] == {
            key: pytest.approx(value, abs=1e-3) if isinstance(value, list) else value
            for key, value in prim.items()
        }, path
