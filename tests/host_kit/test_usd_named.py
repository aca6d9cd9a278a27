"""Every path that a USD file names is found, and nothing outside the roots is opened."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("pxr")

from pxr import Ar, Sdf, Tf, Usd, UsdUtils

from callboard.errors import HostError
from callboard.ground.named_files import may_use
from callboard.host_kit.usd_named import refuse_usd_outside
from callboard.workspace.containment import WorkspaceRoots
from hostile.archives import package_of

OUT = {
    "sublayer": "(\n subLayers = [@{0}@]\n)\n",
    "reference": 'def "a" (\n references = @{0}@\n)\n{{\n}}\n',
    "reference of one prim": 'def "a" (\n prepend references = [@{0}@</S>]\n)\n{{\n}}\n',
    "payload": 'def "a" (\n payload = @{0}@\n)\n{{\n}}\n',
    "a variant nobody chose": 'def "a" (\n variants = {{\n string v = "x"\n }}\n'
    ' prepend variantSets = "v"\n)\n{{\n variantSet "v" = {{\n "x" {{\n }}\n "y" (\n'
    " references = @{0}@\n ) {{\n }}\n }}\n}}\n",
    "texture": 'def "a"\n{{\n asset t = @{0}@\n}}\n',
    "textures": 'def "a"\n{{\n asset[] t = [@./in.png@, @{0}@]\n}}\n',
    "texture at a time": 'def "a"\n{{\n asset t.timeSamples = {{\n 1: @{0}@,\n }}\n}}\n',
    "texture in a dead prim": 'def "a" (\n active = false\n)\n{{\n over "b"\n {{\n'
    " asset t = @{0}@\n }}\n}}\n",
    "clip": 'def "a" (\n clips = {{\n dictionary default = {{\n asset[] assetPaths = [@{0}@]\n }}\n'
    " }}\n)\n{{\n}}\n",
    "clip manifest": 'def "a" (\n clips = {{\n dictionary default = {{\n asset manifestAssetPath ='
    " @{0}@\n }}\n }}\n)\n{{\n}}\n",
    "clip template": 'def "a" (\n clips = {{\n dictionary default = {{\n string templateAssetPath ='
    ' "{0}"\n }}\n }}\n)\n{{\n}}\n',
}
SPELLINGS = (
    *("../out/s.usda", "{out}/s.usda", "./x/../../out/s.usda", "link/s.usda", "./link/s.usda"),
    *("../out/p.usdz[s.usda]", "x\\\\..\\\\..\\\\out\\\\s.usda", "//../out/s.usda"),
)


class Place:
    def __init__(self, folder: Path) -> None:
        self.root, self.out = folder / "root", folder / "out"
        for each in (self.root / "x", self.out):
            each.mkdir(parents=True)
        (self.out / "s.usda").write_text('#usda 1.0\ndef Xform "S" {}\n', encoding="utf-8")

    def write(self, name: str, body: str) -> str:
        path = self.root / name
        path.write_text(f"#usda 1.0\n{body}", encoding="utf-8")
        return str(path)


def check(path: str) -> None:
    refuse_usd_outside(path, Ar, Sdf, Tf, Usd, UsdUtils)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    roots = WorkspaceRoots([str(made.root)], policy="strict")

    def inside(roots: WorkspaceRoots, path: str, write: bool) -> bool:
        return roots.contains(path)

    token = may_use.set(partial(inside, roots))
    yield made
    may_use.reset(token)


@pytest.mark.parametrize(
    ("body", "spelled"),
    # Test every position with one spelling, and every spelling in one position.
    [*((place, SPELLINGS[0]) for place in OUT), *(("reference", each) for each in SPELLINGS[1:])],
)
def test_what_leads_out_is_refused_by_name(place: Place, body: str, spelled: str) -> None:
    if "link" in spelled:
        (place.root / "link").symlink_to(place.out)
    path = place.write("a.usda", OUT[body].format(spelled.format(out=place.out.as_posix())))
    with pytest.raises(HostError, match="outside of the workspace"):
        check(path)


@pytest.mark.parametrize("body", ["reference", "textures"])
@pytest.mark.parametrize("suffix", ["usda", "usdc"])
def test_so_is_what_a_used_file_names(place: Place, body: str, suffix: str) -> None:
    text = place.write("b.usda", OUT[body].format("../out/s.usda"))
    if suffix == "usdc":
        Sdf.Layer.FindOrOpen(text).Export(str(place.root / "b.usdc"))
    path = place.write("a.usda", f"(\n subLayers = [@./b.{suffix}@]\n)\n")
    with pytest.raises(HostError, match="outside of the workspace"):
        check(path)


@pytest.mark.parametrize("body", OUT.values(), ids=OUT)
def test_what_stays_inside_is_fine(place: Place, body: str) -> None:
    place.write("x/in.usda", "")
    check(place.write("a.usda", body.format("./x/in.usda")))
    check(place.write("b.usda", body.format("x/nowhere.usda")))
    check(place.write("c.usda", body.format((place.root / "x" / "in.usda").as_posix())))


def test_a_path_that_is_computed_is_refused(place: Place) -> None:
    body = (
        '(\n expressionVariables = {\n string X = "../out/s.usda"\n }\n)\n'
        'def "a" (\n references = @`"${X}"`@\n)\n{\n}\n'
    )
    with pytest.raises(HostError, match="computes the path"):
        check(place.write("a.usda", body))


@pytest.mark.parametrize("named", ["t.<UDIM>.png", "t.##.usda"])
def test_each_of_many_files_is_looked_at(place: Place, named: str) -> None:
    path = place.write("a.usda", f'def "a"\n{{\n asset t = @./{named}@\n}}\n')
    check(path)
    real = named.replace("<UDIM>", "1001").replace("##", "01")
    (place.root / real).symlink_to(place.out / "s.usda")
    with pytest.raises(HostError, match="outside of the workspace"):
        check(path)


def test_a_package_is_looked_into(place: Place) -> None:
    package = place.root / "p.usdz"
    for inner, leaves in (("./t.png", False), (f"{place.out.as_posix()}/s.usda", True)):
        with zipfile.ZipFile(package, "w") as file:
            file.writestr("0/a.usda", f'#usda 1.0\ndef "a"\n{{\n asset t = @{inner}@\n}}\n')
        path = place.write(f"{leaves}.usda", "(\n subLayers = [@./p.usdz@]\n)\n")
        if leaves:
            with pytest.raises(HostError, match="outside of the workspace"):
                check(path)
        else:
            check(path)
        Sdf.Layer.FindOrOpen(f"{package}[0/a.usda]")


def test_what_is_read_with_errors_is_refused(place: Place) -> None:
    wrong = OUT["reference"] + 'def "b"\n{{\n double2[] t = [(0)]\n}}\n'
    path = place.write("a.usda", wrong.format("../out/s.usda"))
    with pytest.raises(HostError, match="can't be read without errors"):
        check(path)


def test_a_value_counts_whatever_its_attribute_is_called(place: Place) -> None:
    text = place.write("b.usda", OUT["texture"].format("../out/p.usdz[s.usda]"))
    crate = place.root / "b.usdc"
    Sdf.Layer.FindOrOpen(text).Export(str(crate))
    crate.write_bytes(crate.read_bytes().replace(b"asset", b"asmet"))
    layer = Sdf.Layer.FindOrOpen(str(crate))
    assert isinstance(layer.GetAttributeAtPath("/a.t").default, Sdf.AssetPath)
    with pytest.raises(HostError, match="outside of the workspace"):
        check(str(crate))


LEAVING = b"#usda 1.0\n(\n subLayers = [@../out/s.usda@]\n)\n"
HARMLESS = b'#usda 1.0\ndef Xform "S" {}\n'
TWO_READINGS = {
    "the directory calls the layer something else": ([("root.usda", LEAVING)], [("root.txt", 0)]),
    "the directory names another layer": (
        [("root.usda", LEAVING), ("good.usda", HARMLESS)],
        [("root.usda", 1), ("good.usda", 1)],
    ),
    "the directory leaves the layer out": (
        [("root.usda", LEAVING), ("good.usda", HARMLESS)],
        [("good.usda", 1)],
    ),
    "two entries have one name": (
        [("a.usda", HARMLESS), ("a.usda", LEAVING)],
        [("a.usda", 0), ("a.usda", 1)],
    ),
    "an entry leads out": ([("../a.usda", HARMLESS)], [("../a.usda", 0)]),
    "there is no directory": ([("root.usda", LEAVING)], []),
    "a package lies in the package": (
        [("in.usdz", package_of([("root.usda", LEAVING)], [("root.usda", 0)]))],
        [("in.usdz", 0)],
    ),
    "a layer can't be read": ([("root.usda", b"#usda 1.0\n(")], [("root.usda", 0)]),
}


@pytest.mark.parametrize("entries", TWO_READINGS.values(), ids=TWO_READINGS)
def test_a_package_of_two_readings_is_refused(place: Place, entries: Any) -> None:
    package = place.root / "p.usdz"
    package.write_bytes(package_of(*entries))
    used = place.write("a.usda", "(\n subLayers = [@./p.usdz@]\n)\n")
    for path in (str(package), used):
        with pytest.raises(HostError, match="can't tell whether it stays inside"):
            check(path)
    assert Sdf.Layer.Find(str(place.out / "s.usda")) is None


def test_a_package_of_one_reading_is_opened(place: Place) -> None:
    package = place.root / "p.usdz"
    package.write_bytes(package_of([("root.usda", HARMLESS)], [("root.usda", 0)]))
    check(str(package))
    UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(place.write("a.usda", "")), str(package))
    check(str(package))


def test_files_that_use_each_other_end(place: Place) -> None:
    place.write("b.usda", "(\n subLayers = [@./a.usda@]\n)\n")
    check(place.write("a.usda", "(\n subLayers = [@./b.usda@]\n)\n"))


def test_nothing_outside_is_opened(place: Place) -> None:
    path = place.write("a.usda", "(\n subLayers = [@../out/s.usda@]\n)\n")
    with pytest.raises(HostError):
        check(path)
    assert Sdf.Layer.Find(str(place.out / "s.usda")) is None


def test_without_strict_nothing_is_held_back(tmp_path: Path) -> None:
    place = Place(tmp_path)
    check(place.write("a.usda", "(\n subLayers = [@../out/s.usda@]\n)\n"))
