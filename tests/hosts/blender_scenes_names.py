"""Cases with names of objects, linked data, and overrides. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from callboard.host import AmbiguousName, ObjectNotFound
from callboard_testing.bench import Bench
from callboard_testing.checks.objects import raised
from callboard_testing.checks.samples import LOCKED, REFERENCED
from callboard_testing.compliance import checks
from hosts.blender_scenes import Rig, near, refused


def _link(path: str, *names: str) -> list[Any]:
    """Link the given objects of the library into the scene."""
    import bpy

    with bpy.data.libraries.load(path, link=True) as (there, wanted):
        wanted.objects = [name for name in there.objects if name in names]
    for obj in wanted.objects:
        bpy.context.scene.collection.objects.link(obj)
    return list(wanted.objects)


def _link_collection(path: str, name: str) -> Any:
    import bpy

    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = [name]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    return wanted.collections[0]


def _prop(rig: Rig) -> str:
    """Return a library with a collection ``Prop`` that holds ``Base`` and, below it, ``Lid``."""
    import bpy

    def make() -> None:
        collection = bpy.data.collections.new("Prop")
        bpy.context.scene.collection.children.link(collection)
        for name in ("Base", "Lid"):
            obj = rig.cube(name)
            bpy.context.scene.collection.objects.unlink(obj)
            collection.objects.link(obj)
        rig.tool("scene__set_parent", name="Lid", parent="Base")

    return rig.library("prop.blend", make)


def test_changes_work_after_a_script_read_another_file(rig: Rig) -> None:
    rig.cube("Kept")
    rig.tool("scene__save_file", path=str(rig.folder / "other.blend"))
    for code in (
        "bpy.ops.wm.read_homefile(use_empty=True)",
        "bpy.ops.wm.read_factory_settings(use_empty=True)",
        f"bpy.ops.wm.open_mainfile(filepath={str(rig.folder / 'other.blend')!r})",
    ):
        rig.tool("script__execute", code=code)
        count = len(rig.read.names())
        undo = rig.host.undo
        token = undo.begin("after it")
        rig.edit.create("cube", "After", {"size": 1})
        step = undo.commit(token)
        assert len(rig.read.names()) == count + 1
        assert undo.undo(step), code
        assert len(rig.read.names()) == count
        rig.tool("scene__create_primitive", kind="cube", name="Again")


def test_an_exact_path_means_that_object(rig: Rig) -> None:
    """An override has the same bare name as its original. Overrides used to be skipped."""
    path = rig.library("lib.blend", lambda: rig.cube("Cube") and None)
    (linked,) = _link(path, "Cube")
    override = linked.override_create(remap_local_usages=False)
    import bpy

    bpy.context.scene.collection.objects.link(override)
    assert sorted(rig.read.names()) == ["Cube", "Cube [lib.blend]"]
    assert rig.tool("scene__get_object", name="Cube")["path"] == "Cube"
    done = rig.tool("scene__transform", name="Cube", translate=[1, 2, 3])
    assert done["object"]["path"] == "Cube"
    assert near(override.location, (1, 2, 3))
    assert near(linked.location, (0, 0, 0))
    assert near(rig.reopened()["Cube"]["translate"], [1, 2, 3])


def test_a_bare_name_of_two_libraries_is_ambiguous(rig: Rig) -> None:
    for name in ("left.blend", "right.blend"):
        rig.library(name, lambda: rig.cube("Hand") and None)
    for name in ("left.blend", "right.blend"):
        _link(str(rig.folder / name), "Hand")
    paths = ["Hand [left.blend]", "Hand [right.blend]"]
    assert sorted(rig.read.names()) == paths
    error = raised(AmbiguousName, rig.read.get, "Hand")
    assert isinstance(error, AmbiguousName)
    assert sorted(error.paths) == paths
    for path in paths:
        assert rig.read.get(path)["path"] == path


def test_the_only_linked_object_of_a_name_is_found_by_it(rig: Rig) -> None:
    _link(rig.library("lib.blend", lambda: rig.cube("Lamp") and None), "Lamp")
    assert rig.read.get("Lamp")["path"] == "Lamp [lib.blend]"


def test_changes_of_linked_objects_are_refused(rig: Rig) -> None:
    _link_collection(_prop(rig), "Prop")
    rig.cube("Mine")
    path = "Base [prop.blend]"
    before = [rig.read.get(each) for each in rig.read.names()]
    keys = [{"frame": 1, "translate": [1, 2, 3]}]
    for tool, arguments in {
        "scene__transform": {"name": path, "translate": [1, 2, 3]},
        "blender_data__rotate": {"objects": [path], "angle": 35},
        "scene__set_parent": {"name": path, "parent": "Mine"},
        "scene__rename": {"name": path, "new_name": "Other"},
        "scene__delete": {"name": path},
        "scene__set_material_color": {"name": path, "color": [1, 0, 0]},
        "animation__set_keys": {"name": path, "keys": keys},
        "animation__delete_keys": {"name": path, "start": 1, "end": 9},
        "animation__bake": {"names": [path], "start": 1, "end": 2},
        "blender_modelling__add_modifier": {"name": path, "kind": "bevel"},
        "blender_modelling__remove_modifier": {"name": path, "modifier": "Bevel"},
        "blender_modelling__apply_modifiers": {"name": path},
        "blender_modelling__shade": {"name": path, "smooth": True},
    }.items():
        refusal = refused(lambda t=tool, a=arguments: rig.tool(t, **a))  # type: ignore[misc]
        assert "linked from 'prop.blend'" in refusal, (tool, refusal)
        assert [rig.read.get(each) for each in rig.read.names()] == before, tool


def test_what_is_asked_below_and_beside_linked_objects_stays(rig: Rig) -> None:
    _link_collection(_prop(rig), "Prop")
    rig.cube("Mine")
    rig.tool("scene__set_parent", name="Mine", parent="Base [prop.blend]")
    copy = rig.tool("scene__duplicate", name="Base [prop.blend]", new_name="Copy")["object"]
    moved = rig.tool("scene__transform", name="Copy", translate=[4, 0, 0])["object"]
    assert copy["path"] == "Copy"
    saved = rig.reopened()
    assert saved["Mine"]["parent"] == "Base [prop.blend]"
    assert near(saved["Copy"]["translate"], moved["translate"])
    assert sorted(saved["Copy"]["children"]) == ["Lid", "Mine.001"]


def test_an_object_linked_by_itself_can_be_deleted(rig: Rig) -> None:
    _link(rig.library("lib.blend", lambda: rig.cube("Lamp") and None), "Lamp")
    assert rig.tool("scene__delete", name="Lamp")["deleted"] == ["Lamp [lib.blend]"]
    assert rig.reopened() == {}


def test_an_override_is_made_and_keeps_what_is_changed(rig: Rig) -> None:
    _link_collection(_prop(rig), "Prop")
    done = rig.tool("blender_library__make_override", name="Base [prop.blend]")
    assert sorted(done["created"]) == ["Base", "Lid"]
    assert done["object"]["path"] == "Base"
    rig.tool("scene__transform", name="Base", translate=[1, 2, 3], rotate=[0, 0, 90])
    rig.tool("scene__transform", name="Lid", translate=[0, 0, 5])
    rig.tool("blender_modelling__add_modifier", name="Lid", kind="bevel")
    rig.tool("animation__set_keys", name="Base", keys=[{"frame": 5, "scale": [2, 2, 2]}])
    assert "restore it" in refused(lambda: rig.tool("scene__delete", name="Lid"))
    assert "linked" in refused(
        lambda: rig.tool("blender_modelling__shade", name="Lid", smooth=True)
    )
    saved = rig.reopened()
    assert near(saved["Base"]["translate"], [1, 2, 3])
    assert near(saved["Base"]["rotate"], [0, 0, 90])
    assert near(saved["Lid"]["translate"], [0, 0, 5])
    assert saved["Lid"]["modifiers"] == ["Bevel"]
    assert [key["frame"] for key in saved["Base"]["keys"]] == [5]


def test_changes_of_overrides_are_there_after_the_next_load(rig: Rig) -> None:
    import bpy

    def make() -> None:
        collection = bpy.data.collections.new("Prop")
        bpy.context.scene.collection.children.link(collection)
        for name in ("Moved", "Hung", "Sheared", "Coloured", "Named", "Baked"):
            obj = rig.cube(name, rotate=[10, 20, 30])
            bpy.context.scene.collection.objects.unlink(obj)
            collection.objects.link(obj)
        rig.tool("scene__set_material_color", name="Coloured", color=[0, 0, 1])
        bpy.data.objects["Baked"].location = bpy.data.objects["Moved"].location = (2, 0, 0)
        follows = bpy.data.objects["Baked"].constraints.new("COPY_LOCATION")
        follows.target, follows.use_offset = bpy.data.objects["Moved"], True
        rig.tool("blender_modelling__add_modifier", name="Hung", kind="bevel")

    path = rig.library("prop.blend", make)
    _link_collection(path, "Prop")
    rig.tool("blender_library__make_override", name="Moved [prop.blend]")
    rig.cube("Uneven", rotate=[0, 0, 30], scale=[1, 3, 1])
    rig.cube("Even", translate=[1, 2, 3])
    answers = [
        rig.tool("scene__transform", name="Moved", rotate=[0, 0, 45], scale=[1, -2, 3]),
        rig.tool("scene__set_parent", name="Hung", parent="Even"),
        rig.tool("scene__set_parent", name="Sheared", parent="Uneven"),
        rig.tool("scene__rename", name="Named", new_name="Renamed"),
        rig.tool("scene__set_material_color", name="Coloured", color=[1, 0, 0]),
    ]
    rig.tool("animation__bake", names=["Baked"], start=1, end=3)
    answers.append({"object": rig.read.get("Baked")})
    gone = {"name": "Hung", "modifier": "Bevel"}
    refusal = refused(lambda: rig.tool("blender_modelling__remove_modifier", **gone))
    assert "restore it" in refusal
    bpy.data.objects["Moved"].data.override_create(remap_local_usages=True)
    refusal = refused(lambda: rig.tool("geometry__shade", name="Moved", smooth=True))
    assert "would be lost" in refusal
    saved = rig.reopened()
    for answer in answers:
        answered = answer["object"]
        there = saved[answered["path"]]
        for key in ("parent", "color"):
            assert there[key] == answered[key], (answered["path"], key, there[key])
        for key in ("translate", "rotate", "scale"):
            assert near(there[key], answered[key]), (
                answered["path"],
                key,
                there[key],
                answered[key],
            )
        for key in ("min", "max"):
            assert near(there["bounds"][key], answered["bounds"][key]), (
                answered["path"],
                there,
                answered,
            )
        assert "doubt" not in there, there


def test_copies_of_overrides_stand_by_themselves(rig: Rig) -> None:
    _link_collection(_prop(rig), "Prop")
    rig.tool("blender_library__make_override", name="Base [prop.blend]")
    copy = rig.tool("scene__duplicate", name="Base", new_name="Copy", translate=[7, 0, 0])["object"]
    rig.tool("scene__transform", name="Base", translate=[1, 2, 3])
    (below,) = copy["children"]
    rig.tool("scene__transform", name=below, translate=[0, 0, 4])
    saved = rig.reopened()
    assert near(saved["Copy"]["translate"], [7, 0, 0])
    assert saved["Copy"]["children"] == [below]
    assert near(saved[below]["translate"], [0, 0, 4])
    assert near(saved["Base"]["translate"], [1, 2, 3])
    assert near(saved["Lid"]["translate"], [0, 0, 0])
    deleted = rig.tool("scene__delete", name="Copy")["deleted"]
    assert sorted(deleted) == sorted(["Copy", below])
    assert not set(deleted) & set(rig.reopened())


def test_an_override_of_an_instanced_collection(rig: Rig) -> None:
    import bpy

    path = _prop(rig)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Prop"]
    empty_object = bpy.data.objects.new("Instance", None)
    empty_object.instance_type = "COLLECTION"
    empty_object.instance_collection = wanted.collections[0]
    bpy.context.scene.collection.objects.link(empty_object)
    empty_object.location = (10, 0, 0)
    done = rig.tool("blender_library__make_override", name="Instance")
    assert {"Base", "Lid"} <= set(done["created"])
    rig.tool("scene__transform", name="Lid", translate=[0, 0, 5])
    saved = rig.reopened()
    assert near(saved["Lid"]["translate"], [0, 0, 5])
    assert near(saved["Lid"]["bounds"]["max"], [11, 1, 6])


def _rig_with_a_leaf(rig: Rig) -> str:
    """Return a library with the collections ``Rig``, an armature with a mesh and a bone's shape,
    and ``Mixed``, which holds ``Own`` and, from another library, the object ``Leaf`` and the
    collection ``Nest`` with ``Twig``."""
    import bpy

    def make_further() -> None:
        rig.cube("Leaf")
        nest = bpy.data.collections.new("Nest")
        nest.objects.link(rig.cube("Twig"))
        bpy.context.scene.collection.children.link(nest)

    further = rig.library("further.blend", make_further)

    def make() -> None:
        (leaf,) = _link(further, "Leaf")
        bones = bpy.data.armatures.new("Bones")
        bones_object = bpy.data.objects.new("Bones", bones)
        held = {
            "Mixed": [rig.cube("Own"), leaf],
            "Rig": [rig.cube("Shape"), bones_object, rig.cube("Skin")],
        }
        for name, objects in held.items():
            collection = bpy.data.collections.new(name)
            bpy.context.scene.collection.children.link(collection)
            for obj in objects:
                collection.objects.link(obj)
        bpy.data.collections["Mixed"].children.link(_link_collection(further, "Nest"))
        bpy.context.view_layer.objects.active = bones_object
        bpy.ops.object.mode_set(mode="EDIT")
        bones.edit_bones.new("Bone").tail = (0, 0, 1)
        bpy.ops.object.mode_set(mode="OBJECT")
        bones_object.pose.bones["Bone"].custom_shape = bpy.data.objects["Shape"]
        bpy.data.objects["Skin"].parent = bones_object

    return rig.library("kit.blend", make)


def _instance(collection: Any, x: float) -> None:
    """Show the linked collection by an empty named ``Instance`` instead of by itself."""
    import bpy

    bpy.context.scene.collection.children.unlink(collection)
    empty_object = bpy.data.objects.new("Instance", None)
    empty_object.instance_type, empty_object.instance_collection = "COLLECTION", collection
    empty_object.location.x = x
    bpy.context.scene.collection.objects.link(empty_object)


def _why_no_override(rig: Rig, name: str) -> str:
    return refused(lambda: rig.tool("blender_library__make_override", name=name))


def test_no_override_of_what_a_linked_file_links_itself(rig: Rig) -> None:
    import bpy

    _link_collection(_rig_with_a_leaf(rig), "Mixed")
    leaf, twig = "Leaf [further.blend]", "Twig [further.blend]"
    advice = "link it from 'further.blend'"
    assert advice in _why_no_override(rig, leaf)
    assert advice in _why_no_override(rig, twig)
    assert all(each.library for each in [*bpy.data.objects, *bpy.data.collections])
    done = rig.tool("blender_library__make_override", name="Own [kit.blend]")
    assert done["created"] == ["Own"]
    assert advice in _why_no_override(rig, leaf)
    assert advice in _why_no_override(rig, twig)
    _link(str(rig.folder / "further.blend"), "Leaf")
    assert rig.tool("blender_library__make_override", name=leaf)["created"] == ["Leaf"]
    rig.tool("scene__transform", name="Leaf", translate=[1, 2, 3])
    assert near(rig.reopened()["Leaf"]["translate"], [1, 2, 3])

    bpy.ops.wm.read_homefile(use_empty=True)
    mixed = _link_collection(str(rig.folder / "kit.blend"), "Mixed")
    _instance(mixed, 10)
    before = sorted(each.name_full for each in bpy.data.objects)
    why = _why_no_override(rig, "Instance")
    assert "[further.blend]'" in why
    assert advice in why
    assert sorted(each.name_full for each in bpy.data.objects) == before
    assert [each.name_full for each in bpy.data.objects if each.parent] == []
    assert bpy.data.objects["Instance"].instance_collection == mixed


def test_an_override_of_a_rig_leaves_the_bones_shapes(rig: Rig) -> None:
    import bpy

    path = _rig_with_a_leaf(rig)
    _instance(_link_collection(path, "Rig"), 10)
    done = rig.tool("blender_library__make_override", name="Instance")
    assert sorted(done["created"]) == ["Bones", "Skin"]
    assert bpy.data.objects["Bones"].parent == bpy.data.objects["Instance"]
    assert bpy.data.objects["Shape", path].parent is None
    assert near(rig.reopened()["Skin"]["bounds"]["max"], [11, 1, 1])

    bpy.ops.wm.read_homefile(use_empty=True)
    _link_collection(path, "Rig")
    assert "link it from 'kit.blend'" in _why_no_override(rig, "Shape [kit.blend]")
    assert all(each.library for each in [*bpy.data.objects, *bpy.data.collections])
    done = rig.tool("blender_library__make_override", name="Bones [kit.blend]")
    assert done["object"]["path"] == "Bones"
    assert sorted(done["created"]) == ["Bones", "Skin"]


def test_nothing_to_override_is_said(rig: Rig) -> None:
    rig.cube("Mine")
    refusal = refused(lambda: rig.tool("blender_library__make_override", name="Mine"))
    assert "isn't linked" in refusal
    assert rig.read.names() == ["Mine"]


def test_a_scripts_recent_changes_are_seen(rig: Rig) -> None:
    """Names are cached, and Blender reports such a change only when it updates the scene."""
    import bpy

    rig.cube("First")
    rig.cube("Second")
    assert rig.read.names() == ["First", "Second"]
    bpy.data.objects["Second"].name = "Renamed"
    assert rig.read.get("Renamed")["path"] == "Renamed"
    raised(ObjectNotFound, rig.read.get, "Second")
    first = bpy.data.objects["First"]
    bpy.data.objects["Renamed"].parent = first
    assert rig.read.get("First")["children"] == ["Renamed"]
    bpy.data.objects.remove(bpy.data.objects["Renamed"])
    assert [each["path"] for each in rig.tool("scene__list_objects")["objects"]] == ["First"]
    raised(ObjectNotFound, rig.read.get, "Renamed")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Third", None))
    assert sorted(rig.read.names()) == ["First", "Third"]
    assert rig.tool("scene__list_objects", pattern="th*")["total"] == 1


def test_another_add_ons_reaction_to_our_change_is_seen(rig: Rig) -> None:
    """During the change, a handler of the other add-on parents another object to the object that is
    moved or renamed."""
    import bpy

    for name in ("Moved", "Named", "First", "Second"):
        rig.cube(name)
    for tool, asked, child in (
        ("scene__transform", {"name": "Moved", "translate": [1, 2, 3]}, "First"),
        ("scene__rename", {"name": "Named", "new_name": "Renamed"}, "Second"),
    ):
        other = bpy.data.objects[child]

        def hang(*_: object, above: str = asked["name"], other: Any = other) -> None:  # type: ignore[assignment]
            bpy.app.handlers.depsgraph_update_post.remove(hang)
            other.parent = bpy.data.objects.get(above) or bpy.data.objects["Renamed"]
            bpy.context.view_layer.update()

        bpy.app.handlers.depsgraph_update_post.append(hang)
        told = rig.tool(tool, **asked)["object"]
        assert told["children"] == [child]
        assert rig.read.get(child)["parent"] == told["path"]
    assert rig.read.names() == ["Moved", "Renamed", "First", "Second"]


def test_a_list_that_is_continued_after_a_change_is_up_to_date(rig: Rig) -> None:
    """A filtered list of a large scene is made in slices, and the artist changes the scene in
    between."""
    import bpy

    for name in ("First", "Second", "Third"):
        rig.cube(name)
    summaries = rig.read.summaries()
    assert summaries[:1][0]["type"] == "cube"
    bpy.data.objects.remove(bpy.data.objects["Second"])
    bpy.data.objects["Third"].parent = bpy.data.objects["First"]
    assert [each["type"] for each in summaries[:3]] == ["cube", "object", "cube"]
    assert summaries[2:3][0]["parent"] == "First"
    assert len(summaries) == 3


def test_the_checks_of_data_that_is_shared_hold(rig: Rig) -> None:
    """Run those checks of the compliance suite that need a sample, with linked objects."""
    import bpy

    def make() -> None:
        rig.cube("Lid")
        rig.tool("scene__set_parent", name="Lid", parent=rig.cube("Base").name)

    path = rig.library("shared.blend", make)

    def linked(bench: Bench) -> str:
        _link(path, "Base", "Lid")
        bpy.context.view_layer.update()
        return "Base [shared.blend]"

    samples = {LOCKED: linked, REFERENCED: linked}
    ran = []
    for check in checks():
        if set(check.needs) & set(samples):
            Bench(rig.host, rig.folder, samples).run(check)
            ran.append(check.id)
    assert len(ran) >= 3


def test_what_one_call_creates_is_worked_out_once(rig: Rig) -> None:
    import bpy

    rig.cube("Old")
    updates: list[Any] = []
    bpy.app.handlers.depsgraph_update_post.append(lambda *_: updates.append(1))
    token = rig.host.undo.begin("many")
    for number in range(3):
        path = rig.edit.create("cube", "Box", {"size": 2})
        rig.edit.set_transform(path, [number, 0, 0], None, None)
        rig.edit.set_color(path, [1, 0, 0])
        there = rig.read.get(path)
        assert near(there["bounds"]["min"], [number - 1, -1, -1])
        assert (there["visible"], there["color"]) == (True, [1, 0, 0])
        light = rig.port("lights").create("point", None)
        rig.port("lights").set(light, {"power": 5})
        assert rig.read.info()["object_count"] == 3 + 2 * number
    assert not updates
    rig.edit.set_parent("Box", "Old", True)
    assert rig.read.get("Old")["children"] == ["Box"], "outdated relations must be worked out again"
    rig.edit.delete(["Old"])
    assert rig.read.names() == ["Point", "Box.001", "Point.001", "Box.002", "Point.002"]
    rig.host.undo.rollback(token)
    assert rig.read.names() == ["Old"]
    del updates[:]
    token = rig.host.undo.begin("many")
    for _ in range(3):
        rig.edit.create("cube", "Box", {"size": 2})
    rig.host.undo.commit(token)
    assert len(updates) == 1
