"""Guesses the purpose of a file from the counts of its contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from callboard.content import Json

#: Each guess, the kinds that a file must contain for it, the kinds that make it likelier, and the
#: guess's score when all of them are there. Kinds that most files contain prove little.
_GUESSES = (
    ("an edit", ("strips",), (), 95),
    ("an asset library", ("assets",), (), 90),
    ("a shot, put together from other files", ("libraries", "cameras"), ("lights",), 90),
    ("character animation", ("rigs", "animations"), (), 85),
    ("a rig", ("rigs",), ("meshes",), 80),
    ("drawn animation", ("drawings",), ("animations",), 80),
    ("motion tracking", ("tracked",), ("cameras",), 80),
    ("compositing", ("composited",), ("cameras",), 75),
    ("an animated scene", ("animations", "cameras"), (), 70),
    ("procedural modelling with nodes", ("node_setups",), ("meshes",), 70),
    ("a scene to render", ("cameras", "lights", "meshes"), (), 65),
    ("an assembly of other files", ("libraries",), ("meshes",), 60),
    ("texturing", ("textures",), ("meshes", "materials"), 55),
    ("a model", ("meshes",), ("materials",), 50),
    ("sound", ("sounds",), (), 45),
    ("scripting", ("scripts",), (), 40),
    ("a library of materials", ("materials",), (), 30),
)
#: Fewer animations than rigs are often only poses.
_FEW_ANIMATIONS = 0.5


def purpose(kinds: Mapping[str, int]) -> list[Json]:
    """Return a list of ``{guess, score, why}`` with every guess that fits, the likeliest first. A
    score is from 1 to 100. ``kinds`` are counts as in ``FilePort``, and ``textures``."""
    has = Counter(kinds)
    fitting: list[Json] = [
        {
            "guess": guess,
            "score": _score(has, guess, likelier, most),
            "why": ", ".join(f"{has[kind]} {kind}" for kind in (*needed, *likelier)),
        }
        for guess, needed, likelier, most in _GUESSES
        if all(has[kind] > 0 for kind in needed)
    ]
    fitting.sort(key=lambda each: -each["score"])
    return fitting or [{"guess": "nothing yet", "score": 100, "why": "it is empty"}]


def _score(has: Mapping[str, int], guess: str, likelier: tuple[str, ...], most: int) -> int:
    # Each missing kind takes a fifth of the score.
    score = most * 0.8 ** sum(has[kind] == 0 for kind in likelier)
    if guess == "character animation" and has["animations"] <= has["rigs"]:
        score *= _FEW_ANIMATIONS
    return round(score)
