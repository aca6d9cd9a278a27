"""Imports point down, and importing core has no effects in a host."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_trees import PROJECT, facts

#: The rooms of each package, lowest first. A room imports only rooms below it, never one on the
#: same level.
LAYERS = {
    # Packages that run inside an application, or in a headless host.
    "callboard": (
        {"errors"},
        {"changes", "content"},
        {"ground"},
        {"client_files", "clients", "ports"},
        {"guest", "host_kit", "protocol"},
        {"host", "manuals", "skill_kit", "transport", "workspace"},
        {"calls", "config", "skill"},
        {"skills"},
        {"records"},
        {"bundles", "demand", "jobs", "selftest"},
        {"extensions", "service"},
        {"settings"},
        {"mapping", "panel"},
        {"rest"},
        {"app"},
        {"headless", "skill_server"},
        # The public face has names from every layer, which are resolved on first use.
        {"__init__", "__main__"},
    ),
    # Programs that people start.
    "callboard_programs": (
        {"__init__", "client", "install", "manual_pages"},
        {"relay"},
        {"bridge", "farm", "gateway"},
        {"setup"},
        {"cli"},
    ),
    # This package is for authors of adapters and skills. Its whole folder is one room.
    "callboard_testing": ({"lint"}, {"__init__"}),
}
#: The packages of core that each may import. Code in an application imports no program.
BELOW: dict[str, set[str]] = {
    "callboard": set(),
    "callboard_testing": {"callboard"},
    "callboard_programs": {"callboard", "callboard_testing"},
}


#: Folders of tests that belong to no single room: tests of the whole, of hosts, pages and releases.
OF_ALL = {"conformance", "docs", "e2e", "hostile", "hosts", "packaging", "seeds", "testing", "ui"}


def sources(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*.py")):
        # Skill scripts are code such as a user would write. They may import the whole public face.
        if "bundled" not in path.parts and "scripts" not in path.parts:
            yield path


def imported(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, absolute dotted name) of every import in a file, deferred ones included."""
    package = list(path.relative_to(root).parent.parts)
    for line, level, module, name in facts(path).imports:
        above = package[: len(package) - level + 1] if level else []
        yield line, ".".join([*above, *([module] if module else []), name])


def layer_of(path: Path) -> tuple[str, str]:
    """Return the package and the room of a file in core."""
    package, *below = path.relative_to(PROJECT / "core").with_suffix("").parts
    rooms = {room for layer in LAYERS[package] for room in layer}
    alone = "__init__" if package == "callboard_testing" else below[0]
    return package, below[0] if below[0] in rooms else alone


def level_of(package: str, room: str) -> int:
    return next(level for level, rooms in enumerate(LAYERS[package]) if room in rooms)


TESTS = sorted((PROJECT / "tests").rglob("test_*.py"))
CORE = [path for package in LAYERS for path in sources(PROJECT / "core" / package)]
CORE_BY_ROOM: defaultdict[tuple[str, str], list[Path]] = defaultdict(list)
for each in CORE:
    CORE_BY_ROOM[layer_of(each)].append(each)


def test_every_part_of_core_has_a_layer() -> None:
    known = {(package, room) for package in LAYERS for rooms in LAYERS[package] for room in rooms}
    assert CORE_BY_ROOM.keys() == known


def test_tests_mirror_the_rooms() -> None:
    folders = {path.parent.relative_to(PROJECT / "tests").parts[:1] for path in TESTS}
    rooms = {room for layers in LAYERS.values() for layer in layers for room in layer}
    assert {name for folder in folders for name in folder} - rooms == OF_ALL


@pytest.mark.parametrize(("package", "room"), sorted(CORE_BY_ROOM), ids=lambda each: each)
def test_imports_inside_core_point_down(package: str, room: str) -> None:
    own = level_of(package, room)
    upward = []
    for path in CORE_BY_ROOM[package, room]:
        for line, name in imported(path, PROJECT / "core"):
            where = f"{path.relative_to(PROJECT)}, line {line}: {name}"
            parts = name.split(".")
            if not parts[0].startswith("callboard"):
                continue
            if parts[0] != package:
                assert parts[0] in BELOW[package], where
                continue
            there = LAYERS[package]
            part = parts[1] if any(parts[1] in rooms for rooms in there) else "__init__"
            level = level_of(package, part)
            if level > own or (level == own and part != room):
                upward.append(where)
    assert upward == []


def test_every_hosts_ports_have_the_contracts_names() -> None:
    contract = {path.name for path in (PROJECT / "core/callboard/ports").glob("*.py")}
    for room in (PROJECT / "hosts").glob("*/ports"):
        assert {path.name for path in room.glob("*.py")} - contract == set(), room


@pytest.mark.parametrize(
    "host", sorted((PROJECT / "hosts").glob("callboard_*")), ids=lambda h: h.name
)
def test_imports_inside_a_host_point_down(host: Path) -> None:
    rooms = ["application", "parts", "ports", "host"]
    upward = []
    for path in sources(host):
        own = path.relative_to(host).with_suffix("").parts[0]
        for line, dotted in imported(path, PROJECT / "hosts") if own in rooms else ():
            package, _, inside = dotted.partition(".")
            there = inside.split(".")[0]
            if package == host.name and there not in rooms[: rooms.index(own) + 1]:
                upward.append(f"{path.relative_to(PROJECT)}, line {line}: {dotted}")
    assert upward == []


def modules(*roots: str) -> dict[str, tuple[Path, Path]]:
    """Return the file and the source root of each module, by dotted name."""
    files = {}
    for root in (PROJECT / name for name in roots):
        for path in sources(root):
            parts = path.relative_to(root).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = (path, root)
    return files


def cycles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Return groups of modules that each import every other one, directly or not."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = imports[waiting.pop()] - seen
            seen |= new
            waiting.extend(new)
        return seen

    reach = {name: reached(name) for name in imports}
    groups: list[set[str]] = []
    for name in imports:
        group = {other for other in reach[name] if name in reach[other]}
        if group and group not in groups:
            groups.append(group)
    return groups


def test_the_search_for_cycles_finds_them() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}, "e": {"a"}}
    assert cycles(imports) == [{"b", "c"}, {"d"}]


def test_no_modules_import_each_other() -> None:
    """Deferred imports and imports for a type checker count too, because two modules that can't be
    read without each other are really one."""
    known = modules("core", "hosts", "ui")
    imports: dict[str, set[str]] = {}
    for module, (path, root) in known.items():
        imports[module] = set()
        for _, name in imported(path, root):
            target = name if name in known else name.rpartition(".")[0]
            imports[module] |= {target} & known.keys()
    assert cycles(imports) == []


@pytest.mark.parametrize("root", ["hosts", "ui"])
def test_hosts_and_ui_import_core_and_never_a_host(root: str) -> None:
    sideways = [
        f"{path.relative_to(PROJECT)}, line {line}: {name}"
        for path in sources(PROJECT / root)
        for line, name in imported(path, PROJECT / root)
        if (package := name.split(".")[0]).startswith("callboard_")
        # callboard_qt isn't a host: it is the common part of hosts with a Qt loop.
        and package
        not in (path.relative_to(PROJECT / root).parts[0], "callboard_ui", "callboard_qt")
    ]
    assert not sideways


#: The imports from callboard that adapters and shipped skills may have besides their own package.
#: Other people's adapters and skills may import the same names.
FACES = {
    "adapters": (
        *("callboard.app", "callboard.changes", "callboard.content", "callboard.errors"),
        *("callboard.guest.inbox", "callboard.headless.command", "callboard.host"),
        *("callboard.panel", "callboard.settings", "callboard.__version__", "callboard_qt"),
    ),
    "skills": ("callboard.content", "callboard.errors", "callboard.host", "callboard.skill"),
}


@pytest.mark.parametrize("whose", FACES)
def test_adapters_and_skills_import_public_faces_alone(whose: str) -> None:
    inner = []
    roots = [PROJECT / "core", PROJECT / "hosts", PROJECT / "examples/host/freecad"]
    for path in sorted(PROJECT.glob("core/callboard/skills/bundled/*/scripts/*.py")) + [
        path for root in roots[1:] for path in sorted(root.rglob("*.py"))
    ]:
        if ("scripts" in path.parts) != (whose == "skills"):
            continue
        root = next(root for root in roots if path.is_relative_to(root))
        own = path.relative_to(root).parts[0] if root.name != "core" else "-"
        inner += [
            f"{path.relative_to(PROJECT)}, line {line}: {name}"
            for line, name in imported(path, root)
            if name.split(".")[0] in ("callboard", "callboard_qt")
            and name.split(".")[0] != own
            and not name.startswith("callboard.skills.bundled.")
            # This is a public interface, or a name in one. The panel's interface is a package of
            # modules.
            and not any(name == face or name.rpartition(".")[0] == face for face in FACES[whose])
            and not (whose == "adapters" and name.startswith("callboard.panel."))
        ]
    assert inner == []


#: The panel's imports from core. Errors are caught by their class, and capabilities have one name
#: each, so both are the same for everyone.
SEEN_BY_UI = ("callboard.panel", "callboard.errors", "callboard.host")


def test_the_panel_knows_nothing_of_core_but_what_is_made_for_it() -> None:
    strange = [
        f"{path.relative_to(PROJECT)}, line {line}: {name}"
        for path in sources(PROJECT / "ui")
        for line, name in imported(path, PROJECT / "ui")
        if name.split(".")[0] == "callboard"
        and not any(name == seen or name.startswith(f"{seen}.") for seen in SEEN_BY_UI)
    ]
    assert not strange


IMPORT_ALL_OF_CORE = """
import asyncio, importlib, pkgutil, sys, threading

def refuse(what):
    def refused(*args, **kwargs):
        raise AssertionError("importing core " + what)
    return refused

asyncio.base_events.BaseEventLoop.__init__ = refuse("made an event loop")
threading.Thread.start = refuse("started a thread")

sys.path.insert(0, sys.argv[1])
for package in sys.argv[2:]:
    root = importlib.import_module(package)
    for name in [m.name for m in pkgutil.walk_packages(root.__path__, f"{package}.")]:
        if not name.endswith(".__main__"):
            importlib.import_module(name)

import _thread
assert _thread._count() == 0, "importing core started a thread"
print(*sorted({name.partition(".")[0] for name in sys.modules}), sep="\\n")
"""

FOREIGN = {"bpy", "mathutils", "hou", "maya", "pymxs", "MaxPlus", "pxr"}
QT = {"qtpy", "PySide2", "PySide6", "PyQt5", "PyQt6", "shiboken2", "shiboken6"}
# Modules that would cost every host start-up time and a wheel per Python version.
HEAVY = {"pydantic", "httpx", "mcpeye", "numpy", "distributed", "jsonschema", "requests"}


def test_importing_core_loads_no_host_no_qt_and_starts_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", IMPORT_ALL_OF_CORE, str(PROJECT / "core"), *LAYERS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "callboard" in loaded
    assert not loaded & (FOREIGN | QT | HEAVY)
    assert not {name for name in loaded - set(LAYERS) if name.startswith("callboard_")}
