"""Shares: of what is bounded, no one client takes everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from callboard.clients.holder import TokenHolder


def has_place(holder: TokenHolder, taken: Iterable[TokenHolder], limit: int) -> bool:
    """Whether the holder may take one more of ``limit`` places: while fewer are its own than are
    free. One client gets half, the next half of the rest, and a place is left for whoever comes."""
    places = list(taken)
    return places.count(holder) < limit - len(places)


def most_greedy(holder: TokenHolder, taken: Counter[TokenHolder]) -> TokenHolder | None:
    """The holder of most places, where that is more than ``holder`` would have with one more."""
    greedy = max(taken, key=taken.__getitem__, default=holder)
    return greedy if taken[greedy] > taken[holder] + 1 else None
