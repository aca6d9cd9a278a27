"""The tool of the skill ``docs``."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from heapq import heappush, heappushpop
from time import perf_counter
from typing import Any

from callboard.content import Json

#: How long one slice holds the main thread, seconds.
SLICE = 0.005
#: How many entries are looked at before the clock is.
STRETCH = 50
#: Characters of an entry's text.
TEXT_LIMIT = 600

_WORD = re.compile(r"[a-z0-9]+")


def lookup(ctx: Any, words: str, limit: int = 5) -> Generator[None, None, Json]:
    """Going through all of it takes a second the first time, so the host goes on in between."""
    port, identity = ctx.port("docs"), ctx.host_identity
    wanted = words.strip().lower().removeprefix("bpy.types.")
    asked = list(dict.fromkeys(_WORD.findall(wanted)))
    best: list[tuple[float, int, int, Any]] = []
    fitting = 0
    slice_ends = perf_counter() + SLICE
    for number, entry in enumerate(port.entries()):
        score = _score(entry, wanted, asked)
        if score > 0:
            fitting += 1
            # Of equals the shorter name, and then the first.
            ranked = (score, -len(entry.name), -number, entry)
            if len(best) < limit:
                heappush(best, ranked)
            else:
                heappushpop(best, ranked)
        if number % STRETCH == 0 and perf_counter() >= slice_ends:
            yield
            slice_ends = perf_counter() + SLICE
    chosen = [entry for *_, entry in sorted(best, key=lambda one: one[:3], reverse=True)]
    answer: Json = {
        "version": f"{identity.name} {identity.version}",
        "entries": [_told(port, entry) for entry in chosen],
    }
    if fitting > limit:
        answer["more"] = fitting - limit
    return answer


def _score(entry: Any, wanted: str, asked: Sequence[str]) -> float:
    """0 where a word of the question is nowhere in it."""
    name = entry.name.lower()
    if name == wanted:
        return 1000.0
    total = 0.0
    parts: set[str] | None = None
    text = entry.text.lower()
    for word in asked:
        if word in name:
            if parts is None:
                # ``SphereLight.inputs:radius`` has the words sphere, light, inputs and radius.
                spelt = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", entry.name).lower()
                parts = set(_WORD.findall(spelt))
            total += 8.0 if word in parts else 4.0
        elif word in text:
            total += 1.0
        else:
            return 0.0
    return total / (1.0 + 0.02 * len(name))


def _told(port: Any, entry: Any) -> Json:
    text = " ".join(entry.text.split())
    if len(text) > TEXT_LIMIT:
        text = f"{text[:TEXT_LIMIT]}…"
    return {"name": entry.name, "kind": entry.kind, "text": text, **port.details(entry)}
