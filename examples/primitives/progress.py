"""Progress and log messages: a long call reports while it runs, and stops when it is cancelled."""

from __future__ import annotations

from callboard.app import Callboard
from callboard.calls.context import ToolContext
from serving import serve


def primes(ctx: ToolContext, below: int) -> dict[str, int]:
    """Count primes the slow way."""
    found = 0
    for number in range(2, below):
        if number % 100 == 0:
            if ctx.cancelled:
                ctx.log("notice", f"stopped at {number}")
                break
            ctx.progress(number, below, f"{found} primes so far")
        if all(number % divisor for divisor in range(2, int(number**0.5) + 1)):
            found += 1
    return {"primes": found}


def add(server: Callboard) -> None:
    server.tools.register(
        "primes",
        primes,
        "Counts the primes below a number.",
        {
            "type": "object",
            "properties": {"below": {"type": "integer", "minimum": 2, "maximum": 1_000_000}},
            "required": ["below"],
        },
        affinity="any",
    )


if __name__ == "__main__":
    serve(add)
