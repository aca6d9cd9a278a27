"""Tests specific to 3ds Max's bundle. The rest is in ``test_qt_plugins.py``."""

from __future__ import annotations

import ctypes
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from needed import need

need("qt")

from max_rig import new_max
from qt_plugin_rigs import MaxRig, new_rig


@pytest.fixture(autouse=True)
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MaxRig]:
    made: MaxRig = new_rig("3dsmax", tmp_path, monkeypatch)
    yield made
    made.unload()


def menu_file(rig: MaxRig, year: int) -> str:
    file = rig.bundle / f"Contents/menus/callboard_menu_{year}.ms"
    return file.read_text(encoding="utf-8")


def test_the_bundle_names_files_that_are_there(rig: MaxRig) -> None:
    package = ET.parse(rig.bundle / "PackageContents.xml").getroot()
    for needed in ("UpgradeCode", "ProductCode", "AppVersion", "Name"):
        assert package.get(needed), needed
    parts = [
        (components.get("Description"), entry.get("ModuleName"))
        for components in package.iter("Components")
        for entry in components.iter("ComponentEntry")
    ]
    assert [description for description, _ in parts] == [
        "macroscripts parts",
        "pre-start-up scripts parts",
        "post-start-up scripts parts",
        "post-start-up scripts parts",
    ]
    for _, module in parts:
        assert module is not None
        assert (rig.bundle / module).is_file(), module
    assert all(each.get("SeriesMax") for each in package.iter("RuntimeRequirements"))


@pytest.mark.parametrize("year", [2024, 2025])
def test_both_menus_offer_every_macro_once(rig: MaxRig, year: int) -> None:
    offered = re.findall(r'"(Callboard[A-Z]\w*)(?:`Callboard)?"', menu_file(rig, year))
    assert offered == list(rig.macros())


def test_the_menus_guids_are_their_own(rig: MaxRig) -> None:
    guids = re.findall(
        r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", menu_file(rig, 2025)
    )
    assert len(guids) == len(set(guids)) == len(rig.macros()) + 2


@pytest.mark.parametrize("kind", ["batch", "render node"])
def test_without_an_artist_nothing_starts(rig: MaxRig, kind: str) -> None:
    new_max(windows=kind != "batch")
    rig.session.render_node = kind == "render node"
    rig.load()
    assert not rig.plug_in.loaded
    assert rig.callbacks() == []


def test_the_start_up_script_finds_its_own_modules_last(rig: MaxRig) -> None:
    rig.load()
    assert sys.path[-1] == str(rig.bundle.resolve() / "Contents/python")


def test_an_event_that_did_not_come_to_an_end_is_over(rig: MaxRig) -> None:
    rig.load()
    assert rig.plug_in.server is not None
    host = rig.plug_in.server.host
    rig.begin("open")
    assert host.blocked_by() == "opening a scene"
    rig.session.tell("fileOpenFailed")
    assert host.blocked_by() is None


def test_what_is_typed_into_the_panel_is_no_shortcut(rig: MaxRig) -> None:
    rig.load()
    rig.choose("open")
    (dock,) = rig.panels()
    assert rig.session.accelerators_off == [dock.widget()]  # type: ignore[attr-defined]


def test_the_menu_leaves_the_artists_undo_alone(rig: MaxRig) -> None:
    rig.load()
    rig.session.artist(lambda: None)
    for entry in ("open", "copy", "stop", "start", "autostart"):
        rig.choose(entry)
    assert rig.newest_undo() == "Artist"
    script = (rig.bundle / "Contents/startup/callboard.ms").read_text(encoding="utf-8")
    assert "clearUndoBuffer:false" in script


def test_the_views_show_what_a_call_did(rig: MaxRig) -> None:
    rig.load()
    assert rig.plug_in.server is not None
    host = rig.plug_in.server.host
    assert host.undo is not None

    def create() -> None:
        host.ports["scene.mutate"].create("cube", None, {"size": 1.0})  # type: ignore[attr-defined]

    step = host.undo.begin("one")
    create()
    made = host.undo.commit(step)
    assert made is not None
    assert not rig.session.stale
    assert host.undo.undo(made)
    assert not rig.session.stale
    step = host.undo.begin("other")
    create()
    assert host.undo.rollback(step)
    assert not rig.session.stale


def test_paths_in_the_batch_arguments_keep_their_backslashes() -> None:
    from callboard_max.headless import split

    words = r'serve --scene "C:\my scenes\a.max" --root D:\jobs'
    assert split(words) == ["serve", "--scene", r"C:\my scenes\a.max", "--root", r"D:\jobs"]


def test_a_dialog_of_windows_own_holds_everything(
    rig: MaxRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.load()
    server = rig.plug_in.server
    assert server is not None

    def is_enabled(window: ctypes.c_void_p) -> int:
        assert window.value == 4711
        return int(not rig.session.native_dialog)

    user32 = SimpleNamespace(IsWindowEnabled=is_enabled)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(user32=user32), raising=False)
    assert server.host.may_run("read") is None
    rig.session.native_dialog = True
    assert "dialog" in server.host.may_run("read")
