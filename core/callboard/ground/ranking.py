"""Ranks short texts by how well they match the words of a question. Stop words are dropped,
synonyms are replaced, and the remaining words are stemmed and scored with BM25. Words that artists
use for the same thing as a word of the question also match, but count less. Words that say little
about the question count less too."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Generator, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

from callboard.ground.artists_words import FAINT, WORDS

#: BM25's usual constants, for how soon repetition stops counting and how much a text's length
#: counts.
_K, _B = 1.2, 0.6
#: The weight of a word in a text if the word isn't in the question, but artists use it for the same
#: thing as a word of the question.
_OF_KIN = 0.55
#: The same, if no text contains the word of the question.
_OF_KIN_ALONE = 0.85
#: The same, if the word of the question is only a part of the word in the text.
_OF_PART = 0.4
#: Maximum number of words that a part of a word can match.
_MOST_PARTS = 40
#: The weight of a word that says little about the question.
_FAINT_WEIGHT = 0.35
_Result = TypeVar("_Result")
#: The number of characters beyond which a word is no word of a language, and has no stem.
_LONGEST = 100
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP = frozenset(
    _WORD.findall(
        "a about all an and any are as at be because been but by can cannot could did do does for "
        "from get give had has have how i if in into is it its just like make me my no not of on "
        "one or our own please put set should so some such t s that the their them then there "
        "these they this to up use using want was way we what when where which who whole why will "
        "with without would you your doesn don didn isn aren won hasn ve ll re am "
    )
)
_ENDINGS = (
    *("ization", "isation", "ations", "ation", "ating", "ated", "ates", "ate", "ators", "ator"),
    *("izing", "ising", "ized", "ised", "izes", "ises", "ize", "ise"),
    *("ions", "ion", "ings", "ing", "ness", "edly", "able", "ers"),
    *("iest", "est", "ies", "ied", "ed", "er", "es", "ly", "or", "s", "e", "y"),
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


def words(text: str, *, kindred: bool = False) -> list[str]:
    """Return the stems of the words that carry meaning, or of all words when none of them does.
    With ``kindred``, return the stems of the words that artists also use for the same things."""
    if kindred:
        return [other for each in words(text) for other in sorted(_kin(each))]
    every = [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]
    return [stem(word) for word in [each for each in every if each not in _STOP] or every]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of the word, or of its synonym, such as bak for baking, bakes and baked."""
    if len(word) > _LONGEST:
        return word
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


#: The stems of artists' words, each with those that applications use, once they have been read.
_READ: list[dict[str, set[str]]] = []


def _kindred() -> Generator[None, None, dict[str, set[str]]]:
    """Return the stems of artists' words. Yields after each line, because reading all the words
    takes 10 ms."""
    if not _READ:
        kindred: dict[str, set[str]] = {}
        for line in WORDS.strip().splitlines():
            heads, _, others = line.partition(":")
            stems = {stem(word) for word in heads.split()}
            for each in (stem(word) for word in (others or heads).split()):
                kindred.setdefault(each, set()).update(stems - {each})
            yield
        _READ[:] = [kindred]
    return _READ[0]


def _kin(word: str) -> set[str]:
    """Return the stems of the words that artists also use for the thing with this stem."""
    return _result(_kindred()).get(word, set())


def _result(steps: Generator[None, None, _Result]) -> _Result:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: _Result = done.value
            return result


@lru_cache(maxsize=1)
def _faint() -> frozenset[str]:
    return frozenset(map(stem, FAINT.split()))


def _say(word: str) -> float:
    """Return how much a stem says about the question."""
    return _FAINT_WEIGHT if word in _faint() or word.isdigit() else 1.0


class Scored(NamedTuple):
    """Each text's score, and the share of the question's weight that the text's words cover.
    ``unknown`` lists the words that no text contains."""

    scores: dict[int, float]
    shares: dict[int, float]
    unknown: list[str]


class Ranking:
    """Texts to rank. They are indexed by stem, so a search reads only the texts that contain one of
    its stems. A text's fields are pairs of a weight and a string."""

    #: For each stem, the numbers of the texts that contain it, and its weight in each of them.
    _holding: Mapping[str, tuple[array[int], array[float]]]

    def __init__(self, texts: Iterable[Sequence[tuple[float, str]]]) -> None:
        self._added: dict[str, tuple[array[int], array[float]]] = {}
        self._holding = self._added
        self._lengths = array("f")
        for fields in texts:
            self._add(fields)

    def _add(self, fields: Sequence[tuple[float, str]]) -> None:
        counts: dict[str, float] = {}
        length = 0.0
        for weight, text in fields:
            for word in words(text):
                counts[word] = counts.get(word, 0.0) + weight
                length += min(weight, 1.0)
        for word, count in counts.items():
            held = self._added.get(word)
            if held is None:
                held = self._added[word] = array("I"), array("f")
            held[0].append(len(self._lengths))
            held[1].append(count)
        self._lengths.append(length)

    def _scored(self, question: str) -> Generator[None, None, Scored]:
        """Return the score and share of each text that contains words of the question. Yields after
        each word, because a frequent word takes a while."""
        yield from _kindred()
        asked = list(dict.fromkeys(words(question)))
        joined = _joined(question)
        usual = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0
        scores: dict[int, float] = {}
        shares: dict[int, float] = {}
        unknown = []
        whole = 0.0
        for word in asked:
            say = _say(word)
            # A word that no text contains says little about any of the texts.
            rarity = say * (self._rarity(word) if word in self._holding else 1.0)
            whole += rarity
            best: dict[int, tuple[float, float]] = {}
            alike = self._alike(word, joined.get(word, ()), len(asked) == 1)
            if not alike:
                unknown.append(word)
            for other, factor in alike:
                value = say * self._rarity(other) * factor * (_K + 1)
                for number, count in zip(*self._holding[other], strict=True):
                    long = _K * (1 - _B + _B * self._lengths[number] / usual)
                    score = value * count / (count + long)
                    if number not in best or best[number][0] < score:
                        best[number] = score, factor * min(1.0, count)
                yield
            for number, (score, held) in best.items():
                scores[number] = scores.get(number, 0.0) + score
                shares[number] = shares.get(number, 0.0) + rarity * held
            yield
        for number in shares:
            shares[number] /= whole
        return Scored(scores, shares, unknown)

    def _rarity(self, word: str) -> float:
        """Return BM25's weight of a word. The fewer texts contain the word, the higher its
        weight."""
        total = len(self._lengths)
        held = len(self._holding[word][0]) if word in self._holding else 0
        return math.log(1 + (total - held + 0.5) / (held + 0.5))

    def _alike(self, word: str, joined: Sequence[str], alone: bool) -> list[tuple[str, float]]:
        """Return the words in the texts that match the word, each with its weight."""
        alike = dict.fromkeys((word, *joined), 1.0)
        of_kin = _OF_KIN if word in self._holding else _OF_KIN_ALONE
        for other in sorted(_kin(word)):
            alike.setdefault(other, of_kin)
        alternatives = [
            (other, factor) for other, factor in alike.items() if other in self._holding
        ]
        if not alternatives or alone:
            parts = [each for each in self._holding if word in each and each not in alike]
            # The last part of a compound says what it is, such as light in moonlight.
            parts += [each for each in self._holding if len(each) > 3 and word.endswith(each)]
            parts.sort(key=lambda each: (not each.startswith(word), len(each), each))
            alternatives += [(each, _OF_PART) for each in parts[:_MOST_PARTS]]
        return alternatives


def best(ranking: Ranking, question: str, limit: int) -> list[tuple[float, float, int]]:
    """Return ``(score, share, number)`` of the best texts, best first. ``share`` is the share of
    the question's weight that the text's words cover."""
    scored = _result(ranking._scored(question))
    ranked = [(score, scored.shares[n], n) for n, score in scored.scores.items()]
    return sorted(ranked, key=lambda each: (-each[0], each[2]))[:limit]


def _joined(question: str) -> dict[str, list[str]]:
    """Return, for each word's stem, the stems of the compounds that the word forms with its
    neighbors, such as keyframe for key frame."""
    plain = [word.lower() for word in _WORD.findall(question)]
    joined: dict[str, list[str]] = {}
    for one, other in pairwise(plain):
        for each in (one, other):
            joined.setdefault(stem(each), []).append(stem(one + other))
    return joined
