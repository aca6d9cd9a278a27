"""A tool without schemas in tools.yaml gets them from its function's annotations."""

from __future__ import annotations

import json

import pytest

from callboard.skills.discovery_cache import DiscoveryCache
from callboard.skills.load import load_skill
from callboard_programs.cli import main
from skills.skill_tree import write_files, write_skill


def tool(tmp_path, source, entry="", name="go"):
    files = {"tools.yaml": f"tools:\n- name: {name}\n{entry}", f"scripts/{name}.py": source}
    skill = load_skill(write_skill(tmp_path, "s", files=files))
    assert skill.failures == ()
    return skill.tools[0]


def takes(tmp_path, annotation, before=""):
    """Return the schema of a parameter with the given annotation."""
    source = f"{before}\ndef main(x: {annotation}): pass\n"
    return tool(tmp_path, source).input_schema["properties"]["x"]


RING = '''
from __future__ import annotations
from typing import Literal, TypedDict

class Placed(TypedDict, total=False):
    path: str
    size: "tuple[float, float, float]"

def ring(ctx, count: int, radius: float = 1.5, *, kind: Literal["cube", "sphere"] = "cube",
         _workspace_roots=None) -> dict[str, Placed]:
    """Places props in a ring.

    Evenly.

    Args:
        count: How many,
            at least one.
        radius (float): Scene units.
    """
'''


def test_a_function_says_what_it_takes_and_returns(tmp_path):
    made = tool(tmp_path, RING, name="ring")
    assert made.description == "Places props in a ring."
    assert made.input_schema == {
        "type": "object",
        "properties": {
            "count": {"description": "How many, at least one.", "type": "integer"},
            "radius": {"description": "Scene units.", "type": "number", "default": 1.5},
            "kind": {"type": "string", "enum": ["cube", "sphere"], "default": "cube"},
        },
        "required": ["count"],
        "additionalProperties": False,
    }
    size = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
    placed = {"type": "object", "properties": {"path": {"type": "string"}, "size": size}}
    assert made.output_schema == {"type": "object", "additionalProperties": placed}


def test_what_tools_yaml_writes_stands(tmp_path):
    entry = "  description: Mine.\n  input_schema: {properties: {count: {}}}\n"
    made = tool(tmp_path, RING, entry, name="ring")
    assert made.description == "Mine."
    assert made.input_schema == {"type": "object", "properties": {"count": {}}}
    assert made.output_schema is not None


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        ("typing.Optional[float]", {"type": ["number", "null"]}),
        ("int | str", {"type": ["integer", "string"]}),
        ("list[str] | None", {"type": ["array", "null"], "items": {"type": "string"}}),
        ("Literal['a', 1, None]", {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
        ("dict[str, list[int]]", {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "integer"}},
        }),
        ("Union[list[str], dict]", {
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "object"}]
        }),
        ("tuple[str, ...]", {"type": "array", "items": {"type": "string"}}),
        ("'collections.abc.Sequence[bool]'", {"type": "array", "items": {"type": "boolean"}}),
        ("Annotated[str, 'Where.', {'format': 'workspace-path'}]", {
            "type": "string", "description": "Where.", "format": "workspace-path",
        }),
        ("Point", {
            "type": "object",
            "properties": {"x": {"type": "number"}, "note": {"type": "string"}},
            "required": ["x"],
        }),
        ("Name", {"type": "string", "minLength": 1}),
    ],
)  # fmt: skip
def test_annotations(tmp_path, annotation, schema):
    before = (
        "class Point(TypedDict):\n    x: float\n    note: NotRequired[str]\n"
        "Name = Annotated[str, {'minLength': 1}]\n"
    )
    assert takes(tmp_path, annotation, before) == schema


@pytest.mark.parametrize(
    "annotation",
    [
        *("Any", "Path", "Mesh", "Me", "list[()]()", "Literal[print]", "1 + 1", "'half ('"),
        *("Callable[[int], str]", "Literal[()]", "Union[int, Any]", " | ".join(["Path"] * 150)),
    ],
)
def test_what_isnt_json_lets_everything_pass(tmp_path, annotation):
    before = "Me = Me\nclass Mesh:\n    size: float\n"
    assert takes(tmp_path, annotation, before) == {}


def test_a_type_that_names_itself_ends(tmp_path):
    before = "class Node(TypedDict):\n    below: 'list[Node]'\n    other: dict[str, 'Node']\n"
    assert takes(tmp_path, "Node", before) == {
        "type": "object",
        "properties": {"below": {"type": "array"}, "other": {"type": "object"}},
        "required": ["below", "other"],
    }
    wide = "".join(f"T{n} = dict[str, tuple[T{n + 1}, T{n + 1}]]\n" for n in range(60))
    assert takes(tmp_path / "wide", "T0", wide)["type"] == "object"


def test_what_a_type_inherits_again_and_again_ends(tmp_path):
    classes = [f"class T{n}({', '.join([f'T{n - 1}'] * 6)}): pass\n" for n in range(1, 12)]
    before = "class T0(TypedDict):\n    size: float\n" + "".join(classes)
    assert takes(tmp_path, "T11", before) == {}


@pytest.mark.parametrize(
    "extra", [{"anyOf": 5}, {"anyOf": ["a"]}, {"anyOf": [{"anyOf": 5}]}, {"enum": 5}]
)
def test_a_schema_that_is_none_ends_no_search_for_skills(tmp_path, extra):
    for number, annotation in enumerate(("{} | None", "Union[{}] | None", "Optional[{}]")):
        takes(tmp_path / str(number), annotation.format(f"Annotated[str, {extra}]"))
        takes(tmp_path / f"any{number}", annotation.format(f"Annotated[Any, {extra}]"))


def test_none_as_default_is_taken_and_odd_defaults_are_not_told(tmp_path):
    source = (
        "def main(a: float = None, b: str = NAME, c: float = 1e999, d: str = '\\ud800'): pass\n"
    )
    assert tool(tmp_path, source).input_schema["properties"] == {
        "a": {"type": ["number", "null"]},
        "b": {"type": "string"},
        "c": {"type": "number"},
        "d": {"type": "string"},
    }


@pytest.mark.parametrize(
    "docstring",
    [
        "Goes.\n\n:param x: How far,\n    in units.\n:param int y: How often.\n",
        "Goes.\n\nParameters\n----------\nx : float\n    How far,\n    in units.\ny\n"
        "    How often.\n\nReturns\n-------\nz : int\n    Not this.\n",
        "Goes.\n\nArgs:\n  x: How far,\n    in units.\n\n  y (int): How often.\n\nReturns:\n"
        "  z: Not this.\n",
    ],
)
def test_docstrings(tmp_path, docstring):
    made = tool(tmp_path, f"def main(x, y, z): {docstring!r}\n")
    texts = {key: one.get("description") for key, one in made.input_schema["properties"].items()}
    assert texts == {"x": "How far, in units.", "y": "How often.", "z": None}
    assert made.description == "Goes."


@pytest.mark.parametrize(
    "source",
    ["def main(:", "main = print", "@wrap\ndef main(x: int): pass", "def main(x, /): pass", ""],
)
def test_other_functions_say_nothing(tmp_path, source):
    made = tool(tmp_path, source)
    assert (made.input_schema, made.output_schema) == ({"type": "object"}, None)


def test_a_tool_that_takes_code_is_known_by_its_annotations(tmp_path):
    assert tool(tmp_path, "def main(code: str): pass").required_capabilities == ("script.execute",)


def test_loading_runs_nothing(tmp_path):
    ran = tmp_path / "ran"
    tool(tmp_path, f"open({str(ran)!r}, 'w')\ndef main(x: int = print('here')): pass\n")
    assert not ran.exists()


def test_an_edited_signature_is_read_again_and_kept_over_starts(tmp_path):
    folder = write_skill(
        tmp_path, "s", files={"tools.yaml": "tools: [go]", "scripts/go.py": "def main(a: int): 1"}
    )
    cache = DiscoveryCache(tmp_path / "cache.json")
    assert "a" in cache.load(folder).tools[0].input_schema["properties"]
    cache.save()
    write_files(folder, {"scripts/go.py": "def main(longer: str): 1"})
    again = DiscoveryCache(tmp_path / "cache.json").load(folder)
    assert "longer" in again.tools[0].input_schema["properties"]


def test_lint_explains_what_comes_from_the_function(tmp_path, capsys):
    source = "def main(mesh: Mesh, size: float = 1): 'Goes.'\n"
    files = {"tools.yaml": "tools: [go]", "scripts/go.py": source}
    folder = write_skill(tmp_path, "s", files=files)
    assert main(["lint", str(folder), "--explain"]) == 0
    out = capsys.readouterr().out
    assert "scripts/go.py:1: tool 'go': input_schema from main(): {" in out
    assert '"size": {"type": "number", "default": 1}' in out
    assert "scripts/go.py:1: tool 'go': 'Mesh' has no meaning in JSON; any value is accepted" in out
    assert main(["lint", str(tmp_path), "--explain", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["explained"]
    assert (one["source"], one["tool"], one["unread"]) == ("s/scripts/go.py", "go", ["Mesh"])
    assert one["gives"]["description"] == "Goes."
