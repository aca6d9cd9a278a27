"""Checks how objects are read, and each edit that the port ``scene.mutate`` offers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import SCENE_MUTATE, SCENE_READ, AmbiguousName, NotOffered, ObjectNotFound

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

KINDS: dict[str, dict[str, float]] = {
    "sphere": {"radius": 2.0},
    "cube": {"size": 3.0},
    "plane": {"width": 2.0, "depth": 5.0},
    "cylinder": {"radius": 1.5, "height": 4.0},
    "cone": {"radius": 1.5, "height": 4.0},
    "torus": {"major_radius": 3.0, "minor_radius": 0.5},
}
FIELDS = {
    *("name", "path", "type", "parent", "children", "translate", "rotate", "scale"),
    *("visible", "color", "bounds"),
}


def close(a: Sequence[float], b: Sequence[float], tolerance: float = 1e-3) -> bool:
    return len(a) == len(b) and all(
        abs(x - y) <= tolerance * max(1.0, abs(x), abs(y)) for x, y in zip(a, b, strict=True)
    )


def centre(placed: Json) -> list[float]:
    box = placed["bounds"]
    return [(low + high) / 2 for low, high in zip(box["min"], box["max"], strict=True)]


def raised(kind: type[Exception], do: object, *arguments: object) -> Exception:
    """Return the error that ``do(*arguments)`` raises. It must be of ``kind``."""
    assert callable(do)
    try:
        do(*arguments)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} should have been raised, but nothing was")


def attempt(change: Callable[..., str], *arguments: object) -> str | None:
    """Make a change and return its answer, or None if the host doesn't offer such changes."""
    try:
        return change(*arguments)
    except NotOffered:
        return None


def _held(bench: Bench) -> list[Json]:
    """Return the scene's objects, with three new cubes if the host can make them."""
    if SCENE_MUTATE in bench.host.ports:
        for name in (None, None, "Another"):
            bench.cube(name)
    return bench.everything()


class Reading:
    """The checks that only read. On a host that only reads, they use the scene as it is."""

    needs = (SCENE_READ,)

    def test_info_says_units_axis_and_count(self, bench: Bench) -> None:
        held = _held(bench)
        info = bench.reader.info()
        assert info["units_per_meter"] > 0
        assert info["up_axis"] in ("Y", "Z")
        assert info["object_count"] == len(held)
        assert info["fps"] > 0

    def test_an_object_has_every_field(self, bench: Bench) -> None:
        for entry in _held(bench):
            assert set(entry) >= FIELDS
            assert entry["visible"] in (True, False)
            assert entry["parent"] in (None, *bench.reader.names())

    def test_names_summaries_and_objects_agree(self, bench: Bench) -> None:
        paths = [entry["path"] for entry in _held(bench)]
        summaries = list(bench.reader.summaries())
        assert sorted(summary["path"] for summary in summaries) == sorted(paths)
        for summary in summaries:
            entry = bench.get(summary["path"])
            assert {key: entry[key] for key in ("name", "path", "type", "parent")} == summary

    def test_the_bare_name_and_the_path_find_the_same(self, bench: Bench) -> None:
        held = _held(bench)
        names = [entry["name"] for entry in held]
        for entry in held:
            if names.count(entry["name"]) == 1:
                assert bench.get(entry["name"]) == entry

    def test_a_name_can_be_anything(self, bench: Bench) -> None:
        _held(bench)
        for name in ("", "/", "//", "a b/c", "../x", "|x", "x:y", "é" * 300, "\x00", "[0]", "*"):
            raised(ObjectNotFound, bench.reader.get, name)


class NamedObjects:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_the_scene_can_be_emptied_for_a_test(self, bench: Bench) -> None:
        bench.cube("Cube")
        bench.host.empty_scene()
        assert bench.reader.names() == []
        assert bench.get(bench.cube("Cube"))["name"] == "Cube"

    def test_a_new_object_is_visible_and_on_its_own(self, bench: Bench) -> None:
        cube = bench.get(bench.cube())
        assert cube["visible"] is True
        assert cube["parent"] is None

    def test_a_list_tells_all_of_each_object_when_asked(self, bench: Bench) -> None:
        for name in ("One", "Other"):
            bench.cube(name)
        page = bench.call("scene__list_objects", {"details": True})
        alone = [bench.call("scene__get_object", {"name": each}) for each in bench.reader.names()]
        assert page["objects"] == alone

    def test_an_unknown_name_is_answered_with_the_nearest(self, bench: Bench) -> None:
        bench.cube("Lantern")
        bench.cube("Door")
        error = raised(ObjectNotFound, bench.reader.get, "Lantren")
        assert isinstance(error, ObjectNotFound)
        assert error.nearest[0] == "Lantern"
        assert "Lantern" in str(error)

    def test_a_name_that_two_objects_have_is_ambiguous(self, bench: Bench) -> None:
        group, inner = bench.cube("Group"), bench.cube("Twin")
        bench.editor.set_parent(inner, group, True)
        second = bench.cube("Twin")
        if bench.get(second)["name"] != "Twin":
            return  # Names are unique on this host, so the second name differs.
        error = raised(AmbiguousName, bench.reader.get, "Twin")
        assert isinstance(error, AmbiguousName)
        assert all(bench.get(path)["name"] == "Twin" for path in error.paths)


class Creating:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_every_kind_has_its_type_and_size(self, bench: Bench) -> None:
        upright = bench.reader.info()["up_axis"] == "Y"
        for kind, sizes in KINDS.items():
            created = bench.get(bench.editor.create(kind, None, sizes))
            assert created["type"] == kind
            box = created["bounds"]
            size = [high - low for low, high in zip(box["min"], box["max"], strict=True)]
            wide, deep, tall = _size(kind, sizes)
            assert close(size, [wide, tall, deep] if upright else [wide, deep, tall], 0.01), kind
            assert close(centre(created), [0, 0, 0]), kind

    def test_a_width_for_each_axis(self, bench: Bench) -> None:
        wanted = [2.0, 6.0, 4.0]
        for kind in KINDS:
            made = bench.call("scene__create_primitive", {"kind": kind, "dimensions": wanted})
            box = made["object"]["bounds"]
            size = [high - low for low, high in zip(box["min"], box["max"], strict=True)]
            reported = [s if s else w for s, w in zip(size, wanted, strict=True)]
            assert close(reported, wanted, 0.01), (kind, size)
        before = bench.everything()
        for wrong in ({"size": 2, "dimensions": wanted}, {"dimensions": [1, 0, 1]}):
            asked = {"kind": "cube", **wrong}
            raised(ValueError, bench.call, "scene__create_primitive", asked)
        assert bench.everything() == before

    def test_a_new_object_is_at_the_origin(self, bench: Bench) -> None:
        cube = bench.get(bench.cube())
        assert close(cube["translate"], [0, 0, 0])
        assert close(cube["rotate"], [0, 0, 0])
        assert close(cube["scale"], [1, 1, 1])

    def test_a_taken_name_gets_a_suffix(self, bench: Bench) -> None:
        first, second = bench.cube("Hero"), bench.cube("Hero")
        assert first != second
        assert bench.get(first)["name"] == "Hero"
        assert bench.get(second)["name"].startswith("Hero")


class Transforming:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_components_are_set_and_the_others_stay(self, bench: Bench) -> None:
        path = bench.cube()
        bench.editor.set_transform(path, [1, 2, 3], None, None)
        bench.editor.set_transform(path, None, [10, 20, 30], None)
        bench.editor.set_transform(path, None, None, [1, 2, 0.5])
        moved = bench.get(path)
        assert close(moved["translate"], [1, 2, 3])
        assert close(moved["rotate"], [10, 20, 30])
        assert close(moved["scale"], [1, 2, 0.5])

    def test_rotation_turns_about_x_then_y_then_z(self, bench: Bench) -> None:
        path, tip = bench.cube(), bench.cube("Tip", 0.1)
        bench.editor.set_parent(tip, path, False)
        bench.editor.set_transform("Tip", [0, 0, 5], None, None)
        bench.editor.set_transform(path, None, [90, 0, 90], None)
        # (0, 0, 5) rotated by 90 degrees about X is (0, -5, 0). Rotated by 90 degrees about Z, that
        # is (5, 0, 0).
        assert close(centre(bench.get("Tip")), [5, 0, 0])

    def test_mirrored_and_large_values_survive(self, bench: Bench) -> None:
        path = bench.cube()
        bench.editor.set_transform(path, [1e6, -1e6, 0.001], [0, 0, 720], [-1, 1, 1])
        moved = bench.get(path)
        assert close(moved["translate"], [1e6, -1e6, 0.001], 1e-5)
        assert close(moved["scale"], [-1, 1, 1])

    def test_moving_leaves_turn_and_size_alone(self, bench: Bench) -> None:
        """This must also hold for mirrored and flat objects, whose transform has several
        descriptions."""
        path = bench.cube()
        for size in ([1, -2, 3], [1, 1, 0]):
            bench.editor.set_transform(path, [1, 2, 3], [10, 20, 30], size)
            box = bench.get(path)["bounds"]
            done = bench.call("scene__transform", {"name": path, "translate": [4, 6, 9]})
            moved = done["object"]["bounds"]
            for corner in ("min", "max"):
                step = [b - a for a, b in zip(box[corner], moved[corner], strict=True)]
                assert close(step, [3, 4, 6]), (size, corner)


class Parenting:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_the_place_in_the_world_is_kept(self, bench: Bench) -> None:
        child, parent = bench.cube("Child"), bench.cube("Parent")
        bench.editor.set_transform(child, [1, 2, 3], [0, 45, 0], None)
        bench.editor.set_transform(parent, [10, 0, 0], [0, 0, 90], [2, 2, 2])
        before = bench.get(child)["bounds"]
        path = bench.editor.set_parent(child, parent, True)
        after = bench.get(path)
        assert after["parent"] == bench.get(parent)["path"]
        assert bench.get(parent)["children"] == [path]
        assert close(after["bounds"]["min"], before["min"])
        assert close(after["bounds"]["max"], before["max"])
        top = bench.get(bench.editor.set_parent(path, None, True))
        assert top["parent"] is None
        assert close(top["translate"], [1, 2, 3])
        assert close(top["scale"], [1, 1, 1])

    def test_the_place_is_kept_below_an_uneven_scale(self, bench: Bench) -> None:
        child, parent = bench.cube("Child"), bench.cube("Parent")
        bench.editor.set_transform(child, [1, 2, 3], [30, 40, 50], None)
        bench.editor.set_transform(parent, None, [0, 0, 30], [1, 3, 1])
        before = bench.get(child)["bounds"]
        after = bench.get(bench.editor.set_parent(child, parent, True))["bounds"]
        assert close(after["min"], before["min"])
        assert close(after["max"], before["max"])

    def test_the_place_of_what_is_flat_is_kept(self, bench: Bench) -> None:
        flat, parent = bench.cube("Flat"), bench.cube("Parent")
        bench.editor.set_transform(flat, [1, 2, 3], [0, 45, 0], [1, 1, 0])
        bench.editor.set_transform(parent, [10, 0, 0], [0, 0, 90], [2, 2, 2])
        before = bench.get(flat)["bounds"]
        path = bench.call("scene__set_parent", {"name": flat, "parent": parent})["changed"][0]
        after = bench.get(path)["bounds"]
        assert close(after["min"], before["min"])
        assert close(after["max"], before["max"])

    def test_no_place_can_be_kept_below_what_is_flat(self, bench: Bench) -> None:
        child, flat = bench.cube("Child"), bench.cube("Flat")
        bench.editor.set_transform(child, [1, 2, 3], None, None)
        bench.editor.set_transform(flat, None, None, [1, 1, 0])
        before = bench.everything()
        raised(HostError, bench.call, "scene__set_parent", {"name": child, "parent": flat})
        assert bench.everything() == before

    def test_the_local_transform_is_kept(self, bench: Bench) -> None:
        child, parent = bench.cube("Child"), bench.cube("Parent")
        bench.editor.set_transform(child, [1, 2, 3], None, None)
        bench.editor.set_transform(parent, [10, 0, 0], None, None)
        after = bench.get(bench.editor.set_parent(child, parent, False))
        assert close(after["translate"], [1, 2, 3])
        assert close(centre(after), [11, 2, 3])

    def test_an_object_is_never_below_itself(self, bench: Bench) -> None:
        upper, lower = bench.cube("Upper"), bench.cube("Lower")
        lower = bench.editor.set_parent(lower, upper, True)
        before = bench.everything()
        raised(HostError, bench.editor.set_parent, upper, lower, True)
        raised(HostError, bench.editor.set_parent, upper, upper, True)
        raised(ObjectNotFound, bench.editor.set_parent, upper, "Nobody", True)
        assert bench.everything() == before


class Naming:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_rename(self, bench: Bench) -> None:
        bench.cube("Before")
        path = bench.editor.rename("Before", "After")
        assert bench.get("After")["path"] == path
        raised(ObjectNotFound, bench.reader.get, "Before")

    def test_a_taken_name_is_refused(self, bench: Bench) -> None:
        bench.cube("One")
        bench.cube("Two")
        before = bench.everything()
        raised(HostError, bench.editor.rename, "One", "Two")
        assert bench.everything() == before

    def test_selection_follows_a_rename(self, bench: Bench) -> None:
        bench.cube("Before")
        bench.editor.select(["Before"])
        path = bench.editor.rename("Before", "After")
        assert bench.reader.selection() == [path]


class Deleting:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_descendants_go_too(self, bench: Bench) -> None:
        parent, child, other = bench.cube("Parent"), bench.cube("Child"), bench.cube("Other")
        child = bench.editor.set_parent(child, parent, True)
        assert set(bench.editor.delete([parent])) == {parent, child}
        assert bench.reader.names() == [other]

    def test_parent_and_child_together(self, bench: Bench) -> None:
        parent, child = bench.cube("Parent"), bench.cube("Child")
        child = bench.editor.set_parent(child, parent, True)
        assert sorted(bench.editor.delete([child, parent, child])) == sorted([parent, child])
        assert bench.reader.names() == []

    def test_one_unknown_name_and_nothing_is_deleted(self, bench: Bench) -> None:
        path = bench.cube("Here")
        raised(ObjectNotFound, bench.editor.delete, ["Here", "Gone"])
        assert bench.reader.names() == [path]


class Duplicating:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_a_copy_stands_on_its_own(self, bench: Bench) -> None:
        parent, child = bench.cube("Parent"), bench.cube("Child")
        bench.editor.set_parent(child, parent, True)
        bench.editor.set_color(parent, [1, 0, 0])
        copy = bench.editor.duplicate(parent, "Copy")
        assert bench.get(copy)["name"] == "Copy"
        assert len(bench.get(copy)["children"]) == 1
        bench.editor.set_color(copy, [0, 1, 0])
        bench.editor.set_transform(copy, [5, 0, 0], None, None)
        assert close(bench.get(parent)["color"], [1, 0, 0])
        assert close(bench.get(copy)["color"], [0, 1, 0])
        assert close(bench.get(parent)["translate"], [0, 0, 0])
        bench.editor.delete([parent])
        assert len(bench.get(copy)["children"]) == 1

    def test_without_a_name_the_host_finds_one(self, bench: Bench) -> None:
        path = bench.cube("Hero")
        assert bench.editor.duplicate(path, None) != path
        assert bench.reader.info()["object_count"] == 2


class Selecting:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_the_selection_is_replaced(self, bench: Bench) -> None:
        one, two, three = bench.cube("One"), bench.cube("Two"), bench.cube("Three")
        bench.editor.select([three])
        assert sorted(bench.editor.select([one, two, one])) == sorted([one, two])
        assert sorted(bench.reader.selection()) == sorted([one, two])
        assert sorted(bench.reader.info()["selection"]) == sorted([one, two])
        bench.editor.select([])
        assert bench.reader.selection() == []

    def test_what_is_deleted_is_not_selected(self, bench: Bench) -> None:
        path = bench.cube("One")
        bench.editor.select([path])
        bench.editor.delete([path])
        assert bench.reader.selection() == []


class Colouring:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_a_colour_is_linear_and_its_own(self, bench: Bench) -> None:
        one, two = bench.cube("One"), bench.cube("Two")
        bench.editor.set_color(one, [0.25, 0.5, 1.0])
        assert close(bench.get(one)["color"], [0.25, 0.5, 1.0])
        bench.editor.set_color(two, [1.0, 0.0, 0.0])
        bench.editor.set_color(one, [0.0, 1.0, 0.0])
        assert close(bench.get(one)["color"], [0.0, 1.0, 0.0])
        assert close(bench.get(two)["color"], [1.0, 0.0, 0.0])


def _size(kind: str, of: dict[str, float]) -> tuple[float, float, float]:
    """Return the size along X, along the other ground axis, and along the up axis."""
    if kind == "sphere":
        return 2 * of["radius"], 2 * of["radius"], 2 * of["radius"]
    if kind == "cube":
        return of["size"], of["size"], of["size"]
    if kind == "plane":
        return of["width"], of["depth"], 0.0
    if kind == "torus":
        outer = 2 * (of["major_radius"] + of["minor_radius"])
        return outer, outer, 2 * of["minor_radius"]
    return 2 * of["radius"], 2 * of["radius"], of["height"]
