"""The adapters of Maya, Houdini and 3ds Max use only names that exist in these applications.

The sources are parsed, not run: commands with their flags and modes, modules' members, node types,
parameters, menu tokens and properties. ``make_facts.py`` lists the sources of the facts. Names
without a public source are listed, with the reason, in ``facts/unsourced.json``.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from os import stat_result
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
HOSTS = ("maya", "houdini", "max")
#: The names by which each adapter imports its application's modules.
ROOTS = {"maya": ("cmds", "om", "mel", "maya_utils", "omui"), "houdini": ("hou",), "max": ("rt",)}
#: The modules of Maya's Python API, by those names.
_MODULES = {"om": "OpenMaya", "omui": "OpenMayaUI"}
#: How mayapy starts and ends Maya, as in types-maya.
_STANDALONE = {"maya.standalone", "maya.standalone.initialize", "maya.standalone.uninitialize"}
#: A word, a type with its version, or a plug.
_WORD = re.compile(r"[|.]?\w+(?:::[\d.]+|(?:\.\w+)+)?")
_MODES = {"query": "q", "edit": "e"}
#: The types of Maya's arguments that a constant can be given for. A node is given by name.
_FITTING = {
    "bool": ("bool",),
    "int": ("int", "float"),
    "float": ("float",),
    "str": ("str", "PyNode", "script"),
}


@cache
def facts(host: str) -> Any:
    return json.loads((HERE / f"facts/{host}.json").read_text(encoding="utf-8"))


@cache
def unsourced(host: str) -> frozenset[str]:
    """Return the names that have no source. The file gives a reason for each."""
    told = json.loads((HERE / "facts/unsourced.json").read_text(encoding="utf-8"))[host]
    return frozenset(name for names in told.values() for name in names.split())


@cache
def own_words() -> frozenset[str]:
    """Return the names that belong to callboard itself and to Python, not to an application."""
    text = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("core/callboard", "hosts/callboard_qt")
        for path in (PROJECT / folder).rglob("*.py")
    )
    ours = r"(?:def|class) (\w+)|^ +(\w+): |self\.(\w+)|[\"'](\w+)[\"']|^([A-Z]\w*)\b.* = "
    words = set(re.findall(ours, text, re.MULTILINE))
    kinds = (str, list, dict, set, tuple, int, float, bytes, object, Path, ExitStack, stat_result)
    python = {name for kind in kinds for name in dir(kind)} | set(dir(builtins))
    patterns = {*dir(re.Pattern), *dir(re.Match)}
    return frozenset(word for each in words for word in each if word) | python | patterns


@cache
def trees(host: str) -> dict[str, ast.Module]:
    folder = PROJECT / f"hosts/callboard_{host}"
    return {
        path.relative_to(folder).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.py"))
        if "skills" not in path.parts
    }


def chain(node: ast.expr) -> list[str]:
    """Return the names of ``a.b.c``, or an empty list for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def docstrings(tree: ast.Module) -> set[int]:
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, holders) and node.body and isinstance(node.body[0], ast.Expr)
    }


def own_names(tree: ast.Module) -> set[str]:
    """Return the names that a module defines, and its functions' parameters."""
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            own.add(node.name)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and chain(node)[:-1] == ["self"]:
            own |= {node.attr} if isinstance(node.ctx, ast.Store) else set()
    return own


@cache
def defined(host: str) -> frozenset[str]:
    return frozenset(name for tree in trees(host).values() for name in own_names(tree))


# -- names in the adapters ------------------------------------------------------------------------


def members(host: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the location and the parts of each dotted name that begins with a module of the
    application."""
    for where, tree in trees(host).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and {*chain(node)[:1]} & {*ROOTS[host]}:
                yield f"{where}:{node.lineno}", chain(node)


def attributes(host: str) -> Iterator[tuple[str, str]]:
    """Yield the location and the name of each attribute of a value whose type isn't known here."""
    for where, tree in trees(host).items():
        known = {"self", *ROOTS[host], *others(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and not {*chain(node)[:1]} & known:
                yield f"{where}:{node.lineno}", node.attr


def others(tree: ast.Module) -> set[str]:
    """Return the names that a module imports from Python and from callboard."""
    return {
        each.asname or each.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for each in node.names
    }


def words(host: str) -> Iterator[tuple[str, str]]:
    """Yield the location and the text of each string that may name something. Each part of a plug
    is yielded separately."""
    for where, tree in trees(host).items():
        prose = docstrings(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if id(node) not in prose and re.fullmatch(
                r"[|.]?\w+(?:::[\d.]+|(?:\.\w+)+)?", node.value
            ):
                for word in node.value.strip("|.").split("."):
                    if not word.isdigit() and not word.endswith("::2"):
                        yield f"{where}:{node.lineno}", word


def keywords(host: str) -> Iterator[tuple[str, str, ast.Call]]:
    """For each call to the application, yield its location, the function's name, and its node in
    the syntax tree."""
    for where, tree in trees(host).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (name := called(host, node)):
                yield f"{where}:{node.lineno}", name, node


def called(host: str, call: ast.Call) -> str:
    """Return the name of the called function, if it is the application's. In 3ds Max, return the
    name of the whole interface."""
    parts = chain(call.func)
    if parts[:1] == ["partial"] and call.args:
        parts = chain(call.args[0])
    if len(parts) > 1 and parts[0] in ROOTS[host]:
        return parts[-1] if host == "houdini" else parts[1]
    if host == "houdini" and isinstance(call.func, ast.Attribute):
        name = call.func.attr
        return name if name in hom() - own_words() - defined(host) else ""
    return ""


def given(call: ast.Call) -> dict[str, ast.expr]:
    return {each.arg: each.value for each in call.keywords if each.arg}


# -- Maya -----------------------------------------------------------------------------------------


def wrong_flags() -> Iterator[str]:
    commands = facts("maya")["commands"]
    for where, name, call in keywords("maya"):
        flags = given(call)
        if name not in commands:
            for flag in {f"{name}.{each}" for each in flags} - unsourced("maya"):
                yield f"{where}: no source has {flag}"
            continue
        mode = next((letter for flag, letter in _MODES.items() if flag in flags), "c")
        for flag in set(flags) - set(_MODES):
            if f"{name}.{flag}" in unsourced("maya"):
                continue
            short = {told.split()[0]: told for told in commands[name].values()}
            told = commands[name].get(flag) or short.get(flag)
            if told is None:
                yield f"{where}: {name} has no flag {flag}"
                continue
            _, modes, types, *missing = told.split()
            if mode not in modes or missing:
                yield f"{where}: {name}: {flag} in mode {mode}, has {modes} {' '.join(missing)}"
            value = flags[flag]
            # In a query, a flag is only named.
            kind = kind_of(value) if mode != "q" else ""
            if kind and not {*_FITTING[kind]} & {*types.split(",")}:
                yield f"{where}: {name}: {flag} takes {types}, not {kind}"


def kind_of(value: ast.expr) -> str:
    """Return the type of a constant, of a constant's name or of an f-string, or an empty string for
    other values."""
    if isinstance(value, ast.JoinedStr):
        return "str"
    if isinstance(value, ast.Name):
        return constants().get(value.id, "")
    return type(value.value).__name__ if isinstance(value, ast.Constant) else ""


@cache
def constants() -> dict[str, str]:
    """Return the types of the constants that Maya's adapter defines, by name."""
    kinds: dict[str, str] = {}
    for tree in trees("maya").values():
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                    pairs = [*zip(names, values, strict=True)]
                case ast.Assign(targets=[name], value=value):
                    pairs = [(name, value)]
                case _:
                    continue
            for name, value in pairs:
                if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                    kinds[name.id] = type(value.value).__name__
    return kinds


def wrong_api() -> Iterator[str]:
    commands, api = facts("maya")["commands"], facts("maya")["api"]
    for where, (root, name, *inner) in members("maya"):
        if root == "cmds" and name not in commands and name not in unsourced("maya"):
            yield f"{where}: no command {name}"
        elif root in _MODULES and name not in api[_MODULES[root]]:
            yield f"{where}: {_MODULES[root]} has no {name}"
        elif root in _MODULES and {*inner[:1]} - {*api[_MODULES[root]][name].split()}:
            yield f"{where}: {name} has no {inner[0]}"
        elif root in ("mel", "maya_utils") and f"{root}.{name}" not in unsourced("maya"):
            yield f"{where}: {root} has no {name}"
    for where, tree in trees("maya").items():
        for node in ast.walk(tree):
            dotted = ".".join(chain(node)) if isinstance(node, ast.Attribute) else ""
            if dotted.startswith("maya.") and dotted not in _STANDALONE:
                yield f"{where}:{node.lineno}: no {dotted}"


def known_to_maya() -> set[str]:
    told = facts("maya")
    flags = {flag for each in told["commands"].values() for flag in each}
    api = {
        name for module in told["api"].values() for each in module.values() for name in each.split()
    }
    classes = {name for module in told["api"].values() for name in module}
    return {*told["commands"], *flags, *told["node_types"].split(), *api, *classes}


# -- Houdini --------------------------------------------------------------------------------------


def known_to_houdini() -> set[str]:
    told = facts("houdini")
    known = {name.partition("/")[2] for name in told["nodes"]} | {
        name.partition("/")[2].partition("::")[0] for name in told["nodes"]
    }
    for node in told["nodes"].values():
        gone = set(node["not in 21.0"].split())
        for name, parm in node["parms"].items():
            if name not in gone:
                known |= {name, *parm.get("menu", ())}
                # A tuple's parts are named after it.
                ends = ("xyzw"[: parm.get("size", 1)], "rgba"[: parm.get("size", 1)], "12")
                known |= {name + end for each in ends for end in each}
    return known | hom()


@cache
def hom() -> frozenset[str]:
    """Return the names that every version of HOM has."""
    of_each = [
        {*version, *(name for names in version.values() for name in names.split())}
        for version in facts("houdini")["hom"].values()
    ]
    return frozenset(set.intersection(*of_each))


def wrong_hom() -> Iterator[str]:
    for where, (_, *parts) in members("houdini"):
        for version, known in facts("houdini")["hom"].items():
            inner = known.get(parts[0], "").split()
            if parts[0] not in known[""].split():
                yield f"{where}: hou has no {parts[0]} in {version}"
            elif inner and {*parts[1:2]} - {*inner}:
                yield f"{where}: hou.{parts[0]} has no {parts[1]} in {version}"
    for where, tree in trees("houdini").items():
        for name in (each for node in ast.walk(tree) for each in expected_types(node)):
            # Modules and enumerations begin with a small letter.
            if not name[:1].isupper():
                yield f"{where}: hou.{name} is no class"


def expected_types(node: ast.AST) -> Iterator[str]:
    """Yield the HOM classes that a call to ``isinstance`` or an ``except`` clause names."""
    match node:
        case (
            ast.Call(func=ast.Name(id="isinstance"), args=[_, types])
            | ast.ExceptHandler(type=ast.expr() as types)
        ):
            for each in types.elts if isinstance(types, ast.Tuple) else [types]:
                if chain(each)[:1] == ["hou"]:
                    yield chain(each)[-1]


def wrong_keywords() -> Iterator[str]:
    for where, name, call in keywords("houdini"):
        for version, known in facts("houdini")["keywords"].items():
            for keyword in given(call).keys() - {*known.get(name, "").split()}:
                yield f"{where}: {name} has no {keyword} in {version}"


# -- 3ds Max --------------------------------------------------------------------------------------


@cache
def known_to_max() -> frozenset[str]:
    known = set()
    for version in ("2021", "later"):
        for name, of_it in facts("max")[version].items():
            known |= {name, *of_it.split()}
    return frozenset(known)


def of_max(name: str) -> set[str] | None:
    """Return the members of a name of the runtime, or None if there is no such name."""
    told = [facts("max")[version].get(name.lower()) for version in ("2021", "later")]
    return None if told == [None, None] else set(" ".join(filter(None, told)).split())


def wrong_runtime() -> Iterator[str]:
    skipped = unsourced("max")
    for where, (_, name, *inner) in members("max"):
        of_it = of_max(name)
        if of_it is None and name.lower() not in skipped:
            yield f"{where}: the runtime has no {name}"
        for member in {each.lower() for each in inner[:1]} - (of_it or set()):
            if f"{name.lower()}.{member}" not in skipped:
                yield f"{where}: {name} has no {member}"
    for where, name, call in keywords("max"):
        of_it = {*(of_max(name) or ()), "name"}
        for keyword in {each.lower() for each in given(call)} - of_it:
            if f"{name.lower()}.{keyword}" not in skipped:
                yield f"{where}: {name} has no {keyword}"


# -- the tests ------------------------------------------------------------------------------------


@cache
def known(host: str) -> frozenset[str]:
    if host == "maya":
        return frozenset(known_to_maya())
    return frozenset(known_to_houdini()) if host == "houdini" else known_to_max()


def unknown(host: str, named: Iterator[tuple[str, str]]) -> Iterator[str]:
    ours = own_words() | defined(host)
    theirs = unsourced(host) | known(host)
    for where, name in named:
        # MAXScript ignores case.
        spelled = {name, name.lower()} if host == "max" else {name}
        if name not in ours and not spelled & theirs:
            yield f"{where}: {name}"


def test_every_command_of_maya_has_these_flags_with_these_types_in_every_version() -> None:
    assert list(wrong_flags()) == []


def test_every_command_and_class_of_maya_is_there() -> None:
    assert list(wrong_api()) == []


def test_every_member_of_hom_is_in_every_version() -> None:
    assert list(wrong_hom()) == []


def test_every_keyword_of_hom_is_in_every_version() -> None:
    assert list(wrong_keywords()) == []


def test_every_name_of_3ds_max_is_there() -> None:
    assert list(wrong_runtime()) == []


def test_the_type_of_a_constants_name_is_known() -> None:
    given = [ast.parse(text, mode="eval").body for text in ("DOME", "f'{a}'", "1", "a.b", "path")]
    assert [kind_of(each) for each in given] == ["str", "str", "int", "", ""]


def test_isinstance_and_except_get_classes() -> None:
    for text in (
        "isinstance(a, (hou.SopNode, hou.paneTabType, str))",
        "try: a()\nexcept (hou.SopNode, hou.paneTabType): pass",
    ):
        told = [name for node in ast.walk(ast.parse(text)) for name in expected_types(node)]
        assert told == ["SopNode", "paneTabType"]


@pytest.mark.parametrize("host", HOSTS)
def test_every_property_is_the_applications(host: str) -> None:
    assert sorted(set(unknown(host, attributes(host)))) == []


@pytest.mark.parametrize("host", HOSTS)
def test_every_word_is_the_applications(host: str) -> None:
    assert sorted(set(unknown(host, words(host)))) == []


@pytest.mark.parametrize("host", HOSTS)
def test_names_without_a_source_are_used(host: str) -> None:
    """A reason that is no longer needed must be removed."""
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for path in sorted((PROJECT / f"hosts/callboard_{host}").rglob("*.py"))
    )
    there = {word.lower() for word in re.findall(r"\w+", text)}
    parts = {name: re.split(r"\W+", name.lower()) for name in unsourced(host)}
    assert sorted(name for name, words in parts.items() if not {*words} <= there | {""}) == []
