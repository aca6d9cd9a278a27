"""Finds the differences in the scene after running code that doesn't report its changes."""

from __future__ import annotations

from typing import Any

from callboard.content import Json
from callboard.errors import HostError

#: Maximum number of objects that are compared one by one. In a larger scene only names are
#: compared.
READ_LIMIT = 500
#: Maximum number of paths of each kind that an answer lists.
NAMED_LIMIT = 100


def snapshot(reader: Any) -> dict[str, Json | None]:
    """Return every object by its path, with its properties if the scene is small enough."""
    paths = reader.names()
    if len(paths) > READ_LIMIT:
        return dict.fromkeys(paths)
    return {path: _like(reader, path) for path in paths}


def differences(before: dict[str, Json | None], after: dict[str, Json | None]) -> Json:
    """Return ``{created?, deleted?, changed?, counts?, not_compared?}``. The paths are full and in
    scene order. ``counts`` has the totals of kinds that aren't listed completely."""
    paths_of = {
        "created": [path for path in after if path not in before],
        "deleted": [path for path in before if path not in after],
        "changed": [path for path, like in after.items() if _differs(before.get(path), like)],
    }
    answer: Json = {kind: paths[:NAMED_LIMIT] for kind, paths in paths_of.items() if paths}
    counts = {kind: len(paths) for kind, paths in paths_of.items() if len(paths) > NAMED_LIMIT}
    if counts:
        answer["counts"] = counts
    if max(len(before), len(after)) > READ_LIMIT:
        answer["not_compared"] = (
            f"the scene has more than {READ_LIMIT} objects, so what changed without being created "
            "or deleted isn't listed; look at what you need with scene__get_object"
        )
    return answer


def _like(reader: Any, path: str) -> Json | None:
    try:
        entry: Json = dict(reader.get(path))
    except HostError:
        return None
    # A parent isn't changed by changes to its children.
    if entry.pop("children", None):
        entry.pop("bounds", None)
    return entry


def _differs(before: Json | None, after: Json | None) -> bool:
    return before is not None and after is not None and before != after
