"""A skill and an adapter outside the project work with nothing but the public faces."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Hashable
from pathlib import Path

import pytest

from callboard_testing.skill_bench import SkillBench, ToolFailed
from needed import need, needs
from python_path import python_path
from skills.skill_tree import write_skill

FILES = {
    "tools.yaml": """\
        tools:
        - {name: lift, description: d, required_capabilities: [scene.read, scene.mutate]}
        - {name: eye, description: d, required_capabilities: [scene.read]}
        """,
    "scripts/lift.py": """\
        from callboard.skill import alike, expect

        def main(ctx, name, height, told):
            ctx.port("scene.mutate").set_transform(name, [0, 0, height], None, None)
            now = ctx.port("scene.read").get(name)["translate"]
            expect(alike([0, 0, told], now), "translate", [0, 0, told], now)
            return {"now": list(now)}
        """,
    "scripts/eye.py": """\
        from callboard.skill import axes_of, corners, filled, framed

        def main(ctx, half):
            points = corners([([-half] * 3, [half] * 3)])
            camera, near, far = framed(axes_of("front", "Z"), [40, 40], points, 0.1)
            return {"filled": max(filled(camera, [40, 40], points)), "near": near, "far": far}
        """,
}


def test_a_skill_reads_back_and_frames(home: Path, tmp_path: Path) -> None:
    need("pxr")
    folder = write_skill(tmp_path / "skills", "outside", files=FILES)
    with SkillBench(folder) as bench:
        (path,) = bench.call("scene__create_primitive", kind="cube", name="Box")["created"]
        assert bench.call("lift", name=path, height=2, told=2)["now"] == pytest.approx([0, 0, 2])
        with pytest.raises(ToolFailed, match="the host did not do what was asked: translate"):
            bench.call("lift", name=path, height=5, told=7)
        seen = bench.call("eye", half=3)
        assert seen["filled"] == pytest.approx(0.9, abs=0.01)
        assert seen["far"] - seen["near"] == pytest.approx(6)


def test_an_adapter_has_undo_steps() -> None:
    from callboard_qt import OpenStep, UndoSteps

    class Steps(UndoSteps):
        """Undo steps over an application that keeps a list of names. This class's own
        attributes may have the same names as the base class's."""

        def __init__(self) -> None:
            super().__init__()
            self._steps: list[str] = []
            self._undone: list[str] = []

        def _open(self, label: str) -> OpenStep:
            return OpenStep(label)

        def _newest(self) -> Hashable:
            return self._steps[-1] if self._steps else ""

        def _undo_newest(self) -> bool:
            self._undone.append(self._steps.pop())
            return True

        def _is_next_redo(self, mark: Hashable) -> bool:
            return mark == self._undone[-1]

        def _redo_next(self) -> bool:
            self._steps.append(self._undone.pop())
            return True

    steps = Steps()
    open_step = steps.begin("one")
    steps._steps.append("one")
    step = steps.commit(open_step)
    assert step
    assert steps.undo(step)
    assert (steps._steps, steps._undone) == ([], ["one"])


def test_the_documentation_of_qt_hosts_is_shown_without_qt() -> None:
    code = """
import pydoc, sys
sys.modules["qtpy"] = None
import callboard_qt
for name in callboard_qt.__all__:
    print(pydoc.render_doc(f"callboard_qt.{name}", renderer=pydoc.plaintext))
print(pydoc.render_doc("callboard_qt.UndoSteps._open", renderer=pydoc.plaintext))
"""
    environment = {**os.environ, "PYTHONPATH": python_path()}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert "Start the server unless the artist has switched autostart off" in done.stdout
    assert "Have the application record what follows as one step" in done.stdout


@needs("qt")
def test_an_adapter_has_a_panel(request: pytest.FixtureRequest) -> None:
    qtbot = request.getfixturevalue("qtbot")
    from callboard_qt import Options, QtPlugIn
    from callboard_testing.fake_host import FakeHost

    class NoChoices(Options):
        def read(self, name: str) -> int | None:
            return None

        def write(self, name: str, value: int) -> None:
            raise AssertionError("nothing may be chosen")

    class PlugIn(QtPlugIn):
        def has_artist(self) -> bool:
            return False

        def arrive(self) -> None: ...

        def depart(self) -> None: ...

        def show_panel(self) -> None: ...

        def say(self, text: str, level: int) -> None: ...

    frame = PlugIn("Clay", lambda *_: FakeHost(), NoChoices()).make_panel()
    qtbot.addWidget(frame)
    frame.show()
    assert frame.isVisible()
