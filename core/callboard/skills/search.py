"""Finds skills and tools among thousands by a few words.

An inverted index records for every word which entries have it and how prominently. A query adds up
prominence times rarity for each of its words. A word also matches longer words that begin with it.
Equal scores are ordered by name, so the same query always gets the same answer.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from callboard.calls.tools import Tool
from callboard.ground.ranking import words
from callboard.skills.model import SkillMetadata, ToolDeclaration

Kind = Literal["skill", "tool"]

MAX_QUERY_WORDS = 16
_MAX_DESCRIPTION = 2000
_MAX_PREFIX_MATCHES = 50

# A name counts for more than an alias, and an alias for more than a description.
_NAME, _ALIAS, _HINT, _DESCRIPTION, _PARAMETER = 8.0, 6.0, 4.0, 2.0, 1.5
_PREFIX_SHARE = 0.5


@dataclass(frozen=True)
class Hit:
    """One result. ``name`` is the skill's name, or the tool's wire name. For a tool of a bundle's
    server, ``skill`` is the bundle's name."""

    kind: Kind
    name: str
    skill: str
    description: str
    score: float


@dataclass(frozen=True)
class _Entry:
    kind: Kind
    name: str
    skill: str
    description: str
    weights: dict[str, float]


class SearchIndex:
    """The index. Not thread-safe: its owner must guard it."""

    def __init__(self) -> None:
        self._postings: dict[str, dict[tuple[Kind, str], float]] = {}
        self._entries: dict[tuple[Kind, str], _Entry] = {}
        self._by_skill: dict[str, list[tuple[Kind, str]]] = {}
        self._sorted_words: list[str] | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, skill: SkillMetadata) -> None:
        """Add a skill, or replace the one with that name."""
        self._put(skill.name, _entries(skill))

    def add_served(self, place: str, tools: Iterable[Tool]) -> None:
        """Replace the known tools of the bundle at that path."""
        self._put(place, map(_served_entry, tools))

    def _put(self, name: str, entries: Iterable[_Entry]) -> None:
        self.remove(name)
        keys: list[tuple[Kind, str]] = []
        for entry in entries:
            key = (entry.kind, entry.name)
            if key in self._entries:
                continue
            keys.append(key)
            self._entries[key] = entry
            for word, weight in entry.weights.items():
                self._postings.setdefault(word, {})[key] = weight
        self._by_skill[name] = keys
        self._sorted_words = None

    def remove(self, skill_name: str) -> None:
        for key in self._by_skill.pop(skill_name, []):
            for word in self._entries.pop(key).weights:
                postings = self._postings[word]
                del postings[key]
                if not postings:
                    del self._postings[word]
        self._sorted_words = None

    def search(self, query: str, limit: int = 20, kind: Kind | None = None) -> list[Hit]:
        """Return the best entries first. A query without words finds nothing."""
        scores: dict[tuple[Kind, str], float] = {}
        for word in list(dict.fromkeys(words(query)))[:MAX_QUERY_WORDS]:
            best: dict[tuple[Kind, str], float] = {}
            for match, share in self._matching(word):
                postings = self._postings[match]
                rarity = share * math.log(1 + len(self._entries) / len(postings))
                for key, weight in postings.items():
                    best[key] = max(best.get(key, 0.0), weight * rarity)
            for key, score in best.items():
                scores[key] = scores.get(key, 0.0) + score
        ranked = sorted(
            (key for key in scores if kind is None or key[0] == kind),
            key=lambda key: (-scores[key], key[1], key[0]),
        )
        return [self._hit(key, scores[key]) for key in ranked[: max(limit, 0)]]

    def _hit(self, key: tuple[Kind, str], score: float) -> Hit:
        entry = self._entries[key]
        return Hit(entry.kind, entry.name, entry.skill, entry.description, round(score, 3))

    def _matching(self, word: str) -> Iterator[tuple[str, float]]:
        if word in self._postings:
            yield word, 1.0
        if len(word) < 3:
            return
        if self._sorted_words is None:
            self._sorted_words = sorted(self._postings)
        start = bisect_left(self._sorted_words, word)
        for longer in self._sorted_words[start : start + _MAX_PREFIX_MATCHES]:
            if not longer.startswith(word):
                return
            if longer != word:
                yield longer, _PREFIX_SHARE * len(word) / len(longer)


def _entries(skill: SkillMetadata) -> Iterator[_Entry]:
    weights = _weigh(
        (_NAME, [skill.name]),
        (_ALIAS, [*skill.tags, *skill.search_aliases]),
        (_HINT, [skill.search_hint or ""]),
        (_DESCRIPTION, [skill.description[:_MAX_DESCRIPTION]]),
    )
    yield _Entry("skill", skill.name, skill.name, skill.description, weights)
    # The skill's topic distinguishes its tools from others, but counts less than their own words.
    about = dict.fromkeys(words(" ".join([skill.name, *skill.tags])), _DESCRIPTION / 2)
    for tool in skill.tools:
        yield _tool_entry(skill, tool, about)


def _tool_entry(skill: SkillMetadata, tool: ToolDeclaration, about: dict[str, float]) -> _Entry:
    properties = tool.input_schema.get("properties")
    weights = _weigh(
        (_NAME, [tool.name, tool.title or ""]),
        (_ALIAS, tool.search_aliases),
        (_DESCRIPTION, [tool.description[:_MAX_DESCRIPTION]]),
        (_PARAMETER, properties if isinstance(properties, dict) else ()),
    )
    name = skill.wire_name(tool.name)
    return _Entry("tool", name, skill.name, tool.description, {**about, **weights})


def _served_entry(tool: Tool) -> _Entry:
    bundle, description = tool.skill or "", tool.description[:_MAX_DESCRIPTION]
    properties = tool.input_schema.get("properties")
    weights = _weigh(
        (_NAME, [tool.name, tool.title or ""]),
        (_DESCRIPTION, [bundle, description]),
        (_PARAMETER, properties if isinstance(properties, dict) else ()),
    )
    return _Entry("tool", tool.name, bundle, description, weights)


def _weigh(*fields: tuple[float, Iterable[str]]) -> dict[str, float]:
    """Return each word's weight in its most prominent field. The weight is a little less in a long
    field."""
    weights: dict[str, float] = {}
    for weight, texts in fields:
        listed = words(" ".join(texts))
        share = weight / (1 + math.log10(1 + len(listed) / 8))
        for word in listed:
            if weights.get(word, 0.0) < share:
                weights[word] = share
    return weights
