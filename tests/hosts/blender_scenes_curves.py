"""Cases in which whole animation curves change: their modifiers, and their keys in time. See
``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, armature, near, refused


def _moving(rig: Rig, name: str = "Box") -> Any:
    obj = rig.cube(name)
    for frame, height in ((1, 0.0), (11, 2.0)):
        obj.location.z = height
        obj.keyframe_insert("location", frame=frame)
    return obj


def _arm() -> Any:
    """Return an armature with two keyed bones."""

    obj = armature("Rig", "Arm", "Hand")
    for bone in obj.pose.bones:
        for frame in (5, 15):
            bone.location.x = frame / 10
            bone.keyframe_insert("location", frame=frame)
    return obj


def _curves(rig: Rig, name: str) -> dict[str, Any]:
    listed = rig.tool("blender_animation__list_curves", name=name)["curves"]
    return {each["curve"]: each for each in listed}


def test_an_animation_repeats_with_cycles(rig: Rig) -> None:
    import bpy

    _moving(rig)
    told = rig.tool(
        "blender_animation__add_modifier",
        name="Box",
        type="cycles",
        values={"mode_after": "REPEAT", "cycles_after": 3},
    )
    assert told["count"] == 3
    bpy.context.scene.frame_set(21)
    assert near([bpy.data.objects["Box"].location.z], [2.0])
    bpy.context.scene.frame_set(22)
    assert bpy.data.objects["Box"].location.z < 0.5
    if bpy.app.version < (5, 0):
        again = {"name": "Box", "type": "cycles"}
        why = refused(lambda: rig.tool("blender_animation__add_modifier", **again))
        assert "cycles can only be the first" in why
    told = rig.tool("blender_animation__remove_modifier", name="Box", type="cycles")
    assert told["count"] == 3
    assert _curves(rig, "Box")["location[2]"]["modifiers"] == []
    assert rig.host.undo.undo(rig.call.undo_id) is True
    (modifier,) = _curves(rig, "Box")["location[2]"]["modifiers"]
    assert (modifier["type"], modifier["cycles_after"]) == ("cycles", 3)


def test_noise_is_added_to_one_curve_and_set(rig: Rig) -> None:
    _moving(rig)
    one: dict[str, Any] = {"name": "Box", "type": "noise", "curves": ["location[2]"]}
    rig.tool("blender_animation__add_modifier", **one, values={"strength": 0.5, "scale": 4})
    told = rig.tool("blender_animation__set_modifier", **one, values={"strength": 2, "mute": True})
    (modifier,) = told["curves"][0]["modifiers"]
    assert (modifier["strength"], modifier["scale"], modifier["mute"]) == (2, 4, True)
    assert _curves(rig, "Box")["location[0]"]["modifiers"] == []
    why = refused(
        lambda: rig.tool("blender_animation__set_modifier", **one, values={"loudness": 1})
    )
    assert "has no 'loudness'; it has: " in why
    why = refused(lambda: rig.tool("blender_animation__add_modifier", name="Box", type="wobble"))
    assert "there are: " in why
    assert "noise" in why
    why = refused(lambda: rig.tool("blender_animation__remove_modifier", name="Box", type="limits"))
    assert "none of these curves" in why
    rig.tool("blender_animation__add_modifier", **one)
    assert "give number" in refused(lambda: rig.tool("blender_animation__remove_modifier", **one))
    told = rig.tool("blender_animation__remove_modifier", **one, number=1)
    assert [each["strength"] for each in told["curves"][0]["modifiers"]] == [2]


def test_keys_are_shifted_and_scaled_with_their_handles(rig: Rig) -> None:
    import bpy

    _moving(rig)
    told = rig.tool("blender_animation__move_keys", name="Box", offset=10, scale=2)
    assert (told["was"], told["now"], told["keys"]) == ([1, 11], [11, 31], 6)
    keys = rig.tool("animation__list_keys", name="Box")["keys"]
    assert [each["frame"] for each in keys] == [11, 31]
    bpy.context.scene.frame_set(21)
    assert near([bpy.data.objects["Box"].location.z], [1.0])
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert _curves(rig, "Box")["location[0]"]["frames"] == [1, 11]


def test_keys_of_one_bone_move_and_those_of_the_other_stay(rig: Rig) -> None:
    _arm()
    told = rig.tool("blender_animation__move_keys", name="Rig", bones=["Hand"], offset=-2.5)
    assert told["now"] == [2.5, 12.5]
    frames = {name: each["frames"] for name, each in _curves(rig, "Rig").items()}
    assert frames['pose.bones["Hand"].location[0]'] == [2.5, 12.5]
    assert frames['pose.bones["Arm"].location[0]'] == [5, 15]
    why = refused(
        lambda: rig.tool("blender_animation__move_keys", name="Rig", bones=["Foot"], offset=1)
    )
    assert "it has: Arm, Hand" in why


def test_curves_of_shape_keys_have_names_and_modifiers(rig: Rig) -> None:
    obj = rig.cube("Face")
    obj.shape_key_add(name="Basis")
    smile = obj.shape_key_add(name="Smile")
    smile.keyframe_insert("value", frame=3)
    (name,) = _curves(rig, "Face")
    told = rig.tool(
        "blender_animation__add_modifier",
        name="Face",
        type="limits",
        curves=[name],
        values={"use_max_y": True, "max_y": 0.5},
    )
    assert told["curves"][0]["modifiers"][0]["max_y"] == 0.5
    told = rig.tool("blender_animation__move_keys", name="Face", offset=4)
    assert told["now"] == [7, 7]


def test_an_action_that_others_share_stays_as_it_is(rig: Rig) -> None:
    box = _moving(rig)
    twin = rig.cube("Twin")
    twin.animation_data_create().action = box.animation_data.action
    if hasattr(box.animation_data, "action_slot"):
        twin.animation_data.action_slot = box.animation_data.action_slot
    action = box.animation_data.action.name
    shared = rig.tool("blender_animation__list_curves", name="Box")["shared"]
    assert shared == [{"action": action, "of": "Box", "shared_by": ["Twin"]}]
    assert rig.tool("animation__list_keys", name="Twin")["shared_by"] == ["Box"]
    whole = rig.tool("scene__get_object", name="Twin", detail=True)
    assert (whole["action"], whole["shares_action_with"]) == (action, ["Box"])
    told = rig.tool("blender_animation__move_keys", name="Box", offset=5)
    assert told["own_actions"] == [box.animation_data.action.name] != [action]
    assert _curves(rig, "Box")["location[0]"]["frames"] == [6, 16]
    assert _curves(rig, "Twin")["location[0]"]["frames"] == [1, 11]
    assert "shared" not in rig.tool("blender_animation__list_curves", name="Box")
    assert "own_actions" not in rig.tool("blender_animation__move_keys", name="Box", offset=1)


def test_set_keys_names_the_copy_of_a_shared_action(rig: Rig) -> None:
    box, twin = _moving(rig), rig.cube("Twin")
    twin.animation_data_create().action = action = box.animation_data.action
    if hasattr(action, "slots"):
        twin.animation_data.action_slot = action.slots[0]
    asked = {"name": "Twin", "keys": [{"frame": 5, "translate": [1, 2, 3]}]}
    told = rig.tool("animation__set_keys", **asked)
    assert told["own_actions"] == [twin.animation_data.action.name] != [action.name]
    assert "own_actions" not in rig.tool("animation__set_keys", **asked)
    keys = rig.tool("animation__list_keys", name="Box")["keys"]
    assert [each["frame"] for each in keys] == [1, 11]


def test_curves_in_strips_that_do_not_play_are_told(rig: Rig) -> None:
    box = rig.cube("Box")
    _strip(box, _action(box, "Wave", 11), "Tryout", 5)
    box.animation_data.nla_tracks["Tryout"].mute = True
    told = rig.tool("blender_animation__list_curves", name="Box")
    assert told["curves"] == []
    (strip,) = told["strips"]
    assert strip["curves"] == ["location[0]", "location[1]", "location[2]"]
    why = "the track 'Tryout' is muted"
    assert (strip["track"], strip["plays"], strip["why"]) == ("Tryout", False, why)
    (other,) = rig.tool("animation__list_keys", name="Box")["others"]
    assert (other["of"], other["frames"], other["why"]) == ("strip Wave", [5, 15], why)
    rig.tool("blender_animation__set_track", of="Box", track="Tryout", mute=False)
    (other,) = rig.tool("animation__list_keys", name="Box")["others"]
    assert "why" not in other


def _action(obj: Any, name: str, last: int) -> Any:
    """Return a new action with keys of ``obj`` from frame 1 to ``last``, which nothing uses."""
    import bpy

    action = bpy.data.actions.new(name)
    obj.animation_data_create().action = action
    for frame in (1, last):
        obj.keyframe_insert("location", frame=frame)
    obj.animation_data.action = None
    return action


def _strip(obj: Any, action: Any, track: str, start: int) -> Any:
    into = obj.animation_data.nla_tracks.new()
    into.name = track
    strip = into.strips.new(action.name, start, action)
    if hasattr(strip, "action_slot") and strip.action_slot is None:
        strip.action_slot = action.slots[0]
    return strip


def _start(obj: Any, action: Any) -> None:
    obj.animation_data_create().action = action
    if hasattr(action, "slots"):
        obj.animation_data.action_slot = action.slots[0]


def _actions(rig: Rig, **asked: Any) -> dict[str, Any]:
    listed = rig.tool("blender_animation__list_actions", **asked)["actions"]
    return {each["name"]: each for each in listed}


def test_actions_are_listed_with_what_plays_them(rig: Rig) -> None:
    import bpy

    box = rig.cube("Box")
    walk, idle, wave, old = (
        _action(box, name, last)
        for name, last in (("Walk", 24), ("Idle", 80), ("Wave", 36), ("Old", 30))
    )
    old.use_fake_user = True
    _start(box, walk)
    _strip(box, idle, "Base", 101)
    _strip(box, wave, "Tryout", 200)
    box.animation_data.nla_tracks["Tryout"].mute = True
    bpy.data.actions.new("Empty").use_fake_user = True
    told = rig.tool("blender_animation__list_actions")
    assert (told["total"], told["playing"]) == (5, 2)
    listed = _actions(rig)
    assert {name: (each["frames"], each["plays"]) for name, each in listed.items()} == {
        "Empty": (None, False),
        "Idle": ([1, 80], True),
        "Old": ([1, 30], False),
        "Walk": ([1, 24], True),
        "Wave": ([1, 36], False),
    }
    by = {"by": "Box", "kind": "objects"}
    assert listed["Walk"]["uses"] == [{**by, "how": "active", "frames": [1, 24], "plays": True}]
    strip = {**by, "how": "strip"}
    assert listed["Idle"]["uses"] == [
        {**strip, "track": "Base", "strip": "Idle", "frames": [101, 180], "plays": True}
    ]
    (use,) = listed["Wave"]["uses"]
    assert (use["frames"], use["why"]) == ([200, 235], "the track 'Tryout' is muted")
    assert listed["Wave"]["why"] == use["why"]
    assert listed["Old"]["why"] == "nothing uses it, and only a fake user keeps it"
    assert (listed["Old"]["uses"], listed["Old"]["fake_user"]) == ([], True)
    assert [*_actions(rig, plays=True)] == ["Idle", "Walk"]
    assert [*_actions(rig, pattern="w*", plays=False)] == ["Wave"]


def test_why_an_action_does_not_play_is_told(rig: Rig) -> None:
    import bpy

    box = rig.cube("Box")
    walk, idle, wave = (_action(box, name, 9) for name in ("Walk", "Idle", "Wave"))
    _start(box, walk)
    strip = _strip(box, idle, "Base", 1)
    _strip(box, wave, "Alone", 20)
    data = box.animation_data
    assert [*_actions(rig, plays=True)] == ["Idle", "Walk", "Wave"]
    data.nla_tracks["Alone"].is_solo = True
    listed = _actions(rig, plays=False)
    assert listed["Walk"]["why"] == listed["Idle"]["why"] == "the track 'Alone' plays alone"
    data.nla_tracks["Alone"].is_solo = False
    strip.mute = True
    assert _actions(rig)["Idle"]["why"] == "the strip 'Idle' is muted"
    strip.mute, strip.use_animated_influence = False, True
    for curve in strip.fcurves:
        while len(curve.keyframe_points):
            curve.keyframe_points.remove(curve.keyframe_points[0])
    strip.influence = 0
    assert _actions(rig)["Idle"]["why"] == "the influence of the strip 'Idle' is 0"
    data.use_nla = False
    listed = _actions(rig)
    assert [name for name, each in listed.items() if each["plays"]] == ["Walk"]
    assert "non-linear animation is switched off" in listed["Wave"]["why"]
    away = bpy.data.objects.new("Away", None)
    away.use_fake_user = True
    _start(away, _action(away, "Gone", 5))
    assert _actions(rig)["Gone"]["why"] == "no scene uses 'Away'"
    if hasattr(walk, "slots"):
        walk.slots.new("OBJECT", "Second")
        data.action_slot = None
        told = _actions(rig)["Walk"]
        assert told["why"] == "no slot of the action is chosen"
        assert told["slots"] == ["Box", "Second"]


def test_tracks_and_strips_are_switched_and_set(rig: Rig) -> None:
    import bpy

    box = rig.cube("Box")
    wave, idle = _action(box, "Wave", 11), _action(box, "Idle", 11)
    for action, height in ((wave, 4.0), (idle, 2.0)):
        slots = hasattr(action, "slots")
        holder = action.layers[0].strips[0].channelbags[0] if slots else action
        for curve in holder.fcurves:
            for point in curve.keyframe_points:
                point.co.y = height
            curve.update()
    _strip(box, idle, "Base", 1)
    _strip(box, wave, "Top", 1)
    box.animation_data.nla_tracks["Top"].mute = True

    def height(frame: int = 5) -> float:
        bpy.context.scene.frame_set(frame)
        return float(box.matrix_world.translation.z)

    def told(**asked: Any) -> Any:
        return rig.tool("blender_animation__set_track", of="Box", **asked)

    assert height() == 2
    answer = told(track="Top", mute=False)
    assert (answer["verified"], height()) == (True, 4)
    assert [(each["action"], each["plays"]) for each in answer["uses"]] == [
        ("Idle", True),
        ("Wave", True),
    ]
    assert told(track="Top", strip="Wave", influence=0.25)["now"]["influence"] == 0.25
    assert near([height()], [2.5])
    told(track="Top", strip="Wave", influence=1, blend="add")
    assert near([height()], [6])
    answer = told(track="Base", solo=True)
    assert [each["plays"] for each in answer["uses"]] == [True, False]
    assert near([height()], [2])
    told(track="Base", solo=False)
    answer = told(track="Top", strip="Wave", start=21, scale=2, extrapolation="nothing")
    assert answer["now"]["frames"] == [21, 41]
    assert near([height(20), height(40)], [2, 6])
    answer = told(track="Base", strip="Idle", mute=True)
    assert answer["verified"] is True
    answer = told(track="Base", mute=True)
    answer = told(track="Base", strip="Idle", mute=False)
    assert answer["verified"] is False
    assert answer["doubt"] == "it doesn't play: the track 'Base' is muted"
    assert [each["plays"] for each in told(nla=False)["uses"]] == [False, False]
    assert "it has: Base, Top" in refused(lambda: told(track="Bas", mute=True))
    assert "it has: Wave" in refused(lambda: told(track="Top", strip="Idle", mute=True))
    assert "give strip" in refused(lambda: told(track="Top", influence=0.5))
    track = box.animation_data.nla_tracks["Top"]
    track.strips.new("Later", 60, idle)
    for wrong in ({"start": 50}, {"scale": 9}):
        before = [(each.frame_start, each.frame_end) for each in track.strips]
        token = rig.host.undo.begin("try")
        refused(lambda wrong=wrong: told(track="Top", strip="Wave", **wrong))
        rig.host.undo.rollback(token)
        track = bpy.data.objects["Box"].animation_data.nla_tracks["Top"]
        assert [(each.frame_start, each.frame_end) for each in track.strips] == before


def test_the_slot_of_an_action_is_chosen(rig: Rig) -> None:
    box, twin = rig.cube("Box"), rig.cube("Twin")
    walk = _action(box, "Walk", 9)
    twin.animation_data_create().action = walk
    asked = {"of": "Twin", "slot": "Box"}
    if not hasattr(walk, "slots"):
        why = refused(lambda: rig.tool("blender_animation__set_track", **asked))
        assert "Blender 4.4" in why
        return
    twin.animation_data.action_slot = None
    told = rig.tool("blender_animation__set_track", **asked)
    assert told["now"]["slot"] == "Box"
    (use,) = told["uses"]
    assert use["plays"] is True
    wrong = {**asked, "slot": "Nobody"}
    assert "these fit: Box" in refused(lambda: rig.tool("blender_animation__set_track", **wrong))


def test_actions_of_any_data_are_found(rig: Rig) -> None:
    import bpy

    box = rig.cube("Box")
    box.shape_key_add(name="Basis")
    smile = box.shape_key_add(name="Smile")
    smile.keyframe_insert("value", frame=10)
    material = bpy.data.materials.new("Paint")
    material.use_nodes = True
    box.data.materials.append(material)
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Roughness"].keyframe_insert("default_value", frame=3)
    world = bpy.data.worlds.new("Sky")
    other = bpy.data.scenes.new("Other")
    other.world = world
    world.keyframe_insert("color", frame=4)
    camera = bpy.data.cameras.new("Eye")
    other.collection.objects.link(bpy.data.objects.new("Eye", camera))
    camera.keyframe_insert("lens", frame=7)
    other.keyframe_insert("gravity", frame=2)
    posed = _action(box, "Posed", 8)
    arm = _arm()
    limit = arm.pose.bones["Arm"].constraints.new("ACTION")
    limit.action, limit.target, limit.frame_end = posed, box, 8
    used = {
        use["by"]: (use["kind"], use["how"], use["plays"], use["frames"])
        for each in _actions(rig).values()
        for use in each["uses"]
        if use["by"] != "Rig" or use["how"] == "constraint"
    }
    assert used == {
        "Key": ("shape_keys", "active", True, [10, 10]),
        "Paint": ("materials", "active", True, [3, 3]),
        "Sky": ("worlds", "active", True, [4, 4]),
        "Eye": ("cameras", "active", True, [7, 7]),
        "Other": ("scenes", "active", True, [2, 2]),
        "Rig": ("objects", "constraint", True, [0, 8]),
    }


def test_places_are_read_over_time_and_nothing_changes(rig: Rig) -> None:
    import bpy

    box, arm = rig.cube("Box"), _arm()
    for frame, place in ((1, 0.0), (11, 10.0)):
        box.location.x = place
        box.keyframe_insert("location", frame=frame)
        for point in _curve(box, "location", 0).keyframe_points:
            point.interpolation = "LINEAR"
    bpy.context.scene.frame_set(7)
    arm.location.z = 3
    box.location.y = 5  # The artist has moved it, and set no key yet.
    arm.pose.bones["Hand"].location.x = 7
    bpy.context.view_layer.update()
    box["note"] = 1.0
    points = [{"name": "Box"}, {"name": "Rig", "bone": "Hand", "at": "tail"}]
    changes = rig.port("structure").sampler._changes
    changes.unsaved = False
    told = rig.tool("blender_animation__sample", points=points, start=1, end=11, step=2)
    assert told["frames"] == [1, 3, 5, 7, 9, 11]
    first, second = told["points"]
    assert [round(each[0], 3) for each in first["positions"]] == [0, 2, 4, 6, 8, 10]
    assert near([first["positions"][0][1], first["positions"][0][2]], [0, 0])
    assert (second["bone"], second["at"]) == ("Hand", "tail")
    assert told["nearest"]["distance"] == min(told["distances"])
    assert told["farthest"]["frame"] == 11
    assert bpy.context.scene.frame_current == 7
    assert changes.unsaved is False
    assert near([box.location.y, arm.pose.bones["Hand"].location.x], [5, 7])
    assert near([box.matrix_world.translation.y], [5])
    for frame, place in zip(told["frames"], second["positions"], strict=True):
        bpy.context.scene.frame_set(int(frame))
        tail = arm.matrix_world @ arm.pose.bones["Hand"].tail
        assert near(place, list(tail)), frame
    (only,) = rig.tool(
        "blender_animation__sample", points=points[:1], start=6, end=6, rotation=True
    )["points"]
    assert near(only["rotations"][0], [0, 0, 0])
    wrong = [{"name": "Rig", "bone": "Hnd"}]
    why = refused(lambda: rig.tool("blender_animation__sample", points=wrong))
    assert "Hand" in why
    much = {"points": points, "start": 0, "end": 90000}
    assert "larger step" in refused(lambda: rig.tool("blender_animation__sample", **much))


def _curve(obj: Any, path: str, index: int) -> Any:
    from callboard_blender.parts.curves import curves_of

    return next(
        each for each in curves_of(obj) if (each.data_path, each.array_index) == (path, index)
    )


def _points(rig: Rig, name: str, **asked: Any) -> Any:
    listed = rig.tool("blender_animation__list_curves", name=name, keys=True, **asked)["curves"]
    return {
        each["curve"]: [
            (one["frame"], one["value"], one["interpolation"]) for one in each["points"]
        ]
        for each in listed
    }


def test_one_channel_is_keyed_alone(rig: Rig) -> None:
    import bpy

    box, _ = rig.cube("Box"), _arm()
    keys = [{"frame": 1, "value": 0, "interpolation": "linear"}, {"frame": 9, "value": 4}]
    told = rig.tool("blender_animation__set_curve_keys", of="Box", curve="location[2]", keys=keys)
    assert (told["curve"], told["keys"], told["verified"]) == ("location[2]", 2, True)
    assert "own_actions" not in told
    assert [*_curves(rig, "Box")] == ["location[2]"]
    bpy.context.scene.frame_set(5)
    assert near([box.location.z], [2])
    hand = 'pose.bones["Hand"].location[0]'
    rig.tool(
        "blender_animation__set_curve_keys", of="Rig", curve=hand, keys=[{"frame": 5, "value": 2}]
    )
    assert _points(rig, "Rig", bones=["Hand"], curves=[hand], end=9)[hand][0][:2] == (5, 2)
    assert near([_points(rig, "Rig", bones=["Arm"])[hand.replace("Hand", "Arm")][0][1]], [0.5])
    box.shape_key_add(name="Basis")
    box.shape_key_add(name="Smile")
    box["mood"] = 0.5
    paint = bpy.data.materials.new("Paint")
    if paint.node_tree is None:
        paint.use_nodes = True
    for curve, more in (
        ('data.shape_keys.key_blocks["Smile"].value', {"of": "Box"}),
        ('["mood"]', {"of": "Box"}),
        (
            'node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value',
            {"of": "Paint", "kind": "materials"},
        ),
    ):
        told = rig.tool(
            "blender_animation__set_curve_keys",
            curve=curve,
            keys=[{"frame": 2, "value": 0.75}],
            **more,
        )
        assert (told["total"], told["verified"]) == (1, True), told
    bpy.context.scene.frame_set(2)
    assert near([box.data.shape_keys.key_blocks["Smile"].value, box["mood"]], [0.75, 0.75])
    box.driver_add("location", 0)
    asked = {"of": "Box", "curve": "location[0]", "keys": keys}
    assert "driver" in refused(lambda: rig.tool("blender_animation__set_curve_keys", **asked))
    asked["curve"] = "location"
    assert "location[0]" in refused(lambda: rig.tool("blender_animation__set_curve_keys", **asked))


def test_the_interpolation_of_existing_keys_is_set(rig: Rig) -> None:
    _moving(rig)
    asked = {"name": "Box", "interpolation": "linear", "curves": ["location[2]"], "end": 5}
    told = rig.tool("blender_animation__set_interpolation", **asked)
    assert (told["curves"], told["keys"]) == (["location[2]"], 1)
    points = _points(rig, "Box")
    assert [each[2] for each in points["location[2]"]] == ["linear", "smooth"]
    assert [each[2] for each in points["location[0]"]] == ["smooth", "smooth"]
    told = rig.tool("blender_animation__set_interpolation", name="Box", interpolation="bounce")
    assert told["keys"] == 6
    assert [*_points(rig, "Box", curves=["location[1]"], start=5)] == ["location[1]"]
    nothing = {**asked, "start": 50, "end": 60}
    why = refused(lambda: rig.tool("blender_animation__set_interpolation", **nothing))
    assert "no keys there" in why


def test_deleting_keys_says_that_those_of_bones_stay(rig: Rig) -> None:
    _arm()
    told = rig.tool("animation__delete_keys", name="Rig", start=1, end=20)
    assert (told["keys"], told["verified"]) == (0, False)
    assert 'pose.bones["Arm"].location' in told["doubt"]
    assert "animation__list_keys" in told["doubt"]
    named = [each["of"] for each in rig.tool("animation__list_keys", name="Rig")["others"]]
    assert 'pose.bones["Arm"].location' in named
    _moving(rig)
    assert rig.tool("animation__delete_keys", name="Box", start=1, end=1)["verified"] is True
    assert rig.tool("animation__delete_keys", name="Box", start=50, end=60)["verified"] is True


def _loose_action() -> str:
    """Return the name of an action that nothing uses, for the armature Rig, whose bone Hand has
    been deleted since."""
    import bpy

    obj = _arm()
    action = obj.animation_data.action
    action.name, action.use_fake_user = "Walk", True
    obj.animation_data.action = None
    bpy.ops.object.mode_set(mode="EDIT")
    obj.data.edit_bones.remove(obj.data.edit_bones["Hand"])
    bpy.ops.object.mode_set(mode="OBJECT")
    return str(action.name)


def test_channels_of_missing_bones_leave_an_action_that_nothing_uses(rig: Rig) -> None:
    asked: dict[str, Any] = {"name": "Rig", "action": _loose_action()}
    assert rig.tool("blender_animation__list_curves", name="Rig")["total"] == 0
    listed = rig.tool("blender_animation__list_curves", **asked, keys=True)
    assert (listed["total"], listed["used_by"]) == (6, [])
    arm, hand = 'pose.bones["Arm"].location', 'pose.bones["Hand"].location'
    missing = {each["curve"] for each in listed["curves"] if each.get("missing")}
    assert missing == {f"{hand}[{axis}]" for axis in range(3)}
    only = rig.tool("blender_animation__list_curves", **asked, missing=True)
    assert {each["curve"] for each in only["curves"]} == missing
    why = refused(lambda: rig.tool("blender_animation__delete_curves", **asked))
    assert "give curves, bones or missing" in why
    told = rig.tool("blender_animation__delete_curves", **asked, missing=True)
    assert (told["changed"], told["total"], told["left"], told["keys"]) == (["Walk"], 3, 3, 6)
    assert {*told["removed"]} == missing
    listed = rig.tool("blender_animation__list_curves", **asked)["curves"]
    assert {each["curve"] for each in listed} == {f"{arm}[{axis}]" for axis in range(3)}
    why = refused(lambda: rig.tool("blender_animation__delete_curves", **asked, missing=True))
    assert "no such curves" in why
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert rig.tool("blender_animation__list_curves", **asked)["total"] == 6


def test_last_keys_of_a_loose_action_get_the_values_of_the_first(rig: Rig) -> None:
    asked: dict[str, Any] = {"name": "Rig", "action": _loose_action()}
    arm = 'pose.bones["Arm"].location[0]'

    def values() -> list[tuple[float, float]]:
        (told,) = rig.tool("blender_animation__list_curves", **asked, curves=[arm], keys=True)[
            "curves"
        ]
        return [(each["frame"], round(each["value"], 3)) for each in told["points"]]

    assert values() == [(5, 0.5), (15, 1.5)]
    told = rig.tool(
        "blender_animation__copy_keys", **asked, bones=["Arm"], source="first", target="last"
    )
    assert (told["changed"], told["curves"], told["already"]) == (["Walk"], [arm], 2)
    assert values() == [(5, 0.5), (15, 0.5)]
    rig.tool("blender_animation__copy_keys", **asked, curves=[arm], source=5, target=20)
    assert values() == [(5, 0.5), (15, 0.5), (20, 0.5)]
    keys = [{"frame": 5, "value": 3, "interpolation": "linear"}]
    told = rig.tool(
        "blender_animation__set_curve_keys", of="Rig", action="Walk", curve=arm, keys=keys
    )
    assert (told["changed"], told["used_by"], told["total"]) == (["Walk"], [], 3)
    rig.tool("blender_animation__move_keys", **asked, curves=[arm], offset=5)
    assert values() == [(10, 3), (20, 0.5), (25, 0.5)]
    told = rig.tool(
        "blender_animation__set_interpolation", **asked, curves=[arm], interpolation="constant"
    )
    assert told["keys"] == 3
    told = rig.tool("blender_animation__delete_curves", **asked, curves=[arm], end=20)
    assert (told["keys"], told["total"], values()) == (2, 0, [(25, 0.5)])
    why = refused(
        lambda: rig.tool("blender_animation__copy_keys", **asked, source="middle", target="last")
    )
    assert "first, last or a frame" in why
    why = refused(lambda: rig.tool("blender_animation__list_curves", name="Rig", slot="Rig"))
    assert "give action too" in why


def test_deleted_channels_of_the_active_action_stay_with_its_other_users(rig: Rig) -> None:
    box = _moving(rig)
    twin = rig.cube("Twin")
    twin.animation_data_create().action = box.animation_data.action
    if hasattr(box.animation_data, "action_slot"):
        twin.animation_data.action_slot = box.animation_data.action_slot
    told = rig.tool("blender_animation__delete_curves", name="Box", curves=["location[2]"])
    assert (told["changed"], told["left"], len(told["own_actions"])) == (["Box"], 2, 1)
    assert {*_curves(rig, "Twin")} == {f"location[{axis}]" for axis in range(3)}
    told = rig.tool("blender_animation__delete_curves", name="Box", curves=["location"], start=11)
    assert (told["total"], told["keys"]) == (0, 2)
    assert _curves(rig, "Box")["location[0]"]["frames"] == [1, 1]


def test_an_action_with_several_slots_asks_which_one_is_meant(rig: Rig) -> None:
    import bpy

    if bpy.app.version < (4, 4):
        return
    box, twin = _moving(rig), _moving(rig, "Twin")
    action, slot = box.animation_data.action, box.animation_data.action_slot
    other = action.slots.new("OBJECT", "Else")
    bag = action.layers[0].strips[0].channelbag(other, ensure=True)
    bag.fcurves.new('["missing"]').keyframe_points.insert(4, 2)
    asked: dict[str, Any] = {"action": action.name}
    assert rig.tool("blender_animation__list_curves", name="Box", **asked)["total"] == 3
    twin.animation_data.action = None
    why = refused(lambda: rig.tool("blender_animation__list_curves", name="Twin", **asked))
    assert f"{slot.name_display} (object), Else (object)" in why
    told = rig.tool("blender_animation__list_curves", name="Twin", **asked, slot="Else")
    assert [(each["curve"], each["missing"]) for each in told["curves"]] == [
        ('["missing"][0]', True)
    ]
    told = rig.tool(
        "blender_animation__delete_curves", name="Twin", **asked, slot="Else", missing=True
    )
    assert (told["total"], told["left"], told["used_by"]) == (1, 0, ["Box"])
    assert rig.tool("blender_animation__list_curves", name="Box", **asked)["total"] == 3


def test_channels_of_a_linked_action_are_not_deleted(rig: Rig) -> None:
    import bpy

    path = rig.library("moves.blend", _loose_action)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.actions = ["Walk"]
    armature("Rig", "Arm")
    asked: dict[str, Any] = {"name": "Rig", "action": "Walk"}
    assert rig.tool("blender_animation__list_curves", **asked, missing=True)["total"] == 3
    why = refused(lambda: rig.tool("blender_animation__delete_curves", **asked, missing=True))
    assert "is linked from" in why
