"""A resource template: one function that serves many URIs."""

from __future__ import annotations

import json

from callboard.app import Callboard
from callboard.service.resources import ServedResource
from serving import serve

SHOTS = {
    "sq010": {"sh010": {"frames": [1001, 1048]}, "sh020": {"frames": [1001, 1120]}},
    "sq020": {"sh010": {"frames": [1001, 1024]}},
}


def shot(sequence: str, shot: str) -> str | None:
    """Return a shot. Return None if there is no such resource."""
    found = SHOTS.get(sequence, {}).get(shot)
    return None if found is None else json.dumps(found)


def add(server: Callboard) -> None:
    server.resources.add(
        ServedResource(
            "shot://{sequence}/{shot}",
            "shot",
            shot,
            description="The frame range of a shot.",
            mime_type="application/json",
        )
    )


if __name__ == "__main__":
    serve(add)
