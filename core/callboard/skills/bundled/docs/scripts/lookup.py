"""The tool of the ``docs`` skill."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from callboard.content import Json
from callboard.skill import in_slices
from callboard.skill import words as stems

from ._index import Found, kept_index
from ._recipes import WELL, kept_recipes

#: Seconds that one slice holds the main thread.
SLICE = 0.005
#: Maximum number of characters in an entry's text.
TEXT_LIMIT = 600
#: Maximum number of unknown words that a hint names.
_MOST_UNKNOWN = 3
#: Number of recipes listed before the application's best entry if that entry covers at least the
#: given fraction of the question's weight. Otherwise, the entry comes after all recipes.
_BEFORE_ENTRIES, _LEAST_SHARE = 2, 0.7
#: A look-up with more words than this isn't a name or a part of one.
_NAMING = 3


def lookup(ctx: Any, words: str, limit: int = 5) -> Generator[None, None, Json]:
    """Look up the words in slices, because the first search takes a second and the host must stay
    responsive."""
    port, identity = ctx.port("docs"), ctx.host_identity
    return (yield from in_slices(_answer(port, identity, words, limit), SLICE))


def _answer(port: Any, identity: Any, words: str, limit: int) -> Generator[None, None, Json]:
    index = yield from kept_index(port)
    exact = index.named(words.strip().lower().removeprefix("bpy.types."))
    matches = yield from index.find(words, limit + len(exact))
    share = 0.0
    recipes: list[Json] = []
    if not exact:
        all_recipes = yield from kept_recipes(identity.kind)
        share, recipes = yield from all_recipes.find(words)
    entries = list(exact)
    for match in matches.best:
        if match.entry not in exact:
            entries.append(match.entry)
    before = 0 if exact else _before(words, share, matches, len(recipes))
    reported = [_reported(port, entry) for entry in entries[:limit]]
    answer: Json = {
        "version": f"{identity.name} {identity.version}",
        "entries": [*recipes[:before], *reported[:1], *recipes[before:], *reported[1:]][:limit],
    }
    if (fitting := len(recipes) + matches.total) > limit:
        answer["more"] = fitting - limit
    answered = recipes and (share >= WELL or len(words.split()) > _NAMING)
    if not exact and not answered and (hint := _hint(words, matches)):
        answer["hint"] = hint
    return answer


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


def _reported(port: Any, entry: Any) -> Json:
    text = " ".join(entry.text.split())
    if len(text) > TEXT_LIMIT:
        text = f"{text[:TEXT_LIMIT]}…"
    return {"name": entry.name, "kind": entry.kind, "text": text, **port.details(entry)}
