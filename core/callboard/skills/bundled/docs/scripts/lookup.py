"""The tool of the skill ``docs``."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Sequence
from heapq import heappush, heappushpop
from time import perf_counter
from typing import Any

from callboard.content import Json

#: Seconds that one slice holds the main thread.
SLICE = 0.005
#: Entries between two checks of the clock.
STRETCH = 50
#: Maximum characters of an entry's text.
TEXT_LIMIT = 600
#: Maximum unknown words that a hint names.
_MOST_UNKNOWN = 3

_WORD = re.compile(r"[a-z0-9]+")


def lookup(ctx: Any, words: str, limit: int = 5) -> Generator[None, None, Json]:
    """Look words up, in slices, because the first search takes a second and the host must keep
    running."""
    port, identity = ctx.port("docs"), ctx.host_identity
    wanted = words.strip().lower().removeprefix("bpy.types.")
    asked = list(dict.fromkeys(_WORD.findall(wanted)))
    best: list[tuple[float, int, int, Any]] = []
    fitting = 0
    known: set[str] = set()
    vocabulary: set[str] = set()
    slice_ends = perf_counter() + SLICE
    for number, entry in enumerate(port.entries()):
        score = _score(entry, wanted, asked)
        if score > 0:
            fitting += 1
            # Among equal scores the shorter name wins, and then the first.
            ranked = (score, -len(entry.name), -number, entry)
            if len(best) < limit:
                heappush(best, ranked)
            else:
                heappushpop(best, ranked)
        elif not fitting:
            name, text = entry.name.lower(), entry.text.lower()
            known.update(word for word in asked if word in name or word in text)
            vocabulary |= _parts(entry.name)
        if number % STRETCH == 0 and perf_counter() >= slice_ends:
            yield
            slice_ends = perf_counter() + SLICE
    chosen = [entry for *_, entry in sorted(best, key=lambda one: one[:3], reverse=True)]
    answer: Json = {
        "version": f"{identity.name} {identity.version}",
        "entries": [_reported(port, entry) for entry in chosen],
    }
    if fitting > limit:
        answer["more"] = fitting - limit
    if not fitting:
        answer["hint"] = _hint(asked, known, vocabulary)
    return answer


def _hint(asked: Sequence[str], known: set[str], vocabulary: Iterable[str]) -> str:
    """Return what to look up instead when no entry has all words. ``known`` are the words that some
    entry has, ``vocabulary`` the words of all names."""
    if not asked:
        return "there is no English word in it; look up words such as: bevel width"
    unknown = [word for word in asked if word not in known]
    if not unknown:
        return "each word is in some entry, but none has them all; look up fewer at once"
    import difflib  # only when nothing is found

    reported = []
    for word in unknown[:_MOST_UNKNOWN]:
        # A misspelled word usually begins correctly, and comparing all words of a large application
        # is slow.
        alike = difflib.get_close_matches(word, [w for w in vocabulary if w[0] == word[0]], 3, 0.7)
        reported.append(f"no entry has '{word}'" + (f", but {', '.join(alike)}" if alike else ""))
    others = " ".join(word for word in asked if word in known)
    instead = others or "the application's own word for it, or a part of a name"
    return f"{'; '.join(reported)}. Look up {instead}"


def _score(entry: Any, wanted: str, asked: Sequence[str]) -> float:
    """Return the score, or 0 when a word of the question is missing from the entry."""
    name = entry.name.lower()
    if name == wanted:
        return 1000.0
    total = 0.0
    parts: set[str] | None = None
    text = entry.text.lower()
    for word in asked:
        if word in name:
            if parts is None:
                parts = _parts(entry.name)
            total += 8.0 if word in parts else 4.0
        elif word in text:
            total += 1.0
        else:
            return 0.0
    return total / (1.0 + 0.02 * len(name))


def _parts(name: str) -> set[str]:
    """Return a name's words: sphere, light, inputs and radius for ``SphereLight.inputs:radius``."""
    return set(_WORD.findall(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()))


def _reported(port: Any, entry: Any) -> Json:
    text = " ".join(entry.text.split())
    if len(text) > TEXT_LIMIT:
        text = f"{text[:TEXT_LIMIT]}…"
    return {"name": entry.name, "kind": entry.kind, "text": text, **port.details(entry)}
