"""Writes facts/*.json, the facts about Maya, Houdini and 3ds Max, from public dumps and caches.

    python tests/hosts/make_facts.py FOLDER

FOLDER holds the sources, under the names in SOURCES: unpacked wheels from PyPI, and git clones.
Only facts are copied: the names, modes, types, menus and defaults of everything that the adapters
and the doubles mention, and of everything that belongs to it. ``test_adapter_names.py`` compares
the adapters with these facts, and the doubles answer from them. Run this script again when an
adapter uses something new.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HOSTS = HERE.parents[1] / "hosts"
SOURCES = {
    "pymel": "pymel 1.5.0 (PyPI): its caches of Maya 2022 to 2025, made in each of them",
    "maya-stubs": "maya-stubs 0.4.2 (PyPI): the names of Maya 2025's OpenMaya modules",
    "hou-20.5": "types-houdini 20.5.487 (PyPI): the names of HOM",
    "hou-21.0": "types-houdini 21.0.512 (PyPI): the names of HOM",
    "jungle-ams": "MythicaAI/jungle-ams, commit 0c8c58e2: node types as Houdini 20.5 has them",
    "houdini_ramen": "unclepomedev/houdini_ramen, commit 2480c7b6: node types, hython 21.0.631",
    "pymxs_stubs": "friedererdmann/pymxs_stubs, commit 5f793a81: made inside 3ds Max 2021",
    "PymxsStub": "nobodyoutside/PymxsStub, commit 24d8c60b: written beside 3ds Max 2023 to 2026",
}
MAYA_VERSIONS = ("2022", "2023", "2024", "2025")
#: Types of nodes that the adapter makes or reads, and related types.
NODES = {
    "OBJECT": "geo null cam hlight__2_0 envlight subnet",
    "SOP": (
        "sphere box grid tube torus stash xform null reverse divide normal subdivide merge"
        " attribwrangle python file material matnet"
    ),
    "VOP": "principledshader__2_0 constant",
    "LOP": "sphere merge",
    "DRIVER": "ifd opengl",
}
_CATEGORY = {"OBJECT": "Object", "SOP": "Sop", "VOP": "Vop", "LOP": "Lop", "DRIVER": "Driver"}
_LAYOUT = ("FolderSet", "Folder", "Separator", "Label", "Button")


def texts(*folders: Path) -> str:
    """Return the sources of an adapter and its double."""
    return "\n".join(
        path.read_text(encoding="utf-8") for each in folders for path in sorted(each.rglob("*.py"))
    )


def shown(repository: Path, commit: str, path: str) -> str:
    """Return a file as it was at a commit, or an empty string if it wasn't there."""
    command = ["git", "-C", str(repository), "show", f"{commit}:{path}"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


# -- Maya -----------------------------------------------------------------------------------------


def maya(folder: Path) -> dict[str, Any]:
    caches = {version: _cache(folder / "pymel", version) for version in MAYA_VERSIONS}
    words = set(re.findall(r"\w+", texts(HOSTS / "callboard_maya", HERE / "doubles/maya"))) | set(
        _table()
    )
    newest = caches[MAYA_VERSIONS[-1]]
    commands: dict[str, Any] = {}
    for name in sorted(words & newest.keys()):
        if newest[name].get("type") == "runtime":
            continue
        commands[name] = {
            flag: _flag(facts, [v for v in MAYA_VERSIONS if flag not in _flags(caches[v], name)])
            for flag, facts in sorted(_flags(newest, name).items())
        }
    tree = {
        path.stem: ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((folder / "maya-stubs/maya-stubs/api").glob("*.pyi"))
    }
    used = {"OpenMaya", "OpenMayaAnim", "OpenMayaUI"}
    return {
        "sources": {name: SOURCES[name] for name in ("pymel", "maya-stubs")},
        "versions": MAYA_VERSIONS,
        "commands": commands,
        "node_types": " ".join(sorted(words & _node_types(folder / "pymel"))),
        "api": {name: _classes(tree[name], words) for name in sorted(used & tree.keys())},
    }


def _table() -> Iterable[str]:
    """Return the commands that the double supports."""
    facts = HERE / "facts/maya.json"
    return json.loads(facts.read_text(encoding="utf-8"))["commands"] if facts.exists() else ()


def _cache(pymel: Path, version: str) -> dict[str, Any]:
    module: dict[str, Any] = {}
    source = (pymel / f"pymel/cache/mayaCmdsList{version}.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "data":
            # Types are written as <type float>, in quotes.
            module = ast.literal_eval(node.value)[0]
    return module


def _flags(cache: dict[str, Any], name: str) -> dict[str, Any]:
    flags: dict[str, Any] = cache.get(name, {}).get("flags", {})
    return flags


def _flag(facts: dict[str, Any], missing: list[str]) -> str:
    """Return a flag's short name, its modes, its arguments' types, and the versions without it."""
    modes = "".join(mode[0] for mode in facts.get("modes", ()))
    types = facts.get("args", ())
    types = types if isinstance(types, list) else [types]
    kinds = ",".join(str(each).strip("<>").removeprefix("type ") for each in types)
    parts = [facts.get("shortname", ""), modes or "-", kinds.replace(" ", "_") or "-"]
    return " ".join([*parts, *(f"!{version}" for version in missing)])


def _node_types(pymel: Path) -> set[str]:
    source = (pymel / "pymel/cache/mayaApi2025.py").read_text(encoding="utf-8")
    return set(re.findall(r"'(\w+)': 'k\w+'", source))


# -- stubs ----------------------------------------------------------------------------------------


def _classes(tree: ast.Module, words: set[str]) -> dict[str, str]:
    """Return the members of each mentioned class, including inherited ones."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def members(name: str) -> set[str]:
        if name not in classes:
            return set()
        own = set()
        for node in classes[name].body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                own.add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                own.add(node.target.id)
            elif isinstance(node, ast.Assign):
                own |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        for base in classes[name].bases:
            own |= members(ast.unparse(base).split("[")[0].rpartition(".")[2])
        return {each for each in own if not each.startswith("_")}

    return {name: " ".join(sorted(members(name))) for name in sorted(classes.keys() & words)}


def _keywords(tree: ast.Module, words: set[str]) -> dict[str, str]:
    """Return, for each mentioned function, method and class, those of its parameters that an
    adapter mentions too."""
    of_names: dict[str, set[str]] = {}

    def read(body: list[ast.stmt], inside: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                read(node.body, node.name)
            elif isinstance(node, ast.FunctionDef):
                name = inside if node.name == "__init__" else node.name
                given = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
                of_names.setdefault(name, set()).update(given - {"self"})

    read(tree.body, "")
    both = {name: given & words for name, given in of_names.items() if name in words}
    return {name: " ".join(sorted(given)) for name, given in sorted(both.items()) if given}


def _names(tree: ast.Module) -> set[str]:
    own = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            own.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            own.add(node.target.id)
        elif isinstance(node, ast.Assign):
            own |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return own


# -- Houdini --------------------------------------------------------------------------------------


def houdini(folder: Path) -> dict[str, Any]:
    words = set(re.findall(r"\w+", texts(HOSTS / "callboard_houdini", HERE / "doubles/houdini")))
    words.add("GeometryViewportDisplaySet")
    hom: dict[str, Any] = {}
    keywords: dict[str, Any] = {}
    for version in ("20.5", "21.0"):
        stub = folder / f"hou-{version}/hou-stubs/__init__.pyi"
        tree = ast.parse(stub.read_text(encoding="utf-8"))
        rest = _names(tree) & words
        hom[version] = {"": " ".join(sorted(rest)), **_classes(tree, words)}
        keywords[version] = _keywords(tree, words)
    nodes: dict[str, Any] = {}
    for where, names in NODES.items():
        for name in names.split():
            nodes[f"{_CATEGORY[where]}/{name.replace('__2_0', '::2.0')}"] = _node(
                folder, where, name
            )
    return {
        "sources": {
            name: SOURCES[name] for name in ("hou-20.5", "hou-21.0", "jungle-ams", "houdini_ramen")
        },
        "hom": hom,
        "keywords": keywords,
        "nodes": nodes,
    }


def _node(folder: Path, where: str, name: str) -> dict[str, Any]:
    """Return each parameter's kind, size, default and menu, and the parameters that 21.0 doesn't
    have."""
    path = f"sites/editor/assets/js/nodes/_hnt_{where}_{name}.js"
    source = shown(folder / "jungle-ams", "0c8c58e2", path)
    parms: dict[str, Any] = {}
    for kind, told in re.findall(r"new hou\.(\w+)ParmTemplate\(\{(.*)\}\);", source):
        named = re.search(r'name: "(\w+)"', told)
        if named is None or kind in _LAYOUT:
            continue
        entry: dict[str, Any] = {"kind": kind}
        if size := re.search(r"num_components: (\d+)", told):
            entry["size"] = int(size[1])
            if entry["size"] > 1 and (naming := re.search(r"parmNamingScheme\.(\w+)", told)):
                entry["naming"] = naming[1]
        if "stringParmType.FileReference" in told:
            entry["file"] = True
        if menu := re.search(r"menu_items: (\[[^\]]*\])", told):
            entry["menu"] = json.loads(menu[1])
        if default := re.search(r"default_value: (\[[^\]]*\]|[^,}]+)", told):
            try:
                entry["default"] = json.loads(default[1])
            except ValueError:
                entry["default"] = default[1]
        parms[named[1]] = {key: value for key, value in entry.items() if value not in ([], None)}
    newer = _newer(folder / "houdini_ramen", _CATEGORY[where].lower(), name)
    # In the source for 21.0, layout parameters and repeated parameters have different names.
    return {
        "parms": parms,
        "versions": ["20.5"] * bool(parms) + ["21.0"] * bool(newer),
        "not in 21.0": " ".join(sorted(parms.keys() - newer)) if newer else "",
        "only in 21.0": " ".join(sorted(newer - parms.keys())),
    }


def _newer(repository: Path, category: str, name: str) -> set[str]:
    path = f"crates/houdini_ramen_{category}/src/{name[0]}.rs"
    source = shown(repository, "2480c7b6", path)
    # The newest version of a type is listed there without its number.
    end = source.find(f'\n        "{name.partition("__")[0]}"\n')
    start = source.rfind("\npub struct ", 0, end)
    return set(re.findall(r'insert\(\s*"(\w+)"', source[start:end])) if end > 0 else set()


# -- 3ds Max --------------------------------------------------------------------------------------


def max_(folder: Path) -> dict[str, Any]:
    words = {
        word.lower()
        for word in re.findall(r"\w+", texts(HOSTS / "callboard_max", HERE / "doubles/max"))
    }
    old = _max_classes((folder / "pymxs_stubs/pymxs.pyi").read_text(encoding="utf-8"))
    new = _max_classes((folder / "PymxsStub/pymxs.pyi").read_text(encoding="utf-8"))
    return {
        "sources": {name: SOURCES[name] for name in ("pymxs_stubs", "PymxsStub")},
        "2021": {name: members for name, members in old.items() if name in words},
        "later": {name: members for name, members in new.items() if name in words},
    }


def _max_classes(source: str) -> dict[str, str]:
    """Return the names of ``runtime`` and their members, in lower case, because MAXScript ignores
    case."""
    source = re.sub(r"^type .*$", "", source.lstrip("\ufeff"), flags=re.MULTILINE)
    classes: dict[str, set[str]] = {}
    inside = ""
    for line in source.splitlines():
        if named := re.match(r"    (?:class|def) (\w+)|    (\w+)\s*[:=]", line):
            inside = (named[1] or named[2]).lower()
            classes.setdefault(inside, set())
        elif (member := re.match(r"        (?:def (\w+)|(\w+)\s*[:=])", line)) and inside:
            classes[inside].add((member[1] or member[2]).lower())
    return {name: " ".join(sorted(members)) for name, members in sorted(classes.items())}


def main(folder: str) -> None:
    for name, make in (("maya", maya), ("houdini", houdini), ("max", max_)):
        told = json.dumps(make(Path(folder)), indent=0, sort_keys=True, separators=(",", ":"))
        (HERE / f"facts/{name}.json").write_text(told + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
