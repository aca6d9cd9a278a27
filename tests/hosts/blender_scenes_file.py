"""Cases in which a file is described as plain Blender sees it. See ``blender_scenes``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hosts.blender_scenes import Rig, refused

#: Counts the contents of a file in another process, without callboard.
_PLAIN = """
import json, sys
import bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
data, kinds = bpy.data, ("objects", "meshes", "materials", "images", "scenes", "fonts", "libraries")
own = {kind: sum(each.library is None for each in getattr(data, kind)) for kind in kinds}
missing = [
    image.name for image in data.images
    if image.filepath and not image.packed_file
    and not __import__("os").path.exists(bpy.path.abspath(image.filepath, library=image.library))
]
scene = data.scenes[0]
print("PLAIN" + json.dumps({
    "counts": own, "missing": sorted(missing), "engine": scene.render.engine,
    "frames": [scene.frame_start, scene.frame_end],
    "libraries": sorted(bpy.path.abspath(each.filepath) for each in data.libraries),
    "faces": max(len(each.polygons) for each in data.meshes),
    "view": scene.view_settings.view_transform,
}), flush=True)
__import__("os")._exit(0)
"""


def _plainly(path: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", _PLAIN, path],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout.partition("PLAIN")[2].splitlines()[0])


def _linked_shot(rig: Rig) -> str:
    """Save ``shot.blend``, which links ``set.blend``, which links ``prop.blend``. One texture is
    missing, and another one exists under an absolute path."""
    import bpy

    there = rig.folder / "wood.png"
    image = bpy.data.images.new("there", 4, 4)
    image.filepath_raw, image.file_format = str(there), "PNG"
    image.save()
    bpy.data.images.remove(image)
    rig.tool("scene__create_primitive", kind="sphere", name="Prop")
    bpy.ops.wm.save_as_mainfile(filepath=str(rig.folder / "prop.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    dressed = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(dressed)
    dressed.objects.link(_linked(rig.folder / "prop.blend", "objects", "Prop"))
    bpy.ops.wm.save_as_mainfile(filepath=str(rig.folder / "set.blend"), relative_remap=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    placed = _linked(rig.folder / "set.blend", "collections", "Set")
    bpy.context.scene.collection.children.link(placed)
    rig.tool("scene__create_primitive", kind="cube", name="Own")
    rig.tool("scene__set_material_color", name="Own", color=[1, 0, 0])
    tree = bpy.data.objects["Own"].active_material.node_tree
    for name, path in (("gone", "//gone.png"), ("wood", str(there))):
        node = tree.nodes.new("ShaderNodeTexImage")
        node.image = bpy.data.images.new(name, 4, 4)
        node.image.source, node.image.filepath = "FILE", path
    bpy.data.scenes[0].frame_end = 77
    path = str(rig.folder / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, relative_remap=False)
    bpy.ops.wm.open_mainfile(filepath=path)
    return path


def _linked(file: Path, kind: str, name: str) -> Any:
    import bpy

    with bpy.data.libraries.load(str(file), link=True) as (_, to):
        setattr(to, kind, [name])
    return getattr(to, kind)[0]


def test_a_linked_shot_is_explained_as_plain_blender_sees_it(rig: Rig) -> None:
    path = _linked_shot(rig)
    plain = _plainly(path)
    here, there = rig.tool("file__overview"), rig.tool("file__overview", path=path)
    for each in (here, there):
        assert each["scenes"][0]["engine"] == plain["engine"], each["scenes"]
        assert each["scenes"][0]["frame_range"] == plain["frames"] == [1, 77]
        assert each["scenes"][0]["view_transform"] == plain["view"]
        assert each["missing"] == len(plain["missing"]) == 1
        assert [one["bytes"] > 0 for one in each["heaviest_files"]] == [True]
    own = {kind: count for kind, count in there["counts"].items() if kind in plain["counts"]}
    assert own == {kind: n for kind, n in plain["counts"].items() if n}, (own, plain)
    assert here["heaviest"][0]["faces"] == plain["faces"]
    assert here["linked"] == 1


def test_every_purpose_that_fits_has_a_score(rig: Rig) -> None:
    import bpy

    path = _linked_shot(rig)
    scene = bpy.context.scene
    editor = scene.sequence_editor_create()
    strips = editor.strips if hasattr(editor, "strips") else editor.sequences
    ending = "length" if bpy.app.version >= (5, 0) else "frame_end"
    strips.new_effect(name="Sky", type="COLOR", channel=1, frame_start=1, **{ending: 24})
    bpy.data.texts.new("notes")
    bpy.ops.wm.save_mainfile()
    here, there = rig.tool("file__overview"), rig.tool("file__overview", path=path)
    scores, saved = ({e["guess"]: e["score"] for e in one["purpose"]} for one in (here, there))
    assert scores == saved
    assert here["kinds"]["strips"] == there["kinds"]["strips"] == 1
    assert next(iter(scores)) == "an edit", scores
    assert {"an assembly of other files", "texturing", "a model", "scripting"} <= set(scores)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert all(0 < score <= 100 for score in scores.values())


def test_what_the_inputs_of_geometry_nodes_name_is_found(rig: Rig) -> None:
    import bpy

    named_by_a_node_input()
    rig.tool("file__references")
    assert "Ticket" in rig.tool("scene__get_object", name="Wall", detail=True)["uses"]
    assert rig.tool("file__overview")["kinds"]["node_setups"] == 1
    assert bpy.data.objects["Wall"].modifiers[0].node_group.name == "Paste"
    rig.tool("scene__duplicate", name="Wall", new_name="Copy")
    uses = rig.tool("scene__get_object", name="Copy", detail=True)["uses"]
    assert bpy.data.objects["Copy"].children[0].name in uses
    assert "Nail" not in uses


def named_by_a_node_input() -> None:
    """Make an object whose geometry nodes have an image and the object's child as inputs."""
    import bpy

    nodes = bpy.data.node_groups.new("Paste", "GeometryNodeTree")
    kinds = {"Picture": "NodeSocketImage", "Nearby": "NodeSocketObject"}
    if bpy.app.version < (4, 0):
        nodes.outputs.new("NodeSocketGeometry", "Geometry")
        keys = [nodes.inputs.new(kind, name).identifier for name, kind in kinds.items()]
    else:
        add = nodes.interface.new_socket
        add("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
        keys = [add(n, in_out="INPUT", socket_type=kind).identifier for n, kind in kinds.items()]
    wall = bpy.data.objects.new("Wall", bpy.data.meshes.new("Wall"))
    nail = bpy.data.objects.new("Nail", None)
    nail.parent = wall
    for each in (wall, nail):
        bpy.context.scene.collection.objects.link(each)
    modifier = wall.modifiers.new("Paste", "NODES")
    modifier.node_group = nodes
    image = bpy.data.images.new("Ticket", 4, 4)
    image.source, image.filepath = "FILE", "//ticket.png"
    for key, value in zip(keys, (image, nail), strict=True):
        try:
            modifier[key] = value
        except TypeError:  # Since Blender 5.2, modifiers have no custom properties.
            getattr(modifier.properties.inputs, key).value = value


def test_references_are_told_as_a_tree_with_their_users(rig: Rig) -> None:
    path = _linked_shot(rig)
    plain = _plainly(path)
    for asked in ({}, {"path": path}):
        answer = rig.tool("file__references", **asked)
        named = {Path(each["path"].lstrip("/")).name: each for each in answer["files"]}
        states = {name: (each["kind"], each["state"]) for name, each in named.items()}
        assert states == {
            "set.blend": ("library", "found"),
            "prop.blend": ("library", "found"),
            "gone.png": ("image", "missing"),
            "wood.png": ("image", "found"),
        }, states
        assert named["wood.png"]["absolute"] is True
        assert named["gone.png"]["absolute"] is False
        assert answer["totals"]["missing"] == 1
        assert len(plain["libraries"]) == 2
        (above,) = [each for each in answer["tree"] if each["path"].endswith("set.blend")]
        assert [each["path"].rpartition("/")[2] for each in above["below"]] == ["prop.blend"]
        missing = rig.tool("file__references", only="missing", **asked)["files"]
        assert [each["path"] for each in missing] == ["//gone.png"]
    users = {each["path"]: each["used_by"] for each in rig.tool("file__references")["files"]}
    assert users["//gone.png"] != []


def test_backups_of_blender_are_found(rig: Rig) -> None:
    import bpy

    path = str(rig.folder / "kept.blend")
    bpy.context.preferences.filepaths.save_version = 2
    for _ in range(3):
        bpy.ops.wm.save_as_mainfile(filepath=path)
    backups = rig.tool("file__history")["backups"]
    assert {each["path"] for each in backups} == {f"{path}1", f"{path}2"}


def test_an_object_is_explained_wholly(rig: Rig) -> None:
    import bpy

    rig.cube("Empty").data.name = "Body"
    obj = rig.cube("Hero")
    obj["asset_id"] = "H-7"
    obj.vertex_groups.new(name="tip")
    obj.shape_key_add(name="Basis")
    mirror = obj.modifiers.new("Mirror", "MIRROR")
    mirror.mirror_object = bpy.data.objects["Empty"]
    track = obj.constraints.new("TRACK_TO")
    track.target = bpy.data.objects["Empty"]
    driver = obj.driver_add("location", 0).driver
    driver.expression = "var * 2"
    variable = driver.variables.new()
    variable.name, variable.targets[0].id = "var", bpy.data.objects["Empty"]
    variable.targets[0].data_path = "location.x"
    rig.tool("scene__set_material_color", name="Hero", color=[1, 0, 0])
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    for each in list(obj.users_collection):
        each.objects.unlink(obj)
    away.objects.link(obj)
    bpy.context.view_layer.layer_collection.children["Away"].hide_viewport = True
    told = rig.tool("scene__get_object", name="Hero", detail=True)
    assert told["properties"] == {"asset_id": "H-7"}
    assert told["vertex_groups"] == ["tip"]
    assert list(told["shape_keys"]) == ["Basis"]
    assert told["modifiers"][0]["uses"] == ["Empty"]
    assert [(each["type"], each["uses"]) for each in told["constraints"]] == [
        ("track_to", ["Empty"])
    ]
    assert [(each["expression"], each["uses"]) for each in told["drivers"]] == [
        ("var * 2", ["Empty"])
    ]
    assert told["collections"] == ["Away"]
    assert told["visibility"]["shown"] is False
    assert told["visibility"]["why_not_shown"] == ["the collection 'Away' is hidden with the eye"]
    assert told["visibility"]["in_renders"] is True
    assert told["visibility"]["why_not_rendered"] == []
    assert told["slots"][0]["material"] == obj.material_slots[0].material.name
    used_by = rig.tool("scene__get_object", name="Empty", detail=True)["used_by"]
    assert "Hero" in used_by
    for asked in (
        {"property": "asset_id"},
        {"uses": "Empty"},
        {"modifier": "mirror"},
        {"material": told["slots"][0]["material"]},
    ):
        fitting = rig.tool("scene__find", **asked)["objects"]
        assert [each["path"] for each in fitting] == ["Hero"], asked
    rig.tool("scene__create_primitive", kind="sphere", name="Heavy")
    (heaviest,) = rig.tool("scene__find", sort="faces", limit=1)["objects"]
    assert heaviest["path"] == "Heavy"
    assert heaviest["faces"] == len(bpy.data.objects["Heavy"].data.polygons)


def test_copies_of_a_material_are_replaced_and_unused_data_is_removed(rig: Rig) -> None:
    import bpy

    obj = rig.cube("Knob")
    for name in ("Wood", "Metal", "Metal.001", "Metal.002"):
        obj.data.materials.append(bpy.data.materials.new(name))
    bpy.data.materials.new("Spare")
    answer = rig.tool("blender_data__replace", kind="materials", names=["Metal.*"], by="Metal")
    assert answer["removed"] == ["Metal.001", "Metal.002"]
    assert [each.name for each in obj.data.materials] == ["Wood", "Metal", "Metal", "Metal"]
    (spare,) = rig.tool("blender_data__list", kind="materials", unused=True)["data"]
    assert spare == {"name": "Spare", "users": 0, "used_by": []}
    removed = rig.tool("blender_data__purge")["removed"]
    assert removed["materials"] == ["Spare"]
    assert "palettes" not in removed, "callboard's own mark was counted"
    purged = rig.call.undo_id
    rig.tool("blender_data__rename", kind="materials", name="Wood", new_name="Oak")
    renamed = rig.call.undo_id
    assert obj.data.materials[0].name == "Oak"
    taken = {"kind": "materials", "name": "Oak", "new_name": "Metal"}
    assert "taken" in refused(lambda: rig.tool("blender_data__rename", **taken))
    assert renamed is not None
    assert rig.host.undo.undo(renamed)
    assert bpy.data.objects["Knob"].data.materials[0].name == "Wood"
    assert purged is not None
    assert rig.host.undo.undo(purged)
    assert "Spare" in bpy.data.materials


def test_a_file_s_path_is_set_for_all_that_name_it(rig: Rig) -> None:
    import bpy

    picture = rig.folder / "found.png"
    made = bpy.data.images.new("made", 4, 4)
    made.filepath_raw, made.file_format = str(picture), "PNG"
    made.save()
    bpy.data.images.remove(made)
    floor = bpy.data.materials.new("Floor")
    floor.use_nodes = True
    image = bpy.data.images.new("lost", 4, 4)
    image.source, image.filepath = "FILE", "//lost.png"
    floor.node_tree.nodes.new("ShaderNodeTexImage").image = image
    rig.cube("Ground").data.materials.append(floor)
    (missing,) = rig.tool("file__references", only="missing")["files"]
    assert (missing["used_by"], missing["objects"]) == (["Floor"], ["Ground"])
    rig.tool("blender_data__set_file", path="//lost.png", new_path=str(picture))
    assert rig.tool("file__references", only="missing")["files"] == []
    assert bpy.data.images["lost"].filepath == str(picture)
    path = str(rig.folder / "other.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    there = rig.tool("file__history", path=path)
    assert there["bytes"] > 0
    assert there["modified"] is False


def test_data_is_renamed_with_its_object(rig: Rig) -> None:
    import bpy

    rig.cube("Cuube").data.name = "Cuube"
    done = rig.tool("scene__rename", name="Cuube", new_name="Cube", with_data=True)
    assert done["data"] == "Cube"
    assert bpy.data.objects["Cube"].data.name == "Cube"


def test_an_object_is_shown_together_with_its_collections(rig: Rig) -> None:
    import bpy

    rig.tool("structure__create_group", name="Back", objects=[rig.cube("Clock").name], move=True)
    bpy.context.view_layer.layer_collection.children["Back"].exclude = True
    (group,) = rig.tool("structure__list_groups")["groups"]
    assert (group["excluded"], group["faces"], group["objects"]) == (True, 6, ["Clock"])
    asked = {"objects": ["Clock"], "visible": True}
    refused(lambda: rig.tool("structure__set_visibility", **asked))
    rig.tool("structure__set_visibility", **asked, with_groups=True)
    assert bpy.data.objects["Clock"].visible_get()


def test_what_renders_leave_out_is_said_with_the_reason(rig: Rig) -> None:
    import bpy

    rig.cube("Loose")
    rig.tool("structure__create_group", name="Inner", objects=[rig.cube("Clock").name], move=True)
    outer = bpy.data.collections.new("Outer")
    top = bpy.context.scene.collection
    top.children.link(outer)
    outer.children.link(bpy.data.collections["Inner"])
    top.children.unlink(bpy.data.collections["Inner"])
    outer.hide_render = True

    def told() -> Any:
        return rig.tool("scene__get_object", name="Clock", detail=True)["visibility"]

    assert (told()["shown"], told()["in_renders"]) == (True, False)
    assert told()["why_not_rendered"] == ["the collection 'Outer' is switched off in renders"]
    answer = rig.tool("structure__list_groups")
    assert {each["name"]: each["in_renders"] for each in answer["groups"]} == {
        "Outer": False,
        "Inner": False,
    }
    shown = {"scene": "Scene", "view_layer": "ViewLayer"}
    assert answer["top"] == {"name": top.name, **shown, "objects": ["Loose"], "count": 1}
    # A collection below an excluded one can be in the view layer, and is rendered then.
    outer.hide_render = False
    layer = bpy.context.view_layer.layer_collection.children["Outer"]
    layer.exclude = True
    layer.children["Inner"].exclude = False
    assert told()["in_renders"] is True
    assert rig.tool("check__run", rules=["not_rendered"], objects=["Clock"])["findings"] == []
    bpy.data.objects["Clock"].hide_render = True
    assert told()["why_not_rendered"] == ["it is switched off in renders"]


def test_only_what_was_shown_or_hidden_is_reported_as_changed(rig: Rig) -> None:
    import bpy

    for name in ("Seen", "Unrendered", "Hidden"):
        rig.cube(name)
    bpy.data.objects["Unrendered"].hide_render = True
    bpy.data.objects["Hidden"].hide_set(True)
    asked = {"objects": ["Seen", "Unrendered", "Hidden"], "visible": True}
    done = rig.tool("structure__set_visibility", **asked)
    assert done["changed"] == ["Unrendered", "Hidden"]
    assert rig.tool("structure__set_visibility", **asked)["changed"] == []


def test_the_documentation_explains_each_choice_of_a_property(rig: Rig) -> None:
    (mode,) = rig.tool("docs__lookup", words="BooleanModifier.operation", limit=1)["entries"]
    assert mode["choices"] == list(mode["meanings"])
    (boolean,) = rig.tool("docs__lookup", words="BooleanModifier", limit=1)["entries"]
    assert "meanings" not in boolean
    first, *_ = rig.tool("docs__lookup", words="bevel", limit=20)["entries"]
    (kind,) = [each for each in first["parameters"] if each["name"] == "offset_type"]
    assert kind["choices"] == list(kind["meanings"])
    _, *others = rig.tool("docs__lookup", words="bake keys action", limit=20)["entries"]
    listed = [each for entry in others for each in entry.get("parameters", ())]
    assert any("choices" in each for each in listed)
    assert not any("meanings" in each for each in listed)
