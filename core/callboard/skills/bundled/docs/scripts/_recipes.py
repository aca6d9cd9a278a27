"""Recipes for artists' most frequent questions. Each names the tool, the host's operator, and the
steps."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path

from callboard.content import Json
from callboard.skill import Ranking, words

_FOLDER = Path(__file__).parents[1]
#: The tool for recipes that don't name one.
_SCRIPT = "script__execute"
#: Maximum number of recipes for a look-up of one word, of two or three words, and of more.
_MOST = (1, 2, 2, 3)
#: Minimum fraction of a look-up's weight that a recipe must match, for the first recipe and for
#: each further one. The first pair is for look-ups of up to three words, the second for questions.
_OF_WORDS, _OF_QUESTION = (0.35, 0.4), (0.15, 0.15)
#: The marks that distinguish a name from a plain word.
NAME = re.compile(r"[._:/]|[a-z][A-Z]")
#: A recipe fits well if it covers at least this fraction of the question's weight.
WELL = 0.6
#: Minimum score of further recipes, as a fraction of the first recipe's score.
_BESIDE = 0.45


class Recipes(Ranking):
    """The recipes for one kind of host: those for every host, and those for that kind only. Each
    clause of ``ask`` is ranked separately, because a question is about only one of them."""

    def __init__(self, kind: str) -> None:
        super().__init__(())
        self._kind = kind
        self._recipes: list[Json] = []

    def fill(self) -> Generator[None, None, None]:
        """Read the recipes. Yields after each one."""
        for file in (_FOLDER / "recipes.json", _FOLDER / f"recipes_{self._kind}.json"):
            if not file.exists():
                continue
            for recipe in json.loads(file.read_text("utf-8")):
                if not self._fits(recipe.get("tool", _SCRIPT)):
                    continue
                names = f"{recipe.get('tool', '')} {recipe.get('blender', '')}"
                # A word counts only once, no matter how many clauses contain it.
                about = " ".join(dict.fromkeys(words(f"{recipe['ask']} {names}")))
                for clause in recipe["ask"].split(";"):
                    # The steps weigh less, because they mention many things that nobody asks about.
                    self._add([(2.0, clause), (0.8, about), (0.4, recipe["do"])])
                    self._recipes.append(recipe)
                yield

    def find(self, question: str) -> Generator[None, None, tuple[float, list[Json]]]:
        """Return the fraction of the question's weight that the best recipe covers, and the recipes
        that answer the question, the best first."""
        length = len(question.split())
        if length == 1 and NAME.search(question):
            return 0.0, []
        most = _MOST[min(length, len(_MOST)) - 1]
        least, further = _OF_WORDS if length < len(_MOST) else _OF_QUESTION
        scores, shares, _ = yield from self._scored(question)
        best: list[Json] = []
        top = first = 0.0
        for number in sorted(scores, key=lambda each: (-scores[each], each)):
            recipe, share = self._recipes[number], shares[number]
            if len(best) == most or scores[number] < _BESIDE * top:
                break
            if share < (further if best else least) or recipe in best:
                continue
            top, first = top or scores[number], first or share
            best.append(recipe)
        return first, [self._reported(each) for each in best]

    def _fits(self, tool: str) -> bool:
        """Return whether a host of that kind can have the tool."""
        return tool.startswith(f"{self._kind}_") or not tool.startswith("blender_")

    def _reported(self, recipe: Json) -> Json:
        name, tool = recipe["ask"].split(";")[0], recipe.get("tool", _SCRIPT)
        entry: Json = {"name": name, "kind": "recipe", "text": recipe["do"], "tool": tool}
        return {**entry, "see": recipe[self._kind]} if self._kind in recipe else entry


#: The recipes that have been read, by kind of host.
_READ: dict[str, Recipes] = {}


def kept_recipes(kind: str) -> Generator[None, None, Recipes]:
    """Return the recipes for that kind of host. If they haven't been read yet, read them, and yield
    after each one."""
    if (recipes := _READ.get(kind)) is None:
        recipes = Recipes(kind)
        yield from recipes.fill()
        _READ[kind] = recipes
    return recipes
