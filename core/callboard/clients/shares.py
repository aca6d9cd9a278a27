"""Fair shares, so that no client takes all of a bounded resource."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from callboard.clients.holder import TokenHolder


def has_place(holder: TokenHolder, taken: Iterable[TokenHolder], limit: int) -> bool:
    """Return whether the holder may take one more of ``limit`` places, that is, whether it has
    fewer places than are free. So the first client gets at most half of the places, the second
    client gets half of the rest, and one place is left for a newcomer."""
    places = list(taken)
    return places.count(holder) < limit - len(places)


def most_greedy(holder: TokenHolder, taken: Counter[TokenHolder]) -> TokenHolder | None:
    """Return the holder with the most places, if it has at least two more than ``holder``."""
    greedy = max(taken, key=taken.__getitem__, default=holder)
    return greedy if taken[greedy] > taken[holder] + 1 else None
