"""Rules that keep the code readable, such as one name for one thing, and short functions."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_trees import PROJECT, facts

MANY_LINES = 500
MOST_LINES_OF_A_FUNCTION = 60
#: The folders in which a word is considered a use of a name. A use in tests alone isn't enough.
USES = ("core", "hosts", "ui", "packaging", "benchmarks", "examples", "docs")
TEXTS = {".py", ".yaml", ".json", ".md", ".toml", ".txt", ".js", ".html", ".cmd", ".ms", ".mod"}
OURS = ("core", "hosts", "ui", "packaging")
#: Names that we define, and that only other packages call.
CALLED_BY = {
    "asyncio": {
        *("buffer_updated", "get_buffer", "get_pid", "get_pipe_transport", "get_returncode"),
        "get_write_buffer_size",
        "is_reading",
    },
    "Blender": {
        *("bl_category", "bl_description", "bl_info", "bl_options", "bl_parent_id"),
        *("bl_region_type", "bl_space_type", "filter_folder"),
    },
    "Dask": {"transition"},
    "Maya": {"initializePlugin", "maya_useNewAPI", "uninitializePlugin"},
    "Python": {"_fields_", "handle_data", "handle_starttag", "http_error_308"},
    "Qt": {
        *("dragEnterEvent", "dropEvent", "eventFilter", "headerData", "keyPressEvent"),
        *("paintEvent", "setData", "wheelEvent"),
    },
    "Tornado": {
        *("headers_received", "io_loop", "read_until", "read_until_regex", "set_nodelay"),
        "start_request",
    },
    "skills written for dcc-mcp": {
        *("DccMcpCancelledError", "check_dcc_cancelled", "current_cancel_token", "run_main"),
        *("skill_entry", "skill_success", "skill_warning"),
    },
    "the published bundle SDK": {"model_validate"},
    "watchdog": {"on_any_event"},
    # The members give the order of the tabs, and the code uses none of them by name.
    "nobody": {"LACKING"},
}
#: Functions that are repeated because the places that use them can't share code.
TWICE = {
    "_load": "Houdini runs the file that lies in the folder of its own Python",
    "set": "each skill is a folder of its own, and its script knows its own port",
}
#: Words that describe how a value was obtained, instead of the value itself.
EMPTY_NAMES = {"found", "said", "look"}
_EMPTY = re.compile(rf"\b_*(?:{'|'.join(sorted(EMPTY_NAMES))})\b")


def sources(*roots: str) -> list[Path]:
    return [path for root in roots for path in sorted((PROJECT / root).rglob("*.py"))]


@pytest.mark.sweep
@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.parametrize("root", ["core", "hosts", "ui"])
def test_functions_are_short(root: str) -> None:
    """Functions that are too long fail the test. Long modules only cause a warning, as CONTRIBUTING
    explains."""
    for path in sources(root):
        if facts(path).lines > MANY_LINES:
            warnings.warn(
                f"{path.relative_to(PROJECT)} has {facts(path).lines} lines: is it two ideas?",
                stacklevel=1,
            )
    assert [
        f"{path.relative_to(PROJECT)}: {name}, {lines} lines"
        for path in sources(root)
        for name, lines in facts(path).functions
        if lines > MOST_LINES_OF_A_FUNCTION
    ] == []


def test_no_two_test_modules_share_a_name() -> None:
    """Pytest can't run both at once, which only a run of all tests would show."""
    names = Counter(path.name for path in sources("tests") if path.name.startswith("test_"))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.sweep
def test_no_public_class_of_core_has_a_namesake() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path in sources("core"):
        # Skill scripts are code such as a user would write.
        if "scripts" not in path.parts:
            for name in facts(path).classes:
                if not name.startswith("_"):
                    homes[name].append(str(path.relative_to(PROJECT)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


@pytest.mark.sweep
@pytest.mark.parametrize("root", ["core", "hosts", "ui", "packaging", "benchmarks", "tests"])
def test_names_say_what_a_value_is(root: str) -> None:
    assert [
        f"{path.relative_to(PROJECT)}:{line}: {name}"
        for path in sources(root)
        # Most modules never contain such a word, and so need no parsing.
        if _EMPTY.search(path.read_text("utf-8"))
        for line, name in facts(path).names
        if name.lstrip("_") in EMPTY_NAMES
    ] == []


def test_tests_ask_in_one_way_for_what_a_machine_is_missing() -> None:
    """An installed package may still be missing a system library, which `needed.py` checks."""
    asked = re.compile(r"pytest\.importorskip\(|find_spec\(\W*(bpy|pxr|PySide6|qtpy)\b")
    assert [
        str(path.relative_to(PROJECT))
        for path in sources("tests")
        if asked.search(path.read_text("utf-8")) and path.name != "needed.py"
    ] == []


@pytest.mark.sweep
def test_nothing_is_defined_that_nothing_uses() -> None:
    face = (PROJECT / "tests" / "public_face.txt").read_text("utf-8")
    words: Counter[str] = Counter(re.findall(r"\w+", face))
    given: Counter[str] = Counter()
    homes: dict[str, str] = {}
    for path in (each for root in USES for each in sorted((PROJECT / root).rglob("*"))):
        if "decisions" in path.parts or path.suffix not in TEXTS:
            continue
        words.update(re.findall(r"\w+", path.read_text("utf-8")))
        # The compliance suite finds its checks by their form.
        if path.suffix == ".py" and "checks" not in path.parts:
            for line, name in facts(path).own:
                given[name] += 1
                homes[name] = f"{path.relative_to(PROJECT)}:{line}"
    unused = {
        name
        for name, times in given.items()
        if words[name] == times and not name.startswith("__") and homes[name].startswith(OURS)
    }
    others = set().union(*CALLED_BY.values())
    assert {homes[name]: name for name in unused - others} == {}
    assert others - unused == set(), "these are used now; remove them from CALLED_BY"


def bodies(path: Path) -> Iterator[tuple[int, str, int]]:
    """Yield (line, name, a hash of parameters and code) of each function of five lines or more,
    without its docstring."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            code = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if code and (code[-1].end_lineno or 0) - code[0].lineno >= 4:
                yield node.lineno, node.name, hash((*map(ast.dump, (node.args, *code)),))


@pytest.mark.sweep
def test_no_function_stands_twice() -> None:
    places: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for path in sources("core", "hosts", "ui", "packaging", "benchmarks", "tests"):
        # A double stands for one application, and shares nothing with another.
        if "doubles" not in path.parts:
            for line, name, body in bodies(path):
                places[body].append((f"{path.relative_to(PROJECT)}:{line}", name))
    twice = [same for same in places.values() if len(same) > 1]
    assert [same for same in twice if {name for _, name in same} - TWICE.keys()] == []
    assert {name for same in twice for _, name in same} == TWICE.keys()


#: A docstring must not begin with one of these words, because it would read like a question.
_OPENERS = re.compile(r'^\s*r?"""(?:Who|Whose|What|Whether|Which|How|Where|When|Why)\b', re.M)
_DOCSTRINGS = re.compile(r'^\s*r?"""(?=\w)', re.M)


def test_docstrings_begin_with_their_subject() -> None:
    texts = {
        path: path.read_text("utf-8")
        for path in sources("core", "hosts", "ui", "tests", "benchmarks", "packaging", "examples")
    }
    turned = [path for path, text in texts.items() for _ in _OPENERS.findall(text)]
    docstrings = sum(len(_DOCSTRINGS.findall(text)) for text in texts.values())
    assert len(turned) < docstrings / 100, [str(path.relative_to(PROJECT)) for path in turned]
