import pytest

from callboard.skills.load import load_skill
from callboard.skills.search import SearchIndex
from skills.skill_tree import write_skill

GEOMETRY = """\
tools:
- name: bevel_edges
  description: Bevel the selected edges.
  search_aliases: [chamfer]
  input_schema: {properties: {segmentCount: {type: integer}}}
- name: export_fbx
  description: Write an FBX file, edges included.
- name: list_objects
  description: List the objects.
"""
LIGHTS = """\
tools:
- name: list_lights
  description: List the lights.
- name: export_ies
  description: Write a photometric file.
"""


@pytest.fixture
def index(tmp_path):
    made = SearchIndex()
    hint = "tags: [modelling]\nsearch-hint: round corners\nsearch-aliases: [polygons]\n"
    for name, text in (("maya-geometry", GEOMETRY), ("lights", LIGHTS)):
        block = "tools: tools.yaml\n" + (hint if name != "lights" else "tags: [shading]")
        made.add(load_skill(write_skill(tmp_path, name, block=block, files={"tools.yaml": text})))
    return made


def names(index, query, **options):
    return [hit.name for hit in index.search(query, **options)]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("bevel", "maya_geometry__bevel_edges"),
        ("chamfer", "maya_geometry__bevel_edges"),
        ("segment count", "maya_geometry__bevel_edges"),
        ("photometric", "lights__export_ies"),
        ("corners", "maya-geometry"),
        ("polygon", "maya-geometry"),
        ("shading", "lights"),
        ("LIST LIGHT", "lights__list_lights"),
        ("photo", "lights__export_ies"),
    ],
)
def test_the_best_hit_by_every_field(index, query, best):
    assert names(index, query)[0] == best


def test_a_name_ranks_above_a_description(index):
    ranked = names(index, "edges", kind="tool")
    assert ranked == ["maya_geometry__bevel_edges", "maya_geometry__export_fbx"]


def test_equal_scores_are_ordered_by_name_and_answers_repeat(index):
    first = index.search("export list")
    assert first == index.search("export list")
    ties = [(-hit.score, hit.name) for hit in first]
    assert ties == sorted(ties)


def test_kind_and_limit(index):
    assert {hit.kind for hit in index.search("geometry", kind="skill")} == {"skill"}
    assert len(index.search("list export", limit=2)) == 2
    assert index.search("list", limit=0) == []


@pytest.mark.parametrize("query", ["", "  ", "?!", "zzz"])
def test_nothing_is_found_by_nothing(index, query):
    assert index.search(query) == []


def test_a_removed_skill_is_not_found(index):
    index.remove("maya-geometry")
    assert names(index, "bevel chamfer corners") == []
    assert names(index, "list") == ["lights__list_lights"]
    index.remove("lights")
    assert len(index) == 0
