"""The tool of the ``docs`` skill."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future, wait
from typing import Any

from callboard.content import Json
from callboard.skill import in_slices, search_manuals
from callboard.skill import words as stems

from ._index import OF_QUESTION, Found, kept_index
from ._recipes import NAME, WELL, kept_recipes

#: Seconds that one slice holds the main thread.
SLICE = 0.005
#: Seconds that one step waits for the search of the manuals.
_STEP = 0.001
#: Maximum number of characters in an entry's text.
TEXT_LIMIT = 600
#: Maximum number of unknown words that a hint names.
_MOST_UNKNOWN = 3
#: Number of recipes listed before the application's best entry if that entry covers at least the
#: given fraction of the question's weight. Otherwise, the entry comes after all recipes.
_BEFORE_ENTRIES, _LEAST_SHARE = 2, 0.7
#: A look-up with more words than this isn't a name or a part of one.
_NAMING = 3
#: Where the makers of each kind of host offer its manual.
_OFFERED = {
    "blender": "https://docs.blender.org/manual",
    "maya": "https://help.autodesk.com/view/MAYAUL/ENU/",
    "3dsmax": "https://help.autodesk.com/view/3DSMAX/ENU/",
    "houdini": "https://www.sidefx.com/docs/",
}


def lookup(ctx: Any, words: str, limit: int = 5) -> Generator[None, None, Json]:
    """Look up the words in slices, because the first search takes a second and the host must stay
    responsive. The manuals are searched on another thread meanwhile."""
    port, identity = ctx.port("docs"), ctx.host_identity
    search = search_manuals(identity.kind, identity.version, words, limit)
    return (yield from in_slices(_answer(port, identity, words, limit, search), SLICE))


def _answer(
    port: Any, identity: Any, words: str, limit: int, search: Future[Any]
) -> Generator[None, None, Json]:
    index = yield from kept_index(port)
    exact = index.named(words.strip().lower().removeprefix("bpy.types."))
    matches = yield from index.find(words, limit + len(exact))
    while not wait([search], _STEP).done:
        yield
    manual = search.result()
    share = 0.0
    recipes: list[Json] = []
    if not exact and not manual.named:
        all_recipes = yield from kept_recipes(identity.kind)
        share, recipes = yield from all_recipes.find(words)
    entries = list(exact)
    for match in () if manual.named else matches.best:
        if match.entry not in exact:
            entries.append(match.entry)
    before = 0 if exact else _before(words, share, matches, len(recipes))
    reported = [_reported(port, each, each is entries[0]) for each in entries[:limit]]
    own = [*recipes[:before], *reported[:1], *recipes[before:], *reported[1:]]
    sections = manual.entries
    if not manual.named:
        # A reference says of names what the application itself says better.
        sections = [one for one in sections if not index.named(_own_name(one))]
        if exact and NAME.search(words):
            sections = []
    is_question = len(set(stems(words))) >= OF_QUESTION
    sections_first = not exact and share < min(WELL, manual.share)
    answer: Json = {
        "version": f"{identity.name} {identity.version}",
        "entries": _merged(own, sections, is_question, sections_first)[:limit],
    }
    if any(entry["kind"] == "manual" for entry in answer["entries"]):
        answer["manual"] = "; ".join(manual.of)
    fitting = len(recipes) + manual.total + (len(entries) if manual.named else matches.total)
    if fitting > limit:
        answer["more"] = fitting - limit
    answered = recipes and (share >= WELL or len(words.split()) > _NAMING)
    hints = list(manual.problems)
    if not exact and not answered and manual.share < WELL and (hint := _hint(words, matches)):
        hints.insert(0, hint)
        if not manual.fits and (offered := _OFFERED.get(identity.kind)):
            hints.append(
                f"the manual says more: get it at {offered}, then `callboard manual add FILE`"
            )
    if hints:
        answer["hint"] = "; ".join(hints)
    return answer


def _merged(
    own: Sequence[Json], sections: Sequence[Json], is_question: bool, sections_first: bool
) -> list[Json]:
    """Return the application's own entries and recipes, and the manual's sections, in turns. A
    question is answered by more of the manual than a name."""
    turn = 2 if is_question else 1
    merged = list(sections[:1]) if sections_first else []
    left = sections[len(merged) :]
    for number in range(max(len(own), len(left))):
        merged += [*own[number : number + 1], *left[number * turn : (number + 1) * turn]]
    return merged


def _before(words: str, share: float, matches: Found, recipes: int) -> int:
    """Return the number of recipes to list before the application's best entry."""
    if not matches.best:
        return recipes
    best, asked = matches.best[0], set(stems(words))
    # An entry with all the words in its name, or with all the words of a question that no recipe
    # fits well, is probably the one that was meant, so it comes before the recipes.
    if len(asked) > 2 and asked.issubset(stems(best.entry.name)):
        return 0
    if best.share > 0.999 and (share < WELL or len(asked) == 1):
        return 0
    return _BEFORE_ENTRIES if best.share >= _LEAST_SHARE else recipes


def _hint(words: str, matches: Found) -> str:
    """Return a hint on what to look up instead, or an empty string if an entry has all the
    words."""
    if not any(word.isascii() for word in stems(words)):
        return "these words aren't English; look up words such as: bevel width"
    if matches.whole:
        return ""
    unknown = matches.unknown[:_MOST_UNKNOWN]
    if not unknown:
        return "no entry has all of these words; look up fewer at once"
    listed = ", ".join(f"'{word}'" for word in unknown)
    return f"no entry has {listed}; look up the application's own word for it, or a part of a name"


def _own_name(section: Json) -> str:
    """Return a section's name as the application would write it, or an empty string if it isn't a
    name in code."""
    name = str(section["name"])
    return name.lower().removeprefix("bpy.types.") if "." in name else ""


def _reported(port: Any, entry: Any, first: bool) -> Json:
    """Return an entry for the answer. Only for the ``first``, the meanings of each parameter's
    choices are included, because they are long."""
    text = " ".join(entry.text.split())
    if len(text) > TEXT_LIMIT:
        text = f"{text[:TEXT_LIMIT]}…"
    details = port.details(entry)
    if not first:
        for parameter in details.get("parameters", ()):
            parameter.pop("meanings", None)
    return {"name": entry.name, "kind": entry.kind, "text": text, **details}
