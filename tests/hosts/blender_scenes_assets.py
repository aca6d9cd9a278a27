"""Cases in which assets from Poly Haven are complete in Blender. See ``blender_scenes``."""

from __future__ import annotations

import os
from pathlib import Path

from callboard.content import Image
from hosts.blender_scenes import Rig, near, refused
from poly_haven import HDR, poly_haven


def test_assets_of_poly_haven_are_whole(rig: Rig) -> None:
    import bpy

    from callboard.ground.held_folder import make_missing

    os.environ["no_proxy"] = "*"
    made = make_missing.set(lambda folder: Path(folder).mkdir(parents=True, exist_ok=True))
    folder = str(rig.folder / "haven")
    with poly_haven() as (_, network):
        rig.host.set_ports({**rig.host.ports, "network": network})
        for id in ("crate", "bricks", "noon"):
            rig.tool("assets__download", id=id, folder=folder)
    make_missing.reset(made)
    crate = rig.tool("assets__import", id="crate_1k", folder=folder)
    assert near(crate["measured"], [0.5, 0.5, 0.5]), "glTF and Blender both count in metres"
    assert crate["verified"] is True

    rig.cube("Wall")
    bricks = rig.tool("assets__import", id="bricks_1k", folder=folder, objects=["Wall"])
    (name,) = bricks["created"]
    links = bpy.data.materials[name].node_tree.links
    bump = next(link for link in links if link.to_socket.name == "Normal")
    assert bump.from_node.type == "NORMAL_MAP"
    image = bump.from_node.inputs["Color"].links[0].from_node.image
    assert Path(image.filepath).name == "bricks_nor_gl_1k.png"
    assert image.colorspace_settings.name == "Non-Color"

    mine = bpy.data.worlds.new("Mine")
    mine.color = (0.1, 0.2, 0.3)
    bpy.context.scene.world = mine
    rig.tool("assets__import", id="noon_1k", folder=folder)
    assert near(mine.color, (0.1, 0.2, 0.3))
    assert bpy.data.worlds["Mine"].users
    bpy.ops.wm.save_as_mainfile(filepath=str(rig.folder / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(rig.folder / "saved.blend"))
    environment = rig.port("lights").environment()
    assert Path(environment["path"]).read_bytes() == HDR
    assert "Mine" in bpy.data.worlds


def test_assets_of_blenders_own_come_with_what_is_known_of_them(rig: Rig) -> None:
    import bpy

    def marked() -> None:
        crate = rig.cube("Crate")
        rig.cube("Plain")
        crate.asset_mark()
        crate.asset_data.author = "Ann"
        crate.asset_data.tags.new("wood")
        preview = crate.preview_ensure()
        preview.image_size = (2, 2)
        preview.image_pixels_float = [1.0, 0.0, 0.0, 1.0] * 4
        oak = bpy.data.materials.new("Oak")
        oak.asset_mark()
        oak.preview_ensure().image_size = (1100, 1000)

    path = rig.library("library.blend", marked)
    (rig.folder / "broken.blend").write_bytes(b"no file of Blender's")
    mine = rig.cube("Mine").name
    undo_id, libraries = rig.call.undo_id, len(bpy.data.libraries)
    told = rig.tool("blender_library__list_assets", folder=str(rig.folder))
    assert [(one["type"], one["name"]) for one in told["assets"]] == [
        ("object", "Crate"),
        ("material", "Oak"),
    ]
    assert "broken.blend" in told["problems"][0]
    assert len(bpy.data.libraries) == libraries
    wide = rig.folder / "wide"
    for number in range(5001):
        (wide / str(number)).mkdir(parents=True)
    told = rig.tool("blender_library__list_assets", folder=str(wide))
    assert told["problems"] == ["more than 5000 folders; give a folder further down"]
    assert rig.host.undo.undo(undo_id), "listing assets must not count as a change"
    assert mine not in bpy.data.objects

    made = rig.tool("blender_library__append_asset", path=path, type="object", name="Crate")
    assert made["created"] == ["Crate"]
    assert (made["asset"]["author"], made["asset"]["tags"]) == ("Ann", ["wood"])
    assert any(isinstance(block, Image) for block in rig.call.content)
    assert bpy.data.objects["Crate"].library is None
    assert rig.host.undo.undo(rig.call.undo_id)
    assert "Crate" not in bpy.data.objects

    rig.tool("blender_library__append_asset", path=path, type="material", name="Oak")
    assert "Oak" in rig.port("materials").names()
    assert not any(isinstance(block, Image) for block in rig.call.content), (
        "a picture that is too large must be left out"
    )
    assert rig.host.undo.undo(rig.call.undo_id), "a new material alone must be undoable"
    assert "Oak" not in rig.port("materials").names()
    linked = rig.tool(
        "blender_library__append_asset", path=path, type="object", name="Crate", link=True
    )
    assert linked["created"] == ["Crate [library.blend]"]
    for asked in ({"path": path, "name": "None"}, {"path": f"{rig.folder}/broken.blend"}):
        arguments = {"type": "object", "name": "Crate", **asked}
        assert refused(lambda: rig.tool("blender_library__append_asset", **arguments))  # noqa: B023
