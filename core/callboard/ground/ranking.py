"""Ranks short texts by the words of a question. It drops stop words, replaces synonyms, stems the
other words and uses BM25. A text without a word of the question may have one that artists use for
the same thing, which counts less."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

#: BM25's usual constants: how soon repetition stops counting, and how much a text's length counts.
_K, _B = 1.2, 0.6
#: How much a text's word counts if it isn't in the question but artists use it for the same thing.
_OF_KIN = 0.4
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP = frozenset(
    _WORD.findall(
        "a about all an and any are as at be because been but by can cannot could did do does for "
        "from get give had has have how i if in into is it its just like make me my no not of on "
        "one or our own please put set should so some such t s that the their them then there "
        "these they this to up use using want was way we what when where which who whole why will "
        "with without would you your "
    )
)
_ENDINGS = (
    *("ization", "isation", "ations", "ation", "ating", "ated", "ates", "ate", "ators", "ator"),
    *("izing", "ising", "ized", "ised", "izes", "ises", "ize", "ise"),
    *("ions", "ion", "ings", "ing", "ness", "edly", "able", "ers"),
    *("ies", "ied", "ed", "er", "es", "ly", "or", "s", "e", "y"),
)
#: Synonyms that artists and manuals use.
_SAME = {
    "colour": "color",
    "centimetre": "centimeter",
    "metre": "meter",
    "grey": "gray",
    "polygon": "face",
    "poly": "face",
    "skeleton": "armature",
    "bone": "armature",
    "picture": "image",
    "join": "merge",
    "combine": "merge",
}


#: Words that artists use for the same thing, or for things that belong together.
_KIN = (
    "light lamp",
    "delete remove erase",
    "hide invisible unseen vanish disappear",
    "duplicate copy clone instance",
    "import load bring",
    "export save write",
    "split separate detach",
    "noise grain fireflies denoise",
    "cloth fabric drape",
    "water fluid liquid",
    "sky world environment background hdri",
    "glow emission neon",
    "shiny glossy reflective metallic mirror",
    "transparent alpha opacity glass",
    "blur focus dof",
    "loop cycle repeat",
    "rotate turn spin orbit rotation",
    "move place position location translate",
    "size scale dimensions resize",
    "texture image photo",
    "armature rig skin weights",
    "attach parent hang",
    "text letters font lettering",
    "bend deform twist warp",
    "hole gap opening",
    "swap replace exchange substitute",
    "unused orphan purge",
    "crash recover autosave backup",
    "measure distance length",
    "simulation physics dynamics",
    "keys keyframe animation",
    "thickness solidify thicken",
    "smooth rounded shade",
    "reduce decimate simplify lower",
    "dark bright exposure energy",
    "lock protect freeze",
    "path track rail",
    "hair fur strands",
    "grid lattice cage",
)


def words(text: str, *, kindred: bool = False) -> list[str]:
    """Return the stems of the words that carry meaning, or of all words when none of them does.
    With ``kindred``, return the stems of the words that artists also use for the same things."""
    if kindred:
        return [other for each in words(text) for other in sorted(_kin(each))]
    every = [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]
    return [stem(word) for word in [each for each in every if each not in _STOP] or every]


def stem(word: str) -> str:
    """Return the stem of the word, or of its synonym, such as bak for baking, bakes and baked."""
    plural = word[:-1] if word.endswith("s") else word
    left = _SAME.get(word) or _SAME.get(plural) or word
    while (shorter := _shorter(left)) != left:
        left = shorter
    return left


def _shorter(word: str) -> str:
    if not word.endswith(_ENDINGS):  # most words
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            left = word[: -len(ending)]
            double = len(left) > 3 and left[-1] == left[-2] and left[-1] not in "sl"
            return left[:-1] if double else left
    return word


@lru_cache(maxsize=1)
def _kindred() -> dict[str, frozenset[str]]:
    kindred: dict[str, frozenset[str]] = {}
    for group in _KIN:
        stems = frozenset(map(stem, group.split()))
        for each in stems:
            kindred[each] = kindred.get(each, frozenset()) | (stems - {each})
    return kindred


def _kin(word: str) -> frozenset[str]:
    """Return the stems of the words that artists also use for the thing with this stem."""
    return _kindred().get(word, frozenset())


class Ranking:
    """Texts to rank, whose words are counted only once. A text's fields are pairs of a weight and a
    string."""

    def __init__(self, texts: Iterable[Sequence[tuple[float, str]]]) -> None:
        self._counts: list[dict[str, float]] = []
        self._lengths: list[float] = []
        self._holding: Counter[str] = Counter()
        for fields in texts:
            self._add(fields)

    def _add(self, fields: Sequence[tuple[float, str]]) -> None:
        counts: dict[str, float] = {}
        length = 0.0
        for weight, text in fields:
            for word in words(text):
                counts[word] = counts.get(word, 0.0) + weight
                length += min(weight, 1.0)
        self._counts.append(counts)
        self._lengths.append(length)
        self._holding.update(counts.keys())

    def _rarity(self, word: str) -> float:
        """Return BM25's weight of a word. It is highest for a word that no text has."""
        held = self._holding[word]
        return math.log(1 + (len(self._counts) - held + 0.5) / (held + 0.5))

    def best(self, question: str, limit: int) -> list[tuple[float, float, int]]:
        """Return ``(score, share, number)`` of the best texts, best first. ``share`` is the part of
        the question's weight that the text has words for."""
        asked = list(dict.fromkeys(words(question)))
        rarities = {word: self._rarity(word) for word in asked}
        # A word that no text has says little about any of them.
        whole = sum(rarity if self._holding[w] else 1.0 for w, rarity in rarities.items()) or 1.0
        usual = (sum(self._lengths) / len(self._lengths)) if self._lengths else 1.0
        ranked = []
        for number, counts in enumerate(self._counts):
            has = {word: _held(counts, word) for word in asked}
            has = {word: count for word, count in has.items() if count}
            if not has:
                continue
            long = _K * (1 - _B + _B * self._lengths[number] / (usual or 1.0))
            score = sum(
                rarities[word] * count * (_K + 1) / (count + long) for word, count in has.items()
            )
            share = sum(rarities[word] * min(1.0, 2 * has[word]) for word in has) / whole
            ranked.append((score, share, number))
        ranked.sort(key=lambda each: (-each[0], each[2]))
        return ranked[:limit]


def _held(counts: Mapping[str, float], word: str) -> float:
    """Return how often a text has the word or, counting less, one that artists use instead."""
    count = counts.get(word, 0.0)
    return count or _OF_KIN * max((counts.get(each, 0.0) for each in _kin(word)), default=0.0)
