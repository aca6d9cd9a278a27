"""Scenes, a skill that looks at them, and mishaps for the skill, to test batches and farms."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from e2e.serving import environment
from skills.skill_tree import write_skill
from waiting import until

#: A mishap is a file with the task's name, and the kind of mishap as its extension. If the task is
#: retried after a mishap, the mishap happens only once, because the task removes the file first.
SCRIPT = """
    import os
    import signal
    import time
    from pathlib import Path

    KILL = signal.SIGTERM if os.name == "nt" else signal.SIGKILL
    held = []


    def main(path: str, name: str, ctx) -> dict:
        folder = Path(path)
        with (folder / "journal.txt").open("a") as journal:
            journal.write(f"{name} {os.getpid()}\\n")
        ctx.progress(1, 4, "looking")
        for fate in folder.glob(f"{name}.*"):
            if fate.suffix == ".bad":
                raise ValueError(fate.read_text())
            if fate.suffix in (".killed", ".stopped", ".endless", ".orphaned"):
                fate.unlink()
            if fate.suffix == ".killed":
                os.kill(os.getpid(), KILL)
            if fate.suffix == ".stopped":
                os.kill(os.getpid(), signal.SIGSTOP)
            if fate.suffix == ".orphaned":
                os.kill(os.getppid(), KILL)
                time.sleep(0.5)  # meanwhile it hears that it has to end
            while fate.suffix == ".endless":
                pass
            while fate.suffix == ".held" and fate.exists():
                time.sleep(0.02)
            if fate.suffix == ".leaking":
                held.append(b"x" * 400_000_000)
        print(f"looked at {name}")
        seen = list(ctx.port("scene.read").names())
        picture = folder / "out" / f"{name}.txt"
        picture.write_text("\\n".join(seen))
        return {"path": str(picture), "names": seen, "pid": os.getpid()}
"""
TOOLS = """
    tools:
      - name: look
        description: Looks.
        source_file: scripts/look.py
        required_capabilities: [scene.read]
        read_only_hint: true
        input_schema:
          type: object
          properties: {path: {type: string}, name: {type: string}}
          required: [path, name]
"""


class Shots:
    """The scenes ``sc00.usda`` and so on, each with a sphere of the same name, and the tool
    ``shots__look``."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.report = folder / "report.jsonl"
        self._seen = 0
        (folder / "out").mkdir()
        files = {"tools.yaml": TOOLS, "scripts/look.py": SCRIPT}
        block = "tools: tools.yaml\nversion: '1.2'"
        write_skill(folder / "skills", "shots", block=block, files=files)
        self.names = [f"sc{number:02}" for number in range(count)]
        for name in self.names:
            (folder / f"{name}.usda").write_text(f'#usda 1.0\ndef Sphere "{name}" {{}}\n')
        given = json.dumps({"path": str(folder), "name": "{stem}"})
        #: Command-line arguments: the tool with its own arguments, the scenes, and the skill.
        self.called = ["shots__look", "--json", given]
        self.scenes = str(folder / "*.usda")
        self.skills = ["--skills", str(folder / "skills")]

    @property
    def env(self) -> dict[str, str]:
        return environment(self.folder / "home")

    def printed(self, command: Sequence[str], status: int = 0) -> list[Any]:
        """Return the lines that a command prints."""
        done = subprocess.run(command, env=self.env, capture_output=True, timeout=200)
        assert done.returncode == status, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def visits(self) -> list[list[str]]:
        """Return, for each run of the tool, the scene's name and the process's id."""
        journal = self.folder / "journal.txt"
        lines = journal.read_text().splitlines() if journal.exists() else []
        return [line.split() for line in lines]

    def begun(self) -> set[str]:
        """Return the names of the scenes that the tool has begun since the last call to this
        method."""
        before, self._seen = self._seen, len(self.visits())
        return {name for name, _ in self.visits()[before:]}

    def wait_begun(self, *names: str) -> None:
        wanted = set(names)
        until(lambda: wanted <= {name for name, _ in self.visits()}, f"{names}", seconds=60)

    def none_runs(self) -> None:
        for pid in {int(pid) for _, pid in self.visits()}:
            until(lambda pid=pid: not Path(f"/proc/{pid}").exists(), "the host's end", seconds=30)

    def each_is_right(self) -> None:
        for name in self.names:
            assert (self.folder / "out" / f"{name}.txt").read_text() == f"/{name}"
