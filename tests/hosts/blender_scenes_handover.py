"""Cases in which a file is made ready to hand over: linked data becomes local, files are packed and
unpacked, and paths are made relative. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, refused


def _cup(rig: Rig) -> None:
    """Make a collection Kit with two cups that share a material, one of them the other's parent."""
    import bpy

    kit = bpy.data.collections.new("Kit")
    bpy.context.scene.collection.children.link(kit)
    clay = bpy.data.materials.new("Clay")
    for name in ("Cup", "Lid"):
        obj = rig.cube(name)
        obj.data.materials.append(clay)
        kit.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    bpy.data.objects["Lid"].parent = bpy.data.objects["Cup"]
    bpy.data.objects["Cup"].constraints.new("COPY_SCALE").target = bpy.data.objects["Lid"]


def _linked(path: str, kind: str, name: str) -> Any:
    import bpy

    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        setattr(wanted, kind, [name])
    return getattr(wanted, kind)[0]


def _image(rig: Rig, name: str, color: float = 1.0) -> Any:
    import bpy

    made = bpy.data.images.new(name, 4, 4)
    made.generated_color = (color, color, color, 1)
    made.filepath_raw, made.file_format = str(rig.folder / f"{name}.png"), "PNG"
    made.save()
    made.source = "FILE"
    return made


def test_everything_linked_becomes_local(rig: Rig) -> None:
    import bpy

    path = rig.library("kit.blend", lambda: _cup(rig))
    bpy.context.scene.collection.children.link(_linked(path, "collections", "Kit"))
    bpy.data.materials.new("Clay")
    told = rig.tool("blender_files__make_local")
    assert sorted(told["local"]["objects"]) == ["Cup", "Lid"]
    assert told["local"]["collections"] == ["Kit"]
    assert told["renamed"] == [{"was": "Clay", "now": "Clay.001"}]
    assert "still_linked" not in told
    assert [each.filepath for each in bpy.data.libraries] == []
    cup, lid = bpy.data.objects["Cup"], bpy.data.objects["Lid"]
    assert lid.parent == cup
    assert cup.constraints[0].target == lid
    assert cup.data.materials[0] == lid.data.materials[0] == bpy.data.materials["Clay.001"]
    rig.tool("scene__transform", name="Cup", translate=[0, 0, 2])
    assert sorted(rig.reopened()) == ["Cup", "Lid"]
    assert "nothing of that" in refused(lambda: rig.tool("blender_files__make_local"))


def test_making_local_is_one_undo_step(rig: Rig) -> None:
    import bpy

    path = rig.library("kit.blend", lambda: _cup(rig))
    bpy.context.scene.collection.children.link(_linked(path, "collections", "Kit"))
    bpy.context.view_layer.update()
    rig.tool("blender_files__make_local", libraries=[path])
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert [each.name for each in bpy.data.libraries] == ["kit.blend"]
    assert all(each.library for each in bpy.data.objects)
    assert len(bpy.context.scene.objects) == 2


def test_an_override_becomes_plain_data(rig: Rig) -> None:
    import bpy

    path = rig.library("kit.blend", lambda: _cup(rig))
    bpy.context.scene.collection.children.link(_linked(path, "collections", "Kit"))
    rig.tool("blender_library__make_override", name="Cup [kit.blend]")
    rig.tool("scene__transform", name="Cup", translate=[0, 0, 2])
    told = rig.tool("blender_files__make_local")
    assert "still_linked" not in told
    cup = bpy.data.objects["Cup"]
    assert cup.library is None
    assert cup.override_library is None
    assert cup.data.library is None
    assert cup.location.z == 2
    assert bpy.data.objects["Lid"].parent == cup
    assert cup.constraints[0].target == bpy.data.objects["Lid"]
    assert len(bpy.data.objects) == 2
    assert rig.reopened()["Cup"]["translate"][2] == 2


def test_one_library_becomes_local_and_the_other_stays_linked(rig: Rig) -> None:
    import bpy

    first = rig.library("kit.blend", lambda: _cup(rig))
    second = rig.library("chair.blend", lambda: rig.cube("Chair"))
    bpy.context.scene.collection.children.link(_linked(first, "collections", "Kit"))
    bpy.context.scene.collection.objects.link(_linked(second, "objects", "Chair"))
    told = rig.tool("blender_files__make_local", libraries=[first])
    assert sorted(told["local"]["objects"]) == ["Cup", "Lid"]
    assert told["removed"] == [first]
    assert {each["library"] for each in told["still_linked"]} == {second}
    why = refused(lambda: rig.tool("blender_files__make_local", libraries=["//gone.blend"]))
    assert f"the linked files are: {second}" in why


def test_files_are_packed_and_what_is_missing_is_said(rig: Rig) -> None:
    import bpy

    _image(rig, "wood")
    gone = bpy.data.images.new("gone", 1, 1)
    gone.source, gone.filepath = "FILE", "/nowhere/gone.png"
    told = rig.tool("blender_files__pack")
    assert told["changed"] == ["wood"]
    (missing,) = told["refused"]
    assert (missing["name"], missing["why"]) == ("gone", "the file is missing")
    assert bpy.data.images["wood"].packed_file is not None
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert bpy.data.images["wood"].packed_file is None
    assert "named 'tin*'" in refused(lambda: rig.tool("blender_files__pack", names=["tin*"]))


def test_unpacking_writes_beside_the_file_and_never_over_another(rig: Rig) -> None:
    import bpy

    assert "save this file first" in refused(lambda: rig.tool("blender_files__unpack"))
    _image(rig, "wood")
    rig.tool("scene__save_file", path=str(rig.folder / "shot.blend"))
    rig.tool("blender_files__pack")
    file = rig.folder / "textures" / "wood.png"
    file.parent.mkdir()
    file.write_bytes(b"another picture")
    assert "has other content" in refused(lambda: rig.tool("blender_files__unpack"))
    assert file.read_bytes() == b"another picture"
    file.unlink()
    told = rig.tool("blender_files__unpack")
    assert told["files"] == [{"name": "wood", "path": "//textures/wood.png"}]
    assert file.read_bytes() == (rig.folder / "wood.png").read_bytes()
    assert bpy.data.images["wood"].packed_file is None
    rig.tool("blender_files__pack")
    told = rig.tool("blender_files__unpack", to="original")
    assert told["files"][0]["path"].endswith("/textures/wood.png")


def test_all_paths_are_made_relative_and_absolute(rig: Rig) -> None:
    import bpy

    assert "save this file first" in refused(
        lambda: rig.tool("blender_files__set_paths", relative=True)
    )
    path = rig.library("kit.blend", lambda: _cup(rig))
    rig.tool("scene__save_file", path=str(rig.folder / "shot.blend"))
    bpy.context.scene.collection.children.link(_linked(path, "collections", "Kit"))
    bpy.data.libraries[0].filepath = path
    _image(rig, "wood").filepath = str(rig.folder / "wood.png")
    told = rig.tool("blender_files__set_paths", relative=True)
    assert {each["name"]: each["now"] for each in told["paths"]} == {
        "wood": "//wood.png",
        "kit.blend": "//kit.blend",
    }
    assert "left" not in told
    told = rig.tool("blender_files__set_paths", relative=False)
    assert bpy.data.images["wood"].filepath == str(rig.folder / "wood.png")
    assert len(told["paths"]) == 2
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert bpy.data.images["wood"].filepath == "//wood.png"
