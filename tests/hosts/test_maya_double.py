"""The double is strict: it accepts nothing that Maya would refuse."""

from __future__ import annotations

import pytest
from maya import cmds, mel
from maya_rig import REAL, new_maya
from other_thread import elsewhere

if REAL:
    pytest.skip("there is no double inside Maya", allow_module_level=True)


import maya.api.OpenMaya as om
from maya._plugins import FatalError
from maya._session import session


@pytest.fixture(autouse=True)
def new() -> None:
    new_maya(batch=False)


def test_unknown_commands_and_flags() -> None:
    with pytest.raises(AttributeError):
        cmds.polySpher  # noqa: B018
    with pytest.raises(TypeError, match="Invalid flag 'radiu'"):
        cmds.polySphere(radiu=2)
    with pytest.raises(TypeError, match="Invalid flag"):
        cmds.undoInfo(chunk="x", openChunk=True)
    with pytest.raises(TypeError, match="Invalid flag"):
        cmds.polyCube(query=True, rotateView=True)


def test_a_flag_that_is_not_modelled_is_no_success() -> None:
    with pytest.raises(NotImplementedError):
        cmds.ls(cameras=True)


def test_a_plug_ins_command_needs_the_plug_in() -> None:
    with pytest.raises(AttributeError):
        cmds.mayaUSDImport  # noqa: B018


def test_every_call_is_on_the_main_thread() -> None:
    for call in (
        lambda: cmds.ls(),
        lambda: mel.eval("1 + 1"),
        lambda: om.MEventMessage.addEventCallback("Undo", print),
    ):
        with pytest.raises(RuntimeError, match="was called from"):
            elsewhere(call)


def test_windows_need_windows() -> None:
    new_maya(batch=True)
    with pytest.raises(RuntimeError, match="batch"):
        cmds.playblast(viewer=False)


def test_what_would_open_a_prompt_raises() -> None:
    cmds.polyCube()
    with pytest.raises(RuntimeError, match="modal prompt"):
        cmds.file(new=True)
    with pytest.raises(RuntimeError, match="modal prompt"):
        cmds.file(save=True)


def test_unknown_messages_and_callbacks_removed_twice() -> None:
    with pytest.raises(RuntimeError):
        om.MEventMessage.addEventCallback("NoSuchEvent", print)
    with pytest.raises(TypeError):
        om.MSceneMessage.addCallback(om.MSceneMessage.kAfterPluginLoad, print)
    id = om.MEventMessage.addEventCallback("Undo", print)
    om.MMessage.removeCallback(id)
    with pytest.raises(RuntimeError):
        om.MMessage.removeCallback(id)


def test_a_callback_that_outlives_its_plug_in_is_fatal(tmp_path) -> None:
    file = tmp_path / "leaky.py"
    file.write_text(
        "import maya.api.OpenMaya as om\n"
        "def maya_useNewAPI(): pass\n"
        "def initializePlugin(obj): om.MEventMessage.addEventCallback('Undo', print)\n"
        "def uninitializePlugin(obj): pass\n"
    )
    cmds.loadPlugin(str(file))
    with pytest.raises(FatalError):
        cmds.unloadPlugin("leaky")


def test_calls_after_the_unload_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    from callboard_maya.application import names

    session.unloaded = True
    with pytest.raises(RuntimeError, match="after the plug-in was unloaded"):
        names.paths()


def test_layers_hide_what_they_hold_and_decide_how_it_is_drawn() -> None:
    cube = cmds.polyCube(name="Crate")[0]
    with pytest.raises(RuntimeError, match="not a display layer"):
        cmds.editDisplayLayerMembers(cube, cube)
    layer = cmds.createDisplayLayer(name="Props", empty=True)
    assert cmds.editDisplayLayerMembers(layer, query=True) is None
    cmds.editDisplayLayerMembers(layer, cube)
    assert cmds.editDisplayLayerMembers(layer, query=True) == ["Crate", "CrateShape"]
    with pytest.raises(RuntimeError, match="locked or connected"):
        cmds.setAttr("Crate.overrideVisibility", True)
    assert cmds.ls("Crate", visible=True) == ["Crate"]
    cmds.setAttr("Props.visibility", False)
    assert cmds.ls("Crate", visible=True) == []
    assert cmds.getAttr("Crate.visibility")
    # A node is in only one layer at a time.
    cmds.createDisplayLayer(cube, name="Others")
    assert cmds.ls("Crate", visible=True) == ["Crate"]
    cmds.delete("Others")
    assert not cmds.getAttr("Crate.overrideEnabled")


def test_an_assembly_needs_its_plug_in_and_a_known_representation() -> None:
    with pytest.raises(RuntimeError, match="registered"):
        cmds.assembly(name="Set", type="assemblyDefinition")
    cmds.loadPlugin("sceneAssembly")
    made = cmds.assembly(name="Set", type="assemblyDefinition")
    assert cmds.assembly(made, query=True, repNamespace=True) == "Set_NS"
    with pytest.raises(RuntimeError, match="is not a representation"):
        cmds.assembly(made, edit=True, active="set.ma")
    with pytest.raises(RuntimeError, match="not an assembly"):
        cmds.assembly(cmds.polyCube()[0], query=True, active=True)


def test_undo_has_chunks_and_drops_empty_ones() -> None:
    cmds.undoInfo(openChunk=True, chunkName="outer")
    cmds.undoInfo(openChunk=True, chunkName="inner")
    cmds.polyCube(name="One")
    cmds.undoInfo(closeChunk=True)
    cmds.polyCube(name="Two")
    cmds.undoInfo(closeChunk=True)
    cmds.undoInfo(openChunk=True, chunkName="empty")
    cmds.undoInfo(closeChunk=True)
    assert cmds.undoInfo(query=True, undoName=True) == "outer"
    cmds.undo()
    assert cmds.ls("One", "Two") == []
    with pytest.raises(RuntimeError):
        cmds.undo()


def test_rendering_takes_known_flags_a_camera_and_the_pictures_own_shape() -> None:
    cmds.setAttr("defaultRenderGlobals.imageFormat", 32)
    for call in (
        lambda: cmds.render("persp", camera="persp"),
        lambda: cmds.ogsRender(camera="persp", file="a.png"),
    ):
        with pytest.raises(TypeError, match="Invalid flag"):
            call()
    with pytest.raises(AttributeError):
        cmds.arnoldRender  # noqa: B018
    cmds.polyCube(name="Crate")
    with pytest.raises(RuntimeError, match="isn't a camera"):
        cmds.ogsRender(camera="Crate", currentFrame=True, width=16, height=9)
    with pytest.raises(RuntimeError, match="distorted"):
        cmds.render("persp", xresolution=16, yresolution=16)


def test_undo_can_be_switched_off_and_keeps_what_it_has() -> None:
    cmds.polyCube(name="One")
    cmds.undoInfo(stateWithoutFlush=False)
    cmds.polyCube(name="Two")
    cmds.undoInfo(stateWithoutFlush=True)
    cmds.undo()
    assert not cmds.objExists("One")


def test_faces_leave_the_group_they_were_in() -> None:
    cmds.polyCube(name="Box")
    group = cmds.sets(renderable=True, noSurfaceShader=True, empty=True, name="PartSG")
    cmds.sets("Box.f[1:2]", edit=True, forceElement=group)
    assert cmds.sets(group, query=True) == ["Box.f[1:2]"]
    assert cmds.sets("initialShadingGroup", query=True) == ["Box.f[0]", "Box.f[3:5]"]
    cmds.sets("BoxShape", edit=True, forceElement=group)
    assert cmds.sets(group, query=True) == ["BoxShape"]
    assert cmds.sets("initialShadingGroup", query=True) is None


def test_a_colours_part_is_connected_by_itself() -> None:
    file = cmds.shadingNode("file", asTexture=True)
    shader = cmds.shadingNode("standardSurface", asShader=True)
    cmds.connectAttr(f"{file}.outColorG", f"{shader}.opacityR")
    with pytest.raises(RuntimeError, match="locked or connected"):
        cmds.setAttr(f"{shader}.opacity", 1, 1, 1, type="double3")
    with pytest.raises(ValueError, match="No object matches"):
        cmds.connectAttr(f"{file}.outColorX", f"{shader}.opacityG")
