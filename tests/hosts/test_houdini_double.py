"""The double is strict: it accepts nothing that Houdini would refuse."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from houdini_rig import REAL, hou, new_houdini
from other_thread import elsewhere
from test_adapter_names import facts

if REAL:
    pytest.skip("there is no double inside Houdini", allow_module_level=True)

from hou._session import session


@pytest.fixture(autouse=True)
def new() -> None:
    new_houdini(windows=True)


@pytest.mark.parametrize("version", ["20.5", "21.0"])
def test_it_has_nothing_that_houdini_has_not(version: str) -> None:
    known = facts("houdini")["hom"][version]
    python = {*dir(list), *dir(Exception), *dir(object)}
    more = [
        f"{name}.{member}"
        for name, of_it in inspect.getmembers(hou, inspect.isclass)
        if known.get(name)
        for member in dir(of_it)
        if not member.startswith("_") and member not in python | {*known[name].split()}
    ]
    assert more == []
    functions = {name for name, _ in inspect.getmembers(hou, inspect.isfunction)}
    public = {name for name in functions if not name.startswith("_")}
    assert public - {*known[""].split(), "new_scene"} == set()


def test_unknown_functions_types_parameters_and_menu_items() -> None:
    with pytest.raises(AttributeError):
        hou.noSuchFunction()
    with pytest.raises(AttributeError):
        hou.hipFile.lode("x")
    with pytest.raises(hou.OperationFailed, match="node type"):
        hou.node("/obj").createNode("goe")
    geo = hou.node("/obj").createNode("geo")
    assert geo.parm("nosuch") is None
    box = geo.createNode("box")
    with pytest.raises(hou.OperationFailed, match="menu item"):
        box.parm("type").set("wood")
    with pytest.raises(TypeError):
        box.parm("sizex").set("wide")
    with pytest.raises(TypeError):
        geo.createNode("box", nosuch=True)


def test_every_call_is_on_the_main_thread() -> None:
    geo = hou.node("/obj").createNode("geo")
    for call in (
        lambda: hou.node("/obj"),
        lambda: geo.parm("tx"),
        lambda: hou.undos.undoLabels(),
        lambda: hou.ui.paneTabs(),
    ):
        with pytest.raises(RuntimeError, match="was called from"):
            elsewhere(call)


def test_calls_after_the_unload_raise() -> None:
    from callboard_houdini.application import names

    session.unloaded = True
    with pytest.raises(RuntimeError, match="after the package was unloaded"):
        names.objects()


def test_without_windows_there_is_no_ui() -> None:
    new_houdini(windows=False)
    with pytest.raises(AttributeError):
        hou.ui  # noqa: B018
    with pytest.raises(hou.NotAvailable):
        hou.playbar.addEventCallback(print)


def test_what_would_open_a_window_raises() -> None:
    hou.node("/obj").createNode("geo")
    with pytest.raises(RuntimeError, match="modal prompt"):
        hou.hipFile.load("/nowhere.hip")
    with pytest.raises(RuntimeError, match="modal prompt"):
        hou.hipFile.save()
    viewer = next(tab for tab in hou.ui.paneTabs() if isinstance(tab, hou.SceneViewer))
    with pytest.raises(RuntimeError, match="own flipbook settings"):
        viewer.flipbookSettings().output("/x.png")


def test_callbacks_are_removed_by_the_very_same_function() -> None:
    class Listener:
        def hear(self, event: Any) -> None: ...

    listener = Listener()
    hou.hipFile.addEventCallback(listener.hear)
    with pytest.raises(hou.OperationFailed):
        hou.hipFile.removeEventCallback(listener.hear)


def test_a_take_holds_what_it_includes_and_lets_nothing_else_be_changed() -> None:
    node = hou.node("/obj").createNode("geo", "Crate")
    root = hou.takes.rootTake()
    light = root.addChildTake("light")
    with pytest.raises(hou.OperationFailed, match="not the current"):
        light.addParmTuple(node.parmTuple("t"))
    hou.takes.setCurrentTake(light)
    for change in (
        lambda: node.parm("tx").set(1),
        lambda: node.parmTuple("r").set((1, 2, 3)),
        lambda: node.setDisplayFlag(False),
    ):
        with pytest.raises(hou.PermissionError):
            change()
    light.addParmTuple(node.parmTuple("t"))
    assert [each.name() for each in light.parmTuples()] == ["t"]
    node.parm("tx").set(1)
    inner = light.addChildTake("inner")
    hou.takes.setCurrentTake(inner)
    assert node.parm("tx").eval() == 1
    assert not inner.hasParmTuple(node.parmTuple("t"))
    hou.takes.setCurrentTake(root)
    assert node.parm("tx").eval() == 0
    node.parm("tx").set(7)
    hou.takes.setCurrentTake(inner)
    assert node.parm("tx").eval() == 1


def test_undo_has_groups_and_drops_empty_ones() -> None:
    with hou.undos.group("outer"), hou.undos.group("inner"):
        hou.node("/obj").createNode("geo", "One")
    with hou.undos.group("empty"):
        pass
    assert hou.undos.undoLabels() == ("outer",)
    node = hou.node("/obj/One")
    hou.undos.performUndo()
    assert hou.node("/obj/One") is None
    with pytest.raises(hou.ObjectWasDeleted):
        node.path()


def test_rendering_takes_known_arguments_and_mantra_must_be_waited_for(tmp_path: Path) -> None:
    camera = hou.node("/obj").createNode("cam", "shot_cam")
    mantra = hou.node("/out").createNode("ifd")
    mantra.parm("vm_picture").set(str(tmp_path / "a.png"))
    with pytest.raises(hou.OperationFailed, match="camera"):
        mantra.render(frame_range=(1, 1))
    mantra.parm("camera").set(camera.path())
    with pytest.raises(TypeError):
        mantra.render(resolution=(640, 360))
    # These are factors, not pixels.
    with pytest.raises(NotImplementedError):
        mantra.render(frame_range=(1, 1), res=(640, 360))
    mantra.render(frame_range=(1, 1))
    assert list(tmp_path.iterdir()) == []
    mantra.parm("soho_foreground").set(1)
    mantra.render(frame_range=(1, 1))
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]


def test_undo_can_be_switched_off_for_a_while() -> None:
    with hou.undos.disabler():
        hou.node("/obj").createNode("null")
    assert hou.undos.undoLabels() == ()
    assert hou.undos.areEnabled()
