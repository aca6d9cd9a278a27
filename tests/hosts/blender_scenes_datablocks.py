"""Cases with settings of bones, tracks, materials, collections, view layers and other data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from callboard.errors import WrongArgument
from hosts.blender_scenes import armature, near, refused

if TYPE_CHECKING:
    from hosts.blender_scenes import Rig


def _value(rig: Rig, of: str, path: str, kind: str = "objects") -> Any:
    (entry,) = rig.tool("blender_data__get_values", of=of, kind=kind, pattern=path)["values"]
    assert entry["path"] == path
    return entry


def test_bones_tell_and_take_their_ik_settings(rig: Rig) -> None:
    import bpy

    armature("Rig", "shin.L", "shin.R")
    left, right = (f'pose.bones["shin.{side}"]' for side in "LR")
    asked = {f"{left}.lock_ik_z": True, f"{left}.use_ik_limit_x": True, f"{left}.ik_max_x": 1.5}
    done = rig.tool("blender_data__set_values", of="Rig", values=asked)
    assert done["verified"]
    assert done["changed"] == ["Rig"]
    bone = bpy.data.objects["Rig"].pose.bones["shin.L"]
    assert (bone.lock_ik_z, bone.use_ik_limit_x) == (True, True)
    assert near([bone.ik_max_x], [1.5])
    told = {
        side: {
            each["path"].removeprefix(side): each["value"]
            for each in rig.tool(
                "blender_data__get_values", of="Rig", pattern=f"{side}.*", differs=True, limit=1000
            )["values"]
        }
        for side in (left, right)
    }
    differing = {key for key in told[left] if told[left][key] != told[right].get(key)}
    assert differing == {".lock_ik_z", ".use_ik_limit_x", ".ik_max_x"}
    shown = _value(rig, "Rig", f"{left}.ik_max_x")
    assert shown["unit"] == "radians"
    # The attributes of the object have the same paths.
    listed = rig.tool("attributes__list", name="Rig", pattern=f"{left}.lock_ik_?")["attributes"]
    assert [each["value"] for each in listed] == [False, False, True]
    assert rig.host.undo.undo(rig.call.undo_id) is True
    bone = bpy.data.objects["Rig"].pose.bones["shin.L"]
    assert (bone.lock_ik_z, bone.use_ik_limit_x) == (False, False)


def test_a_track_is_unmuted_and_its_strip_gets_a_slot(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    keys = [{"frame": frame, "translate": [frame, 0, 0]} for frame in (1, 11)]
    rig.tool("animation__set_keys", name="Box", keys=keys)
    data = bpy.data.objects["Box"].animation_data
    action, data.action = data.action, None
    track = data.nla_tracks.new()
    track.name = "wave"
    strip = track.strips.new("wave", 1, action)
    strip.name, track.mute = "wave", True
    where = 'animation_data.nla_tracks["wave"]'
    values: dict[str, Any] = {f"{where}.mute": False}
    if hasattr(strip, "action_slot"):
        slot = strip.action_slot.name_display
        strip.action_slot = None
        entry = _value(rig, "Box", f'{where}.strips["wave"].action_slot')
        assert (entry["value"], entry["choices"]) == (None, [slot])
        values[f'{where}.strips["wave"].action_slot'] = slot
    bpy.data.objects["Box"].location = [0, 0, 0]
    bpy.context.scene.frame_set(11)
    assert near(bpy.data.objects["Box"].matrix_world.translation, [0, 0, 0])
    assert rig.tool("blender_data__set_values", of="Box", values=values)["verified"]
    bpy.context.scene.frame_set(11)
    assert near(bpy.data.objects["Box"].matrix_world.translation, [11, 0, 0])
    influence = f'{where}.strips["wave"].influence'
    why = refused(lambda: rig.tool("blender_data__set_values", of="Box", values={influence: 0.5}))
    assert "until use_animated_influence is true" in why
    switch = {f'{where}.strips["wave"].use_animated_influence': True, influence: 0.5}
    assert rig.tool("blender_data__set_values", of="Box", values=switch)["verified"]
    # What plays now determines the place.
    assert "a strip" in _value(rig, "Box", "location")["why"]


def test_materials_collections_and_view_layers_take_settings(rig: Rig) -> None:
    import bpy

    box = rig.cube("Box")
    box.data.materials.append(bpy.data.materials.new("Clay"))
    group = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(group)
    scene = bpy.context.scene.name
    layer = f'view_layers["{bpy.context.view_layer.name}"]'

    def put(of: str, kind: str, **values: Any) -> Any:
        return rig.tool("blender_data__set_values", of=of, kind=kind, values=values)

    told = put("Clay", "materials", use_backface_culling=True, pass_index=3)
    assert told["used_by"] == [box.data.name]
    assert bpy.data.materials["Clay"].use_backface_culling
    put("Set", "collections", hide_render=True)
    assert bpy.data.collections["Set"].hide_render
    excluded = f'{layer}.layer_collection.children["Set"].exclude'
    put(scene, "scenes", **{excluded: True})
    assert bpy.context.view_layer.layer_collection.children["Set"].exclude
    put(scene, "scenes", **{f"{layer}.material_override": "Clay"})
    assert bpy.context.view_layer.material_override == bpy.data.materials["Clay"]
    entry = _value(rig, scene, f"{layer}.material_override", "scenes")
    assert (entry["value"], entry["refers_to"]) == ("Clay", "materials")
    listed = rig.tool("blender_data__get_values", of="Clay", kind="materials", pattern="*culling*")[
        "values"
    ]
    assert {"path": "use_backface_culling", "type": "bool", "value": True} in listed
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert bpy.context.view_layer.material_override is None
    # A new custom property, of a material and of a bone.
    armature("Rig", "Arm")
    put("Clay", "materials", **{'["finish"]': "matte"})
    put("Rig", "objects", **{'pose.bones["Arm"]["mood"]': 0.5})
    assert bpy.data.materials["Clay"]["finish"] == "matte"
    assert bpy.data.objects["Rig"].pose.bones["Arm"]["mood"] == 0.5


def test_what_cannot_be_set_says_why_and_stays(rig: Rig) -> None:
    import bpy

    def make() -> None:
        bpy.data.materials.new("Foreign").use_fake_user = True

    library = rig.library("looks.blend", make)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.materials = ["Foreign"]
    box = rig.cube("Box")
    box.data.materials.append(bpy.data.materials["Foreign"])
    armature("Rig", "Arm")
    hand = bpy.data.objects["Rig"].pose.bones["Arm"]
    hand.constraints.new("IK").target = bpy.data.objects["Rig"]
    bpy.data.images.new("Plan", 2, 2)
    bpy.data.texts.new("code.py")
    bpy.data.cameras.new("Eye")
    scene = bpy.context.scene
    ik = 'pose.bones["Arm"].constraints["IK"]'
    bpy.data.objects["Rig"].driver_add(f"{ik}.influence").driver.expression = "0.5"

    def why(of: str, path: str, value: Any, kind: str = "objects") -> str:
        values = {path: value}
        return refused(
            lambda: rig.tool("blender_data__set_values", of=of, kind=kind, values=values)
        )

    assert "a driver determines its value" in why("Rig", f"{ik}.influence", 1.0)
    assert "a driver" in _value(rig, "Rig", f"{ik}.influence")["why"]
    # A muted driver determines nothing.
    bpy.data.objects["Rig"].animation_data.drivers[0].mute = True
    assert rig.tool("blender_data__set_values", of="Rig", values={f"{ik}.influence": 0.75})
    assert "set_driver" in why("Rig", "animation_data.drivers[0].driver.expression", "1")
    assert "has no bone 'Leg'; it has: Arm" in why("Rig", f"{ik}.subtarget", "Leg")
    assert "has no 'IC' among its constraints; it has: IK" in why(
        "Rig", 'pose.bones["Arm"].constraints["IC"].mute', True
    )
    assert "use_backface_culling" in why("Foreign", "use_backface_cul.x", True, "materials")
    assert "some that it has: hide_render" in why("Box", "hide_rendr", True)
    assert "must be one of" in why("Rig", 'pose.bones["Arm"].rotation_mode', "ABC")
    assert "start the path with data.bones" in why(
        "Rig", 'pose.bones["Arm"].bone.use_deform', False
    )
    assert "it names a file" in why("Plan", "filepath", "/etc/passwd", "images")
    assert "set_output sets it" in why(scene.name, "render.filepath", "/tmp/x", "scenes")
    layer = f'view_layers["{bpy.context.view_layer.name}"]'
    assert "whether code" in why(scene.name, f"{layer}.freestyle_settings.mode", "SCRIPT", "scenes")
    assert "whether code" in why(scene.name, "cycles.shading_system", True, "scenes")
    assert "can be code" in why("code.py", "use_module", True, "texts")
    assert "blender_data__rename" in why("Plan", "name", "Map", "images")
    assert "linked from 'looks.blend'" in why("Foreign", "pass_index", 3, "materials")
    assert "it is linked" in _value(rig, "Foreign", "pass_index", "materials")["why"]
    assert "with kind materials read and set it" in why("Box", "active_material.pass_index", 3)
    assert "blender_nodes__set" in why("Foreign", "node_tree.nodes", 3, "materials")
    assert "null only clears" in why("Box", "pass_index", None)
    assert "callboard's own" in why("Box", '["callboard_mark"]', 1)
    bpy.data.objects["Box"].modifiers.new("Remesh", "REMESH")
    sharp = {'modifiers["Remesh"].mode': "SHARP"}
    assert rig.tool("blender_data__set_values", of="Box", values=sharp)["verified"]
    # All or none: the first of these fits.
    both = {"pass_index": 7, "hide_render": "yes"}
    assert "must be bool" in refused(
        lambda: rig.tool("blender_data__set_values", of="Box", values=both)
    )
    assert bpy.data.objects["Box"].pass_index == 0


def test_constraints_tell_and_take_all_their_values(rig: Rig) -> None:
    import bpy

    armature("Rig", "foot.L", "foot.R")
    rig.cube("Pole")
    for bone in bpy.data.objects["Rig"].pose.bones:
        each = bone.constraints.new("IK")
        each.target, each.chain_count = bpy.data.objects["Pole"], 2
    left = 'pose.bones["foot.L"].constraints["IK"]'
    values = {f"{left}.chain_count": 1, f"{left}.pole_target": "Pole", f"{left}.pole_angle": 1.5}
    assert rig.tool("blender_data__set_values", of="Rig", values=values)["verified"]
    one, other = rig.tool("blender_data__list_constraints", values=True)["constraints"]
    assert (one["of_bone"], one["values"]["pole_target"]) == ("foot.L", "Pole")
    differing = {key for key in one["values"] if one["values"][key] != other["values"].get(key)}
    assert differing == {"chain_count", "pole_target", "pole_angle"}
    path = f"{left}.target"
    why = refused(lambda: rig.tool("blender_data__set_values", of="Rig", values={path: "Pole"}))
    assert "blender_data__set_constraint sets it" in why


def test_every_kind_of_data_takes_settings_that_last_and_are_undone(rig: Rig) -> None:
    import bpy

    box = rig.cube("Box")
    box.shape_key_add(name="Basis")
    box.shape_key_add(name="Smile")
    box.modifiers.new("Hair", "PARTICLE_SYSTEM")
    armature("Rig", "Arm")
    rig.cube("Moved").keyframe_insert("location")
    for kind in ("worlds", "collections"):
        getattr(bpy.data, kind).new("New").use_fake_user = True
    bpy.data.images.new("New", 2, 2).use_fake_user = True
    bpy.data.cameras.new("New").use_fake_user = True
    bpy.data.lights.new("New", "AREA").use_fake_user = True
    bpy.data.node_groups.new("New", "GeometryNodeTree").use_fake_user = True
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(far := bpy.data.objects.new("Far", None))
    far["mood"] = 1.0
    asked: Any = [
        ("objects", "Far", {"hide_render": True, '["mood"]': 0.5, "lock_location[2]": True}),
        ("objects", "Box", {'vertex_groups["Group"].lock_weight': True}),
        ("objects", "Box", {'particle_systems["Hair"].seed': 7}),
        ("meshes", box.data.name, {'shape_keys.key_blocks["Smile"].mute': True}),
        ("particles", bpy.data.particles[0].name, {"use_rotations": True, "count": 12}),
        ("armatures", "Rig", {"display_type": "STICK", 'bones["Arm"].use_deform': False}),
        ("actions", bpy.data.objects["Moved"].animation_data.action.name, {"use_cyclic": True}),
        ("scenes", "Other", {"render.use_simplify": True, "cycles.max_bounces": 3}),
        ("worlds", "New", {"mist_settings.depth": 7.0, '["note"]': "fog"}),
        ("images", "New", {"alpha_mode": "PREMUL"}),
        ("collections", "New", {"color_tag": "COLOR_03", "hide_viewport": True}),
        ("cameras", "New", {"dof.use_dof": True, "lens": 35}),
        ("lights", "New", {"use_shadow": False, "color": [1, 0.5, 0.25]}),
        ("node_groups", "New", {"use_fake_user": False, '["note"]': [1, 2, 3]}),
    ]
    box.vertex_groups.new(name="Group")

    def told(kind: str, of: str, values: Any) -> dict[str, Any]:
        return {path: _value_or_none(rig, of, path, kind) for path in values}

    before = [told(*each) for each in asked]
    after = []
    for (kind, of, values), was in zip(asked, before, strict=True):
        done = rig.tool("blender_data__set_values", of=of, kind=kind, values=values)
        assert done["verified"]
        assert rig.host.undo.undo(rig.call.undo_id) is True
        assert told(kind, of, values) == was, (kind, of)
        rig.tool("blender_data__set_values", of=of, kind=kind, values=values)
        after.append(told(kind, of, values))
        assert after[-1] != was, (kind, of)
    path = rig.tool("scene__save_file", path=str(rig.folder / "set.blend"))["path"]
    rig.tool("scene__open_file", path=path, discard_changes=True)
    again = [told(*each) for each in asked[:-1]]
    assert again == after[:-1]


def _value_or_none(rig: Rig, of: str, path: str, kind: str) -> Any:
    from callboard.errors import HostError

    try:
        return _value(rig, of, path, kind)["value"]
    except HostError:
        assert path.startswith("[")  # A custom property that isn't there yet.
        return None


def test_settings_of_an_override_last_or_are_refused(rig: Rig) -> None:
    import bpy

    def make() -> None:
        hand = armature("Rig", "Arm").pose.bones["Arm"]
        hand.constraints.new("LIMIT_ROTATION")
        for each, key, value in ((hand, "mood", 0.0), (bpy.data.objects["Rig"], "note", 1)):
            each[key] = value
            each.property_overridable_library_set(f'["{key}"]', True)
        group = bpy.data.collections.new("Hero")
        bpy.context.scene.collection.children.link(group)
        group.objects.link(bpy.data.objects["Rig"])

    library = rig.library("hero.blend", make)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.collections = ["Hero"]
    shown = bpy.data.objects.new("Hero", None)
    shown.instance_type, shown.instance_collection = "COLLECTION", bpy.data.collections["Hero"]
    bpy.context.scene.collection.objects.link(shown)
    rig.tool("blender_library__make_override", name="Hero")
    (path,) = [each.name_full for each in bpy.data.objects if each.override_library and each.pose]
    bone = 'pose.bones["Arm"]'
    listed = rig.tool("blender_data__get_values", of=path, pattern=f"{bone}.lock*")["values"]
    assert f"{bone}.lock_ik_z" not in {each["path"] for each in listed}
    for each in (f"{bone}.lock_ik_z", '["mood"]', f'{bone}["tone"]'):
        wrong = {"of": path, "values": {each: True}}
        why = refused(partial(rig.tool, "blender_data__set_values", **wrong))
        assert "in an override" in why or "an override keeps" in why
    asked = {f'{bone}.constraints["Limit Rotation"].mute': True, f"{bone}.rotation_mode": "XYZ"}
    asked |= {f'{bone}["mood"]': 0.5, '["note"]': 3}
    assert rig.tool("blender_data__set_values", of=path, values=asked)["verified"]
    file = rig.tool("scene__save_file", path=str(rig.folder / "shot.blend"))["path"]
    rig.tool("scene__open_file", path=file, discard_changes=True)
    assert {each: _value(rig, path, each)["value"] for each in asked} == asked


def test_what_names_a_bone_names_one_of_its_target(rig: Rig) -> None:
    import bpy

    armature("Rig", "Arm")
    box = rig.cube("Box")
    box.modifiers.new("Hook", "HOOK").object = bpy.data.objects["Rig"]
    box.constraints.new("COPY_LOCATION").owner_space = "CUSTOM"
    copy = 'constraints["Copy Location"]'
    values = {
        'modifiers["Hook"].subtarget': "Arm",
        f"{copy}.space_object": "Rig",
        f"{copy}.space_subtarget": "Arm",
    }
    assert rig.tool("blender_data__set_values", of="Box", values=values)["verified"]
    assert bpy.data.objects["Box"].modifiers["Hook"].subtarget == "Arm"
    wrong = {f"{copy}.subtarget": "Arm"}
    why = refused(lambda: rig.tool("blender_data__set_values", of="Box", values=wrong))
    assert "its target, which isn't set, has no bone 'Arm'" in why
    # A bone's own shape, and where it is drawn.
    shape = {
        'pose.bones["Arm"].custom_shape': "Box",
        'pose.bones["Arm"].custom_shape_transform': "Arm",
    }
    assert rig.tool("blender_data__set_values", of="Rig", values=shape)["verified"]
    assert bpy.data.objects["Rig"].pose.bones["Arm"].custom_shape == bpy.data.objects["Box"]


def test_all_that_is_listed_can_be_read_of_all_data(rig: Rig) -> None:
    import bpy

    box = rig.cube("Box")
    box.shape_key_add(name="Basis")
    for kind in ("SUBSURF", "CLOTH", "NODES", "PARTICLE_SYSTEM", "HOOK"):
        box.modifiers.new(kind, kind)
    armature("Rig", "Arm").pose.bones["Arm"].constraints.new("ARMATURE").targets.new()
    for kind in ("materials", "worlds", "cameras", "collections", "linestyles"):
        getattr(bpy.data, kind).new("New")
    bpy.data.images.new("New", 2, 2)
    bpy.data.textures.new("New", "BLEND").use_color_ramp = True
    read, closed = 0, {"brushes", "texts", "workspaces"}
    for kind in rig.tool("file__overview")["counts"].keys() - closed:
        try:
            blocks = rig.tool("blender_data__list", kind=kind)["data"]
        except WrongArgument:  # Of Blender's window.
            continue
        for block in blocks:
            told: dict[str, Any] = {"next_offset": 0}
            paths: list[str] = []
            while (offset := told.get("next_offset")) is not None:
                told = rig.tool(
                    "blender_data__get_values",
                    of=block["name"],
                    kind=kind,
                    offset=offset,
                    limit=1000,
                )
                paths += [each["path"] for each in told["values"]]
            assert len(paths) == len(set(paths)) == told["total"] > 0, (kind, block)
            read += len(paths)
    assert read > 1000


def test_what_would_lose_data_or_reach_files_is_refused(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    box = bpy.data.objects["Box"]
    box.modifiers.new("Cloth", "CLOTH")
    box["groups"] = [{"a": 1}, {"b": 2}]
    bpy.data.images.new("Picture", 8, 8)
    scene = bpy.context.scene.name

    def why(path: str, value: Any, of: str = "Box", kind: str = "objects") -> str:
        asked = {"of": of, "kind": kind, "values": {path: value}}
        return refused(lambda: rig.tool("blender_data__set_values", **asked))

    assert "keeps it internal" in why("is_runtime_data", True)
    assert "a simulation" in why('modifiers["Cloth"].point_cache.use_disk_cache', True)
    assert "3D cursor" in why("cursor.location", [1, 2, 3], scene, "scenes")
    assert "tools' settings" in why("tool_settings.use_snap", True, scene, "scenes")
    assert "are data" in why("pixels", [0.5], "Picture", "images")
    assert "nothing with a name" in why('data.vertices["x"].co', [0, 0, 0])
    rig.tool("blender_data__get_values", of="Box", limit=1000)

    ball = bpy.data.objects.new("Ball", bpy.data.metaballs.new("Ball"))
    bpy.context.collection.objects.link(ball)
    assert "must be from" in why("data.resolution", 0.005, "Ball")

    if hasattr(bpy.types, "GeometryNodeImportSTL"):
        group = bpy.data.node_groups.new("Import", "GeometryNodeTree")
        group.interface.new_socket("File", in_out="INPUT", socket_type="NodeSocketString")
        group.nodes.new("GeometryNodeImportSTL")
        modifier = box.modifiers.new("Nodes", "NODES")
        modifier.node_group = group
        key = group.interface.items_tree["File"].identifier
        assert "import files" in why(f'modifiers["Nodes"]["{key}"]', "/tmp/x.stl")
