"""Prints the tools of mcp-for-blender 2.2 and their arguments, to see which of the forty tasks they
can do without code.

    python benchmarks/tasks/peer.py

That server belongs to another project, so it is never part of this project: pip fetches it from its
publisher into the build folder. Its source is read, but not run.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / "build" / "benchmarks"
THEIRS = "mcp-for-blender==2.2.4"


def source() -> str:
    """Return the source of the module that registers the tools. Raises SystemExit if pip can't
    fetch it."""
    CACHE.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "-d", str(CACHE), THEIRS]
    subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=2)
    for wheel in CACHE.glob("mcp_for_blender-*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            return archive.read("blender_mcp/server.py").decode()
    raise SystemExit(f"pip could not fetch {THEIRS}")


def tools(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and arguments of each tool."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if any(ast.unparse(each).startswith("mcp.tool(") for each in node.decorator_list):
            takes = [each.arg for each in node.args.args]
            yield node.name, [each for each in takes if each not in ("ctx", "user_prompt")]


if __name__ == "__main__":
    for name, arguments in sorted(tools(source())):
        print(f"{name}({', '.join(arguments)})")
