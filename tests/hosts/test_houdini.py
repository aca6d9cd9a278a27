"""Tests the Houdini adapter, on the double or, under hython, in Houdini itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("pxr")

from camera_view import holds
from houdini_rig import REAL, hou, houdini_host, new_houdini

from callboard.errors import CapabilityMissing, HostError
from callboard.host import ANIMATION, ATTRIBUTES, CAMERAS, RENDER, SCRIPT, USD, VIEWPORT
from callboard_testing.checks.samples import LAYERED, LOCKED, REFERENCED
from callboard_testing.compliance import Bench, Check, checks
from hosts.places import both, every_check, place, run_check
from hosts.visits import check_undone_by_the_artist, check_visits


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[Any]:
    new_houdini(windows=place(request, REAL) == "windows")
    with houdini_host(lambda fn: None) as running:
        yield running


@pytest.fixture
def bench(host: Any, tmp_path: Path) -> Bench:
    samples = {LOCKED: _locked, REFERENCED: _in_an_asset, LAYERED: _in_two_takes}
    return Bench(host, tmp_path.resolve(), samples)


def _locked(bench: Bench) -> str:
    path = bench.cube("Locked")
    for axis in "xyz":
        hou.node(path).parm(f"t{axis}").lock(True)
    return path


def _in_an_asset(bench: Bench) -> str:
    """Return a base, with a lid wired to it, in the locked asset ``/obj/Crate``."""
    crate = hou.node("/obj").createNode("subnet", "Crate")
    base, lid = (crate.createNode("geo", name) for name in ("Base", "Lid"))
    lid.setInput(0, base)
    file = str(bench.folder / "crate.hda")
    crate = crate.createDigitalAsset(name="crate", hda_file_name=file, description="Crate")
    crate.matchCurrentDefinition()
    assert crate.isLockedHDA()
    assert bench.get("/obj/Crate/Base")["children"] == ["/obj/Crate/Lid"]
    return "/obj/Crate/Base"


def _in_a_take(bench: Bench) -> str:
    """Return a hero with a hat wired to it, in a current take that includes neither."""
    hou.takes.setCurrentTake(hou.takes.rootTake())
    bench.empty()
    hero, hat = bench.cube("Hero"), bench.cube("Hat")
    hou.node(hat).parm("ty").set(3)
    bench.editor.set_parent(hat, hero, keep_world=True)
    light = hou.takes.take("light") or hou.takes.rootTake().addChildTake("light")
    hou.takes.setCurrentTake(light)
    return hero


def _in_two_takes(bench: Bench) -> str:
    """Return the hero of ``_in_a_take``, whose transform parameters are included in the take."""
    hero = _in_a_take(bench)
    place = hou.node(hero).parmTuple("t")
    hou.takes.currentTake().addParmTuple(place)
    place.set((5, 0, 0))
    return hero


@every_check(REAL)
def test_compliance(check: Check, bench: Bench) -> None:
    run_check(check, bench, REAL)


# -- ports --------------------------------------------------------------------------------------


@both(REAL)
def test_a_viewport_needs_windows(bench: Bench) -> None:
    windows = hou.isUIAvailable()
    assert (VIEWPORT in bench.host.ports) is windows
    assert bench.host.identity.headless is not windows
    if not windows:
        with pytest.raises(CapabilityMissing, match="viewport"):
            bench.call("viewport__capture")
        return
    data = bench.port(VIEWPORT).capture(321, 123)
    assert data[16:24] == (321).to_bytes(4, "big") + (123).to_bytes(4, "big")


@pytest.mark.skipif(REAL, reason="Houdini's own translators can't be removed")
def test_a_format_that_houdini_would_write_as_its_own_is_not_offered(bench: Bench) -> None:
    hou._session.session.no_translator.add(".ply")
    told = {each["format"]: each for each in bench.call("exchange__formats")["formats"]}
    assert told["stl"]["export"] == [".stl"]
    assert (told["ply"]["import"], told["ply"]["export"]) == ([], [])
    assert "no translator" in told["ply"]["missing"]


def test_the_project_is_job_and_hip(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    if not REAL:
        # $JOB isn't set, so it is the home folder, which isn't a project.
        assert bench.host.project_roots() == []
        hou._session.session.variables["JOB"] = "/projects/show"
        assert bench.host.project_roots() == [str(Path("/projects/show"))]
    file = bench.folder / f"scene{bench.port('filesystem.write').suffixes[0]}"
    bench.port("filesystem.write").save(str(file))
    assert str(bench.folder) in bench.host.project_roots()


# -- the scene, where Houdini differs -------------------------------------------------------------


def test_wires_are_the_hierarchy_and_a_subnet_is_one_too(bench: Bench) -> None:
    subnet = hou.node("/obj").createNode("subnet", "Group")
    inside = subnet.createNode("geo", "Inside")
    bench.cube("Outside")
    assert bench.get(inside.path())["parent"] == "/obj/Group"
    assert bench.get("Group")["children"] == ["/obj/Group/Inside"]
    moved = bench.editor.set_parent("Inside", "Outside", True)
    assert moved == "/obj/Inside"
    assert bench.get("Inside")["parent"] == "/obj/Outside"
    assert bench.editor.delete(["Outside"]) == ["/obj/Outside", "/obj/Inside"]


def test_moving_and_copying_leave_the_selection(bench: Bench) -> None:
    subnet = hou.node("/obj").createNode("subnet", "Group")
    subnet.createNode("geo", "Inside")
    bench.cube("Chosen")
    bench.editor.select(["Chosen"])
    bench.editor.set_parent("Inside", None, True)
    bench.editor.duplicate("Inside", None)
    assert bench.reader.selection() == ["/obj/Chosen"]


def test_what_a_locked_asset_holds_is_left_and_the_asset_is_the_scenes_own(bench: Bench) -> None:
    path = bench.sample(REFERENCED)
    mine = bench.cube("Mine")

    def state() -> list[Any]:
        return [*bench.everything(), bench.get(path), bench.get("/obj/Crate/Lid")]

    before = state()
    for tool, asked in (
        ("scene__transform", {"name": path, "translate": [7, 8, 9]}),
        ("scene__set_material_color", {"name": path, "color": [1, 0, 0]}),
        ("scene__rename", {"name": path, "new_name": "Other"}),
        ("scene__set_parent", {"name": path, "parent": None}),
        ("scene__set_parent", {"name": mine, "parent": path}),
        ("scene__duplicate", {"name": path, "new_name": "Twin"}),
        ("scene__delete", {"name": path}),
        ("animation__set_keys", {"name": path, "keys": [{"frame": 1, "scale": [2, 2, 2]}]}),
        ("animation__bake", {"names": [path], "start": 1, "end": 2}),
    ):
        with pytest.raises(HostError, match=r"locked asset /obj/Crate; .* Allow Editing"):
            bench.call(tool, asked)
        assert state() == before, tool
    asset = "/obj/Crate"
    assert bench.call("scene__transform", {"name": asset, "translate": [1, 2, 3]})["verified"]
    copy = bench.call("scene__duplicate", {"name": asset, "new_name": "Twin"})["object"]
    assert hou.node(copy["path"]).isLockedHDA()
    assert bench.call("scene__set_parent", {"name": mine, "parent": asset})["verified"]
    assert bench.call("scene__rename", {"name": asset, "new_name": "Box"})["verified"]
    assert bench.call("scene__delete", {"name": "Twin"})["verified"]
    hou.node("/obj/Box").allowEditingOfContents()
    assert bench.call("scene__transform", {"name": "Lid", "translate": [1, 0, 0]})["verified"]


@pytest.mark.parametrize(
    "check",
    [c for c in checks() if {LOCKED, REFERENCED} & set(c.needs)],
    ids=lambda check: check.id,
)
def test_the_checks_of_data_that_is_not_ours_hold_for_takes(check: Check, bench: Bench) -> None:
    Bench(bench.host, bench.folder, {LOCKED: _in_a_take, REFERENCED: _in_a_take}).run(check)


def test_what_the_current_take_does_not_include_is_refused(bench: Bench) -> None:
    hero = bench.sample(LAYERED)
    before = bench.everything()
    for tool, asked in (
        ("scene__transform", {"name": hero, "translate": [1, 2, 3], "scale": [2, 2, 2]}),
        ("scene__create_primitive", {"kind": "cube"}),
    ):
        with pytest.raises(HostError, match=r"current take, 'light',.*Takes pane.*'Main'"):
            bench.call(tool, asked)
        assert bench.everything() == before
    # The take's parameters are changed in it, and in no other take.
    moved = bench.call("scene__transform", {"name": hero, "translate": [1, 2, 3]})
    assert moved["object"]["translate"] == [1, 2, 3]
    hou.takes.setCurrentTake(hou.takes.rootTake())
    assert bench.get(hero)["translate"] == [0, 0, 0]
    hou.takes.setCurrentTake(hou.takes.take("light"))
    assert bench.get(hero)["translate"] == [1, 2, 3]


def test_houdinis_own_way_to_keep_the_place_stays_as_the_artist_has_it(bench: Bench) -> None:
    bench.cube("Parent")
    hou.node(bench.cube("Child")).parm("keeppos").set(1)
    bench.editor.set_transform("Parent", [5, 0, 0], None, None)
    bench.editor.set_parent("Child", "Parent", True)
    assert bench.get("Child")["translate"] == pytest.approx([-5, 0, 0])
    assert hou.node("/obj/Child").parm("keeppos").eval() == 1


def test_names_that_houdini_would_change_are_refused(bench: Bench) -> None:
    for name in ("a b", "1st", "ä", "", "a/b"):
        with pytest.raises(HostError, match="can't be a name"):
            bench.editor.create("cube", name, {"size": 1.0})
        if name:
            with pytest.raises(HostError, match="can't be a name"):
                bench.port(CAMERAS).create(name)
    assert bench.reader.names() == []


def test_another_order_a_scale_and_a_pretransform_are_read_and_written(bench: Bench) -> None:
    path = bench.cube("Turned")
    node = hou.node(path)
    node.parm("rOrd").set("zyx")
    node.parm("scale").set(2.0)
    node.setPreTransform(hou.hmath.buildTransform({"translate": (0, 5, 0)}))
    if REAL:
        bench.editor.set_transform(path, [1, 2, 3], [10, 20, 30], [1, 2, 3])
    node.parm("rOrd").set("xyz")
    bench.editor.set_transform(path, [1, 2, 3], [10, 20, 30], [1, 2, 3])
    crate = bench.get(path)
    assert crate["translate"] == pytest.approx([1, 2, 3])
    assert crate["rotate"] == pytest.approx([10, 20, 30])
    assert crate["scale"] == pytest.approx([1, 2, 3])


def test_a_locked_parameter_is_named(bench: Bench) -> None:
    path = bench.cube("Locked")
    for parm in hou.node(path).parmTuple("t"):
        parm.lock(True)
    with pytest.raises(HostError, match="locked"):
        bench.editor.set_transform(path, [1, 2, 3], None, None)


def test_attributes_are_parameters_and_run_no_code(bench: Bench) -> None:
    path = bench.call("cameras__create", {"name": "Cam"})["created"][0]
    told = bench.call("attributes__get", {"name": path, "attribute": "projection"})
    assert (told["type"], told["value"], told["writable"]) == ("menu", "perspective", True)
    bench.call("attributes__set", {"name": path, "attribute": "projection", "value": "ortho"})
    bench.call("attributes__set", {"name": path, "attribute": "res", "value": [640, 480]})
    assert hou.node(path).parmTuple("res").eval() == (640, 480)
    note = {"name": path, "attribute": "note", "value": "costs $5"}
    assert bench.call("attributes__set", note)["verified"]
    hou.node(path).parm("focal").lock(True)
    port = bench.port(ATTRIBUTES)
    assert not port.get(path, "focal")["writable"]
    assert not port.get(path, "t")["writable"]
    before = bench.everything()
    for attribute, value, why in (
        ("note", "`system('id')`", "would run"),
        ("code", "`system('id')`", "would run"),
        ("t", [1, 2, 3], "scene__transform"),
        ("projection", "fisheye", "one of perspective"),
        ("res", [640], "2 values of type int"),
        ("focal", 35, "locked"),
        ("alone", [1], "two or more"),
    ):
        asked = {"name": path, "attribute": attribute, "value": value}
        with pytest.raises(HostError, match=why):
            bench.call("attributes__set", asked)
    assert bench.everything() == before
    assert not {"code", "alone"} & {*port.names(path)}
    env = bench.call("lights__create", {"kind": "dome", "name": "Sky"})["created"][0]
    with pytest.raises(HostError, match="set_file"):
        bench.call("attributes__set", {"name": env, "attribute": "env_map", "value": "/etc/x.hdr"})


def test_a_null_has_no_colour_and_no_bounds(bench: Bench) -> None:
    null = hou.node("/obj").createNode("null", "Null")
    with pytest.raises(HostError, match="no color"):
        bench.editor.set_color(null.path(), [1, 0, 0])
    read = bench.get("Null")
    assert (read["type"], read["bounds"], read["color"]) == ("null", None, None)


def test_what_the_artist_made_is_recognised(bench: Bench) -> None:
    for name, kind in (("Ball", "sphere"), ("Ring", "torus"), ("Pipe", "tube")):
        hou.node("/obj").createNode("geo", name).createNode(kind)
    types = {each["name"]: each["type"] for each in bench.reader.summaries()}
    assert types == {"Ball": "sphere", "Ring": "torus", "Pipe": "cylinder"}
    hou.node("/obj/Ball").createNode("null").setDisplayFlag(True)
    assert bench.get("Ball")["type"] == "geo"


def test_units_are_told(bench: Bench) -> None:
    assert bench.reader.info()["units_per_meter"] == 1.0
    if not REAL:
        hou._session.session.unit_length = 0.01
        assert bench.reader.info()["units_per_meter"] == pytest.approx(100.0)


# -- files --------------------------------------------------------------------------------------


def test_a_broken_file_says_that_the_scene_is_closed(bench: Bench) -> None:
    bench.cube("Here")
    file = bench.folder / f"broken{bench.port('filesystem.write').suffixes[0]}"
    file.write_bytes(b"070707 nothing that anybody can read")
    with pytest.raises(HostError, match="the scene that was open is closed"):
        bench.port("filesystem.read").open(str(file))


@pytest.mark.skipif(REAL, reason="Houdini's own licence can't be changed")
@pytest.mark.parametrize(
    ("licence", "opens", "saves"),
    [
        ("Commercial", [".hip"], ".hip"),
        ("Indie", [".hip", ".hiplc"], ".hiplc"),
        ("Apprentice", [".hip", ".hiplc", ".hipnc"], ".hipnc"),
    ],
)
def test_a_file_never_changes_the_licence(
    licence: str, opens: list[str], saves: str, tmp_path: Path
) -> None:
    new_houdini(windows=False)
    hou._session.session.licence = licence
    with houdini_host(lambda fn: None) as host:
        files = host.ports["filesystem.read"]
        assert files.suffixes == (saves,)
        files.save(str(tmp_path / f"saved{saves}"))
        for suffix in (".hip", ".hiplc", ".hipnc"):
            file = tmp_path / f"scene{suffix}"
            file.write_bytes((tmp_path / f"saved{saves}").read_bytes())
            if suffix in opens:
                assert files.open(str(file))["object_count"] == 0
            else:
                with pytest.raises(HostError, match="license"):
                    files.open(str(file))


def test_menus_of_every_type_that_the_adapter_sets_are_told(bench: Bench) -> None:
    told = {
        "Driver": "ifd opengl",
        # The double has only version 2.0 of hlight.
        "Object": "cam envlight geo hlight" if REAL else "cam envlight geo",
        "Sop": "box grid normal sphere subdivide torus tube xform",
    }
    assert sorted(bench.host.acts["menus"]()) == [
        f"{category}/{name}" for category, names in told.items() for name in names.split()
    ]


def test_geometry_that_is_no_polygons_is_not_left_out_silently(bench: Bench) -> None:
    path = bench.editor.create("sphere", "Quadric", {"radius": 1.0})
    hou.node(path).displayNode().parm("type").set("prim")
    bench.cube("Box")
    with pytest.raises(HostError, match="isn't polygons"):
        bench.port(USD).export_usd(str(bench.folder / "out.usda"), False)
    for suffix in ("obj", "stl"):
        with pytest.raises(HostError, match="isn't polygons"):
            bench.call("exchange__export", {"path": str(bench.folder / f"out.{suffix}")})
    assert list(bench.folder.iterdir()) == []
    bench.editor.select(["Box"])
    assert bench.port(USD).export_usd(str(bench.folder / "out.usda"), True)["prims"] == 1


# -- undo ---------------------------------------------------------------------------------------


def _step(bench: Bench, name: str, label: str = "Callboard: same") -> str | None:
    undo = bench.host.undo
    assert undo is not None
    token = undo.begin(label)
    bench.cube(name)
    return undo.commit(token)


@pytest.mark.skipif(REAL, reason="hython itself decides if it keeps undo")
def test_where_nothing_can_be_undone_a_failed_call_says_so(tmp_path: Path) -> None:
    new_houdini(windows=False)
    hou._session.session.undo_can_be_kept = False
    with houdini_host(lambda fn: None) as running:
        bench = Bench(running, tmp_path.resolve())
        assert _step(bench, "One") is None
        undo = bench.host.undo
        assert undo is not None
        step = undo.begin("Callboard: other")
        bench.editor.create("cube", "Other", {"size": 1})
        assert undo.rollback(step) is False


@pytest.mark.skipif(REAL, reason="only the double can be started again")
def test_a_host_that_starts_leaves_the_scene_alone(tmp_path: Path) -> None:
    new_houdini(windows=False)
    with houdini_host(lambda fn: None):
        assert hou.undos.undoLabels() == ()
        assert not hou.hipFile.hasUnsavedChanges()
        assert hou.node("/obj").children() == ()


@both(REAL)
def test_one_undo_of_the_artists_undoes_a_call(bench: Bench) -> None:
    undo_id = _step(bench, "One", "Callboard: scene__create_primitive")
    assert hou.undos.undoLabels()[0] == "Callboard: scene__create_primitive"
    hou.undos.performUndo()
    assert bench.reader.names() == []
    assert undo_id is not None
    assert bench.host.undo is not None
    assert bench.host.undo.undo(undo_id) is False


def test_the_same_tool_twice_is_two_steps(bench: Bench) -> None:
    _step(bench, "One")
    second = _step(bench, "Two")
    undo = bench.host.undo
    assert undo is not None
    assert undo.commit(undo.begin("Callboard: same")) is None
    assert second is not None
    assert undo.undo(second) is True
    assert [each["name"] for each in bench.everything()] == ["One"]


@both(REAL)
def test_what_the_artist_did_since_is_not_undone(bench: Bench) -> None:
    undo_id = _step(bench, "Ours")
    hou.node("/obj").createNode("geo", "Theirs")
    assert undo_id is not None
    assert bench.host.undo is not None
    assert bench.host.undo.undo(undo_id) is False
    assert len(bench.reader.names()) == 2


@pytest.mark.skipif(REAL, reason="hython has no artist")
def test_what_the_artist_does_between_two_visits_is_left_alone(bench: Bench) -> None:
    def theirs() -> None:
        hou.node("/obj").createNode("geo", "Theirs")

    names = lambda: [one["name"] for one in bench.everything()]  # noqa: E731
    check_visits(bench.host.undo, bench.cube, theirs, names)


@pytest.mark.skipif(REAL, reason="hython has no artist")
def test_what_the_artist_undoes_himself_is_told(bench: Bench) -> None:
    def told(act: Callable[[], object]) -> Callable[[], None]:
        def pressed() -> None:
            act()
            hou._session.session.tell(hou._session.session.selection_callbacks, ())

        return pressed

    theirs = lambda: hou.node("/obj").createNode("geo", "Theirs")  # noqa: E731
    back, again = told(hou.undos.performUndo), told(hou.undos.performRedo)
    check_undone_by_the_artist(bench.host.undo, bench.cube, theirs, back, again)


@both(REAL)
def test_opening_a_file_can_not_be_rolled_back_and_says_so(bench: Bench) -> None:
    undo = bench.host.undo
    assert undo is not None
    file = str(bench.folder / f"scene{bench.port('filesystem.write').suffixes[0]}")
    bench.port("filesystem.write").save(file)
    token = undo.begin("Callboard: open")
    bench.port("filesystem.read").open(file)
    assert undo.rollback(token) is False


# -- animation ----------------------------------------------------------------------------------


def test_the_timeline_is_set_and_read(bench: Bench) -> None:
    timeline = bench.call("animation__set_timeline", {"start": 10, "end": 500, "current": 12})
    assert timeline == {"start": 10, "end": 500, "current": 12, "fps": 24.0}
    assert bench.call("animation__get_timeline") == timeline


def test_keys_are_written_listed_and_deleted(bench: Bench) -> None:
    bench.cube("Mover")
    keys = [
        {"frame": 1, "translate": [0, 0, 0]},
        {"frame": 24, "translate": [0, 10, 0], "rotate": [0, 90, 0]},
    ]
    assert bench.call("animation__set_keys", {"name": "Mover", "keys": keys})["keys"] == 2
    listed = bench.call("animation__list_keys", {"name": "Mover"})
    assert listed["keys"][0] == {"frame": 1.0, "translate": [0.0, 0.0, 0.0]}
    assert listed["keys"][1]["rotate"] == pytest.approx([0, 90, 0])
    bench.call("animation__set_timeline", {"current": 24})
    assert bench.get("Mover")["translate"] == pytest.approx([0, 10, 0])
    gone = bench.call("animation__delete_keys", {"name": "Mover", "start": 2, "end": 30})
    assert gone["keys"] == 1
    assert bench.call("animation__list_keys", {"name": "Mover"})["total"] == 1


def test_baking_keys_what_a_moving_parent_and_a_formula_cause(bench: Bench) -> None:
    path, parent = bench.cube("Mover"), bench.cube("Carrier")
    bench.editor.set_parent(path, parent, True)
    port = bench.port(ANIMATION)
    port.set_key(parent, 1, [0, 0, 0], None, None)
    port.set_key(parent, 5, [8, 0, 0], None, None)
    port.set_key(path, 1, None, [0, 0, 0], None)
    port.set_key(path, 5, None, [0, 80, 0], None)
    baked = bench.call("animation__bake", {"names": ["Mover"], "start": 1, "end": 5})
    assert baked["keys"] == 5
    keys = {key["frame"]: key for key in port.keys(path)}
    assert sorted(keys) == [1, 2, 3, 4, 5]
    # The values are local, so the parent's motion isn't in them.
    assert keys[3.0]["translate"] == pytest.approx([0, 0, 0], abs=1e-6)
    assert keys[5.0]["rotate"] == pytest.approx([0, 80, 0])


def test_a_formula_is_no_key(bench: Bench) -> None:
    path = bench.cube("Driven")
    key = hou.Keyframe()
    key.setFrame(1)
    key.setExpression("$F / 10", hou.exprLanguage.Hscript)
    hou.node(path).parm("tx").setKeyframe(key)
    assert bench.port(ANIMATION).keys(path) == []


def test_keys_of_an_object_with_a_pivot_are_refused(bench: Bench) -> None:
    path = bench.cube("Pivoted")
    hou.node(path).parm("px").set(3.0)
    with pytest.raises(HostError, match="pivot"):
        bench.port(ANIMATION).set_key(path, 1, None, [0, 90, 0], None)


# -- scripts ------------------------------------------------------------------------------------


def test_python_and_hscript_run(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    code = "print('hi')\nmade = hou.node('/obj').createNode('geo', 'Scripted')\n(made.name(), 2)"
    answer = bench.call("script__execute", {"code": code})
    assert answer == {"language": "python", "value": ["Scripted", 2], "created": ["/obj/Scripted"]}
    assert capsys.readouterr().out == "hi\n"
    result = bench.call("script__execute", {"code": "echo hello", "language": "HScript"})
    assert result["value"] is None
    assert capsys.readouterr().out == "hello\n"
    assert bench.port(SCRIPT).languages() == ["python", "hscript"]
    with pytest.raises(HostError, match="Unknown command"):
        bench.call("script__execute", {"code": "nosuchcommand", "language": "hscript"})


def test_a_script_that_raises_is_taken_back(bench: Bench) -> None:
    bench.cube("Here")
    before = bench.everything()
    with pytest.raises(ZeroDivisionError):
        bench.call("script__execute", {"code": "hou.node('/obj').createNode('geo')\n1 / 0"})
    assert bench.everything() == before


# -- houdini-networks ------------------------------------------------------------------------------


def test_a_chain_is_built_inspected_and_cooked(bench: Bench) -> None:
    bench.cube("Crate", 2.0)
    listed = bench.call("houdini_networks__list_nodes", {"network": "/obj/Crate"})
    assert [node["type"] for node in listed["nodes"]] == ["box"]
    assert listed["nodes"][0]["displayed"] is True
    matching = bench.call(
        "houdini_networks__find_node_types", {"network": "/obj/Crate", "text": "xf"}
    )
    assert "xform" in [type["name"] for type in matching["types"]]
    made = bench.call(
        "houdini_networks__create_node",
        {
            "network": "/obj/Crate",
            "type": "xform",
            "name": "raise",
            "inputs": [listed["nodes"][0]["path"]],
            "parms": {"t": [0, 1, 0], "sx": 2},
            "display": True,
        },
    )["node"]
    assert made["path"] == "/obj/Crate/raise"
    assert made["inputs"] == [listed["nodes"][0]["path"]]
    assert bench.get("Crate")["bounds"] == {"min": [-2, 0, -1], "max": [2, 2, 1]}
    read = bench.call("houdini_networks__get_node", {"path": made["path"]})
    assert read["parms"] == {"t": [0, 1, 0], "s": [2, 1, 1]}
    cooked = bench.call("houdini_networks__cook_node", {"path": made["path"]})
    assert (cooked["cooked"], cooked["points"], cooked["primitives"]) == (True, 8, 6)
    bench.call("houdini_networks__display_node", {"path": listed["nodes"][0]["path"]})
    assert bench.get("Crate")["bounds"]["max"] == [1, 1, 1]
    bench.call("houdini_networks__connect_nodes", {"path": made["path"], "source": None})
    assert bench.call("houdini_networks__get_node", {"path": made["path"]})["inputs"] == []
    gone = bench.call("houdini_networks__delete_nodes", {"paths": [made["path"]]})
    assert gone["deleted"] == [made["path"]]


def test_a_node_that_does_not_cook_says_why(bench: Bench) -> None:
    bench.cube("Crate")
    made = bench.call("houdini_networks__create_node", {"network": "/obj/Crate", "type": "file"})
    cooked = bench.call("houdini_networks__cook_node", {"path": made["node"]["path"]})
    assert cooked["cooked"] is False
    assert "Unable to read" in cooked["errors"][0]


def test_code_needs_the_artists_leave(bench: Bench) -> None:
    bench.cube("Crate")
    before = bench.call("houdini_networks__list_nodes", {"network": "/obj/Crate"})
    create: dict[str, Any] = {"network": "/obj/Crate"}
    for more in (
        {"type": "python", "parms": {"python": "import os"}},
        {"type": "file", "parms": {"file": "`system('touch /tmp/x')`"}},
    ):
        with pytest.raises(ValueError, match="script__execute"):
            bench.call("houdini_networks__create_node", {**create, **more})
        assert bench.call("houdini_networks__list_nodes", {"network": "/obj/Crate"}) == before
    wrangle = {"type": "attribwrangle", "parms": {"snippet": "@P.y += 1;"}}
    assert bench.call("houdini_networks__create_node", {**create, **wrangle})["verified"] is True


def test_files_are_set_by_a_tool_whose_path_is_checked(bench: Bench) -> None:
    bench.cube("Crate")
    create = {"network": "/obj/Crate", "type": "file"}
    with pytest.raises(ValueError, match="houdini_networks__set_file"):
        bench.call("houdini_networks__create_node", {**create, "parms": {"file": "/etc/passwd"}})
    node = bench.call("houdini_networks__create_node", create)["node"]["path"]
    for name in ("rock.bgeo", "rock.$F4.bgeo"):
        file = (bench.folder / name).as_posix()
        arguments = {"path": node, "parm": "file", "file": file}
        assert bench.call("houdini_networks__set_file", arguments)["verified"] is True
        assert hou.node(node).parm("file").unexpandedString() == file
    before = bench.call("houdini_networks__get_node", {"path": node})
    for parm, file, words in (
        ("file", "/x/$HOME/rock.bgeo", "variables other than"),
        ("file", "/x/$FF.bgeo", "variables other than"),
        ("file", "/x/`pwd`.bgeo", "can't contain expressions"),
        ("files", "/x/rock.bgeo", "no parameter 'files'"),
    ):
        with pytest.raises(ValueError, match=words):
            bench.call("houdini_networks__set_file", {"path": node, "parm": parm, "file": file})
        assert bench.call("houdini_networks__get_node", {"path": node}) == before


def test_wrong_nodes_types_and_parameters_are_refused(bench: Bench) -> None:
    bench.cube("Crate")
    before = bench.call("houdini_networks__list_nodes", {"network": "/obj/Crate"})
    box = before["nodes"][0]["path"]
    create = {"network": "/obj/Crate", "type": "xform"}
    for tool, arguments, words in (
        ("get_node", {"path": "/obj/Crat"}, "nodes are: Crate"),
        ("get_node", {"path": "../etc"}, "paths look like"),
        ("list_nodes", {"network": box}, "can't contain nodes"),
        ("create_node", {"network": "/obj/Crate", "type": "boxx"}, "Invalid node type"),
        ("create_node", {**create, "parms": {"tt": 1}}, "nearest: t"),
        ("create_node", {**create, "parms": {"t": [1, 2]}}, "Wrong number"),
        ("create_node", {**create, "inputs": ["/obj/Crate"]}, "different networks"),
        ("set_parms", {"path": box, "parms": {"type": "dodo"}}, "Invalid menu item"),
        ("connect_nodes", {"path": box, "source": box, "input": 5}, "Invalid input"),
        ("delete_nodes", {"paths": [box, "/obj/Nobody"]}, "there is no node"),
    ):
        with pytest.raises((ValueError, HostError), match=words):
            bench.call(f"houdini_networks__{tool}", arguments)
        assert bench.call("houdini_networks__list_nodes", {"network": "/obj/Crate"}) == before, tool


# -- rendering ----------------------------------------------------------------------------------


def around_the_scene() -> list[Any]:
    """Return the state that rendering must leave alone."""
    return [
        [node.path() for node in hou.node("/obj").allSubChildren()],
        [node.path() for node in hou.node("/out").children()],
        hou.frame(),
        [node.path() for node in hou.selectedNodes()],
        hou.undos.undoLabels(),
        hou.undos.areEnabled(),
    ]


def test_a_still_is_rendered_and_nothing_else_changes(bench: Bench) -> None:
    hou.node("/obj").createNode("cam", "shot_cam")
    bench.cube("Here")
    before = around_the_scene()
    file = bench.folder / "still.png"
    arguments = {"path": str(file), "width": 48, "height": 80, "frame": 7}
    answer = bench.call("render__still", arguments)
    assert file.read_bytes()[16:24] == (48).to_bytes(4, "big") + (80).to_bytes(4, "big")
    assert (answer["frame"], answer["camera"]) == (7, "/obj/shot_cam")
    assert around_the_scene() == before
    assert list(bench.folder.iterdir()) == [file]


def test_a_turntable_leaves_nothing_between_its_pictures(bench: Bench) -> None:
    bench.cube("Here")
    before = around_the_scene()
    for _ in bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), 32, 32, 3):
        assert around_the_scene() == before
    assert len(list(bench.folder.iterdir())) == 3


@pytest.mark.skipif(REAL, reason="only the double reports its renders")
@pytest.mark.parametrize("size", [(64, 16), (16, 64)])
def test_a_turntables_camera_sees_everything_from_all_around(
    bench: Bench, size: tuple[int, int]
) -> None:
    bench.cube("Here")
    bench.editor.set_transform("Here", [40, 5, -3], None, [1, 9, 2])
    bounds = bench.get("Here")["bounds"]
    eyes: list[tuple[float, ...]] = []

    def watch() -> None:
        camera = hou.node("/obj/callboard_turntable")
        matrix = camera.worldTransform().asTuple()
        axes = [matrix[i : i + 3] for i in (0, 4, 8)]
        wide = camera.parm("aperture").eval() / 2 / camera.parm("focal").eval()
        clip = (camera.parm("near").eval(), camera.parm("far").eval())
        box = (bounds["min"], bounds["max"])
        if holds(axes, matrix[12:15], wide, size[0] / size[1], clip, box) and axes[1][1] > 0:
            eyes.append(tuple(round(value, 3) for value in matrix[12:15]))

    hou._session.session.rendering.append(watch)
    list(bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), *size, 5))
    assert len(set(eyes)) == 5


def test_without_a_camera_a_still_is_refused(bench: Bench) -> None:
    bench.cube("Here")
    with pytest.raises(HostError, match="has no camera"):
        bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 32, None)


def test_what_is_hidden_has_no_turntable(bench: Bench) -> None:
    hou.node(bench.cube("Hidden")).setDisplayFlag(False)
    with pytest.raises(HostError, match="nothing that can be rendered"):
        next(bench.port(RENDER).turntable(str(bench.folder / "turn_#.png"), 32, 32, 3))


@pytest.mark.parametrize("name", ["$HIP.png", "`system('touch x')`.png", "a b.png"])
def test_houdini_expands_nothing_in_a_path(bench: Bench, name: str) -> None:
    hou.node("/obj").createNode("cam", "shot_cam")
    file = bench.folder / name.replace("/", "_")
    bench.port(RENDER).still(str(file), 32, 32, None)
    assert list(bench.folder.iterdir()) == [file]


@pytest.mark.skipif(REAL, reason="hython has neither windows nor another renderer")
@both(REAL)
def test_the_camera_that_is_looked_through_and_the_frame_and_the_renderer(bench: Bench) -> None:
    session = hou._session.session
    for name in ("first", "second"):
        hou.node("/obj").createNode("cam", name)
    session.view_camera = "/obj/second"
    port, seen = bench.port(RENDER), []
    session.rendering.append(lambda: seen.append(bench.host.blocked_by()))
    answer = port.still(str(bench.folder / "still.png"), 32, 16, None)
    assert answer["camera"] == ("/obj/second" if hou.isUIAvailable() else "/obj/first")
    assert answer["engine"] == "ifd"
    session.not_installed.add("ifd")
    if hou.isUIAvailable():
        assert port.still(str(bench.folder / "still.png"), 32, 16, 12)["engine"] == "opengl"
    else:
        with pytest.raises(HostError, match="OpenGL render node needs a GUI"):
            port.still(str(bench.folder / "still.png"), 32, 16, 12)
    assert session.rendered == [("ifd", 1, 1), ("opengl", 12, 12)][: 1 + hou.isUIAvailable()]
    assert (seen, bench.host.blocked_by()) == (["rendering"] * len(session.rendered), None)


@pytest.mark.skipif(REAL, reason="Houdini's own graphics card can't be removed")
@pytest.mark.parametrize("host", ["windows"], indirect=True)
def test_what_the_renderer_says_is_told_and_nothing_is_left(bench: Bench) -> None:
    session = hou._session.session
    hou.node("/obj").createNode("cam", "shot_cam")
    session.not_installed.add("ifd")
    session.graphics_card = False
    before = around_the_scene()
    (bench.folder / "still.png").write_bytes(b"an older one")
    with pytest.raises(HostError, match=r"could not render 'still.png'.*GL context"):
        bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 16, 3)
    session.not_installed.add("opengl")
    with pytest.raises(HostError, match="has no Mantra"):
        bench.port(RENDER).still(str(bench.folder / "still.png"), 32, 16, 3)
    assert around_the_scene() == before
    assert [file.read_bytes() for file in bench.folder.iterdir()] == [b"an older one"]
    assert bench.host.blocked_by() is None


def test_node_types_and_the_module_are_looked_up(bench: Bench) -> None:
    (box,) = bench.call("docs__lookup", {"words": "Sop/box", "limit": 1})["entries"]
    size = next(each for each in box["parameters"] if each["name"] == "size")
    assert (size["type"], size["length"]) == ("float", 3)
    (method,) = bench.call("docs__lookup", {"words": "hou.Node.setInput", "limit": 1})["entries"]
    assert method["kind"] == "method"


@pytest.mark.skipif(REAL, reason="only the double makes smart bundles like this")
def test_a_bundle_that_follows_a_pattern_is_not_changed(bench: Bench) -> None:
    cube = bench.cube("Cube")
    hou.addNodeBundle("Smart")
    hou.session.scene.patterns["Smart"] = "/obj/*"
    with pytest.raises(HostError, match="a pattern determines"):
        bench.call("structure__add_to_group", {"name": "Smart", "objects": [cube]})
    with pytest.raises(HostError, match="can't be a bundle's name"):
        bench.call("structure__create_group", {"name": "a.b"})
    bench.call("structure__create_group", {"name": "Props"})
    assert bench.call("structure__create_group", {"name": "Props"})["created"] == ["Props1"]
