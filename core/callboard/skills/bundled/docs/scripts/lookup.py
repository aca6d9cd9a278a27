"""The tool of the skill ``docs``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from functools import lru_cache
from heapq import nsmallest
from math import log
from time import perf_counter
from typing import Any

from callboard.content import Json
from callboard.skill import words as stems

from ._recipes import WELL as _WELL
from ._recipes import recipes_for

#: Seconds that one slice holds the main thread.
SLICE = 0.005
#: Entries between two checks of the clock.
STRETCH = 50
#: Maximum number of characters in an entry's text.
TEXT_LIMIT = 600
#: The weight of a word that occurs in an entry's name.
_IN_NAME = 4.0
#: Maximum number of unknown words that a hint names.
_MOST_UNKNOWN = 3
#: The number of words from which on a look-up is a question rather than a name. A question is about
#: what to do, so operators and types answer it better than single values.
_OF_QUESTION = 3
_KINDS = {"operator": 1.5, "type": 1.3}
#: The weight of a word that artists also use for one in the question.
_OF_KIN = 0.8

#: The weight of each word of the question in an entry, the entry's number, and the entry.
_Match = tuple[dict[str, float], int, Any]


def lookup(ctx: Any, words: str, limit: int = 5) -> Generator[None, None, Json]:
    """Look up the words in slices, because the first search takes a second and the host must stay
    responsive."""
    port, identity = ctx.port("docs"), ctx.host_identity
    wanted = words.strip().lower().removeprefix("bpy.types.")
    asked = list(dict.fromkeys(stems(words)))
    exact: list[Any] = []
    matches: list[_Match] = []
    slice_ends = perf_counter() + SLICE
    total = 0
    for number, entry in enumerate(port.entries()):
        total += 1
        if entry.name.lower() == wanted:
            exact.append(entry)
        elif (shares := _shares(entry, asked)) is not None:
            matches.append((shares, number, entry))
        if number % STRETCH == 0 and perf_counter() >= slice_ends:
            yield
            slice_ends = perf_counter() + SLICE
    ranked = _ranked(matches, asked, total, limit)
    share, recipes = (0.0, []) if exact else recipes_for(words, identity.kind)
    entries = [_reported(port, entry) for entry in (*exact, *(entry for _, _, entry in ranked))]
    # An entry with all the words in its name, or with all the words of a question that no recipe
    # fits well, is probably the one that was meant, so it comes before advice.
    whole = bool(ranked) and (
        _names_all(ranked[0], asked) or (len(ranked[0][0]) == len(asked) > 1 and share < _WELL)
    )
    first = 1 if not exact and whole else 0
    answer: Json = {
        "version": f"{identity.name} {identity.version}",
        "entries": [*entries[:first], *recipes, *entries[first:]][:limit],
    }
    if (fitting := len(recipes) + len(exact) + len(matches)) > limit:
        answer["more"] = fitting - limit
    if hint := _hint(asked, matches, recipes or exact):
        answer["hint"] = hint
    return answer


@lru_cache(maxsize=256)
def _kin(word: str) -> frozenset[str]:
    return frozenset(stems(word, kindred=True))


def _shares(entry: Any, asked: Sequence[str]) -> dict[str, float] | None:
    """Return each word's weight in the entry, or None if the entry has none of the words."""
    name, text = entry.name.lower(), entry.text.lower()
    maybe = [word for word in asked if word in name or word in text]
    if not maybe:
        return None
    in_name, in_text = stems(entry.name), stems(entry.text)
    shares = {}
    for word in maybe:
        if word in in_name:
            shares[word] = _IN_NAME
        elif word in in_text or word in name:
            shares[word] = 1.5
        elif any(each.startswith(word) for each in in_text):
            shares[word] = 0.7
    if len(asked) >= _OF_QUESTION:
        for word in asked:
            if word not in shares and not _kin(word).isdisjoint((*in_name, *in_text)):
                shares[word] = _OF_KIN
        weight = _KINDS.get(entry.kind, 1.0)
        shares = {word: share * weight for word, share in shares.items()}
    return shares or None


def _ranked(
    matches: Sequence[_Match], asked: Sequence[str], total: int, limit: int
) -> list[_Match]:
    """Return the best matches. Rare words count more, and entries with all the words count most."""
    held = Counter(word for shares, _, _ in matches for word in shares)
    rarity = {word: log(1 + (total - held[word] + 0.5) / (held[word] + 0.5)) for word in asked}
    whole = sum(rarity.values()) or 1.0

    def rank(match: _Match) -> tuple[float, int, int]:
        shares, number, entry = match
        score = sum(rarity[word] * share for word, share in shares.items())
        covered = sum(rarity[word] for word in shares) / whole
        # Among equal scores the shorter name comes first.
        return -score * covered**2 / (1.0 + 0.02 * len(entry.name)), len(entry.name), number

    return nsmallest(limit, matches, key=rank)


def _names_all(match: _Match, asked: Sequence[str]) -> bool:
    """Return whether each of several words is a word of the entry's name."""
    shares = match[0]
    return len(asked) > 2 and all(shares.get(word, 0.0) >= _IN_NAME for word in asked)


def _hint(asked: Sequence[str], matches: Sequence[_Match], others: Sequence[Any]) -> str:
    """Return a hint on what to look up instead, or an empty string if an entry has all the
    words."""
    if not any(word.isascii() for word in asked):
        return "these words aren't English; look up words such as: bevel width"
    if others or any(len(shares) == len(asked) for shares, _, _ in matches):
        return ""
    known = {word for shares, _, _ in matches for word in shares}
    unknown = [word for word in asked if word not in known][:_MOST_UNKNOWN]
    if not unknown:
        return "no entry has all of these words; look up fewer at once"
    listed = ", ".join(f"'{word}'" for word in unknown)
    return f"no entry has {listed}; look up the application's own word for it, or a part of a name"


def _reported(port: Any, entry: Any) -> Json:
    text = " ".join(entry.text.split())
    if len(text) > TEXT_LIMIT:
        text = f"{text[:TEXT_LIMIT]}…"
    return {"name": entry.name, "kind": entry.kind, "text": text, **port.details(entry)}
