"""A prompt: a message template that the user picks, with blanks for the client to fill in."""

from __future__ import annotations

from callboard.app import Callboard
from serving import serve


def add(server: Callboard) -> None:
    server.prompts.register_prompt(
        "review",
        "Has the scene reviewed before it is handed on.",
        arguments=[
            {"name": "department", "description": "Who gets the scene next", "required": True},
            {"name": "tone", "description": "How to put it", "default": "friendly"},
        ],
        template=(
            "List the objects of the scene. Say in a {{tone}} way what the {{department}} "
            "department would stumble over."
        ),
    )


if __name__ == "__main__":
    serve(add)
