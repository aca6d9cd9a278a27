"""What only Houdini's package has; the rest is in ``test_qt_plugins.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="these tests need a Qt")

from qt_plugin_rigs import HoudiniRig, new_rig


@pytest.fixture(autouse=True)
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HoudiniRig]:
    made: HoudiniRig = new_rig("houdini", tmp_path, monkeypatch)
    yield made
    made.unload()


def test_every_python_of_houdinis_gets_the_same_file(rig: HoudiniRig) -> None:
    files = sorted(rig.package.glob("python3.*libs/uiready.py"))
    assert [file.parent.name for file in files] == [
        "python3.10libs",
        "python3.11libs",
        "python3.13libs",
    ]
    assert len({file.read_bytes() for file in files}) == 1


def test_a_new_file_keeps_the_server_and_its_messages(rig: HoudiniRig) -> None:
    rig.load()
    server: Any = rig.plug_in.server
    heard: list[str] = []
    stop = server.host.watch(heard.append)
    rig.hou.hipFile.clear(suppress_save_prompt=True)
    assert heard == ["project"]
    rig.hou.node("/obj").createNode("geo")
    assert heard == ["project", "scene"]
    stop()


def test_preferences_that_can_not_be_read_are_none(rig: HoudiniRig, tmp_path: Path) -> None:
    (tmp_path / "callboard.json").write_text("[1, 2", encoding="utf-8")
    assert rig.plug_in.options.port == 0
    assert rig.plug_in.options.autostart
    rig.plug_in.options.port = 8123
    assert rig.plug_in.options.port == 8123
