"""A resource: data that clients read, with a notification when it changes."""

from __future__ import annotations

from callboard.app import Callboard
from callboard.service.resources import ServedResource
from serving import serve

GUIDE = """# House rules

- One unit is a centimeter.
- Names are lower case, words joined by underscores.
"""


def add(server: Callboard) -> None:
    server.resources.add(
        ServedResource(
            "studio://house-rules",
            "house rules",
            lambda: GUIDE,
            title="The studio's house rules",
            description="How scenes are built here.",
            mime_type="text/markdown",
        )
    )


if __name__ == "__main__":
    serve(add)
