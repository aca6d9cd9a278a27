"""Cases in which undo must be exact, even with linked files and copied rigs. See
``blender_scenes``."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from hosts.blender_scenes import Rig, near, refused
from hosts.visits import check_visits


def _told() -> dict[str, Any]:
    """Return the file's own simple data: datablocks, their users, and the transforms of objects."""
    import bpy

    told: dict[str, Any] = {}
    for kind in ("objects", "meshes", "materials", "actions", "collections", "armatures", "texts"):
        for each in getattr(bpy.data, kind):
            told[f"{kind} {each.name_full}"] = each.users
    for obj in bpy.data.objects:
        told[f"{obj.name_full} stands"] = [
            *(list(row) for row in obj.matrix_basis),
            *(list(row) for row in obj.matrix_parent_inverse),
            obj.parent.name_full if obj.parent else None,
            sorted(each.name_full for each in obj.users_collection),
            [(each.name, _name(getattr(each, "object", None))) for each in obj.modifiers],
            [each.name for each in obj.constraints],
            [slot.material.name if slot.material else None for slot in obj.material_slots],
            obj.override_library is not None,
        ]
        data = obj.animation_data
        action = data.action if data is not None else None
        told[f"{obj.name_full} moves"] = action.name_full if action else None
    shown = bpy.context.scene
    told["children"] = [each.name_full for each in shown.collection.children_recursive]
    told["frame"] = (shown.frame_current, shown.frame_subframe, _name(shown.camera))
    return told


def _name(obj: Any) -> str | None:
    return obj.name_full if obj is not None else None


def _changed(before: dict[str, Any]) -> dict[str, Any]:
    now = _told()
    keys = before.keys() | now.keys()
    return {k: (before.get(k), now.get(k)) for k in keys if before.get(k) != now.get(k)}


def _a_rig(rig: Rig) -> None:
    import bpy

    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    skin = rig.cube("Skin")
    skin.parent = bpy.data.objects["Rig"]
    skin.modifiers.new("Armature", "ARMATURE").object = bpy.data.objects["Rig"]
    rig.tool("animation__set_keys", name="Skin", keys=[{"frame": 1, "translate": [1, 0, 0]}])


def test_what_the_artist_does_between_two_visits_is_left_alone(rig: Rig) -> None:
    import bpy

    def theirs() -> None:
        made = bpy.data.objects.new("Theirs", None)
        bpy.context.scene.collection.objects.link(made)
        bpy.context.view_layer.update()
        bpy.ops.ed.undo_push(message="Add Empty")

    def ours(name: str) -> None:
        rig.edit.create("cube", name, {"size": 1})

    check_visits(rig.host.undo, ours, theirs, lambda: [one.name for one in bpy.data.objects])


def test_each_change_is_undone_exactly(rig: Rig) -> None:
    import bpy

    def make() -> None:
        collection = bpy.data.collections.new("Prop")
        bpy.context.scene.collection.children.link(collection)
        obj = rig.cube("Base")
        bpy.context.scene.collection.objects.unlink(obj)
        collection.objects.link(obj)

    path = rig.library("prop.blend", make)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Prop"]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    _a_rig(rig)
    rig.cube("Plain", translate=[1, 2, 3])
    base = "Base [prop.blend]"
    key = {"frame": 9, "scale": [2, 2, 2]}
    changes: list[Callable[[], Any]] = [
        lambda: rig.edit.duplicate("Rig", "Second"),
        lambda: rig.edit.duplicate(base, "Own"),
        lambda: rig.edit.delete(["Rig"]),
        lambda: rig.edit.set_color("Skin", [1, 0, 0]),
        lambda: rig.edit.set_parent("Plain", "Skin", True),
        lambda: rig.edit.set_transform("Plain", None, [10, 20, 30], [1, -1, 0]),
        lambda: rig.edit.rename("Plain", "Renamed"),
        lambda: rig.port("animation").set_key("Skin", **key, translate=None, rotate=None),
        lambda: rig.port("animation").bake(["Skin"], 1, 5, 1),
        lambda: rig.port("script.execute").execute("bpy.ops.ed.undo_push(message='x')", "python"),
    ]
    undo = rig.host.undo
    undo.commit(undo.begin("prepared"))
    before = _told()
    for number, change in enumerate(changes):
        token = undo.begin(str(number))
        change()
        step = undo.commit(token)
        assert undo.undo(step) is True, number
        assert _changed(before) == {}, (number, _changed(before))
        token = undo.begin(str(number))
        change()
        assert undo.rollback(token) is True, number
        assert _changed(before) == {}, (number, _changed(before))
    rig.tool("blender_library__make_override", name=base)
    assert near(rig.read.get("Base")["translate"], [0, 0, 0])
    assert "linked" in refused(lambda: rig.tool("blender_library__make_override", name="Plain"))


def _theirs(name: str) -> None:
    import bpy

    bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, None))
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Add Empty")


def _ours(rig: Rig, name: str) -> str:
    token = rig.host.undo.begin(f"make {name}")
    rig.edit.create("cube", name, {"size": 1})
    id = rig.host.undo.commit(token)
    assert id
    return str(id)


def test_what_was_undone_is_done_again_unless_somebody_changed_the_scene(rig: Rig) -> None:
    import bpy

    undo = rig.host.undo
    _ours(rig, "One")
    _theirs("Theirs")
    two = _ours(rig, "Two")
    for _ in range(2):
        assert undo.undo(two)
        assert not undo.undo(two)
        assert undo.redo(two), "the artist's step below it is unchanged, so this can be redone"
        assert "Two" in bpy.data.objects
    assert undo.undo(two)
    _theirs("More")
    assert not undo.redo(two)
    assert "Two" not in bpy.data.objects
    three = _ours(rig, "Three")
    assert undo.undo(three)
    bpy.data.objects["One"].location.x = 5.0
    bpy.context.view_layer.update()
    assert not undo.redo(three)
    assert bpy.data.objects["One"].location.x == 5.0


def test_what_the_artist_undoes_by_himself_is_told_and_what_he_does_again(rig: Rig) -> None:
    import bpy

    undo = rig.host.undo
    undone: set[str] = set()

    def stepped(ids: Any, gone: bool) -> None:
        (undone.update if gone else undone.difference_update)(ids)

    undo.stepped.watch(stepped)

    def undo_until_gone(name: str) -> None:
        while name in bpy.data.objects:
            bpy.ops.ed.undo()

    def redo_until_there(name: str) -> None:
        while name not in bpy.data.objects:
            bpy.ops.ed.redo()

    one, two = _ours(rig, "One"), _ours(rig, "Two")
    _theirs("Theirs")
    three = _ours(rig, "Three")
    undo_until_gone("Three")
    assert undone == {three}
    undo_until_gone("Theirs")
    assert undone == {three}
    undo_until_gone("Two")
    assert undone == {three, two}
    redo_until_there("Two")
    assert undone == {three}
    assert undo.undo(two), "it is the newest step again"
    redo_until_there("Theirs")
    assert undone == {three}
    assert not undo.undo(two), "the artist's change lies on top of it, so it can't be undone"
    four = _ours(rig, "Four")
    undo_until_gone("Theirs")
    assert undone == {three, four}
    redo_until_there("Four")
    assert undone == {three}, "a step that was replaced can't be redone"
    joined = undo.join([four, _ours(rig, "Five")])
    bpy.ops.ed.undo()
    assert joined not in undone, "half of the joined step is still there"
    assert undo.undo(joined)
    assert "Four" not in bpy.data.objects
    assert "Theirs" in bpy.data.objects
    assert one not in undone


def test_no_file_holds_what_tells_the_states_apart(rig: Rig) -> None:
    import bpy

    undo = rig.host.undo
    token = undo.begin("one")
    rig.edit.create("cube", "One", {"size": 1})
    assert undo.commit(token)
    path = rig.tool("scene__save_file", path=str(rig.folder / "marked.blend"))["path"]
    another = shutil.copy(path, rig.folder / "another.blend")
    with bpy.data.libraries.load(str(another)) as (there, _):
        assert there.objects
        assert not there.palettes


#: The modes of a mesh that work without a window.
MODES = ("EDIT", "SCULPT", "VERTEX_PAINT", "WEIGHT_PAINT", "TEXTURE_PAINT")


def test_each_kind_of_call_works_in_each_mode_and_is_one_step(rig: Rig) -> None:
    import bpy

    undo = rig.host.undo
    script = "bpy.ops.object.mode_set(mode='OBJECT')\nbpy.context.object['ran'] = 1"

    def call(work: Callable[[], Any]) -> Any:
        token = undo.begin("a call")
        work()
        return undo.commit(token)

    for mode in MODES:
        cube = rig.cube(f"In {mode}")
        bpy.context.view_layer.objects.active = cube
        name = cube.name
        assert bpy.ops.object.mode_set(mode=mode) == {"FINISHED"}, mode
        saved = str(rig.folder / f"{mode}.blend")
        works: list[Callable[[], Any]] = [
            lambda n=name: rig.edit.set_transform(n, [1, 2, 3], None, None),
            lambda n=name: rig.edit.set_color(n, [1, 0, 0]),
            lambda: rig.port("script.execute").execute(script, "python"),
            lambda p=saved: rig.port("filesystem.write").save(p),
            lambda: None,
        ]
        steps = []
        for work in works:
            steps.append(call(work))
            assert bpy.data.objects[name].mode == mode, (mode, bpy.data.objects[name].mode)
        assert all(steps[:3]), (mode, steps)
        assert steps[3:] == [None, None], "saving and looking must leave nothing to undo"
        assert undo.undo(steps[2]), mode
        assert "ran" not in bpy.data.objects[name], mode
        assert undo.undo(steps[1]), mode
        assert undo.undo(steps[0]), mode
        assert list(bpy.data.objects[name].location) == [0, 0, 0], mode
        if bpy.context.object and bpy.context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")


def test_a_picture_is_no_step(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    camera = bpy.data.objects.new("View", bpy.data.cameras.new("View"))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera
    size = {"path": str(rig.folder / "picture.#.png"), "width": 16, "height": 16}
    for tool, asked in (
        ("render__still", {}),
        ("render__still", {"frame": 3}),
        ("render__turntable", {"frames": 2}),
    ):
        token = rig.host.undo.begin(tool)
        rig.tool(tool, **size, **asked)
        assert rig.host.undo.commit(token) is None, (tool, asked)


def test_an_export_leaves_the_last_change_to_undo(rig: Rig) -> None:
    import bpy

    for kind in ("usda", "glb", "obj"):
        rig.cube("Box")
        made = rig.call.undo_id
        rig.tool("exchange__export", path=str(rig.folder / f"out.{kind}"))
        bpy.context.view_layer.update()
        assert made
        assert rig.host.undo.undo(made), kind
        assert "Box" not in bpy.data.objects


def test_a_metaball_keeps_its_extent_after_the_artists_undo(rig: Rig) -> None:
    import bpy

    bpy.ops.object.metaball_add()
    ball = bpy.context.object.name
    before = rig.read.get(ball)["bounds"]
    bpy.ops.ed.undo_push(message="Ball")
    bpy.ops.object.empty_add()
    bpy.ops.ed.undo_push(message="Empty")
    bpy.ops.ed.undo()
    assert before["max"][0] > before["min"][0]
    assert rig.read.get(ball)["bounds"] == before
