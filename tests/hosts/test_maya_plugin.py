"""Tests specific to Maya's plug-in. The rest is in ``test_qt_plugins.py``."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("qt")

from maya import cmds, utils
from maya_rig import PLUGIN, new_maya
from qt_plugin_rigs import MayaRig, new_rig

from callboard_maya.plugin import plug_in
from callboard_maya.ui import panel


@pytest.fixture(autouse=True)
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MayaRig]:
    made: MayaRig = new_rig("maya", tmp_path, monkeypatch)
    yield made
    made.unload()


def watchers() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("callboard-watcher")]


def test_unloaded_before_maya_was_idle() -> None:
    cmds.loadPlugin(PLUGIN)
    cmds.unloadPlugin("callboard_plugin")
    utils.processIdleEvents()
    assert watchers() == []


def test_batch_mode_has_no_menu_and_no_server() -> None:
    new_maya(batch=True)
    cmds.loadPlugin(PLUGIN)
    utils.processIdleEvents()
    assert watchers() == []
    assert not plug_in.loaded
    cmds.unloadPlugin("callboard_plugin")


def test_maya_restores_the_panel_before_the_server_runs(
    rig: MayaRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "callboard_ui", None)
    cmds.loadPlugin(PLUGIN)
    panel.show()
    assert "isn't running" in rig.words()
    utils.processIdleEvents()
    assert "isn't installed" in rig.words()


def test_a_new_workspace_is_the_new_project(rig: MayaRig) -> None:
    rig.load()
    server: Any = plug_in.server
    rig.session.workspace = "/projects/other"
    rig.session.tell("event", "workspaceChanged")
    assert server.host.project_roots() == [str(Path("/projects/other"))]


def test_after_a_restart_the_panel_brings_its_plug_in(
    rig: MayaRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    from maya._window_commands import restore_controls

    monkeypatch.setitem(sys.modules, "callboard_ui", None)
    rig.load()
    rig.choose("open")
    rig.unload()
    restore_controls(str(Path(PLUGIN).parent))
    assert cmds.pluginInfo("callboard_plugin", query=True, loaded=True)
    utils.processIdleEvents()
    assert "isn't installed" in rig.words()
