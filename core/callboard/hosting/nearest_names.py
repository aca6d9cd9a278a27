"""What somebody who errs in a name may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest_names(name: str, names: Iterable[str], count: int = 5) -> list[str]:
    """The ``count`` of ``names`` most like ``name``, best first; any others where none is alike,
    so that the answer is empty only if ``names`` is. Bounded work: of a large scene's names, those
    that share the first letters are compared."""
    wanted = name.rsplit("/", 1)[-1].lower()
    unique = dict.fromkeys(names)
    likely = list(unique)
    if len(likely) > 2000:
        likely = [n for n in likely if wanted[:3] in n.lower()][:2000] or likely[:2000]
    spelled: dict[str, list[str]] = {}
    for candidate in likely:
        spelled.setdefault(candidate.lower(), []).append(candidate)
    import difflib  # only for who errs

    close = difflib.get_close_matches(wanted, spelled, n=count, cutoff=0.5)
    nearest = [candidate for key in close for candidate in spelled[key]]
    return (nearest or likely)[:count]
