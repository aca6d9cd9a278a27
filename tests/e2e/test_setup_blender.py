"""From a wheel and nothing else to an agent that draws in Blender's window, and all back."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from blender_program import blender_environment
from home_contents import contents
from hosts.blender_gui_rig import DEADLINE, missing, screen

if reason := missing():
    pytest.skip(reason, allow_module_level=True)
if sys.version_info < (3, 11):
    pytest.skip("wheels are built by Python 3.11 or later", allow_module_level=True)

pytestmark = pytest.mark.timeout(300)

CLIENTS = {
    ".cursor/mcp.json": b'{\n  "mcpServers": {\n    "mine": {"command": "x"}\n  }\n}\n',
    ".codex/config.toml": b'# mine\nmodel = "o"\n',
    ".config/zed/settings.json": b'{\n  "theme": "dark", // at night\n}\n',
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As a release has it, with the archives for Blender inside."""
    import build_blender
    from build_distribution import build_wheel
    from build_requirements import BuildError

    out = tmp_path_factory.mktemp("dist")
    try:
        archives = build_blender.build(out, False)
        return build_wheel(out, {path.name: path.read_bytes() for path in archives})
    except BuildError as error:
        pytest.skip(str(error))


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """The environment of a user of three clients. Drivers keep what they draw with elsewhere."""
    home = tmp_path / "home"
    for name, data in CLIENTS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(data)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XDG_", "CALLBOARD_", "PYTHON", "CODEX_", "CLAUDE_"))
    }
    kept.update(HOME=str(home), LIBGL_ALWAYS_SOFTWARE="1", MESA_SHADER_CACHE_DISABLE="true")
    # At its first start Blender makes folders of its own. The splash screen still comes.
    subprocess.run(
        ["blender", "--background", "--python-expr", "import bpy; bpy.ops.wm.save_userpref()"],
        env=blender_environment(kept),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return kept


@pytest.fixture
def callboard(wheel: Path, tmp_path: Path) -> str:
    """The program, installed as pipx does. What it needs of others is these tests' own, so that no
    network is asked."""
    place = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = str(place / "bin" / "python")
    install = ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, *install, str(wheel)], check=True
    )
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return str(place / "bin" / "callboard")


@contextmanager
def blender(user: dict[str, str], display: str) -> Iterator[None]:
    process = subprocess.Popen(
        ["blender", "--window-geometry", "0", "0", "480", "360"],
        env={**blender_environment(user), "DISPLAY": display},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait(DEADLINE)


async def draw(entry: dict[str, Any], user: dict[str, str]) -> Any:
    """What the official SDK gets that starts what the file says."""
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=user)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        end = monotonic() + DEADLINE
        while True:
            sphere = {"kind": "sphere", "name": "drawn"}
            answer = await session.call_tool("scene__create_primitive", sphere)
            if not answer.isError or monotonic() > end:
                return answer
            # Blender is starting: the bridge says that nothing runs yet.
            await asyncio.sleep(0.2)


#: As Blender 4.3 does it: an extension comes with a list of what is there, and when it is removed
#: Blender makes a folder more.
EXTENDED = """#!/bin/sh
place=$HOME/.config/blender/4.3/extensions
case "$*" in
*--version*) echo "Blender 4.3.2" ;;
*package_install_files*)
    mkdir -p "$place/.cache" "$place/user_default/callboard"
    echo list > "$place/.cache/compat.dat"
    cd "$place/user_default/callboard"
    echo 'maintainer = "The callboard authors"' > blender_manifest.toml
    ;;
*package_uninstall*)
    rm -r "$place/user_default/callboard" "$place/.cache"
    mkdir -p "$place/user_default/.blender_ext/cache"
    echo left > "$place/user_default/.blender_ext/index.json"
    ;;
esac
echo '{"callboard": "done"}'
"""


def test_what_blender_makes_while_the_extension_goes_is_taken_back_too(
    callboard: str, user: dict[str, str], tmp_path: Path
) -> None:
    home = Path(user["HOME"])
    program = tmp_path / "programs" / "blender"
    program.parent.mkdir()
    program.write_text(EXTENDED)
    program.chmod(0o755)
    env = {**user, "PATH": os.pathsep.join([str(program.parent), user["PATH"]])}
    before = contents(home)
    for words in (["--yes", "--no-trial"], ["--undo", "--yes"]):
        command = [callboard, "setup", "--host", "blender", "--client", "cursor", *words]
        done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr + done.stdout
        assert "extension from Blender 4.3" in done.stdout or "into Blender 4.3" in done.stdout
    assert contents(home) == before


def test_one_command_and_an_agent_draws_and_one_and_all_is_back(
    callboard: str, user: dict[str, str], tmp_path: Path
) -> None:
    home = Path(user["HOME"])

    def setup(*words: str) -> str:
        done = subprocess.run(
            [callboard, "setup", *words], env=user, capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    before = contents(home)
    began = monotonic()
    assert "answered a call of" in setup("--yes")
    entry = json.loads((home / ".cursor/mcp.json").read_bytes())["mcpServers"]["callboard"]
    with screen() as display, blender(user, display):
        answer = asyncio.run(draw(entry, user))
        # The aim is 60 s on a machine that does nothing else.
        print(f"the first result came {monotonic() - began:.1f} s after the first command")
        assert not answer.isError, answer
        assert "drawn" in json.dumps(answer.structuredContent)
    setup("--undo", "--yes")
    after = contents(home)
    # A window's first start: Blender's own note on the graphics driver, with callboard or without.
    assert [after.pop(name) for name in list(after) if name.endswith("/platform_support.txt")]
    assert after == before
