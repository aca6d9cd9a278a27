"""Guesses the purpose of a file from the counts of its contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from callboard.content import Json

#: Maximum number of guesses.
_MOST = 5


def purpose(kinds: Mapping[str, int]) -> list[Json]:
    """Return a list of ``{guess, why}``, the likeliest guess first. ``kinds`` are counts as in
    ``FilePort``."""
    has = Counter(kinds)
    guesses = (
        (has["strips"] > 0, "an edit", ("strips",)),
        (has["assets"] > 0, "an asset library", ("assets",)),
        (
            has["libraries"] > 0 and has["cameras"] > 0,
            "a shot, put together from other files",
            ("libraries", "cameras", "lights"),
        ),
        (
            has["rigs"] > 0 and has["animations"] > has["rigs"],
            "character animation",
            ("rigs", "animations"),
        ),
        (has["rigs"] > 0, "a rig", ("rigs", "meshes")),
        (
            has["animations"] > 0 and has["cameras"] > 0,
            "an animated scene",
            ("animations", "cameras"),
        ),
        (
            has["cameras"] > 0 and has["lights"] > 0 and has["meshes"] > 0,
            "a scene to render",
            ("cameras", "lights", "meshes"),
        ),
        (
            has["libraries"] > 0,
            "an assembly of other files",
            ("libraries", "meshes"),
        ),
        (has["drawings"] > 0, "drawn animation", ("drawings", "animations")),
        (has["tracked"] > 0, "motion tracking", ("tracked", "cameras")),
        (has["node_setups"] > 0, "procedural modelling with nodes", ("node_setups", "meshes")),
        (has["composited"] > 0, "compositing", ("composited", "cameras")),
        (has["meshes"] > 0, "a model", ("meshes", "materials")),
        (has["sounds"] > 0, "sound", ("sounds",)),
        (has["scripts"] > 0, "scripting", ("scripts",)),
        (has["materials"] > 0, "a library of materials", ("materials",)),
    )
    fitting = [
        {"guess": guess, "why": ", ".join(f"{has[kind]} {kind}" for kind in because)}
        for fits, guess, because in guesses
        if fits
    ]
    return fitting[:_MOST] or [{"guess": "nothing yet", "why": "it is empty"}]
