"""Suggestions for a mistyped name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def nearest_names(name: str, names: Iterable[str], count: int = 5) -> list[str]:
    """Return the ``count`` of ``names`` most like ``name``, best first. If none are similar, return
    other names, so that the result is empty only if ``names`` is empty. The work is bounded: of a
    large scene's names, only those that share the first letters are compared."""
    wanted = name.rsplit("/", 1)[-1].lower()
    unique = dict.fromkeys(names)
    likely = list(unique)
    if len(likely) > 2000:
        likely = [n for n in likely if wanted[:3] in n.lower()][:2000] or likely[:2000]
    return (_alike(wanted, likely, count) or likely)[:count]


def names_hint(name: str, names: Sequence[str]) -> str:
    """Return the end of an error message about ``name``, with the names that ``nearest_names``
    chose. It begins with "; ", or is empty if there are no names. Only similar names are called the
    nearest."""
    if not names:
        return ""
    alike = _alike(name.rsplit("/", 1)[-1].lower(), names, 1)
    likeness = "nearest" if alike else "some of what there is"
    return f"; {likeness}: {', '.join(names)}"


def _alike(wanted: str, names: Iterable[str], count: int) -> list[str]:
    spelled: dict[str, list[str]] = {}
    for name in names:
        spelled.setdefault(name.lower(), []).append(name)
    import difflib  # needed only for wrong names

    close = difflib.get_close_matches(wanted, spelled, n=count, cutoff=0.5)
    return [name for key in close for name in spelled[key]]
