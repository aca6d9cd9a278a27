"""Chooses whole paragraphs of a text that is too long for an answer. Each line is a paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from callboard.ground.ranking import words

#: Maximum number of characters of a part of a page.
PART = 6_000


def passage(text: str, asked: Sequence[str], most: int) -> tuple[str, int | None]:
    """Return at most ``most`` characters of a section, and where they end, or None if nothing
    follows. They begin with the section if what was asked is there, and otherwise with the
    paragraph that has most of the asked stems, where a stem counts less if many have it."""
    if len(text) <= most:
        return text, None
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    stems = [set(asked).intersection(words(line)) if asked and line else set() for line in lines]
    times = Counter(stem for each in stems for stem in each)
    held = [sum(1 / times[stem] for stem in each) for each in stems]
    best = held.index(max(held))
    start = 0 if starts[best + 1] <= most else starts[best]
    part, end = part_of(text, start, most)
    return (f"… {part}" if start else part), end


def part_of(text: str, start: int, most: int = PART) -> tuple[str, int | None]:
    """Return at most ``most`` characters from ``start`` on, in whole paragraphs, and where they
    end, or None if nothing follows. Only a paragraph that is longer is cut, at a word."""
    if len(text) - start <= most:
        return text[start:], None
    end = text.rfind("\n", start + 1, start + most + 1)
    if end < 0:
        end = text.rfind(" ", start + 1, start + most)
    if end < 0:
        end = start + most
    return text[start:end], end + (text[end] in "\n ")
