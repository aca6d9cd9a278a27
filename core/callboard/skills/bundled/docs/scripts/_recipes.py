"""Recipes for artists' most frequent questions. Each names the tool, the host's operator, and the
steps."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from callboard.content import Json
from callboard.skill import Ranking

_FILE = Path(__file__).parents[1] / "recipes.json"
#: Maximum number of recipes in an answer.
_MOST = 2
#: Minimum fraction of a question's words that a recipe must match: in a question of two or three
#: words, and in a longer one.
_LEAST, _LEAST_OF_QUESTION = 0.55, 0.3


def recipes_for(question: str, kind: str) -> list[Json]:
    """Return the recipes that answer the question, best first, for a host of that kind."""
    length = len(question.split())
    if length < 2:  # The question is a name, or a part of one.
        return []
    recipes, ranking = _all()
    least = _LEAST if length < 4 else _LEAST_OF_QUESTION
    fitting = [
        recipes[n]
        for _, share, n in ranking.best(question, 2 * _MOST)
        if share >= least and _fits(recipes[n]["tool"], kind)
    ]
    return [_reported(recipe, kind) for recipe in fitting[:_MOST]]


@lru_cache(maxsize=1)
def _all() -> tuple[list[Json], Ranking]:
    recipes: list[Json] = json.loads(_FILE.read_text("utf-8"))
    return recipes, Ranking([(2.0, each["ask"]), (1.0, each["tool"])] for each in recipes)


def _fits(tool: str, kind: str) -> bool:
    """Return whether a host of that kind can have the tool."""
    return tool.startswith(f"{kind}_") or not tool.startswith("blender_")


def _reported(recipe: Json, kind: str) -> Json:
    name = recipe["ask"].split(";")[0]
    entry: Json = {"name": name, "kind": "recipe", "text": recipe["do"], "tool": recipe["tool"]}
    return {**entry, "see": recipe[kind]} if kind in recipe else entry
