"""Each recipe of ``docs__lookup`` names a tool that exists, and artists' questions find the
recipes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.ground.ranking import Ranking, best, stem, words
from needed import need
from skills.artists_questions import QUESTIONS

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "core/callboard/skills/bundled/docs"
RECIPES = [
    each
    for name in ("recipes.json", "recipes_blender.json")
    for each in json.loads((DOCS / name).read_text("utf-8"))
]
#: Names that exist in Blender, but not in the version that the tests install.
OTHER_VERSIONS = {"bpy.ops.object.gpencil_add"}


def tools() -> set[str]:
    """Return the names of all tools that ship."""
    names = {"batch__run", "scene__undo", "scene__redo"}
    places = [PROJECT / "core/callboard/skills/bundled", *PROJECT.glob("hosts/*/skills")]
    for file in (each for place in places for each in place.glob("*/tools.yaml")):
        named = re.findall(r"^  - name: (\w+)", file.read_text("utf-8"), re.M)
        skill = file.parent.name.replace("-", "_")
        names.update(f"{skill}__{tool}" for tool in named)
    return names


def test_each_tool_that_a_recipe_names_exists() -> None:
    named = {each["tool"] for each in RECIPES if "tool" in each}
    for each in RECIPES:
        named.update(re.findall(r"\b[a-z]+(?:_[a-z]+)*__[a-z_]+\b", each["do"]))
    assert named - tools() == set()


def test_each_recipe_is_there_once() -> None:
    asked = [each["ask"] for each in RECIPES]
    assert len(set(asked)) == len(asked)


@pytest.mark.slow
def test_each_name_of_blender_in_a_recipe_exists() -> None:
    need("bpy")
    script = """
import bpy, re, sys
text = sys.stdin.read()
group = bpy.types.PropertyGroup.bl_rna_get_subclass_py
for name, area, operator in re.findall(r"(bpy\\.ops\\.(\\w+)\\.(\\w+))", text):
    if operator not in dir(getattr(bpy.ops, area)):
        print(name)
for name, kind, _, member in re.findall(r"(bpy\\.types\\.(\\w+)(\\.(\\w+))?)", text):
    found = getattr(bpy.types, kind, None) or group(kind)
    rna = getattr(found, "bl_rna", None)
    if found is None or member and not (
        hasattr(found, member) or member in rna.properties or member in rna.functions
    ):
        print(name)
for name in re.findall(r"\\b(?:Shader|Geometry|Compositor|Function)Node\\w+", text):
    if not hasattr(bpy.types, name):
        print(name)
types = bpy.types
for made, owner in (
    (r"obj\\.modifiers\\.new\\('[^']*', '(\\w+)'", types.Modifier),
    (r"curve\\.modifiers\\.new\\('(\\w+)'", types.FModifier),
    (r"constraints\\.new\\('(\\w+)'", types.Constraint),
):
    known = owner.bl_rna.properties["type"].enum_items.keys()
    for name in re.findall(made, text):
        if name not in known:
            print(name)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        input="\n".join(f"{each.get('blender', '')} {each['do']}" for each in RECIPES),
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    assert set(done.stdout.split()) - OTHER_VERSIONS == set()


def test_recipes_answer_the_questions_that_artists_ask() -> None:
    ranking = Ranking(
        [
            (2.0, each["ask"]),
            (1.0, f"{each.get('tool', '')} {each.get('blender', '')}"),
            (0.3, each["do"]),
        ]
        for each in RECIPES
    )
    right = [
        question
        for question, names in QUESTIONS.items()
        if any(
            name in json.dumps(RECIPES[number])
            for *_, number in best(ranking, question, 3)
            for name in names
        )
    ]
    assert len(right) >= 0.85 * len(QUESTIONS), set(QUESTIONS).difference(right)


@pytest.mark.parametrize(
    "alike", [("baking", "bakes", "baked"), ("scatter", "scattering"), ("colours", "color")]
)
def test_words_of_one_stem_are_one(alike: tuple[str, ...]) -> None:
    assert len({stem(word) for word in alike}) == 1


def test_words_without_meaning_are_dropped_unless_there_are_no_others() -> None:
    assert words("How do I use the armature?") == [stem("armature")]
    assert words("how to") == [stem("how"), stem("to")]
    assert words("List_the segmentCounts: glass") == ["list", "segment", "count", "glass"]


def test_a_text_without_the_word_is_found_by_one_that_artists_also_use() -> None:
    ranking = Ranking([[(1.0, "separate a mesh")], [(1.0, "split a sentence")], [(1.0, "fog")]])
    ranked = [number for *_, number in best(ranking, "split", 3)]
    assert ranked == [1, 0]


def test_a_word_of_the_world_finds_what_applications_call_it() -> None:
    ranking = Ranking([[(1.0, "smoke and fire")], [(1.0, "liquid")], [(1.0, "light a scene")]])
    ranked = {word: best(ranking, word, 1)[0][2] for word in ("campfire", "honey", "moonlight")}
    assert ranked == {"campfire": 0, "honey": 1, "moonlight": 2}


def test_two_words_find_their_compound() -> None:
    ranking = Ranking([[(1.0, "keyframe")], [(1.0, "frame rate")]])
    assert best(ranking, "key frame", 1)[0][2] == 0


def test_a_word_that_says_little_counts_less() -> None:
    ranking = Ranking([[(1.0, "another thing")], [(1.0, "another lamp")]])
    assert best(ranking, "thing lamp", 1)[0][2] == 1
