"""The speed of ``callboard batch``, compared with one command per file.

Makes scenes and reads each of them in three ways: with ``callboard run``, with two ``callboard
call`` commands (open, read) on a running host, and with ``callboard batch``. Runs on any system.
Needs the extra ``blender`` or ``usd``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

TOOL = "scene__scene_info"
MAKE_BLEND = """
import bpy, sys
for path in sys.argv[1:]:
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.wm.save_as_mainfile(filepath=path)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", choices=("blender", "openusd"), default="blender")
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("-j", type=int, default=2, dest="hosts")
    parser.add_argument("--runs", type=int, default=5, help="number of files for `callboard run`")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        os.environ["CALLBOARD_HOME"] = str(Path(folder) / "home")
        files = make(Path(folder), arguments.host, arguments.files)
        runs = files[: arguments.runs]
        one_by_one = timed(lambda: run_each(arguments.host, runs)) / len(runs) * len(files)
        calls = call_each(arguments.host, files)
        batch = timed(lambda: batched(arguments.host, Path(folder), arguments.hosts))
    print(f"{len(files)} files, {arguments.host}, {os.cpu_count()} processors")
    print(f"callboard run, each       {one_by_one:7.1f} s  (from {len(runs)})")
    print(f"callboard call, two each  {calls:7.1f} s  (the host is already running)")
    print(f"callboard batch -j {arguments.hosts}      {batch:7.1f} s  (including host startup)")
    print(f"batch is {one_by_one / batch:.1f} and {calls / batch:.1f} times as fast")
    return 0 if calls >= 5 * batch else 1


def make(folder: Path, host: str, count: int) -> list[str]:
    ending = "blend" if host == "blender" else "usda"
    files = [str(folder / f"scene{number:03}.{ending}") for number in range(count)]
    if host == "blender":
        subprocess.run([sys.executable, "-c", MAKE_BLEND, *files], check=True, capture_output=True)
    else:
        for file in files:
            Path(file).write_text('#usda 1.0\ndef Cube "cube" {}\n')
    return files


def timed(work: Callable[[], None]) -> float:
    """Return the duration of ``work`` in seconds."""
    began = perf_counter()
    work()
    return perf_counter() - began


def callboard(*words: str) -> list[str]:
    return [sys.executable, "-m", "callboard", *words]


def quietly(*words: str) -> None:
    subprocess.run(callboard(*words), check=True, capture_output=True)


def run_each(host: str, files: list[str]) -> None:
    for file in files:
        quietly("run", TOOL, "--host", host, "--scene", file)


def call_each(host: str, files: list[str]) -> float:
    """Return the seconds that two calls for each file take, not counting the host's start."""
    command = callboard("serve", "--host", host)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as serving:
        assert serving.stdout is not None
        serving.stdout.readline()

        def work() -> None:
            for file in files:
                opened = {"path": file, "discard_changes": True}
                quietly("call", "scene__open_file", "--json", json.dumps(opened))
                quietly("call", TOOL)

        try:
            return timed(work)
        finally:
            serving.terminate()


def batched(host: str, folder: Path, hosts: int) -> None:
    files = str(folder / "scene*.*")
    quietly("batch", TOOL, "--host", host, "--each", files, "-j", str(hosts))


if __name__ == "__main__":
    sys.exit(main())
