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
#: The fraction of a question's words from which on a recipe fits well.
WELL = 0.6
#: Minimum score of a second recipe, as a fraction of the first one's. Otherwise an entry of the
#: application's own documentation takes its place.
_BESIDE = 0.5


def recipes_for(question: str, kind: str) -> tuple[float, list[Json]]:
    """Return the recipes that answer the question, best first, for a host of that kind, after the
    share of the question that the first one has words for. Where no recipe fits well, there is at
    most one."""
    length = len(question.split())
    if length < 2:  # The question is a name, or a part of one.
        return 0.0, []
    recipes, ranking = _all()
    least = _LEAST if length < 4 else _LEAST_OF_QUESTION
    best = [
        (score, share, recipes[n])
        for score, share, n in ranking.best(question, 2 * _MOST)
        if share >= least and _fits(recipes[n]["tool"], kind)
    ]
    if not best:
        return 0.0, []
    top, share, _ = best[0]
    fitting = [recipe for score, _, recipe in best if score >= _BESIDE * top]
    most = _MOST if share >= WELL else 1
    return share, [_reported(recipe, kind) for recipe in fitting[:most]]


@lru_cache(maxsize=1)
def _all() -> tuple[list[Json], Ranking]:
    recipes: list[Json] = json.loads(_FILE.read_text("utf-8"))
    return recipes, Ranking(_fields(each) for each in recipes)


def _fields(recipe: Json) -> list[tuple[float, str]]:
    """Return the recipe's texts with their weights. Steps name much that isn't asked for."""
    names = f"{recipe['tool']} {recipe.get('blender', '')}"
    return [(2.0, recipe["ask"]), (1.0, names), (0.3, recipe["do"])]


def _fits(tool: str, kind: str) -> bool:
    """Return whether a host of that kind can have the tool."""
    return tool.startswith(f"{kind}_") or not tool.startswith("blender_")


def _reported(recipe: Json, kind: str) -> Json:
    name = recipe["ask"].split(";")[0]
    entry: Json = {"name": name, "kind": "recipe", "text": recipe["do"], "tool": recipe["tool"]}
    return {**entry, "see": recipe[kind]} if kind in recipe else entry
