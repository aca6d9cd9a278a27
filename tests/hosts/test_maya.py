"""Tests the Maya adapter, on the double or, under mayapy, in Maya itself."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from pathlib import Path
from typing import Any

import maya.api.OpenMaya as om
import pytest
from camera_view import holds
from maya import cmds
from maya_rig import REAL, maya_host, new_maya

from callboard.errors import CapabilityMissing, HostError
from callboard.host import (
    ANIMATION,
    CHECK,
    EXCHANGE,
    LIGHTS,
    RENDER,
    SCENE_MUTATE,
    SCENE_READ,
    SCRIPT,
    USD,
    VIEWPORT,
    ObjectNotFound,
)
from callboard_testing.checks.samples import LAYERED, LOCKED, REFERENCED
from callboard_testing.compliance import Bench, Check, checks
from hosts.places import both, every_check, place, run_check
from hosts.visits import check_undone_by_the_artist, check_visits


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[Any]:
    new_maya(batch=place(request, REAL) == "batch")
    with maya_host(lambda fn: None) as running:
        yield running


@pytest.fixture
def bench(host: Any, tmp_path: Path) -> Bench:
    samples = {LOCKED: _locked, REFERENCED: _referenced, LAYERED: _in_layers}
    return Bench(host, tmp_path.resolve(), samples)


def _locked(bench: Bench) -> str:
    path = bench.cube("Locked")
    for axis in "XYZ":
        cmds.setAttr(f"{path}.translate{axis}", lock=True)
    return path


def _in_layers(bench: Bench) -> str:
    """Return a hero in the layer ``Crowd``, with a hat in the hidden layer ``Props``."""
    hero, hat = bench.cube("Hero"), bench.cube("Hat")
    bench.call("scene__transform", {"name": hat, "translate": [0, 3, 0]})
    hat = bench.editor.set_parent(hat, hero, keep_world=True)
    cmds.createDisplayLayer(hero, name="Crowd", noRecurse=True)
    cmds.setAttr(f"{cmds.createDisplayLayer(hat, name='Props')}.visibility", False)
    assert bench.get(hero)["visible"]
    assert not bench.get(hat)["visible"]
    return hero


def _in_an_assembly(bench: Bench) -> str:
    """Return the ball of ``ball.ma``, which an assembly shows."""
    file = _ball_file(bench)
    try:
        cmds.loadPlugin("sceneAssembly", quiet=True)
    except RuntimeError:
        pytest.skip("this Maya has no assemblies")
    assembly = cmds.assembly(name="Crate", type="assemblyDefinition")
    cmds.assembly(assembly, edit=True, createRepresentation="Scene", input=file)
    (shown,) = cmds.assembly(assembly, query=True, listRepresentations=True)
    cmds.assembly(assembly, edit=True, active=shown)
    return str(bench.get("Crate")["children"][0])


def _referenced(bench: Bench) -> str:
    """Return the ball of ``ball.ma`` in the namespace ``char``."""
    cmds.file(_ball_file(bench), reference=True, namespace="char")
    return "|char:Ball"


def _ball_file(bench: Bench) -> str:
    """Make a file with a lid on a ball. The scene is empty afterwards."""
    file = (bench.folder / "ball.ma").as_posix()
    cmds.file(new=True, force=True)
    ball = bench.cube("Ball")
    bench.call("scene__set_material_color", {"name": ball, "color": [1, 0, 0]})
    bench.editor.set_parent(bench.cube("Lid"), ball, keep_world=True)
    cmds.file(rename=file)
    cmds.file(save=True, force=True, type="mayaAscii")
    cmds.file(new=True, force=True)
    return file


@pytest.fixture
def with_usd(host: Any) -> Iterator[None]:
    try:
        cmds.loadPlugin("mayaUsdPlugin", quiet=True)
    except RuntimeError:
        pytest.skip("this Maya has no USD plug-in")
    yield
    cmds.unloadPlugin("mayaUsdPlugin", force=True)


@pytest.fixture
def with_arnold(host: Any) -> None:
    try:
        cmds.loadPlugin("mtoa", quiet=True)
    except RuntimeError:
        pytest.skip("this Maya has no Arnold")


@pytest.fixture
def with_translators(host: Any, with_usd: None) -> None:
    for plug_in in ("fbxmaya", "objExport", "AbcImport", "AbcExport"):
        try:
            cmds.loadPlugin(plug_in, quiet=True)
        except RuntimeError:
            assert REAL


@every_check(REAL)
def test_compliance(check: Check, bench: Bench, request: pytest.FixtureRequest) -> None:
    for capability, fixture in (
        (USD, "with_usd"),
        (LIGHTS, "with_arnold"),
        (EXCHANGE, "with_translators"),
    ):
        if capability in check.needs:
            request.getfixturevalue(fixture)
    run_check(check, bench, REAL)


# -- ports --------------------------------------------------------------------------------------


def test_usd_comes_and_goes_with_its_plug_in(host: Any) -> None:
    announced: list[str] = []
    stop = host.watch(announced.append)
    assert USD not in host.ports
    try:
        cmds.loadPlugin("mayaUsdPlugin", quiet=True)
    except RuntimeError:
        pytest.skip("this Maya has no USD plug-in")
    assert USD in host.ports
    cmds.unloadPlugin("mayaUsdPlugin", force=True)
    assert USD not in host.ports
    assert announced.count("ports") == 2
    stop()


def _offered(bench: Bench, name: str) -> Any:
    formats = bench.call("exchange__formats")["formats"]
    return next(each for each in formats if each["format"] == name)


def test_formats_come_and_go_with_their_plug_ins(bench: Bench) -> None:
    if cmds.pluginInfo("fbxmaya", query=True, loaded=True):
        pytest.skip("this Maya has already loaded the plug-ins")
    assert (_offered(bench, "fbx")["import"], _offered(bench, "usd")["export"]) == ([], [])
    assert "fbxmaya" in _offered(bench, "fbx")["missing"]
    file = str(bench.folder / "cube.fbx")
    with pytest.raises(HostError, match="fbxmaya"):
        bench.call("exchange__export", {"path": file})
    cmds.loadPlugin("fbxmaya", quiet=True)
    assert _offered(bench, "fbx")["export"] == [".fbx"]
    cmds.unloadPlugin("fbxmaya")


@pytest.mark.skipif(REAL, reason="only the double reports the settings it got")
def test_an_export_is_no_change_and_leaves_the_artists_settings(
    bench: Bench, with_translators: None
) -> None:
    cube = bench.cube("Crate")
    cmds.file(modified=False)
    undone, before = cmds.undoInfo(query=True, undoName=True), _translators().fbx()
    before["Export"]["EmbeddedTextures"] = before["Import"]["Mode"] = "merge"
    kept = {kind: dict(of) for kind, of in before.items()}
    for suffix in ("fbx", "obj", "abc"):
        file = str(bench.folder / f"crate.{suffix}")
        bench.call("exchange__export", {"path": file, "objects": [cube]})
        assert not cmds.file(query=True, modified=True), suffix
        assert cmds.undoInfo(query=True, undoName=True) == undone, suffix
    bench.call("exchange__import", {"path": str(bench.folder / "crate.fbx")})
    assert _translators().fbx() == kept


def test_meshes_without_uvs_below_an_exported_group_are_told(
    bench: Bench, with_translators: None
) -> None:
    file = bench.folder / "plain.obj"
    file.write_text("o Plain\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    (plain,) = bench.call("exchange__import", {"path": str(file)})["created"]
    bench.call("structure__create_empty", {"name": "Group"})
    bench.call("scene__set_parent", {"name": plain, "parent": "Group"})
    bench.call("exchange__import", {"path": str(file)})
    (below,) = bench.get("Group")["children"]
    asked = {"path": str(bench.folder / "out.obj"), "objects": ["Group"]}
    assert bench.call("exchange__export", asked)["without_uvs"] == [below]


def _translators() -> Any:
    from maya import _translators as translators

    return translators


def test_channels_are_in_radians_if_maya_shows_these(host: Any) -> None:
    from callboard_maya.parts.transforms import from_host_angle, to_host_angle

    assert (to_host_angle(90), from_host_angle(90)) == (90, 90)
    cmds.currentUnit(angle="rad")
    try:
        assert (to_host_angle(180), from_host_angle(pi)) == pytest.approx((pi, 180))
    finally:
        cmds.currentUnit(angle="deg")


@pytest.mark.parametrize("unit", ["m", "in"])
def test_an_obj_counts_in_metres_whatever_the_artists_unit(
    bench: Bench, with_translators: None, unit: str
) -> None:
    cmds.currentUnit(linear=unit)
    try:
        per_meter = bench.reader.info()["units_per_meter"]
        bench.cube("Crate", 2 * per_meter)
        file = bench.folder / "crate.obj"
        bench.call("exchange__export", {"path": str(file)})
        assert cmds.currentUnit(query=True, linear=True) == unit
        points = [
            line.split()[1:] for line in file.read_text("utf-8").splitlines() if line[:2] == "v "
        ]
        assert {abs(float(each)) for point in points for each in point} == {1.0}
        bench.empty()
        bench.call("exchange__import", {"path": str(file)})
        assert cmds.currentUnit(query=True, linear=True) == unit
        (path,) = bench.reader.names()
        assert bench.get(path)["bounds"]["max"] == pytest.approx([per_meter] * 3)
        assert bench.get(path)["scale"] == [1, 1, 1]
    finally:
        cmds.currentUnit(linear="cm")


def test_the_usd_plug_in_is_loaded_when_the_artist_asks(host: Any) -> None:
    plug_in = host.plug_ins[USD]
    try:
        plug_in.load()
    except HostError as error:
        pytest.skip(f"this Maya has no USD plug-in: {error}")
    assert USD in host.ports
    plug_in.load()
    cmds.unloadPlugin("mayaUsdPlugin", force=True)
    assert USD not in host.ports


@both(REAL)
def test_a_viewport_needs_windows(host: Any) -> None:
    assert (VIEWPORT in host.ports) is not bool(cmds.about(batch=True))
    assert host.identity.headless is bool(cmds.about(batch=True))


@both(REAL)
def test_a_call_that_needs_what_is_missing_is_refused(bench: Bench) -> None:
    if VIEWPORT in bench.host.ports:
        data = bench.port(VIEWPORT).capture(321, 123)
        assert data[16:24] == (321).to_bytes(4, "big") + (123).to_bytes(4, "big")
        answer = bench.call("viewport__capture", {"width": 64, "height": 32})
        assert answer.mime_type == "image/png"
        file = bench.folder / "view.png"
        saved = bench.call("viewport__save_capture", {"path": str(file), "width": 64, "height": 32})
        assert saved["bytes"] == file.stat().st_size
    else:
        with pytest.raises(CapabilityMissing, match="viewport"):
            bench.call("viewport__capture")


def test_the_project_is_the_workspace(host: Any) -> None:
    (root,) = host.project_roots()
    assert Path(root).is_absolute()
    assert root == str(Path(cmds.workspace(query=True, rootDirectory=True)))


# -- the scene, where Maya differs --------------------------------------------------------------


def test_the_cameras_of_each_scene_are_not_listed_and_not_deleted(bench: Bench) -> None:
    assert bench.reader.names() == []
    with pytest.raises(HostError, match="Maya could not delete"):
        bench.editor.delete(["persp"])


def test_what_a_referenced_file_says_is_changed_but_neither_renamed_nor_deleted(
    bench: Bench,
) -> None:
    path = bench.sample(REFERENCED)
    group = bench.editor.create("cube", "Group", {"size": 1.0})
    for tool, asked in (
        ("scene__rename", {"name": path, "new_name": "Other"}),
        ("scene__delete", {"name": f"{path}|char:Lid"}),
    ):
        with pytest.raises(HostError, match=r"referenced from ball\.ma.* import or remove"):
            bench.call(tool, asked)
    moved = bench.call("scene__transform", {"name": path, "translate": [1, 2, 3]})
    assert moved["verified"]
    lid = bench.call("scene__set_parent", {"name": f"{path}|char:Lid", "parent": "Group"})
    assert lid["object"]["path"] == f"{group}|char:Lid"
    # The lid's new parent can't be deleted either.
    before = bench.everything()
    with pytest.raises(HostError, match="'char:Lid' is referenced"):
        bench.call("scene__delete", {"name": "Group"})
    assert bench.everything() == before


def test_a_copy_of_what_a_file_says_is_the_scenes_own(bench: Bench) -> None:
    path = bench.sample(REFERENCED)
    lid = f"{path}|char:Lid"
    bench.call("animation__set_keys", {"name": lid, "keys": [{"frame": 1, "translate": [1, 0, 0]}]})
    copy = bench.call("scene__duplicate", {"name": path, "new_name": "Twin"})["object"]
    (below,) = copy["children"]
    keys = bench.call("animation__list_keys", {"name": below})["keys"]
    assert [key["frame"] for key in keys] == [1]
    assert copy["color"] == [1, 0, 0]
    bench.call("scene__rename", {"name": below, "new_name": "Cap"})
    assert bench.call("scene__delete", {"name": "Twin"})["verified"]
    assert bench.get(lid)["name"] == "char:Lid"


@pytest.mark.parametrize(
    "check", [c for c in checks() if REFERENCED in c.needs], ids=lambda check: check.id
)
def test_the_checks_of_references_hold_for_assemblies(check: Check, bench: Bench) -> None:
    Bench(bench.host, bench.folder, {REFERENCED: _in_an_assembly}).run(check)


def test_what_an_assembly_shows_is_changed_but_neither_renamed_nor_deleted(bench: Bench) -> None:
    path = _in_an_assembly(bench)
    for tool, asked in (
        ("scene__rename", {"name": path, "new_name": "Other"}),
        ("scene__delete", {"name": bench.get(path)["children"][0]}),
        ("scene__duplicate", {"name": path}),
    ):
        with pytest.raises(HostError, match=r"is part of the assembly 'Crate'.* as a whole"):
            bench.call(tool, asked)
    assert bench.call("scene__transform", {"name": path, "translate": [1, 2, 3]})["verified"]
    assert bench.call("scene__delete", {"name": "Crate"})["verified"]
    assert bench.reader.names() == []


def test_what_a_hidden_layer_holds_is_not_visible(bench: Bench) -> None:
    hero = bench.sample(LAYERED)
    (hat,) = bench.get(hero)["children"]
    cmds.setAttr("Props.visibility", True)
    assert bench.get(hat)["visible"]
    # Objects below a member of a hidden layer are hidden with it.
    cmds.setAttr("Crowd.visibility", False)
    assert not bench.get(hero)["visible"]
    assert not bench.get(hat)["visible"]
    # A layer that is switched off has no effect.
    cmds.setAttr("Crowd.enabled", False)
    assert bench.get(hat)["visible"]
    # The artist has set this by hand, without a layer.
    loose = bench.cube("Loose")
    cmds.setAttr(f"{loose}.overrideVisibility", False)
    assert bench.get(loose)["visible"]
    cmds.setAttr(f"{loose}.overrideEnabled", True)
    assert not bench.get(loose)["visible"]


def test_names_that_maya_would_change_are_refused(bench: Bench) -> None:
    for name in ("a b", "1st", "ä", "", "a|b"):
        with pytest.raises(HostError, match="can't be a name"):
            bench.editor.create("cube", name, {"size": 1.0})
    assert bench.reader.names() == []


def test_another_rotate_order_is_read_and_written_as_xyz(bench: Bench) -> None:
    path = bench.cube("Turned")
    cmds.setAttr(f"{path}.rotateOrder", 5)
    bench.editor.set_transform(path, [1, 2, 3], [10, 20, 30], [1, 2, 3])
    turned = bench.get(path)
    assert turned["rotate"] == pytest.approx([10, 20, 30])
    assert turned["scale"] == pytest.approx([1, 2, 3])
    assert cmds.getAttr(f"{path}.rotateOrder") == 5
    assert cmds.getAttr(f"{path}.rotate")[0] != pytest.approx((10, 20, 30))


@pytest.mark.parametrize(("unit", "centimetres"), [("cm", 1.0), ("m", 100.0), ("ft", 30.48)])
def test_a_matrix_is_in_centimetres_whatever_the_artists_unit(
    bench: Bench, unit: str, centimetres: float
) -> None:
    cmds.currentUnit(linear=unit)
    try:
        path = bench.cube("Turned")
        cmds.setAttr(f"{path}.rotateOrder", 5)
        bench.editor.set_transform(path, [1, 2, 3], None, None)
        assert bench.get(path)["translate"] == pytest.approx([1, 2, 3])
        assert cmds.getAttr(f"{path}.translate")[0] == pytest.approx((1, 2, 3))
        held = [value * centimetres for value in (1, 2, 3)]
        assert cmds.getAttr(f"{path}.matrix")[12:15] == pytest.approx(held)
    finally:
        cmds.currentUnit(linear="cm")


def test_a_locked_attribute_is_named(bench: Bench) -> None:
    path = bench.cube("Locked")
    cmds.setAttr(f"{path}.translate", lock=True)
    with pytest.raises(HostError, match="locked"):
        bench.editor.set_transform(path, [1, 2, 3], None, None)


def test_a_new_colour_leaves_the_selection_alone(bench: Bench) -> None:
    made = [bench.editor.create("cube", name, {"size": 1}) for name in ("One", "Other")]
    bench.editor.select([made[1]])
    bench.editor.set_color(made[0], [1, 0, 0])
    assert bench.reader.selection() == [made[1]]


@pytest.mark.skipif(REAL, reason="Maya's own conditions can't be changed")
def test_a_condition_that_maya_does_not_have_is_done_without(bench: Bench) -> None:
    from maya._session import session

    session.tell("condition", "playingBack", True)
    assert bench.host.blocked_by() == "playing the animation"


def test_a_texture_is_no_colour_until_it_is_replaced(bench: Bench) -> None:
    path = bench.cube("Painted")
    bench.editor.set_color(path, [1, 0, 0])
    shape = cmds.listRelatives(path, shapes=True, fullPath=True)[0]
    group = cmds.listConnections(shape, type="shadingEngine")[0]
    material = cmds.listConnections(f"{group}.surfaceShader")[0]
    texture = cmds.shadingNode("checker", asTexture=True)
    cmds.connectAttr(f"{texture}.outColor", f"{material}.baseColor")
    assert bench.get(path)["color"] is None
    bench.editor.set_color(path, [0, 1, 0])
    assert bench.get(path)["color"] == pytest.approx([0, 1, 0])


@pytest.mark.parametrize(
    ("kind", "attribute"),
    [
        *((kind, "color") for kind in ("lambert", "blinn", "phong", "phongE")),
        ("surfaceShader", "outColor"),
    ],
)
def test_the_colour_of_an_older_material_is_read(bench: Bench, kind: str, attribute: str) -> None:
    path = bench.cube("Painted")
    shader = cmds.shadingNode(kind, asShader=True)
    cmds.setAttr(f"{shader}.{attribute}", 1, 0, 0, type="double3")
    group = cmds.sets(renderable=True, noSurfaceShader=True, empty=True)
    cmds.connectAttr(f"{shader}.outColor", f"{group}.surfaceShader")
    shape = cmds.listRelatives(path, shapes=True, fullPath=True)[0]
    cmds.sets(shape, edit=True, forceElement=group)
    assert bench.get(path)["color"] == pytest.approx([1, 0, 0])


def test_a_group_has_no_colour(bench: Bench) -> None:
    group = cmds.createNode("transform", name="Group")
    with pytest.raises(HostError, match="no color"):
        bench.editor.set_color(group, [1, 0, 0])
    assert bench.get(group)["bounds"] is None
    assert bench.get(group)["type"] == "transform"


def test_what_the_artist_made_is_recognised(bench: Bench) -> None:
    cmds.polySphere(name="Ball")
    cmds.polyTorus(name="Ring")
    assert {each["name"]: each["type"] for each in bench.reader.summaries()} == {
        "Ball": "sphere",
        "Ring": "torus",
    }


def test_part_of_an_object_selects_it(bench: Bench) -> None:
    path = bench.cube("Crate")
    cmds.select(f"{path}.e[0:3]", replace=True)
    assert bench.reader.selection() == [path]


def test_units_are_told(bench: Bench) -> None:
    assert bench.reader.info()["units_per_meter"] == 100.0
    cmds.currentUnit(linear="m")
    assert bench.reader.info()["units_per_meter"] == 1.0
    cmds.currentUnit(linear="cm")


@pytest.mark.parametrize(
    ("unit", "fps"),
    [
        ("game", 15),
        ("film", 24),
        ("pal", 25),
        ("ntsc", 30),
        ("show", 48),
        ("palf", 50),
        ("ntscf", 60),
        ("23.976fps", 23.976),
        ("millisec", 1000),
        ("sec", 1),
        ("min", 1 / 60),
        ("hour", 1 / 3600),
    ],
)
def test_frames_per_second_are_told_for_every_unit_of_time(
    bench: Bench, unit: str, fps: float
) -> None:
    cmds.currentUnit(time=unit)
    try:
        assert bench.reader.info()["fps"] == pytest.approx(fps)
    finally:
        cmds.currentUnit(time="film")


def test_a_mesh_is_told_in_the_scenes_unit(bench: Bench) -> None:
    cmds.currentUnit(linear="m")
    try:
        mesh = bench.port(CHECK).mesh(bench.cube("Crate", 2.0))
        assert max(max(point) for point in mesh.points) == pytest.approx(1.0)
    finally:
        cmds.currentUnit(linear="cm")


def test_an_export_to_usd_carries_what_the_artist_names_and_nothing_of_ours(
    bench: Bench, with_usd: None
) -> None:
    path = bench.cube("Crate")
    (shape,) = cmds.listRelatives(path, shapes=True, fullPath=True)
    named = (("shot", "sc010"), ("USD_UserExportedAttributesJson", '{"shot": {}}'))
    for attribute, value in named:
        cmds.addAttr(shape, longName=attribute, dataType="string")
        cmds.setAttr(f"{shape}.{attribute}", value, type="string")
    file = bench.folder / "out.usda"
    bench.port(USD).export_usd(str(file), False)
    written = file.read_text("utf-8")
    assert "sc010" in written
    assert "callboard" not in written


# -- files --------------------------------------------------------------------------------------


def test_a_broken_file_says_that_the_scene_is_closed(bench: Bench) -> None:
    bench.cube("Here")
    file = bench.folder / "broken.ma"
    file.write_bytes(b"//Maya ASCII 2025 scene\nnothing that anybody can read;;;\n")
    with pytest.raises(HostError, match="the scene that was open is closed"):
        bench.port("filesystem.read").open(str(file))


def test_a_save_that_fails_keeps_the_name(bench: Bench) -> None:
    first = bench.folder / "first.ma"
    bench.port("filesystem.write").save(str(first))
    (bench.folder / "folder.ma").mkdir()
    with pytest.raises(HostError):
        bench.port("filesystem.write").save(str(bench.folder / "folder.ma"))
    assert bench.reader.info()["file"] == str(first)


# -- undo ---------------------------------------------------------------------------------------


@both(REAL)
def test_one_undo_of_the_artists_undoes_a_call(bench: Bench) -> None:
    undo = bench.host.undo
    assert undo is not None
    token = undo.begin("Callboard: scene__create_primitive")
    bench.cube("One")
    bench.editor.set_transform("One", [1, 2, 3], None, None)
    undo_id = undo.commit(token)
    assert cmds.undoInfo(query=True, undoName=True) == "Callboard: scene__create_primitive"
    cmds.undo()
    assert bench.reader.names() == []
    assert undo_id is not None
    assert undo.undo(undo_id) is False


def test_the_same_tool_twice_is_two_steps(bench: Bench) -> None:
    undo = bench.host.undo
    assert undo is not None
    ids = []
    for name in ("One", "Two"):
        token = undo.begin("Callboard: same")
        bench.cube(name)
        ids.append(undo.commit(token))
    token = undo.begin("Callboard: same")
    assert undo.commit(token) is None
    assert undo.undo(ids[1]) is True
    assert [each["name"] for each in bench.everything()] == ["One"]


def test_what_the_artist_did_since_is_not_undone(bench: Bench) -> None:
    undo = bench.host.undo
    assert undo is not None
    token = undo.begin("Callboard: ours")
    bench.cube("Ours")
    undo_id = undo.commit(token)
    cmds.polyCube(name="Theirs")
    assert undo_id is not None
    assert undo.undo(undo_id) is False
    assert len(bench.reader.names()) == 2


def test_what_the_artist_does_between_two_visits_is_left_alone(bench: Bench) -> None:
    def theirs() -> None:
        cmds.polyCube(name="Theirs")

    names = lambda: [one["name"] for one in bench.everything()]  # noqa: E731
    check_visits(bench.host.undo, bench.cube, theirs, names)


def test_what_the_artist_undoes_himself_is_told(bench: Bench) -> None:
    theirs = lambda: cmds.polyCube(name="Theirs")  # noqa: E731
    check_undone_by_the_artist(bench.host.undo, bench.cube, theirs, cmds.undo, cmds.redo)


@both(REAL)
def test_opening_a_file_can_not_be_rolled_back_and_says_so(bench: Bench) -> None:
    undo = bench.host.undo
    assert undo is not None
    file = str(bench.folder / "scene.ma")
    bench.port("filesystem.write").save(file)
    token = undo.begin("Callboard: open")
    bench.port("filesystem.read").open(file)
    assert undo.rollback(token) is False


@both(REAL)
def test_undo_switched_off_is_respected(bench: Bench) -> None:
    undo = bench.host.undo
    assert undo is not None
    cmds.undoInfo(state=False)
    token = undo.begin("Callboard: off")
    bench.cube("Here")
    assert undo.commit(token) == ""
    assert undo.rollback(undo.begin("Callboard: off")) is False
    cmds.undoInfo(state=True)


# -- animation ----------------------------------------------------------------------------------


def test_keys_of_another_rotate_order_are_refused(bench: Bench) -> None:
    path = bench.cube("Turned")
    cmds.setAttr(f"{path}.rotateOrder", 2)
    with pytest.raises(HostError, match="rotate order"):
        bench.port(ANIMATION).set_key(path, 1, None, [0, 90, 0], None)


def test_keys_on_a_locked_channel_are_all_taken_back(bench: Bench) -> None:
    path = bench.cube("Locked")
    cmds.setAttr(f"{path}.rotate", lock=True)
    keys = [{"frame": 1, "translate": [1, 1, 1], "rotate": [0, 1, 0]}]
    with pytest.raises(HostError):
        bench.call("animation__set_keys", {"name": "Locked", "keys": keys})
    assert bench.port(ANIMATION).keys(path) == []


# -- scripts ------------------------------------------------------------------------------------


def test_python_and_mel_run(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    code = "print('hello')\nmade = cmds.polyCube(name='Scripted')\n{'made': made[0], 'n': (1, 2)}"
    answer = bench.call("script__execute", {"code": code})
    value = {"made": "Scripted", "n": [1, 2]}
    assert answer == {"language": "python", "value": value, "created": ["|Scripted"]}
    assert capsys.readouterr().out == "hello\n"
    assert bench.call("script__execute", {"code": "1 + 2;", "language": "MEL"})["value"] == 3
    assert bench.call("script__execute", {"code": "x = 1"})["value"] is None
    assert bench.port(SCRIPT).languages() == ["python", "mel"]
    with pytest.raises(ValueError, match="python, mel"):
        bench.call("script__execute", {"code": "1", "language": "hscript"})


def test_a_script_that_raises_is_taken_back(bench: Bench) -> None:
    before = bench.everything()
    with pytest.raises(ZeroDivisionError):
        bench.call("script__execute", {"code": "cmds.polyCube()\n1 / 0"})
    assert bench.everything() == before
    with pytest.raises(RuntimeError):
        bench.call("script__execute", {"code": "this is no MEL", "language": "mel"})


# -- maya-modelling ------------------------------------------------------------------------------


def test_the_seeds_prompt_works(bench: Bench) -> None:
    bench.call("scene__create_primitive", {"kind": "cube", "name": "Crate"})
    bench.editor.select(["Crate"])
    edges = bench.call("maya_modelling__select_edges")
    assert edges["count"] == 12
    assert edges["edges"] == ["|Crate.e[0:11]"]
    done = bench.call("maya_modelling__bevel_edges", {"width": 0.2, "segments": 3})
    assert done["before"] == 6
    assert done["after"] > 6
    assert done["changed"] == ["|Crate"]
    assert bench.call("maya_modelling__delete_history", {"name": "Crate"})["verified"] is True
    counts = bench.call("maya_modelling__mesh_info", {"name": "Crate"})
    assert counts["faces"] == done["after"]


def test_edges_and_faces_are_chosen_by_name(bench: Bench) -> None:
    bench.cube("Crate")
    assert bench.call("maya_modelling__select_edges", {"edges": ["Crate.e[0:2]"]})["count"] == 3
    assert bench.call("maya_modelling__select_edges", {"names": ["Crate"]})["count"] == 12
    pulled = bench.call("maya_modelling__extrude_faces", {"faces": ["Crate.f[0]"], "distance": 2.0})
    assert pulled["after"] == pulled["before"] + 4
    size = bench.get("Crate")["bounds"]
    assert max(b - a for a, b in zip(size["min"], size["max"], strict=True)) == pytest.approx(4.0)
    smoothed = bench.call("maya_modelling__smooth", {"name": "Crate"})
    assert smoothed["after"] == 4 * smoothed["before"]


def test_wrong_parts_are_refused_and_nothing_changes(bench: Bench) -> None:
    bench.cube("Crate")
    bench.editor.select([])
    before = bench.everything()
    for tool, arguments in (
        ("select_edges", {}),
        ("select_edges", {"edges": ["Crate.e[99:100]"]}),
        ("select_edges", {"edges": ["Crate.e[0]; delete"]}),
        ("select_edges", {"edges": ["*.e[0]"]}),
        ("bevel_edges", {"width": 1}),
        ("bevel_edges", {"width": 0}),
        ("extrude_faces", {"faces": ["Crate.f[0]"], "distance": 0}),
        ("smooth", {"name": "persp"}),
    ):
        with pytest.raises((ValueError, HostError)):
            bench.call(f"maya_modelling__{tool}", arguments)
        assert bench.everything() == before, tool
    with pytest.raises(ObjectNotFound):
        bench.call("maya_modelling__mesh_info", {"name": "Nobody"})


def test_freezing_leaves_the_object_where_it_is(bench: Bench) -> None:
    bench.cube("Crate")
    bench.editor.set_transform("Crate", [1, 2, 3], [0, 45, 0], [2, 2, 2])
    before = bench.get("Crate")["bounds"]
    bench.call("maya_modelling__freeze_transforms", {"name": "Crate"})
    after = bench.get("Crate")
    assert after["scale"] == [1.0, 1.0, 1.0]
    assert after["bounds"]["max"] == pytest.approx(before["max"])


def test_the_ports_are_the_ones_of_the_contract(host: Any) -> None:
    assert {SCENE_READ, SCENE_MUTATE, ANIMATION, SCRIPT} <= set(host.ports)
    assert Path(host.skill_paths[0], "maya-modelling", "SKILL.md").is_file()


# -- rendering ----------------------------------------------------------------------------------


def scene_settings() -> list[Any]:
    """Return the settings that rendering must leave alone."""
    plugs = [f"defaultRenderGlobals.{name}" for name in ("animation", "imageFormat")]
    plugs += [f"defaultResolution.{name}" for name in ("width", "height", "deviceAspectRatio")]
    plugs.append("defaultColorMgtGlobals.outputTransformEnabled")
    return [
        *(cmds.getAttr(plug) for plug in plugs),
        cmds.getAttr("defaultRenderGlobals.imageFilePrefix") or "",
        cmds.workspace(fileRuleEntry="images"),
        cmds.currentTime(query=True),
        cmds.ls(selection=True),
        cmds.ls(type="camera"),
        cmds.file(query=True, modified=True),
        cmds.undoInfo(query=True, undoName=True),
        cmds.undoInfo(query=True, state=True),
    ]


def own_camera() -> str:
    path = cmds.ls(cmds.createNode("transform", name="shotCam"), long=True)[0]
    shape = cmds.createNode("camera", parent=path)
    cmds.setAttr(f"{shape}.renderable", True)
    return str(path)


def test_a_still_is_rendered_and_nothing_else_changes(bench: Bench) -> None:
    bench.cube("Here")
    camera = own_camera()
    cmds.setAttr("defaultRenderGlobals.currentRenderer", "mayaSoftware", type="string")
    cmds.setAttr("defaultRenderGlobals.animation", True)
    cmds.file(modified=False)
    before = scene_settings()
    file = bench.folder / "still.png"
    seen: list[str | None] = []
    watching = om.MSceneMessage.addCallback(
        om.MSceneMessage.kBeforeSoftwareRender, lambda _: seen.append(bench.host.blocked_by())
    )
    try:
        arguments = {"path": str(file), "width": 48, "height": 80, "frame": 7}
        answer = bench.call("render__still", arguments)
    finally:
        om.MMessage.removeCallback(watching)
    assert file.read_bytes()[16:24] == (48).to_bytes(4, "big") + (80).to_bytes(4, "big")
    assert (answer["frame"], answer["engine"], answer["camera"]) == (7, "mayaSoftware", camera)
    assert seen == ["rendering"]
    assert bench.host.blocked_by() is None
    assert scene_settings() == before
    assert list(bench.folder.iterdir()) == [file]


def test_a_turntable_is_no_undo_step_and_nothing_to_save(bench: Bench) -> None:
    bench.cube("Here")
    own_camera()
    cmds.file(modified=False)
    before = scene_settings()
    images = bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), 32, 32, 3)
    for _ in images:
        assert scene_settings() == before
    assert len(list(bench.folder.iterdir())) == 3


@pytest.mark.parametrize("size", [(64, 16), (16, 64)])
def test_a_turntables_camera_sees_everything_from_all_around(
    bench: Bench, size: tuple[int, int]
) -> None:
    bench.cube("Here")
    bench.editor.set_transform("Here", [40, 5, -3], None, [1, 9, 2])
    bounds = bench.get("Here")["bounds"]
    cmds.setAttr("defaultRenderGlobals.currentRenderer", "mayaSoftware", type="string")
    eyes: list[tuple[float, ...]] = []

    def watch(_: object) -> None:
        matrix = cmds.getAttr("callboardTurntable.matrix")
        axes = [matrix[i : i + 3] for i in (0, 4, 8)]
        shape = cmds.listRelatives("callboardTurntable", shapes=True)[0]
        inches, focal = (
            cmds.getAttr(f"{shape}.{name}") for name in ("horizontalFilmAperture", "focalLength")
        )
        near, far = (cmds.getAttr(f"{shape}.{name}ClipPlane") for name in ("near", "far"))
        wide = inches * 25.4 / 2 / focal
        box = (bounds["min"], bounds["max"])
        if holds(axes, matrix[12:15], wide, size[0] / size[1], (near, far), box) and axes[1][1] > 0:
            eyes.append(tuple(round(value, 3) for value in matrix[12:15]))

    watching = om.MSceneMessage.addCallback(om.MSceneMessage.kBeforeSoftwareRender, watch)
    try:
        list(bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), *size, 5))
    finally:
        om.MMessage.removeCallback(watching)
    assert len(set(eyes)) == 5


def test_without_a_camera_to_render_a_still_is_refused(bench: Bench) -> None:
    for shape in cmds.ls(type="camera"):
        cmds.setAttr(f"{shape}.renderable", False)
    with pytest.raises(HostError, match="no camera in the scene"):
        bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 32, None)


def test_an_empty_scene_has_no_turntable(bench: Bench) -> None:
    own_camera()
    cmds.setAttr(f"{bench.cube('Hidden')}.visibility", False)
    images = bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), 32, 32, 3)
    with pytest.raises(HostError, match="nothing that can be rendered"):
        next(images)


@pytest.mark.skipif(REAL, reason="the available renderers depend on the installation")
@both(REAL)
def test_arnold_s_own_settings_come_back(bench: Bench) -> None:
    cmds.loadPlugin("mtoa", quiet=True)
    cmds.setAttr("defaultRenderGlobals.currentRenderer", "arnold", type="string")
    driver = [f"defaultArnoldDriver.{name}" for name in ("aiTranslator", "colorManagement")]
    before = [cmds.getAttr(plug) for plug in driver]
    answer = bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 16, None)
    assert answer["engine"] == "arnold"
    assert [cmds.getAttr(plug) for plug in driver] == before != ["png", 1]


def test_settings_that_are_locked_are_told_and_the_others_come_back(bench: Bench) -> None:
    own_camera()
    cmds.setAttr("defaultResolution.height", lock=True)
    before = scene_settings()
    with pytest.raises(HostError, match=r"could not render.*locked"):
        bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 16, 3)
    assert scene_settings() == before
    assert list(bench.folder.iterdir()) == []


@pytest.mark.skipif(REAL, reason="the available renderers depend on the installation")
@both(REAL)
@pytest.mark.parametrize(
    ("asked", "with_windows", "without"),
    [
        ("mayaHardware2", "mayaHardware2", "mayaHardware2"),
        ("arnold", "arnold", "arnold"),
        ("vray", "mayaHardware2", "mayaSoftware"),
    ],
)
def test_the_scenes_renderer_renders(
    bench: Bench, asked: str, with_windows: str, without: str
) -> None:
    if asked == "arnold":
        cmds.loadPlugin("mtoa", quiet=True)
    cmds.setAttr("defaultRenderGlobals.currentRenderer", asked, type="string")
    before = scene_settings()
    answer = bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 16, None)
    assert answer["engine"] == (without if cmds.about(batch=True) else with_windows)
    # The scene has no lights. Only Arnold renders such a scene black.
    assert ("doubt" in answer) == (asked == "arnold")
    assert (bench.folder / "still.png").is_file()
    assert scene_settings() == before
    assert cmds.getAttr("defaultRenderGlobals.currentRenderer") == asked


@pytest.mark.skipif(REAL, reason="Maya's own graphics card can't be removed")
def test_what_the_renderer_says_is_told_and_nothing_is_left(bench: Bench) -> None:
    from maya._session import session

    session.graphics_card = False
    cmds.setAttr("defaultRenderGlobals.currentRenderer", "mayaHardware2", type="string")
    before = scene_settings()
    (bench.folder / "still.png").write_bytes(b"an older one")
    with pytest.raises(HostError, match=r"could not render 'still.png'.*graphics device"):
        bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 16, 3)
    assert scene_settings() == before
    assert [file.read_bytes() for file in bench.folder.iterdir()] == [b"an older one"]
    assert bench.host.blocked_by() is None


def test_commands_are_looked_up_and_nothing_is_to_be_undone(bench: Bench) -> None:
    bench.cube("Cube")
    before = cmds.undoInfo(query=True, undoName=True)
    (cube,) = bench.call("docs__lookup", {"words": "cmds.polyCube", "limit": 1})["entries"]
    assert {"name": "axis", "short": "ax", "type": "Length Length Length"} in cube["flags"]
    assert cmds.undoInfo(query=True, undoName=True) == before
    (camera,) = bench.call("docs__lookup", {"words": "camera", "limit": 1})["entries"]
    assert camera["kind"] == "node type"
    assert "focalLength" in camera["attributes"]


def test_a_short_name_is_the_attribute_that_it_stands_for(bench: Bench) -> None:
    asked = {"name": bench.cube("Cube"), "attribute": "tx"}
    assert bench.call("attributes__get", asked)["writable"] is False
    with pytest.raises(HostError, match="use scene__transform to place objects"):
        bench.call("attributes__set", {**asked, "value": 3.0})
    assert cmds.getAttr("Cube.translateX") == 0


def test_several_numbers_are_one_attribute(bench: Bench) -> None:
    asked = {"name": bench.cube("Cube"), "attribute": "rotateAxis", "value": [0.0, 45.0, 0.0]}
    assert bench.call("attributes__set", asked)["verified"]
    assert cmds.getAttr("Cube.rotateAxis")[0] == (0.0, 45.0, 0.0)


def test_mayas_own_sets_are_no_groups_and_layers_hide(bench: Bench) -> None:
    assert bench.call("structure__list_groups")["total"] == 0
    path = bench.cube("Cube")
    layer = cmds.createDisplayLayer(path, name="Props", noRecurse=True)
    cmds.setAttr(f"{layer}.visibility", False)
    with pytest.raises(HostError, match="a display layer hides 'Cube'"):
        bench.call("structure__set_visibility", {"objects": [path], "visible": True})
