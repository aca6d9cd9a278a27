"""Cases with instances of collections, linked ones included, and what renders show of them. See
``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, refused

SEAT = "Seat [seats.blend]"


def _collection(name: str, above: Any = None) -> Any:
    """Return a new collection below ``above``, or below the shown scene."""
    import bpy

    made = bpy.data.collections.new(name)
    (above or bpy.context.scene.collection).children.link(made)
    return made


def _instance(name: str, shown: Any, inside: Any) -> Any:
    """Return a new empty in the collection ``inside`` that shows the collection ``shown``."""
    import bpy

    empty = bpy.data.objects.new(name, None)
    empty.instance_type, empty.instance_collection = "COLLECTION", shown
    inside.objects.link(empty)
    return empty


def _linked_seat(rig: Rig) -> Any:
    """Return the collection Seat of a library, which contains a cushion and an unrendered label."""
    import bpy

    def make() -> None:
        seat = _collection("Seat")
        for name in ("Cushion", "Label"):
            each = rig.cube(name)
            seat.objects.link(each)
            bpy.context.scene.collection.objects.unlink(each)
        each.hide_render = True

    path = rig.library("seats.blend", make)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.collections = ["Seat"]
    return bpy.data.collections["Seat"]


def test_linked_data_is_found_by_the_names_that_tools_give_it(rig: Rig) -> None:
    import bpy

    seat = _linked_seat(rig)
    _instance("Row", seat, bpy.context.scene.collection)
    told = rig.tool("scene__get_object", name="Row")["instances"]
    assert told == SEAT
    for word in (told, "Seat", "seat", "Se*"):
        (using,) = rig.tool("scene__find", uses=word)["objects"]
        assert using["path"] == "Row", word
    (listed,) = rig.tool("blender_data__list", kind="collections", pattern=told)["data"]
    assert listed["name"] == told
    # A collection of this file with the name comes first.
    rig.cube("Seat")
    assert rig.tool("scene__find", uses="Seat")["total"] == 1
    _instance("Own", _collection("Seat"), bpy.context.scene.collection)
    for word, user in (("Seat", "Own"), (told, "Row")):
        (using,) = rig.tool("scene__find", uses=word)["objects"]
        assert using["path"] == user
    for key, word in (("uses", "Seats"), ("material", "Steel"), ("uses", "Seat [gone.blend]")):
        why = refused(lambda k=key, w=word: rig.tool("scene__find", **{k: w}))  # type: ignore[misc]
        assert f"nothing in this file is named '{word}'" in why
    assert "nearest: Seat" in why
    for word in ("Cushion", "Cushion [seats.blend]"):
        why = refused(lambda w=word: rig.tool("scene__find", used_by=w))  # type: ignore[misc]
        assert f"in no scene of this file, but in '{SEAT}', which instances may show" in why
    bpy.context.scene.collection.objects.link(bpy.data.objects["Cushion"])
    cushion = bpy.data.objects["Cushion"].name_full
    for tool in ("scene__find", "scene__list_objects"):
        assert [each["path"] for each in rig.tool(tool, pattern=cushion)["objects"]] == [cushion]


def test_an_empty_whose_instancing_is_off_is_not_said_to_show_instances(rig: Rig) -> None:
    import bpy

    row = _instance("Row", _collection("Bay"), bpy.context.scene.collection)
    assert rig.tool("scene__get_object", name="Row")["instances"] == "Bay"
    row.instance_type = "NONE"
    told = rig.tool("scene__get_object", name="Row")
    assert "instances" not in told
    assert told["instances_off"] == "Bay; its instance_type is NONE"


def _carriage(rig: Rig) -> Any:
    """Return a scene that isn't shown. Its bay is excluded from the layer "beauty" and has two
    seats, one of which isn't rendered. Three empties show the bay, and two more show a seat."""
    import bpy

    seat = _linked_seat(rig)
    night = bpy.data.scenes.new("Night")
    night.view_layers[0].name = "beauty"
    night.view_layers.new("matte").use = False
    bay = _collection("Bay", night.collection)
    for name in ("BaySeat", "OffSeat"):
        _instance(name, seat, bay)
    bpy.data.objects["OffSeat"].hide_render = True
    rows = _collection("Rows", night.collection)
    for number in range(3):
        _instance(f"Bay{number}", bay, rows)
    _instance("Front", seat, rows).hide_viewport = True
    _instance("Rear", seat, _collection("Off", night.collection))
    bpy.data.collections["Off"].hide_render = True
    _instance("Idle", seat, rows).instance_type = "NONE"
    for each in night.view_layers:
        each.update()
    night.view_layers["beauty"].layer_collection.children["Bay"].exclude = True
    night.view_layers["matte"].layer_collection.children["Rows"].holdout = True
    return night


COUNT = "blender_data__count_rendered"


def test_the_instances_that_a_view_layer_renders_are_counted(rig: Rig) -> None:
    _carriage(rig)
    asked = {"scene": "Night", "view_layer": "beauty"}
    told = rig.tool(COUNT, **asked, name="Seat")
    (seat,) = told["sources"]
    assert (seat["name"], seat["instances"]) == (SEAT, 4)
    assert seat["through"] == [
        {"object": "BaySeat", "instances": 3},
        {"object": "Front", "instances": 1},
    ]
    assert seat["left_out"] == ["Idle", "OffSeat", "Rear"]
    assert (told["objects"], told["instances_by_type"]) == (0, {"mesh": 4})
    assert "doubts" not in told
    every = {each["name"]: each["instances"] for each in rig.tool(COUNT, **asked)["sources"]}
    assert every == {SEAT: 4, "Cushion [seats.blend]": 4, "Bay": 3}
    (label,) = rig.tool(COUNT, **asked, name="Label")["sources"]
    assert (label["by_itself"], label["instances"]) == (False, 0)
    # The other layer doesn't exclude the bay, and renders of the scene skip that layer.
    matte = rig.tool(COUNT, scene="Night", view_layer="matte", name="Se*")
    assert (matte["use"], matte["sources"][0]["instances"]) == (False, 5)
    assert "beauty, matte" in refused(lambda: rig.tool(COUNT, scene="Night"))
    assert "nothing in this file" in refused(lambda: rig.tool(COUNT, **asked, name="Sofa"))


def _scatter(name: str, shown: Any) -> Any:
    """Return a node group that shows instances of an object or a collection on six points."""
    import bpy

    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    kind = type(shown).__name__
    grid, put, source, out = (
        group.nodes.new(each)
        for each in (
            "GeometryNodeMeshGrid",
            "GeometryNodeInstanceOnPoints",
            f"GeometryNode{kind}Info",
            "NodeGroupOutput",
        )
    )
    grid.inputs["Vertices X"].default_value, grid.inputs["Vertices Y"].default_value = 3, 2
    source.inputs[kind].default_value = shown
    if kind == "Object":
        source.inputs["As Instance"].default_value = True
    group.links.new(grid.outputs["Mesh"], put.inputs["Points"])
    instance = "Geometry" if kind == "Object" else "Instances"
    group.links.new(source.outputs[instance], put.inputs["Instance"])
    group.links.new(put.outputs["Instances"], out.inputs[0])
    return group


def test_instances_of_geometry_nodes_are_counted_and_doubts_are_said(rig: Rig) -> None:
    import bpy

    seat = _linked_seat(rig)
    hall = bpy.data.scenes.new("Hall")
    row = _instance("Row", seat, _collection("Rows", hall.collection))
    block = _collection("Block", hall.collection)
    for name, shown, inside in (("Stand", seat, hall.collection), ("Ring", row, block)):
        made = bpy.data.objects.new(name, bpy.data.meshes.new(name))
        made.modifiers.new("Scatter", "NODES").node_group = _scatter(name, shown)
        inside.objects.link(made)
    for number in range(2):
        _instance(f"Block{number}", block, hall.collection)
    told = rig.tool(COUNT, scene="Hall", name="Seat")
    if not hasattr(bpy.types.Object, "evaluated_geometry"):
        assert {"Ring", "Stand"} == {one for each in told["doubts"] for one in each["objects"]}
        return
    (counted,) = told["sources"]
    # The row by itself, on the stand, and on the ring, which is there three times.
    assert counted["instances"] == 1 + 6 + 3 * 6
    assert "doubts" not in told
    bpy.data.objects["Stand"].modifiers[0].show_viewport = False
    (doubt,) = rig.tool(COUNT, scene="Hall")["doubts"]
    assert doubt["objects"] == ["Stand"]
    assert doubt["why"].startswith("its modifier 'Scatter' is on only in renders, so it isn't")
    assert doubt["why"].endswith(f"; it names '{seat.name_full}'")
    bpy.data.objects["Stand"].hide_viewport = True
    doubts = rig.tool(COUNT, scene="Hall")["doubts"]
    assert any("Blender doesn't evaluate its nodes" in each["why"] for each in doubts)
    bpy.data.objects["Stand"].modifiers[0].show_render = False
    (counted,) = rig.tool(COUNT, scene="Hall", name="Seat")["sources"]
    assert counted["instances"] == 1 + 3 * 6


def test_a_count_says_what_keeps_objects_from_being_seen(rig: Rig) -> None:
    import bpy

    top = bpy.context.scene.collection
    names = ("Plain", "Ghost", "Off", "Mirrored", "Hole", "Away", "Row", "Loose")
    held = {name: rig.cube(name) for name in names}
    for name in ("Mirrored", "Away", "Hole"):
        _collection(f"In{name}").objects.link(held[name])
        top.objects.unlink(held[name])
    held["Ghost"].visible_camera = False
    held["Off"].hide_render = True
    top.objects.unlink(held["Loose"])
    layers = bpy.context.view_layer.layer_collection.children
    layers["InMirrored"].indirect_only = True
    layers["InHole"].holdout = True
    layers["InAway"].exclude = True
    held["Row"].modifiers.new("Fence", "ARRAY").count = 40
    told = rig.tool(COUNT)
    assert told["objects"] == 5, "Plain, Ghost, Mirrored, Hole and Row"
    why = {name: each["why"] for each in told["unseen"] for name in each["objects"]}
    assert "not visible to the camera" in why["Ghost"]
    assert "hidden in renders" in why["Off"]
    assert "indirect only" in why["Mirrored"]
    assert "holdout" in why["Hole"]
    assert "'InAway' is excluded from the view layer" in why["Away"]
    assert {"Plain", "Row", "Loose"}.isdisjoint(why)
    (doubt,) = told["doubts"]
    assert (doubt["objects"], "array" in doubt["why"]) == (["Row"], True)
    sources = {each["name"]: each for each in told["sources"]}
    assert "why" not in sources["Plain"]
    assert sources["Ghost"]["why"] == why["Ghost"]
    (loose,) = rig.tool(COUNT, name="Loose")["sources"]
    assert (loose["by_itself"], loose["instances"]) == (False, 0)
    assert "no collection" in loose["why"]
    held["Row"].modifiers[0].show_render = False
    assert "doubts" not in rig.tool(COUNT)


def test_an_excluded_object_that_renders_through_an_instance_says_so(rig: Rig) -> None:
    import bpy

    top = bpy.context.scene.collection
    bay = _collection("Bay")
    panel = rig.cube("Panel")
    bay.objects.link(panel)
    top.objects.unlink(panel)
    bpy.context.view_layer.layer_collection.children["Bay"].exclude = True

    def told() -> Any:
        return rig.tool("scene__get_object", name="Panel", detail=True)["visibility"]

    assert told()["in_renders"] is False
    assert "renders_through" not in told()
    for name in ("Left", "Right"):
        _instance(name, bay, top)
    assert told()["renders_through"] == ["Left", "Right"]
    bpy.data.objects["Left"].hide_render = True
    assert told()["renders_through"] == ["Right"]
    bay.hide_render = True
    assert "renders_through" not in told()


def test_the_switches_and_contents_of_every_collection_are_read(rig: Rig) -> None:
    import bpy

    _carriage(rig)
    listed = rig.tool("blender_data__list", kind="collections")["data"]
    every = {each["name"]: each for each in listed}
    seat = every[SEAT]
    assert seat["objects"] == ["Cushion [seats.blend]", "Label [seats.blend]"]
    assert (seat["object_count"], seat["view_layers"]) == (2, [])
    assert every["Off"]["hide_render"] is True
    assert every["Bay"]["hide_render"] is False
    layers = [(each["view_layer"], each["exclude"]) for each in every["Bay"]["view_layers"]]
    assert layers == [("beauty", True), ("matte", False)]
    assert [each["in_renders"] for each in every["Bay"]["view_layers"]] == [False, True]
    assert [each["in_renders"] for each in every["Off"]["view_layers"]] == [False, False]
    assert [each["holdout"] for each in every["Rows"]["view_layers"]] == [False, True]
    # The shown layer's switches are with the groups, even while one is excluded.
    hidden = _collection("Hidden")
    hidden.hide_render = True
    bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True
    answer = rig.tool("structure__list_groups")
    (group,) = answer["groups"]
    assert (group["hide_render"], group["excluded"]) == (True, True)
    assert group["in_view_layer"][0]["indirect_only"] is False
    assert answer["top"]["view_layer"] == bpy.context.view_layer.name


def _worn(name: str, path: str) -> Any:
    """Return a material with a node group that has the image."""
    import bpy

    group = bpy.data.node_groups.new(f"{name}Group", "ShaderNodeTree")
    image = bpy.data.images.new(path, 2, 2)
    image.source, image.filepath = "FILE", path
    group.nodes.new("ShaderNodeTexImage").image = image
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeGroup").node_tree = group
    return material


def test_images_of_libraries_are_followed_to_the_objects_that_need_them(rig: Rig) -> None:
    import bpy

    def make() -> None:
        seat = _collection("Seat")
        cushion = rig.cube("Cushion")
        seat.objects.link(cushion)
        bpy.context.scene.collection.objects.unlink(cushion)
        cushion.data.materials.append(_worn("Fabric", "//wear.png"))

    path = rig.library("seats.blend", make)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.collections = ["Seat"]
    _instance("Row", bpy.data.collections["Seat"], bpy.context.scene.collection)
    poster = rig.cube("Poster")
    poster.data.materials.append(_worn("Paper", "//poster.png"))
    bpy.ops.wm.save_as_mainfile(filepath=str(rig.folder / "shot.blend"))

    def told() -> dict[str, Any]:
        return {each["path"]: each for each in rig.tool("file__references")["files"]}

    wear = told()["//wear.png"]
    assert (wear["state"], wear["name"]) == ("missing", "//wear.png [seats.blend]")
    assert wear["used_by"] == ["Fabric [seats.blend]", "FabricGroup [seats.blend]"]
    assert wear["objects"] == ["Cushion [seats.blend]", "Row"]
    assert told()["//poster.png"]["used_by"] == ["Paper", "PaperGroup"]
    assert told()["//poster.png"]["objects"] == ["Poster"]
    # What is there may not be a picture.
    for content, why in ((b"", "is empty"), (b"version https://git-lfs", "like a picture")):
        (rig.folder / "wear.png").write_bytes(content)
        assert told()["//wear.png"]["unreadable"].endswith(why)
    image = bpy.data.images.new("real", 2, 2)
    image.filepath_raw, image.file_format = str(rig.folder / "wear.png"), "PNG"
    image.save()
    assert (told()["//wear.png"]["state"], "unreadable" in told()["//wear.png"]) == ("found", False)


def test_all_objects_that_need_a_library_are_named(rig: Rig) -> None:
    import bpy

    def make() -> None:
        bpy.data.node_groups.new("Glaze", "ShaderNodeTree").use_fake_user = True
        bpy.data.node_groups.new("Rim", "GeometryNodeTree").use_fake_user = True
        _collection("Set").objects.link(rig.cube("Cup"))

    path = rig.library("cups.blend", make)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.node_groups, into.collections = ["Glaze", "Rim"], ["Set"]
    glaze, rim = (bpy.data.node_groups[each] for each in ("Glaze", "Rim"))
    local = bpy.data.node_groups.new("Local", "GeometryNodeTree")
    local.nodes.new("GeometryNodeGroup").node_tree = rim
    rig.cube("Tray").modifiers.new("Rim", "NODES").node_group = local
    material = bpy.data.materials.new("Ceramic")
    material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeGroup").node_tree = glaze
    plates = [rig.cube(f"Plate{number:02}") for number in range(20)]
    for each in plates:
        each.data.materials.append(material)
    macro = bpy.data.scenes.new("Macro").collection
    outer = _collection("Outer", macro)
    _instance("Inner", bpy.data.collections["Set"], outer)
    _instance("Shelf", outer, macro)
    _instance("Stage", _collection("Nothing", macro), macro)
    scatter = rig.cube("Scatter")
    group = bpy.data.node_groups.new("Spread", "GeometryNodeTree")
    info = group.nodes.new("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = plates[0]
    scatter.modifiers.new("Spread", "NODES").node_group = group
    rig.cube("Plain")
    (library,) = rig.tool("file__references")["files"]
    assert (len(library["objects"]), library["object_count"]) == (10, 25)
    (library,) = rig.tool("file__references", name="CUPS")["files"]
    needing = {"Tray", "Inner", "Shelf", "Scatter", "Cup [cups.blend]"}
    assert set(library["objects"]) == needing | {each.name for each in plates}
    assert "no file with 'mugs'" in refused(lambda: rig.tool("file__references", name="mugs"))


def test_images_that_are_connected_to_nothing_are_told_apart(rig: Rig) -> None:
    import bpy

    for name in ("linked", "loose"):
        image = bpy.data.images.new(name, 2, 2)
        image.source, image.filepath = "FILE", f"//{name}.png"
    for name, image in (("Paint", "linked"), ("Draft", "linked"), ("Sign", "loose")):
        material = bpy.data.materials.new(name)
        material.use_nodes = True
        node = material.node_tree.nodes.new("ShaderNodeTexImage")
        node.image = bpy.data.images[image]
        if name == "Paint":
            shader = material.node_tree.nodes["Principled BSDF"]
            material.node_tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
        rig.cube(name).data.materials.append(material)
    told = {each["name"]: each for each in rig.tool("file__references")["files"]}
    assert (told["linked"]["connected"], told["linked"]["unconnected_in"]) == (True, ["Draft"])
    assert (told["loose"]["connected"], told["loose"]["unconnected_in"]) == (False, ["Sign"])
