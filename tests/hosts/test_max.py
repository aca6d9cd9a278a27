"""Tests the 3ds Max adapter, on the double or, under 3dsmaxbatch, in 3ds Max itself."""

from __future__ import annotations

from collections.abc import Iterator
from math import radians, tan
from pathlib import Path
from typing import Any

import pytest
from camera_view import holds
from max_rig import REAL, max_host, new_max, pymxs

from callboard.errors import CapabilityMissing, HostError
from callboard.host import (
    ANIMATION,
    ATTRIBUTES,
    RENDER,
    SCRIPT,
    STRUCTURE,
    USD,
    VIEWPORT,
    AmbiguousName,
    ObjectNotFound,
)
from callboard_testing.checks.samples import LAYERED, LOCKED, REFERENCED
from callboard_testing.compliance import Bench, Check
from hosts.places import both, every_check, place, run_check
from hosts.visits import check_visits
from needed import missing

rt = pymxs.runtime


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[Any]:
    new_max(windows=place(request, REAL) == "windows", usd=missing("pxr") is None)
    with max_host(lambda fn: None) as running:
        yield running
    assert REAL or pymxs._session.session.snapshots == 0, "some copies of meshes were not freed"


@pytest.mark.skipif(REAL, reason="the double's messages")
def test_a_new_scene_is_told_as_a_project(host: Any) -> None:
    announced: list[str] = []
    stop = host.watch(announced.append)
    for event in ("systemPostNew", "systemPostReset", "filePostOpen", "filePostSave"):
        announced.clear()
        pymxs._session.session.tell(event)
        assert "project" in announced, event
    stop()


@pytest.fixture
def bench(host: Any, tmp_path: Path) -> Bench:
    return Bench(host, tmp_path.resolve(), {LOCKED: _locked, REFERENCED: _xref, LAYERED: _layered})


def _locked(bench: Bench) -> str:
    path = bench.cube("Locked")
    rt.setTransformLockFlags(rt.getNodeByName("Locked"), rt.Name("all"))
    return path


def _xref(bench: Bench) -> str:
    """Return a lid on a ball, both XRefs of ``ball.max``."""
    file = str(bench.folder / "ball.max")
    rt.resetMaxFile(rt.Name("noPrompt"))
    ball = bench.cube("Ball")
    bench.call("scene__set_material_color", {"name": ball, "color": [1, 0, 0]})
    bench.editor.set_parent(bench.cube("Lid"), ball, keep_world=True)
    assert rt.saveMaxFile(file, quiet=True)
    rt.resetMaxFile(rt.Name("noPrompt"))
    assert rt.objXRefMgr.AddXRefItemsFromFile(file)
    return "/Ball"


def _layered(bench: Bench) -> str:
    """Return a hat on a hero. The hat is in a separate layer, which is switched off."""
    path = bench.cube("Hero")
    hat = bench.editor.set_parent(bench.cube("Hat"), path, keep_world=True)
    layers = [rt.LayerManager.newLayerFromName(bench.folder.name + end) for end in "ab"]
    for layer, name in zip(layers, ("Hero", "Hat"), strict=True):
        layer.addNode(rt.getNodeByName(name, exact=True, ignoreCase=False, all=True)[0])
    layers[1].on = False
    assert not bench.get(hat)["visible"]
    return path


@every_check(REAL)
def test_compliance(check: Check, bench: Bench) -> None:
    run_check(check, bench, REAL)


# -- ports --------------------------------------------------------------------------------------


@both(REAL)
def test_a_viewport_needs_windows(bench: Bench) -> None:
    windows = not rt.maxOps.isInNonInteractiveMode()
    assert (VIEWPORT in bench.host.ports) is windows
    assert bench.host.identity.headless is not windows
    if not windows:
        with pytest.raises(CapabilityMissing, match="viewport"):
            bench.call("viewport__capture")
        return
    # The view is 4:3. A wide picture and a tall one both show all of it.
    for width, height in ((321, 123), (60, 200)):
        data = bench.port(VIEWPORT).capture(width, height)
        assert data[16:24] == width.to_bytes(4, "big") + height.to_bytes(4, "big")
    assert pymxs._session.session.bitmaps == 0


@pytest.mark.skipif(REAL, reason="3ds Max's own component can't be removed")
def test_usd_needs_its_component() -> None:
    new_max(windows=False, usd=False)
    with max_host(lambda fn: None) as host:
        assert USD not in host.ports
        assert host.plug_ins[USD].name == "USD for 3ds Max"


@pytest.mark.skipif(REAL, reason="3ds Max's own plug-in can't be removed")
def test_what_fbx_can_do_is_asked(bench: Bench) -> None:
    def told() -> Any:
        return bench.call("exchange__formats")["formats"][1]

    session = pymxs._session.session
    assert told()["export"] == [".fbx"]
    session.units[1] = 2.0
    assert told()["export"] == []
    assert "system unit" in told()["missing"]
    session.units[1] = 1.0
    session.fbx = {}
    assert told()["import"] == []
    assert "plug-in" in told()["missing"]


@pytest.mark.skipif(REAL, reason="only the double reports the settings it got")
def test_an_export_is_no_change_and_leaves_the_artists_settings(bench: Bench) -> None:
    session = pymxs._session.session
    bench.cube("Crate")
    rt.setSaveRequired(False)
    kept = {kind: dict(of) for kind, of in session.fbx.items()}
    steps = len(session.undo)
    file = str(bench.folder / "crate.fbx")
    bench.call("exchange__export", {"path": file, "objects": ["Crate"]})
    assert (rt.getSaveRequired(), len(session.undo)) == (False, steps)
    bench.call("exchange__import", {"path": file})
    assert session.fbx == kept


def test_attributes_are_the_properties_of_what_it_is_made_of(bench: Bench) -> None:
    lamp = rt.Omnilight(name="Lamp")
    set_ = {"name": "Lamp", "attribute": "multiplier", "value": 2}
    assert bench.call("attributes__set", set_)["verified"]
    assert lamp.multiplier == 2.0
    color = {"name": "Lamp", "attribute": "rgb", "value": [255, 128, 0]}
    told = bench.call("attributes__set", color)["attribute"]
    assert (told["type"], told["value"]) == ("color", [255, 128, 0])
    cube = bench.cube("Cube")
    assert {"width", "length", "height"} <= {*bench.port(ATTRIBUTES).names(cube)}
    before = bench.everything()
    for attribute, value in (("width", "wide"), ("width", [1, 2]), ("mood) (rm", 1), ("far", 1e39)):
        with pytest.raises(HostError):
            bench.port(ATTRIBUTES).set(cube, attribute, value)
    assert bench.everything() == before


def test_a_text_of_3ds_maxs_own_is_not_set(bench: Bench) -> None:
    path = bench.sample(REFERENCED)
    asked = {"name": path, "attribute": "srcFileName", "value": "/etc/passwd"}
    with pytest.raises(HostError, match="may name a file"):
        bench.call("attributes__set", asked)
    assert not bench.port(ATTRIBUTES).get(path, "srcFileName")["writable"]


def test_a_failed_call_leaves_the_selection_sets(bench: Bench) -> None:
    one, other = bench.cube("One"), bench.cube("Other")
    bench.call("structure__create_group", {"name": "Props", "objects": [one]})
    before = bench.call("structure__list_groups")
    structure, undo = bench.port(STRUCTURE), bench.host.undo
    token = undo.begin("Callboard: test")
    structure.add("Props", [other])
    structure.create_group("Second")
    bench.editor.delete([one])
    assert undo.rollback(token) is True
    assert bench.call("structure__list_groups") == before
    assert {str(each.name) for each in rt.selectionSets} == {"Props"}


def test_the_project_is_the_project_folder(host: Any) -> None:
    (root,) = host.project_roots()
    assert root == str(Path(str(rt.pathConfig.getCurrentProjectFolder())))


def test_who_it_is(host: Any) -> None:
    assert host.identity.kind == "3dsmax"
    if not REAL:
        assert host.identity.version == "2025"


# -- the scene, where 3ds Max differs -------------------------------------------------------------


def test_an_xref_is_the_scenes_own_but_for_what_it_is_made_of(bench: Bench) -> None:
    path = bench.sample(REFERENCED)
    assert bench.get(path)["type"] == "xrefobject"
    assert bench.get(path)["children"] == ["/Ball/Lid"]
    for tool, asked in (
        ("scene__transform", {"translate": [1, 2, 3]}),
        ("scene__set_material_color", {"color": [0.25, 0.5, 1]}),
    ):
        assert bench.call(tool, {"name": path, **asked})["verified"]
    # The controller belongs to the other file until it is baked.
    keys = {"name": "Lid", "keys": [{"frame": 1, "translate": [5, 0, 0]}]}
    with pytest.raises(HostError, match=r"XRef_Controller controller.*bake it first"):
        bench.call("animation__set_keys", keys)
    bench.call("animation__bake", {"names": ["Lid"], "start": 1, "end": 2})
    assert bench.call("animation__set_keys", keys)["verified"]
    assert bench.call("scene__rename", {"name": path, "new_name": "Mine"})["verified"]
    assert bench.call("scene__delete", {"name": "Mine"})["verified"]
    assert bench.reader.names() == []


@pytest.mark.skipif(REAL, reason="3ds Max itself can't be made to do this")
def test_an_xref_that_a_script_does_not_move_is_no_success(bench: Bench) -> None:
    path = bench.sample(REFERENCED)
    before = bench.everything()
    pymxs._session.session.xrefs_move = False
    with pytest.raises(HostError):
        bench.call("scene__transform", {"name": path, "translate": [1, 2, 3]})
    assert bench.everything() == before


def test_a_copy_is_in_the_layer_that_hides_its_original(bench: Bench) -> None:
    path = bench.sample(LAYERED)
    copy = bench.call("scene__duplicate", {"name": path, "new_name": "Twin"})["object"]
    (hat,) = copy["children"]
    assert copy["visible"]
    assert not bench.get(hat)["visible"]


def test_twins_are_told_apart_by_their_handle(bench: Bench) -> None:
    rt.Box(name="Twin")
    rt.Box(name="Twin")
    paths = bench.reader.names()
    assert len(set(paths)) == 2
    assert all(path.startswith("/Twin@") for path in paths)
    with pytest.raises(AmbiguousName) as refused:
        bench.get("Twin")
    assert sorted(refused.value.paths) == sorted(paths)
    assert [bench.get(path)["path"] for path in paths] == paths
    assert [each["path"] for each in bench.reader.summaries()] == paths
    bench.editor.delete([paths[0]])
    assert bench.reader.names() == ["/Twin"]
    with pytest.raises(ObjectNotFound):
        bench.get(paths[0])


def test_names_that_could_not_be_found_again_are_refused(bench: Bench) -> None:
    for name in ("a/b", "a@1", "", " a", "a\n"):
        with pytest.raises(HostError, match="can't be a name"):
            bench.editor.create("cube", name, {"size": 1.0})
    assert bench.reader.names() == []
    # 3ds Max allows spaces and other alphabets.
    assert bench.editor.create("cube", "Große Kiste 1", {"size": 1.0}) == "/Große Kiste 1"


def test_a_camera_has_no_colour_and_no_bounds(bench: Bench) -> None:
    camera = rt.Targetcamera(name="Shot")
    with pytest.raises(HostError, match="no color"):
        bench.editor.set_color(str(camera.name), [1, 0, 0])
    shot = bench.get("Shot")
    assert (shot["type"], shot["bounds"], shot["color"]) == ("targetcamera", None, None)


def test_a_texture_is_no_colour_until_it_is_replaced(bench: Bench) -> None:
    bench.cube("Painted")
    bench.editor.set_color("Painted", [1, 0, 0])
    rt.getNodeByName("Painted").material.base_color_map = rt.Checker()
    assert bench.get("Painted")["color"] is None
    bench.editor.set_color("Painted", [0, 1, 0])
    assert bench.get("Painted")["color"] == pytest.approx([0, 1, 0])


def test_a_modifier_hides_no_primitive(bench: Bench) -> None:
    bench.cube("Crate")
    rt.addModifier(rt.getNodeByName("Crate"), rt.Shell())
    assert bench.get("Crate")["type"] == "cube"


def test_a_hidden_object_is_not_visible(bench: Bench) -> None:
    bench.cube("Hidden")
    rt.getNodeByName("Hidden").isHidden = True
    assert bench.get("Hidden")["visible"] is False


def test_what_the_artist_locked_is_neither_keyed_nor_baked_nor_moved_by_a_parent(
    bench: Bench,
) -> None:
    bench.cube("Above")
    bench.editor.set_transform("Above", [5, 0, 0], None, None)
    bench.cube("Locked")
    rt.setTransformLockFlags(rt.getNodeByName("Locked"), rt.Name("all"))
    before = bench.everything()
    for tool, asked in (
        ("animation__set_keys", {"keys": [{"frame": 1, "rotate": [0, 9, 0]}]}),
        ("scene__set_parent", {"parent": "Above", "keep_world": False}),
    ):
        with pytest.raises(HostError, match=r"has a lock on its .* unlock it"):
            bench.call(tool, {"name": "Locked", **asked})
    with pytest.raises(HostError, match="has a lock"):
        bench.call("animation__bake", {"names": ["Locked"], "start": 0, "end": 2})
    assert bench.everything() == before
    # The object keeps its position in the world, and everything but the transform may change.
    assert bench.call("scene__set_parent", {"name": "Locked", "parent": "Above"})["verified"]
    bench.call("scene__rename", {"name": "Locked", "new_name": "Still"})
    rt.setTransformLockFlags(rt.getNodeByName("Still"), rt.Name("none"))
    assert bench.call("scene__transform", {"name": "Still", "translate": [1, 2, 3]})["verified"]


@pytest.mark.skipif(REAL, reason="the artist's units may not be changed")
def test_units_are_told(bench: Bench) -> None:
    session = pymxs._session.session
    for unit, scale, meters in (
        ("inches", 1.0, 0.0254),
        ("feet", 1.0, 0.3048),
        ("miles", 1.0, 1609.344),
        ("millimeters", 1.0, 0.001),
        ("centimeters", 10.0, 0.1),
        ("meters", 1.0, 1.0),
        ("kilometers", 1.0, 1000.0),
    ):
        session.units = [unit, scale]
        assert bench.reader.info()["units_per_meter"] == pytest.approx(1 / meters)
        # FBX has these units, apart from miles and multiples.
        written = [] if unit == "miles" or scale != 1.0 else [".fbx"]
        assert bench.call("exchange__formats")["formats"][1]["export"] == written


# -- files --------------------------------------------------------------------------------------


def test_a_broken_file_is_an_error(bench: Bench) -> None:
    bench.cube("Here")
    file = bench.folder / "broken.max"
    file.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 nothing that anybody can read")
    with pytest.raises(HostError, match="may be closed"):
        bench.port("filesystem.read").open(str(file))
    # The host doesn't stay busy forever, because 3ds Max sends a separate event if an operation
    # fails.
    assert bench.host.blocked_by() is None


@pytest.mark.skipif(REAL, reason="3ds Max itself keeps its settings")
def test_a_setting_of_the_fbx_plug_in_that_does_not_stay_is_told(bench: Bench) -> None:
    bench.cube("Crate")
    file = str(bench.folder / "crate.fbx")
    bench.call("exchange__export", {"path": file})
    # Both plug-ins were loaded before their settings were used.
    bench.call("exchange__import", {"path": file})
    session = pymxs._session.session
    session.stubborn.add("ConvertUnit")
    with pytest.raises(HostError, match="keeps ConvertUnit at"):
        bench.call("exchange__export", {"path": file})


# -- undo ---------------------------------------------------------------------------------------


def _undo(bench: Bench) -> Any:
    assert bench.host.undo is not None
    return bench.host.undo


def _step(bench: Bench, name: str) -> str:
    token = _undo(bench).begin("Callboard: same")
    bench.cube(name)
    undo_id = _undo(bench).commit(token)
    assert undo_id is not None
    return str(undo_id)


@both(REAL)
def test_one_undo_of_the_artists_undoes_a_call(bench: Bench) -> None:
    undo_id = _step(bench, "One")
    if not REAL:
        assert [label for label, _ in pymxs._session.session.undo] == ["Callboard: same"]
    rt.execute("max undo")
    assert bench.reader.names() == []
    assert _undo(bench).undo(undo_id) is False


@pytest.mark.skipif(REAL, reason="3dsmaxbatch has no artist")
def test_what_the_artist_did_since_is_not_undone(bench: Bench) -> None:
    undo_id = _step(bench, "Ours")
    pymxs._session.session.artist(lambda: rt.Box(name="Theirs"))
    assert _undo(bench).undo(undo_id) is False
    assert len(bench.reader.names()) == 2


@pytest.mark.skipif(REAL, reason="3dsmaxbatch has no artist")
def test_nothing_is_done_again_once_the_artist_did_something(bench: Bench) -> None:
    undo_id = _step(bench, "Ours")
    assert _undo(bench).undo(undo_id) is True
    pymxs._session.session.artist(lambda: rt.Box(name="Theirs"))
    assert _undo(bench).redo(undo_id) is False
    assert len(bench.reader.names()) == 1


@pytest.mark.skipif(REAL, reason="3dsmaxbatch opens no step around a test")
def test_inside_a_step_that_somebody_opened_nothing_is_ours_to_undo(bench: Bench) -> None:
    def kept() -> list[str]:
        return [one["name"] for one in bench.everything()]

    with pymxs.undo(True, "a whole script"):
        token = _undo(bench).begin("Callboard: same")
        bench.cube("Kept")
        assert _undo(bench).commit(token) == ""
        token = _undo(bench).begin("Callboard: same")
        bench.cube("Failed")
        assert _undo(bench).rollback(token) is False
        assert kept() == ["Kept", "Failed"]
    rt.execute("max undo")
    assert kept() == []


@pytest.mark.skipif(REAL, reason="3ds Max's own reports can't be delayed")
def test_an_undo_that_is_reported_late_is_none_of_the_artists(bench: Bench) -> None:
    session = pymxs._session.session
    session.late_notices = True
    first, second = _step(bench, "First"), _step(bench, "Second")
    assert _undo(bench).undo(second) is True
    session.handle_events()
    assert bench.reader.names() == ["/First"]
    assert _undo(bench).redo(second) is True
    session.handle_events()
    assert _undo(bench).undo(second) is True
    session.handle_events()
    assert _undo(bench).undo(first) is True
    session.handle_events()
    assert bench.reader.names() == []


@pytest.mark.skipif(REAL, reason="3ds Max's own reports can't be delayed")
@pytest.mark.parametrize("scale", [[2, 1, 1], [1, 2, 1], [1, 1, 2]])
def test_a_late_undo_of_a_stretch_along_one_axis_is_seen(bench: Bench, scale: list[int]) -> None:
    pymxs._session.session.late_notices = True
    cube = bench.cube()
    token = _undo(bench).begin("Callboard: same")
    bench.editor.set_transform(cube, None, None, scale)
    assert _undo(bench).undo(_undo(bench).commit(token)) is True
    assert bench.get(cube)["scale"] == pytest.approx([1, 1, 1])


@pytest.mark.skipif(REAL, reason="3ds Max's own undo list can't be cleared")
def test_an_undo_that_does_nothing_is_none(bench: Bench) -> None:
    undo_id = _step(bench, "Kept")
    pymxs._session.session.undo.clear()
    assert _undo(bench).undo(undo_id) is False
    assert len(bench.reader.names()) == 1


def test_a_step_after_the_artists_own_undo_is_undone_alone(bench: Bench) -> None:
    _step(bench, "One")
    rt.execute("max undo")
    second = _step(bench, "Two")
    assert _undo(bench).undo(second) is True
    assert bench.reader.names() == []
    assert _undo(bench).undo(second) is False


@pytest.mark.skipif(REAL, reason="3dsmaxbatch has no artist")
def test_what_the_artist_does_between_two_visits_is_left_alone(bench: Bench) -> None:
    def theirs() -> None:
        pymxs._session.session.artist(lambda: rt.Box(name="Theirs"))

    names = lambda: [one["name"] for one in bench.everything()]  # noqa: E731
    check_visits(bench.host.undo, bench.cube, theirs, names)


@both(REAL)
def test_opening_a_file_can_not_be_rolled_back_and_says_so(bench: Bench) -> None:
    file = str(bench.folder / "scene.max")
    bench.port("filesystem.write").save(file)
    token = _undo(bench).begin("Callboard: open")
    bench.port("filesystem.read").open(file)
    assert _undo(bench).rollback(token) is False


# -- animation ----------------------------------------------------------------------------------


def test_the_timeline_is_set_and_read(bench: Bench) -> None:
    timeline = bench.call("animation__set_timeline", {"start": 10, "end": 500, "current": 12})
    assert (timeline["start"], timeline["end"], timeline["current"]) == (10, 500, 12)
    assert bench.call("animation__get_timeline") == timeline


def test_a_copy_has_the_keys_of_its_original_and_no_more(bench: Bench) -> None:
    bench.cube("Mover")
    for frame in (1, 5):
        bench.port(ANIMATION).set_key("Mover", frame, [frame, 0, 0], None, None)
    # The artist is at a frame that has no key.
    bench.call("animation__set_timeline", {"start": 0, "end": 50, "current": 25})
    copy = bench.editor.duplicate("Mover", "Copy")
    assert [key["frame"] for key in bench.port(ANIMATION).keys(copy)] == [1, 5]


def test_keys_are_written_listed_and_deleted(bench: Bench) -> None:
    bench.cube("Mover")
    keys = [
        {"frame": 10, "translate": [0, 0, 0]},
        {"frame": 24, "translate": [0, 10, 0], "rotate": [0, 60, 0]},
    ]
    assert bench.call("animation__set_keys", {"name": "Mover", "keys": keys})["keys"] == 2
    listed = bench.call("animation__list_keys", {"name": "Mover"})
    # There is no further key: 3ds Max's own key at the start was removed.
    assert [key["frame"] for key in listed["keys"]] == [10.0, 24.0]
    assert listed["keys"][0] == {"frame": 10.0, "translate": [0.0, 0.0, 0.0]}
    assert listed["keys"][1]["rotate"] == pytest.approx([0, 60, 0])
    bench.call("animation__set_timeline", {"current": 24})
    assert bench.get("Mover")["translate"] == pytest.approx([0, 10, 0])
    gone = bench.call("animation__delete_keys", {"name": "Mover", "start": 11, "end": 30})
    assert gone["keys"] == 1
    assert bench.call("animation__list_keys", {"name": "Mover"})["total"] == 1


def test_baking_frees_an_object_of_what_moves_it(bench: Bench) -> None:
    path = bench.cube("Mover")
    port = bench.port(ANIMATION)
    port.set_key(path, 0, [0, 0, 0], None, None)
    port.set_key(path, 4, [8, 0, 0], None, None)
    baked = bench.call("animation__bake", {"names": ["Mover"], "start": 0, "end": 4})
    assert baked["keys"] == 5
    keys = port.keys(path)
    assert [key["frame"] for key in keys] == [0, 1, 2, 3, 4]
    assert keys[2]["translate"] == pytest.approx([4, 0, 0])
    rt.getNodeByName("Mover").controller = rt.Link_Constraint()
    with pytest.raises(HostError, match="bake it first"):
        port.set_key(path, 1, [1, 1, 1], None, None)
    assert port.bake([path], 0, 2, 1) == [path]
    assert len(port.keys(path)) == 3


# -- scripts ------------------------------------------------------------------------------------


def test_python_and_maxscript_run(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    code = "print('hi')\nmade = rt.Box(name='Scripted')\n(made.name, 2)"
    answer = bench.call("script__execute", {"code": code})
    assert answer == {"language": "python", "value": ["Scripted", 2], "created": ["/Scripted"]}
    assert capsys.readouterr().out == "hi\n"
    assert bench.call("script__execute", {"code": "1 + 2", "language": "MAXScript"})["value"] == 3
    assert bench.port(SCRIPT).languages() == ["python", "maxscript"]
    with pytest.raises(HostError, match="Syntax error"):
        bench.call("script__execute", {"code": "no script (", "language": "maxscript"})


def test_a_script_that_raises_is_taken_back(bench: Bench) -> None:
    bench.cube("Here")
    before = bench.everything()
    with pytest.raises(ZeroDivisionError):
        bench.call("script__execute", {"code": "rt.Box()\n1 / 0"})
    assert bench.everything() == before


# -- max-modifiers ------------------------------------------------------------------------------


def test_a_stack_is_built_changed_and_collapsed(bench: Bench) -> None:
    bench.cube("Crate")
    call: Any = bench.call
    shell = call(
        "max_modifiers__add_modifier",
        {"name": "Crate", "type": "shell", "values": {"outeramount": 0.5}},
    )
    assert shell["after"] > shell["before"]
    smooth = call("max_modifiers__add_modifier", {"name": "Crate", "type": "turbosmooth"})
    assert smooth["after"] == 4 * smooth["before"]
    below = {"name": "Crate", "type": "bend", "values": {"BendAngle": 45}, "below": 1}
    stack = call("max_modifiers__add_modifier", below)["modifiers"]
    assert [modifier["type"] for modifier in stack] == ["TurboSmooth", "Bend", "Shell"]
    assert stack[1]["values"]["BendAngle"] == 45
    off = call("max_modifiers__set_modifier", {"name": "Crate", "index": 1, "enabled": False})
    assert off["after"] == shell["after"]
    more = {"name": "Crate", "index": 1, "enabled": True, "values": {"iterations": 2}}
    assert call("max_modifiers__set_modifier", more)["after"] == 16 * shell["after"]
    left = call("max_modifiers__remove_modifier", {"name": "Crate", "index": 1})
    assert [modifier["index"] for modifier in left["modifiers"]] == [1, 2]
    done = call("max_modifiers__collapse_stack", {"name": "Crate"})
    assert (done["modifiers"], done["after"]) == ([], shell["after"])
    modifiers = call("max_modifiers__list_modifiers", {"name": "Crate"})
    assert modifiers["base"] == "Editable_Poly"


def test_wrong_modifiers_and_values_are_refused_and_nothing_changes(bench: Bench) -> None:
    bench.cube("Crate")
    rt.Targetcamera(name="Shot")
    bench.call("max_modifiers__add_modifier", {"name": "Crate", "type": "turbosmooth"})
    before = bench.call("max_modifiers__list_modifiers", {"name": "Crate"})
    add = {"name": "Crate", "type": "bend"}
    for tool, arguments, words in (
        ("list_modifiers", {"name": "Shot"}, "can't have modifiers"),
        ("add_modifier", {"name": "Crate", "type": "deleteFile"}, "type"),
        ("add_modifier", {**add, "values": {"Angle": 3}}, "it has: BendAngle"),
        ("add_modifier", {**add, "below": 5}, "between 0 and 1"),
        ("set_modifier", {"name": "Crate", "index": 2, "enabled": True}, "has no modifier 2"),
        ("set_modifier", {"name": "Crate", "index": 1}, "give values"),
        ("set_modifier", {"name": "Crate", "index": 1, "values": {"iterations": True}}, "a number"),
        ("remove_modifier", {"name": "Crate", "index": 7}, "has no modifier 7"),
    ):
        with pytest.raises((ValueError, HostError), match=words):
            bench.call(f"max_modifiers__{tool}", arguments)
        assert bench.call("max_modifiers__list_modifiers", {"name": "Crate"}) == before, tool


# -- rendering ----------------------------------------------------------------------------------


def around_the_scene() -> list[Any]:
    """Return the state that rendering must leave alone."""
    return [
        [str(node.name) for node in rt.objects],
        [str(node.name) for node in rt.selection],
        float(rt.sliderTime.frame),
        bool(rt.getSaveRequired()),
        int(rt.theHold.GetGlobalPutCount()),
    ]


def test_a_still_is_rendered_and_nothing_else_changes(bench: Bench) -> None:
    rt.Freecamera(name="Shot")
    bench.cube("Here")
    rt.setSaveRequired(False)
    before = around_the_scene()
    file = bench.folder / "still.png"
    arguments = {"path": str(file), "width": 48, "height": 80, "frame": 7}
    answer = bench.call("render__still", arguments)
    assert file.read_bytes()[16:24] == (48).to_bytes(4, "big") + (80).to_bytes(4, "big")
    assert (answer["frame"], answer["camera"]) == (7, "/Shot")
    assert answer["engine"]
    assert around_the_scene() == before
    assert list(bench.folder.iterdir()) == [file]


@pytest.mark.skipif(REAL, reason="the available renderers depend on the installation")
def test_a_picture_that_arnold_renders_black_is_said_to_be(bench: Bench) -> None:
    rt.Freecamera(name="Shot")
    arguments = {"path": str(bench.folder / "still.png"), "width": 16, "height": 16}
    assert "no light" in bench.call("render__still", arguments)["doubt"]
    turn = {"path": str(bench.folder / "turn.png"), "frames": 2, "width": 16, "height": 16}
    bench.cube("Here")
    assert "no light" in bench.call("render__turntable", turn)["doubt"]
    rt.Omnilight(name="Lamp")
    assert "doubt" not in bench.call("render__still", arguments)


def test_a_turntable_is_no_undo_step_and_nothing_to_save(bench: Bench) -> None:
    bench.cube("Here")
    rt.setSaveRequired(False)
    before = around_the_scene()
    for _ in bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), 32, 32, 3):
        assert around_the_scene() == before
    assert len(list(bench.folder.iterdir())) == 3


@pytest.mark.parametrize("size", [(64, 16), (16, 64)])
def test_a_turntables_camera_sees_everything_from_all_around(
    bench: Bench, size: tuple[int, int]
) -> None:
    bench.cube("Here")
    bench.editor.set_transform("Here", [40, 5, -3], None, [1, 9, 2])
    bounds = bench.get("Here")["bounds"]
    eyes: list[tuple[float, ...]] = []

    def watch(_: object = None) -> None:
        camera = rt.getNodeByName("callboard turntable", exact=True)
        rows = [camera.transform.row1, camera.transform.row2, camera.transform.row3]
        axes = [[row.x, row.y, row.z] for row in rows]
        place = camera.transform.row4
        eye = (place.x, place.y, place.z)
        wide = tan(radians(camera.fov / 2))
        clip = (camera.nearclip, camera.farclip)
        box = (bounds["min"], bounds["max"])
        if holds(axes, eye, wide, size[0] / size[1], clip, box) and axes[1][2] > 0:
            eyes.append(tuple(round(value, 3) for value in eye))

    rt.callbacks.addScript(rt.Name("preRender"), watch, id=rt.Name("test"))
    try:
        list(bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), *size, 5))
    finally:
        rt.callbacks.removeScripts(id=rt.Name("test"))
    assert len(set(eyes)) == 5


def test_without_a_camera_a_still_is_refused(bench: Bench) -> None:
    bench.cube("Here")
    with pytest.raises(HostError, match="has no camera"):
        bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 32, None)


def test_what_is_hidden_has_no_turntable(bench: Bench) -> None:
    bench.cube("Hidden")
    rt.getNodeByName("Hidden", exact=True).isHidden = True
    with pytest.raises(HostError, match="nothing that can be rendered"):
        next(bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), 32, 32, 3))


@pytest.mark.skipif(REAL, reason="3dsmaxbatch has no active view")
@both(REAL)
def test_the_camera_of_the_view_and_the_frame_and_what_it_is_busy_with(bench: Bench) -> None:
    session = pymxs._session.session
    first, second = rt.Targetcamera(name="First"), rt.Freecamera(name="Second")
    rt.Targetobject(name="First.Target")
    with pytest.raises(HostError, match="nothing that can be rendered"):
        next(bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), 32, 32, 3))
    session.view_camera = "Second"
    seen: list[str | None] = []
    rt.callbacks.addScript(
        rt.Name("preRender"), lambda: seen.append(bench.host.blocked_by()), id=rt.Name("test")
    )
    rt.sliderTime = 3
    answer = bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 16, None)
    expected = second if session.windows else first
    assert answer["camera"] == f"/{expected.name}"
    assert session.rendered == [(3, expected.inode.handle)]
    assert (seen, bench.host.blocked_by()) == (["rendering"], None)
    assert session.bitmaps == 0


@pytest.mark.skipif(REAL, reason="nobody can cancel a render in 3dsmaxbatch")
def test_a_render_that_was_cancelled_leaves_the_older_picture(bench: Bench) -> None:
    session = pymxs._session.session
    rt.Freecamera(name="Shot")
    session.cancel_renders = True
    (bench.folder / "still.png").write_bytes(b"an older one")
    with pytest.raises(HostError, match="rendered no picture"):
        bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 16, None)
    assert [file.read_bytes() for file in bench.folder.iterdir()] == [b"an older one"]
    assert session.bitmaps == 0


def test_classes_and_their_properties_are_looked_up(bench: Bench) -> None:
    (box,) = bench.call("docs__lookup", {"words": "Box", "limit": 1})["entries"]
    assert (box["kind"], box["text"]) == ("class", "GeometryClass")
    assert "height" in [each["name"] for each in box["properties"]]
    (select,) = bench.call("docs__lookup", {"words": "select", "limit": 1})["entries"]
    assert (select["name"], select["kind"]) == ("select", "function")
