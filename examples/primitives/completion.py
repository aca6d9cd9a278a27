"""Completion: suggestions for an argument while the person types."""

from __future__ import annotations

from callboard.app import Callboard
from callboard.skills.prompts.prompt import Argument
from serving import serve

LOOKS = ("brushed steel", "brass", "bronze", "birch", "slate")


def light(look: str) -> str:
    return f"Set up three lights that suit an object of {look}."


def looks(argument: str, typed: str) -> list[str]:
    return [look for look in LOOKS if look.startswith(typed)]


def add(server: Callboard) -> None:
    server.prompts.register_function(
        "light",
        light,
        "Lights an object by its look.",
        [Argument("look", "What the object is made of", required=True)],
        complete=looks,
    )


if __name__ == "__main__":
    serve(add)
