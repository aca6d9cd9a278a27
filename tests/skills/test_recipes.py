"""Each recipe of ``docs__lookup`` names a tool that exists, and artists' questions find the
recipes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from callboard.ground.ranking import Ranking, stem, words
from skills.artists_questions import QUESTIONS

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "core/callboard/skills/bundled/docs"
RECIPES = json.loads((DOCS / "recipes.json").read_text("utf-8"))


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
    named = {each["tool"] for each in RECIPES}
    for each in RECIPES:
        named.update(re.findall(r"\b[a-z]+(?:_[a-z]+)*__[a-z_]+\b", each["do"]))
    assert named - tools() == set()


def test_recipes_answer_the_questions_that_artists_ask() -> None:
    ranking = Ranking(
        [
            (2.0, each["ask"]),
            (1.0, f"{each['tool']} {each.get('blender', '')}"),
            (0.3, each["do"]),
        ]
        for each in RECIPES
    )
    right = [
        question
        for question, names in QUESTIONS.items()
        if any(
            name in json.dumps(RECIPES[number])
            for *_, number in ranking.best(question, 3)
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
    best = [number for *_, number in ranking.best("split", 3)]
    assert best == [1, 0]
