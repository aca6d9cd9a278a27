"""Cases in which node trees are read and changed. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, refused


def _socket(group: Any, name: str, direction: str, kind: str) -> Any:
    return group.interface.new_socket(name, in_out=direction, socket_type=f"NodeSocket{kind}")


def _wear() -> Any:
    """Return a shader group that makes nothing of one of its two inputs."""
    import bpy

    group = bpy.data.node_groups.new("Wear", "ShaderNodeTree")
    _socket(group, "Amount", "INPUT", "Float").default_value = 0.5
    _socket(group, "Tint", "INPUT", "Color")
    _socket(group, "Color", "OUTPUT", "Color")
    before, after = (group.nodes.new(f"NodeGroup{each}") for each in ("Input", "Output"))
    group.links.new(before.outputs["Tint"], after.inputs["Color"])
    return group


def _material(name: str) -> tuple[Any, Any]:
    """Return a new material's tree, and its shader node."""
    import bpy

    material = bpy.data.materials.new(name)
    material.use_nodes = material.use_fake_user = True
    return material.node_tree, material.node_tree.nodes["Principled BSDF"]


def _worn(name: str, group: Any, amount: float) -> Any:
    """Return the tree of a new material that uses the group."""
    tree, shader = _material(name)
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = group
    node.inputs["Amount"].default_value = amount
    tree.links.new(node.outputs[0], shader.inputs["Base Color"])
    return tree


def _scatter() -> Any:
    """Return a geometry group that moves everything up by its density."""
    import bpy

    group = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    _socket(group, "Geometry", "INPUT", "Geometry")
    density = _socket(group, "Density", "INPUT", "Float")
    density.default_value, density.min_value, density.max_value = 3, 0, 100
    _socket(group, "Count", "INPUT", "Int").max_value = 10
    _socket(group, "Thing", "INPUT", "Object")
    _socket(group, "Geometry", "OUTPUT", "Geometry")
    before, after = (group.nodes.new(f"NodeGroup{each}") for each in ("Input", "Output"))
    move = group.nodes.new("GeometryNodeTransform")
    up = group.nodes.new("ShaderNodeCombineXYZ")
    group.links.new(before.outputs["Geometry"], move.inputs["Geometry"])
    group.links.new(before.outputs["Density"], up.inputs["Z"])
    group.links.new(up.outputs[0], move.inputs["Translation"])
    group.links.new(move.outputs[0], after.inputs[0])
    return group


def _leaf() -> tuple[Any, Any, Any]:
    """Return a material's tree with a picture that nothing shows, its shader and the picture's
    node."""
    import bpy

    tree, shader = _material("Leaf")
    node = tree.nodes.new("ShaderNodeTexImage")
    node.image, node.label = bpy.data.images.new("leaf.png", 4, 4), "leaf picture"
    return tree, shader, node


def test_which_materials_use_a_group_and_with_which_values(rig: Rig) -> None:
    import bpy

    group = _wear()
    _worn("Red", group, 0.25)
    _worn("Blue", group, 0.75)
    obj = rig.cube("Cube")
    obj.data.materials.append(bpy.data.materials["Red"])
    told = rig.tool("blender_nodes__find", uses="Wear")
    values = {each["tree"]: each["inputs"]["Amount"] for each in told["nodes"]}
    assert values == {"Red": 0.25, "Blue": 0.75}
    red = next(each for each in told["trees"] if each["name"] == "Red")
    assert red["used_by"]["objects"] == ["Cube"]
    assert next(each for each in told["trees"] if each["name"] == "Blue")["off"]
    why = refused(lambda: rig.tool("blender_nodes__find", uses="Waer"))
    assert "did you mean Wear" in why


def test_why_a_texture_is_not_seen(rig: Rig) -> None:
    tree, shader, node = _leaf()

    def why() -> Any:
        (only,) = rig.tool("blender_nodes__find", uses="leaf.png")["nodes"]
        assert only["reaches_output"] is ("why" not in only)
        return only.get("why")

    assert why() == "none of its outputs is linked"
    hue = tree.nodes.new("ShaderNodeHueSaturation")
    tree.links.new(node.outputs["Color"], hue.inputs["Color"])
    assert f"'{hue.name}', from which nothing reaches an output" in why()
    tree.links.new(hue.outputs[0], shader.inputs["Base Color"])
    assert why() is None
    hue.mute = True  # It lets its color through.
    assert why() is None
    node.mute = True
    assert why() == "it is muted"
    node.mute = False
    worn = tree.nodes.new("ShaderNodeGroup")
    worn.node_tree = _wear()
    tree.links.clear()
    tree.links.new(shader.outputs[0], tree.get_output_node("ALL").inputs["Surface"])
    tree.links.new(worn.outputs[0], shader.inputs["Base Color"])
    tree.links.new(node.outputs["Alpha"], worn.inputs["Amount"])
    assert "makes nothing of the input 'Amount'" in why()
    tree.links.new(node.outputs["Color"], worn.inputs["Tint"])
    assert why() is None
    told = rig.tool("blender_nodes__find", without_effect=True)
    assert [each["name"] for each in told["nodes"]] == [hue.name]


def test_a_group_is_read_with_its_interface_users_and_links(rig: Rig) -> None:
    group = _scatter()
    rig.cube("Rock").modifiers.new("Scattered", "NODES").node_group = group
    told = rig.tool("blender_nodes__read", tree="Scatter")
    assert (told["type"], told["total"], told["used_by"]) == ("geometry", 4, {"objects": ["Rock"]})
    density = next(each for each in told["inputs"] if each["name"] == "Density")
    assert (density["default"], density["min"], density["max"]) == (3, 0, 100)
    move = next(each for each in told["nodes"] if each["type"] == "GeometryNodeTransform")
    assert move["inputs"]["Translation"] == {"from": "Combine XYZ", "output": "Vector"}
    (modifier,) = rig.tool("blender_nodes__find", uses="Scatter")["modifiers"]
    assert (modifier["object"], modifier["modifier"]) == ("Rock", "Scattered")
    assert modifier["inputs"] == {"Density": 3, "Count": 0, "Thing": None}
    page = rig.tool("blender_nodes__read", tree="Scatter", offset=1, limit=2)
    assert (len(page["nodes"]), page["total"]) == (2, 4)
    (only,) = rig.tool("blender_nodes__read", tree="Scatter", type="Combine XYZ")["nodes"]
    assert only["inputs"] == {"X": 0, "Y": 0, "Z": {"from": "Group Input", "output": "Density"}}


def test_all_kinds_of_trees_are_listed_once(rig: Rig) -> None:
    import bpy

    _worn("Red", _wear(), 0.5)
    scene = bpy.context.scene
    if hasattr(scene, "compositing_node_group"):
        scene.compositing_node_group = bpy.data.node_groups.new("Comp", "CompositorNodeTree")
        last = ("Comp", "node_groups", "compositor")
    else:
        scene.use_nodes = True
        last = (scene.name, "scenes", "compositor")
    world = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    listed = rig.tool("blender_nodes__list")["trees"]
    assert sorted((each["name"], each["kind"], each["type"]) for each in listed) == sorted(
        [
            ("Red", "materials", "shader"),
            ("Wear", "node_groups", "shader"),
            ("Sky", "worlds", "shader"),
            last,
        ]
    )
    assert rig.tool("blender_nodes__read", tree=scene.name)["type"] == "compositor"
    bpy.data.worlds["Sky"].name = "Red"
    why = refused(lambda: rig.tool("blender_nodes__read", tree="Red"))
    assert "give kind: materials, worlds" in why
    assert rig.tool("blender_nodes__read", tree="Red", kind="worlds")["total"] == 2


def _height(obj: Any) -> float:
    """Return the height of an object's lowest vertex, as its modifiers leave it."""
    import bpy

    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return min(each.co.z for each in shown.data.vertices)


def test_one_call_sets_an_input_of_the_modifiers_of_several_objects(rig: Rig) -> None:
    import bpy

    group = _scatter()
    for name in ("Rock 1", "Rock 2", "Tree"):
        rig.cube(name).modifiers.new("Scattered", "NODES").node_group = group
    before = _height(bpy.data.objects["Tree"])
    asked: Any = {"objects": ["Rock*"], "group": "Scatter"}
    told = rig.tool("blender_nodes__set_modifier", **asked, inputs={"Density": 20, "Thing": "Tree"})
    assert (told["changed"], told["verified"]) == (["Rock 1", "Rock 2"], True)
    assert told["modifiers"][0]["inputs"] == {"Density": 20, "Count": 0, "Thing": "Tree"}
    heights = [_height(bpy.data.objects[name]) for name in ("Rock 1", "Rock 2", "Tree")]
    assert [round(each - before) for each in heights] == [17, 17, 0]
    for inputs, reason in (
        ({"Densty": 1}, "its inputs are: 'Density', 'Count', 'Thing'"),
        ({"Density": 101}, "must be from 0 to 100"),
        ({"Count": 11}, "must be from -1e+06 to 10"),
        ({"Count": 1.5}, "must be int"),
        ({"Thing": "Tee"}, "some of them are Tree"),
    ):
        why = refused(lambda i=inputs: rig.tool("blender_nodes__set_modifier", **asked, inputs=i))
        assert reason in why
    why = refused(
        lambda: rig.tool("blender_nodes__set_modifier", objects=["Bush"], inputs={"Density": 1})
    )
    assert "'Tree: Scattered (Scatter)'" in why
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert round(_height(bpy.data.objects["Rock 1"]) - before) == 0


def test_all_nodes_of_a_type_are_muted_at_once(rig: Rig) -> None:
    import bpy

    for name in ("Red", "Blue"):
        tree, shader = _material(name)
        bump = tree.nodes.new("ShaderNodeBump")
        tree.links.new(bump.outputs[0], shader.inputs["Normal"])
    rig.cube("Cube").data.materials.append(bpy.data.materials["Red"])
    told = rig.tool("blender_nodes__set", type="Bump", mute=True)
    assert told["changed"] == ["Blue: Bump", "Red: Bump"]
    assert told["used_by"]["objects"] == ["Cube"]
    assert all(each.node_tree.nodes["Bump"].mute for each in bpy.data.materials)
    (red, _) = rig.tool("blender_nodes__find", type="BUMP", trees=["R*", "Blue"])["nodes"]
    assert (red["mute"], red["why"]) == (True, "it is muted")


def test_values_of_nodes_are_set_by_the_names_that_are_shown(rig: Rig) -> None:
    import bpy

    group = _wear()
    tree = _worn("Red", group, 0.25)
    _worn("Blue", group, 0.75)
    told = rig.tool("blender_nodes__set", uses="Wear", inputs={"Amount": 0.4, "Tint": "#ff0000"})
    assert told["count"] == 2
    node = tree.nodes["Group"]
    assert round(node.inputs["Amount"].default_value, 5) == 0.4
    assert [*node.inputs["Tint"].default_value] == [1, 0, 0, 1]
    bpy.data.images.new("moss.png", 4, 4)
    leaf, *_ = _leaf()
    ramp = leaf.nodes.new("ShaderNodeValToRGB")
    asked: Any = {"trees": ["Leaf"], "nodes": ["leaf picture"]}
    rig.tool("blender_nodes__set", **asked, properties={"image": "moss.png", "extension": "CLIP"})
    assert leaf.nodes["Image Texture"].image.name == "moss.png"
    stops = [[0, 0, 0, 0, 1], [0.5, 1, 0, 0, 1], [1, 1, 1, 1, 1]]
    named = {"nodes": [ramp.name], "properties": {"color_ramp": stops}}
    rig.tool("blender_nodes__set", trees=["Leaf"], **named)
    assert [each.position for each in ramp.color_ramp.elements] == [0, 0.5, 1]
    for properties, reason in (
        ({"extension": "WRAP"}, "must be one of REPEAT, EXTEND, CLIP"),
        ({"extent": "CLIP"}, "it has: 'image', 'projection'"),
        ({"image": "mos.png"}, "some of them are moss.png"),
        ({"projection_blend": 7}, "must be from 0 to 1"),
    ):
        why = refused(
            lambda given=properties: rig.tool("blender_nodes__set", **asked, properties=given)
        )
        assert reason in why
    shader = {"trees": ["Red"], "nodes": ["Principled BSDF"]}
    why = refused(lambda: rig.tool("blender_nodes__set", **shader, inputs={"Base Color": "#fff"}))
    assert "is linked from 'Group'" in why
    why = refused(lambda: rig.tool("blender_nodes__set", **shader, inputs={"Rough": 1}))
    assert "'Roughness'" in why
    why = refused(lambda: rig.tool("blender_nodes__set", trees=["Red"], nodes=["X"], mute=True))
    assert "'Group (Group)'" in why


def test_a_value_with_keys_and_linked_trees_are_refused(rig: Rig) -> None:
    import bpy

    library = rig.library("nodes.blend", lambda: _worn("Red", _wear(), 0.25))
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.materials = ["Red"]
    asked: Any = {"uses": "Wear", "inputs": {"Amount": 1}}
    why = refused(lambda: rig.tool("blender_nodes__set", **asked))
    assert "is linked from 'nodes.blend'" in why
    _worn("Own", bpy.data.node_groups["Wear"], 0.5)
    told = rig.tool("blender_nodes__set", **asked)
    assert told["changed"] == ["Own: Group"]
    assert told["skipped"] == [bpy.data.materials["Red"].name_full]
    node = bpy.data.materials["Own"].node_tree.nodes["Group"]
    node.inputs["Amount"].keyframe_insert("default_value", frame=1)
    assert "keys or a driver" in refused(lambda: rig.tool("blender_nodes__set", **asked))
    told = rig.tool("blender_nodes__remove", tree="Own", nodes=["Group"])
    assert told["lost"] == ["keys of Group: inputs[0].default_value"]


def test_keys_of_an_input_do_not_move_to_another_input(rig: Rig) -> None:
    import bpy

    group = _wear()
    node = _worn("Red", group, 0.25).nodes["Group"]
    node.inputs["Tint"].keyframe_insert("default_value", frame=1)
    asked = {"group": "Wear", "socket": "Amount"}
    why = refused(lambda: rig.tool("blender_nodes__remove_socket", **asked))
    assert "keys or a driver decide about 'Tint' of 'Group' in 'Red'" in why
    new = bpy.data.node_groups["Wear"].copy()
    new.name = "Wear 2"
    asked = {"group": "Wear", "by": "Wear 2"}
    new.interface.move(new.interface.items_tree["Tint"], 0)
    why = refused(lambda: rig.tool("blender_nodes__replace_group", **asked))
    assert "would then decide about another input" in why


def test_another_group_keeps_values_and_links_by_their_names(rig: Rig) -> None:
    import bpy

    tree = _worn("Red", _wear(), 0.25)
    noise = tree.nodes.new("ShaderNodeTexNoise")
    tree.links.new(noise.outputs[0], tree.nodes["Group"].inputs["Tint"])
    new = bpy.data.node_groups.new("Wear 2", "ShaderNodeTree")
    _socket(new, "Tint", "INPUT", "Color")
    _socket(new, "Depth", "INPUT", "Float").default_value = 0.125
    _socket(new, "Amount", "INPUT", "Float")
    _socket(new, "Color", "OUTPUT", "Color")
    new.nodes.new("ShaderNodeGroup").node_tree = bpy.data.node_groups["Wear"]
    asked = {"group": "Wear", "by": "Wear 2"}
    told = rig.tool("blender_nodes__replace_group", **asked)
    assert (told["changed"], told["left"]) == (["Red: Group"], ["Wear 2: Group"])
    assert "lost" not in told
    (only,) = rig.tool("blender_nodes__find", uses="Wear 2")["nodes"]
    assert only["inputs"].pop("Tint")["from"] == noise.name
    assert only["inputs"] == {"Depth": 0.125, "Amount": 0.25}
    assert only["reaches_output"] is True
    for name, inputs in (("Old", ("Density", "Seed")), ("New", ("Seed", "Size"))):
        group = bpy.data.node_groups.new(name, "GeometryNodeTree")
        for each in inputs:
            _socket(group, each, "INPUT", "Int")
    modifier = rig.cube("Rock").modifiers.new("Made", "NODES")
    modifier.node_group = bpy.data.node_groups["Old"]
    rig.tool("blender_nodes__set_modifier", group="Old", inputs={"Density": 5, "Seed": 3})
    told = rig.tool("blender_nodes__replace_group", group="Old", by="New")
    assert told["lost"] == ["the value of Density of 'Made' of 'Rock'"]
    (entry,) = rig.tool("blender_nodes__find", uses="New")["modifiers"]
    assert entry["inputs"] == {"Seed": 3, "Size": 0}


def test_the_alpha_of_a_picture_is_connected(rig: Rig) -> None:
    tree, shader, node = _leaf()
    alpha = {"from": "leaf picture", "output": "Alpha", "to": shader.name, "input": "Alpha"}
    color = {**alpha, "output": "Color", "input": "Base Color"}
    told = rig.tool("blender_nodes__link", tree="Leaf", links=[alpha, color])
    assert told["links"] == [{**alpha, "from": node.name}, {**color, "from": node.name}]
    assert shader.inputs["Alpha"].links[0].from_socket == node.outputs["Alpha"]
    told = rig.tool("blender_nodes__link", tree="Leaf", links=[{**alpha, "input": "Base Color"}])
    assert told["replaced"] == [{**color, "from": node.name}]
    for change, reason in (
        ({"from": "leaf"}, "its nodes are: 'Principled BSDF'"),
        ({"output": "Alfa"}, "its outputs are: 'Color', 'Alpha'"),
        ({"input": "Opacity"}, "'Base Color', 'Metallic'"),
    ):
        asked = [{**alpha, **change}]
        why = refused(lambda a=asked: rig.tool("blender_nodes__link", tree="Leaf", links=a))
        assert reason in why
    told = rig.tool("blender_nodes__unlink", tree="Leaf", links=[{"from": node.name}])
    assert (len(told["removed"]), len(tree.links)) == (2, 1)
    why = refused(
        lambda: rig.tool("blender_nodes__unlink", tree="Leaf", links=[{"to": shader.name}])
    )
    assert why.endswith("are: none")
    assert rig.host.undo.undo(rig.call.undo_id) is True


def test_a_link_that_blender_marks_as_invalid_is_refused_and_undone(rig: Rig) -> None:
    import bpy

    tree, shader = _material("Loop")
    for name in ("First", "Second"):
        tree.nodes.new("ShaderNodeMath").name = name
    first, second = tree.nodes["First"], tree.nodes["Second"]
    tree.links.new(first.outputs[0], second.inputs[0])
    tree.links.new(second.outputs[0], shader.inputs["Roughness"])
    before = {(each.from_node.name, each.to_node.name) for each in tree.links}
    name = shader.name  # After a call was undone, the node is another one.
    for link, reason in (
        ({"from": "Second", "to": "First", "input": "Value"}, "would make a loop"),
        ({"from": name, "to": "First", "input": "Value"}, "shader doesn't become value"),
    ):
        why = refused(lambda e=link: rig.tool("blender_nodes__link", tree="Loop", links=[e]))
        assert reason in why
        links = bpy.data.materials["Loop"].node_tree.links
        assert {(each.from_node.name, each.to_node.name) for each in links} == before
        assert all(each.is_valid for each in links)


def test_nodes_are_added_with_values_and_links_and_removed(rig: Rig) -> None:
    import bpy

    _wear()
    tree, shader = _material("Red")
    told = rig.tool(
        "blender_nodes__add",
        tree="Red",
        nodes=[
            {"type": "Noise Texture", "name": "Grain", "inputs": {"Scale": 30}},
            {"type": "ShaderNodeHueSaturation", "name": "Shift", "label": "shift"},
            {"type": "Group", "properties": {"node_tree": "Wear"}, "inputs": {"Amount": 0.25}},
        ],
        links=[
            {"from": "Grain", "output": "Color", "to": "Shift", "input": "Color"},
            {"from": "Shift", "to": shader.name, "input": "Base Color"},
        ],
    )
    grain, shift, group = told["nodes"]
    assert (grain["inputs"]["Scale"], grain["reaches_output"]) == (30, True)
    assert shift["inputs"]["Color"] == {"from": "Grain", "output": "Color"}
    assert (group["properties"], group["inputs"]["Amount"]) == ({"node_tree": "Wear"}, 0.25)
    assert tree.nodes["Grain"].location.x < tree.nodes["Shift"].location.x < shader.location.x
    for type, reason in (("Mesh Line", "can't have"), ("Nois Texture", "did you mean Noise Text")):
        asked = [{"type": type}]
        why = refused(lambda a=asked: rig.tool("blender_nodes__add", tree="Red", nodes=a))
        assert reason in why
    inside = [{"type": "Group", "properties": {"node_tree": "Wear"}}]
    why = refused(lambda: rig.tool("blender_nodes__add", tree="Wear", nodes=inside))
    assert "inside itself" in why
    told = rig.tool("blender_nodes__remove", tree="Red", nodes=["shift"], reconnect=True)
    assert told["removed"] == ["Shift"]
    links = bpy.data.materials["Red"].node_tree.links
    pairs = {(each.from_node.name, each.to_node.name) for each in links}
    assert ("Grain", "Principled BSDF") in pairs
    assert "no node 'Shift'" in refused(
        lambda: rig.tool("blender_nodes__remove", tree="Red", nodes=["Shift"])
    )


def test_a_groups_default_says_who_keeps_another_value(rig: Rig) -> None:
    import bpy

    group = _wear()
    for name, amount in (("Red", 0.25), ("Blue", 0.5)):
        _worn(name, group, amount)
    asked: Any = {"group": "Wear", "socket": "Amount"}
    told = rig.tool("blender_nodes__set_socket", **asked, default=0.5, min=0, max=1)
    assert told["socket"] == {
        **{"name": "Amount", "type": "NodeSocketFloat"},
        **{"default": 0.5, "min": 0, "max": 1},
    }
    assert told["kept"] == [{"of": "Red", "node": "Group", "value": 0.25}]
    assert told["used_by"] == {"materials": ["Blue", "Red"]}
    told = rig.tool("blender_nodes__set_socket", **asked, default=0.75, everywhere=True)
    assert told["set_in"] == ["Blue: Group", "Red: Group"]
    assert "kept" not in told
    red = bpy.data.materials["Red"].node_tree.nodes["Group"]
    assert red.inputs["Amount"].default_value == 0.75
    why = refused(lambda: rig.tool("blender_nodes__set_socket", **asked, default=2))
    assert "must be from 0 to 1" in why
    why = refused(lambda: rig.tool("blender_nodes__set", uses="Wear", inputs={"Amount": 2}))
    assert "must be from 0 to 1" in why


def test_inputs_of_a_group_are_added_renamed_and_removed(rig: Rig) -> None:
    import bpy

    group = _scatter()
    rig.cube("Rock").modifiers.new("Scattered", "NODES").node_group = group
    asked: Any = {"group": "Scatter", "socket": "Seed"}
    told = rig.tool("blender_nodes__set_socket", **asked, type="int", default=7, description="Any")
    assert told["socket"]["description"] == "Any"
    assert told["set_in"] == ["Rock: Scattered"]
    rig.tool("blender_nodes__set_socket", **asked, new_name="Chance")
    (modifier,) = rig.tool("blender_nodes__find", uses="Scatter")["modifiers"]
    assert modifier["inputs"]["Chance"] == 7
    why = refused(lambda: rig.tool("blender_nodes__set_socket", **asked, default=1))
    assert "'Geometry', 'Density', 'Count', 'Thing', 'Chance'" in why
    taken: Any = {"group": "Scatter", "socket": "Chance", "new_name": "Count"}
    why = refused(lambda: rig.tool("blender_nodes__set_socket", **taken))
    assert "another input 'Count'" in why
    told = rig.tool("blender_nodes__remove_socket", group="Scatter", socket="Density")
    assert told["lost"] == ["Scatter: Group Input to Combine XYZ"]
    assert told["inputs"] == ["Geometry", "Count", "Thing", "Chance"]
    assert rig.host.undo.undo(rig.call.undo_id) is True
    rig.tool("blender_nodes__set_modifier", objects=["Rock"], inputs={"Density": 5, "Chance": 1})
    assert round(_height(bpy.data.objects["Rock"])) in (4, 5)
    why = refused(
        lambda: rig.tool("blender_nodes__set_socket", group="Scatter", socket="A", type="shader")
    )
    assert "can't have an input of the type 'shader'" in why


def _frosted() -> Any:
    """Return a geometry group with an input for the material that it sets."""
    import bpy

    group = bpy.data.node_groups.new("Finish", "GeometryNodeTree")
    _socket(group, "Geometry", "INPUT", "Geometry")
    _socket(group, "Coat", "INPUT", "Material")
    _socket(group, "Use", "INPUT", "Bool").default_value = True
    _socket(group, "Geometry", "OUTPUT", "Geometry")
    before, after = (group.nodes.new(f"NodeGroup{each}") for each in ("Input", "Output"))
    coat = group.nodes.new("GeometryNodeSetMaterial")
    group.links.new(before.outputs["Geometry"], coat.inputs["Geometry"])
    group.links.new(before.outputs["Coat"], coat.inputs["Material"])
    group.links.new(before.outputs["Use"], coat.inputs["Selection"])
    group.links.new(coat.outputs[0], after.inputs[0])
    return group


def test_a_material_that_a_nodes_modifier_sets_is_told_and_found(rig: Rig) -> None:
    import bpy

    _material("clear"), _material("frost")
    jar = rig.cube("Jar")
    jar.data.materials.append(bpy.data.materials["clear"])
    jar.modifiers.new("finish", "NODES").node_group = _frosted()
    rig.tool("blender_nodes__set_modifier", objects=["Jar"], inputs={"Coat": "frost"})
    told = rig.tool("scene__get_object", name="Jar", detail=True)
    assert (told["materials"], told["materials_shown"]) == (["clear"], ["frost"])
    (modifier,) = told["modifiers"]
    inputs = {"Coat": "frost", "Use": True}
    assert (modifier["group"], modifier["inputs"]) == ("Finish", inputs)
    (modifier,) = rig.tool("blender_data__list_modifiers", type="nodes")["modifiers"]
    assert (modifier["group"], modifier["inputs"]) == ("Finish", inputs)
    for uses in ("frost", "fr*"):
        (modifier,) = rig.tool("blender_nodes__find", uses=uses)["modifiers"]
        assert (modifier["object"], modifier["inputs"]) == ("Jar", inputs)
    assert rig.tool("blender_nodes__find", uses="clear")["modifiers"] == []
    rig.tool("blender_nodes__set_modifier", objects=["Jar"], inputs={"Use": False})
    assert "materials_shown" not in rig.tool("scene__get_object", name="Jar")
    assert rig.tool("blender_nodes__find", trees=["clear"], kind="materials")["total"] == 2
    assert "geometry__info" in rig.tool("blender_modelling__mesh_info", name="Jar")["without"]


def test_values_that_drivers_and_keys_set_are_marked_and_ramps_are_read_whole(rig: Rig) -> None:
    import bpy

    tree, shader = _material("Glow")
    material = bpy.data.materials["Glow"]
    shader.inputs["Roughness"].driver_add("default_value").driver.expression = "frame / 10"
    shader.inputs["Base Color"].keyframe_insert("default_value", frame=1)
    path = 'node_tree.nodes["Principled BSDF"].inputs["Metallic"].default_value'
    reads: Any = {"name": "a", "reads": "transform", "property": "loc_x"}
    reads["target"] = rig.cube("Cube").name
    driven: Any = {"of": "Glow", "kind": "materials", "drives": path}
    rig.tool("blender_data__add_driver", **driven, variables=[reads])
    constant = tree.nodes.new("ShaderNodeValue")
    constant.outputs[0].keyframe_insert("default_value", frame=1)
    ramp = tree.nodes.new("ShaderNodeValToRGB")
    curve = tree.nodes.new("ShaderNodeFloatCurve")
    curve.mapping.curves[0].points[1].location = (1, 0.5)
    asked: Any = {"trees": ["Glow"], "nodes": [ramp.name]}
    rig.tool("blender_nodes__set", **asked, properties={"color_ramp.interpolation": "CONSTANT"})
    told = rig.tool("blender_nodes__read", tree=material.name)["nodes"]
    entries = {each["name"]: each for each in told}
    marked = entries[shader.name]
    assert sorted(marked["driven"]) == ["Metallic", "Roughness"]
    assert marked["animated"] == ["Base Color"]
    assert entries[constant.name]["animated"] == ["value"]
    assert "driven" not in entries[ramp.name]
    assert entries[ramp.name]["properties"]["color_ramp.interpolation"] == "CONSTANT"
    assert entries[ramp.name]["properties"]["color_ramp.color_mode"] == "RGB"
    assert entries[curve.name]["properties"]["mapping"] == [[[0, 0], [1, 0.5]]]
    named = {"trees": ["Glow"], "nodes": [shader.name]}
    (again,) = rig.tool("blender_nodes__find", **named)["nodes"]
    assert again["animated"] == ["Base Color"]
    asked = {**named, "inputs": {"Metallic": 1}}
    assert "a driver" in refused(lambda: rig.tool("blender_nodes__set", **asked))
