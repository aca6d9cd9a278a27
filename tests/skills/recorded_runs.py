"""Records ten conversations with a complete server, and makes skills from them. ``python
recorded_runs.py HOST FOLDER`` writes the skills of that host's conversations below FOLDER."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from callboard.app import Callboard
from callboard.config import McpHttpConfig
from callboard.skills.discovery import BUNDLED
from callboard_programs.cli import main as callboard
from callboard_testing.skill_bench import SkillBench, _BenchRequest

SECRET = "sk-abcdefghijklmnop1234567890"
Ask = Callable[..., Any]


def props(ask: Ask) -> None:
    """Make the calls of an agent that first looks, and then uses the paths in the answers."""
    ask("scene__scene_info", "What is there?")
    hero = ask("scene__create_primitive", f"A hero prop, key {SECRET}", kind="cube", name="hero")
    path = hero["object"]["path"]
    ask("scene__transform", name=path, translate=[0, 2.5, 0])
    ask("scene__set_material_color", "Make it red", name=path, color=[0.8, 0.1, 0.1])


def ring(ask: Ask) -> None:
    for number in range(4):
        place = [3.5 * (number % 2), 0, 3.5 * (number // 2)]
        ask("scene__create_primitive", "Props", kind="sphere", radius=0.25, translate=place)


def parents(ask: Ask) -> None:
    base = ask("scene__create_primitive", "A table", kind="cylinder", name="table")
    lamp = ask("scene__create_primitive", "and a lamp on it", kind="cone", name="lamp")
    ask("scene__set_parent", name=lamp["object"]["path"], parent=base["object"]["path"])
    ask("scene__transform", name="lamp", translate=[0, 1.5, 0])
    ask("scene__rename", name="lamp", new_name="table_lamp")
    ask("scene__transform", name="table_lamp", scale=[0.5, 0.5, 0.5])


def copies(ask: Ask) -> None:
    ask("scene__create_primitive", kind="cube", name="crate")
    ask("scene__create_primitive", kind="cube", name="crate")
    listed = ask("scene__list_objects", pattern="crate*")
    for number, one in enumerate(listed["objects"]):
        ask("scene__transform", "Stack the crates", name=one["path"], translate=[0, 2 * number, 0])


def lit(ask: Ask) -> None:
    ball = ask("scene__create_primitive", "A lit ball", kind="sphere", name="ball")["object"]
    ask("lights__three_point", objects=[ball["path"]])
    camera = ask("cameras__create", name="shot", translate=[6.5, 3, 6.5])
    ask("cameras__look_at", name=camera["created"][0], target=ball["path"])


def looks(ask: Ask) -> None:
    ask("scene__create_primitive", "Brass", kind="torus", name="ring")
    ask("materials__create", name="ring", color=[0.9, 0.6, 0.2])
    ask("materials__assign", name="ring", objects=["ring"])


def moving(ask: Ask) -> None:
    ask("scene__create_primitive", "A ball that falls", kind="sphere", name="ball")
    keys = [{"frame": 1, "translate": [0, 5, 0]}, {"frame": 24, "translate": [0, 1, 0]}]
    ask("animation__set_timeline", start=1, end=24)
    ask("animation__set_keys", name="ball", keys=keys)


def together(ask: Ask) -> None:
    calls = [
        {"tool": "scene__create_primitive", "arguments": {"kind": "cube", "name": "box"}},
        {
            "tool": "scene__transform",
            "arguments": {
                "name": {"$result": 0, "path": "object.path"},
                "translate": [4.5, 0, 0],
            },
        },
    ]
    ask("batch__run", "All at once", calls=calls)
    ask("structure__create_group", name="set", objects=["box"])


def removed(ask: Ask) -> None:
    for name in ("first", "second", "third"):
        ask("scene__create_primitive", "Three, and one goes", kind="cube", name=name)
    ask("scene__delete", names=["second"])
    ask("scene__duplicate", name="third")


def measured(ask: Ask) -> None:
    ask("scene__create_primitive", "Check it", kind="plane", width=2.5, depth=2.5, name="floor")
    ask("scene__get_object", name="floor")
    ask("scene__create_primitive", kind="cube", size=2.5, name="box")
    file = Path(os.environ["CALLBOARD_HOME"]) / "measured.usda"
    ask("exchange__export", f"Hand it on as {file}", path=str(file), objects=["floor", "box"])


#: The runs by the host on which they are recorded.
RUNS: dict[str, tuple[Callable[[Ask], None], ...]] = {
    "openusd": (props, parents, copies, lit, together),
    "blender": (ring, looks, moving, removed, measured),
}


class Recorded(SkillBench):
    """A bench whose calls are recorded below ``CALLBOARD_HOME``. If ``results`` is true, results
    are kept too."""

    def __init__(self, host: str, *, results: bool) -> None:
        super().__init__(BUNDLED / "scene", host=host)
        self._app = Callboard(self.host, McpHttpConfig(announce=False, record_results=results))

    def ask(self, tool: str, intent: str | None = None, /, **arguments: Any) -> Any:
        self._app.catalog.load(tool.partition("__")[0]) if "batch" not in tool else None
        known = self._app.tools.get(tool)
        request = _BenchRequest(self, "tools/call")
        result = self._run(self._app.dispatcher.call(request, known, arguments, intent))
        assert not result["isError"], result
        return result["structuredContent"]


def main(host: str, folder: Path) -> None:
    """Make the skills. Every second run is recorded without results, as is the default."""
    for number, run in enumerate(RUNS[host]):
        home = folder / "homes" / f"{host}-{run.__name__}"
        os.environ["CALLBOARD_HOME"] = str(home)
        with Recorded(host, results=number % 2 == 0) as bench:
            run(bench.ask)
        skills = folder / host
        skills.mkdir(exist_ok=True)
        assert callboard(["new-skill", run.__name__, "--from-calls", "--in", str(skills)]) == 0


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
