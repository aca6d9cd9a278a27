"""Shows progress on one line of the terminal."""

from __future__ import annotations

import sys

from callboard.ground.plain_text import plain

_WIDTH = 30


def meanwhile(text: str) -> None:
    """Announce a step on a terminal. Used for slow steps that can't report their progress."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"callboard: {text} …", file=sys.stderr, flush=True)


def clear() -> None:
    """Remove the bar before something else is printed."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def bar(done: float, total: float | None, text: str) -> None:
    """Draw the bar on stderr. On a terminal, the bar replaces the previous line. ``text`` may come
    from an untrusted source."""
    text = plain(text)
    ended = bool(total) and done >= (total or 0)
    if total:
        filled = round(_WIDTH * min(1.0, done / total))
        line = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done:g}/{total:g} {text}"
    else:
        line = f"{done:g} {text}"
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="\n" if ended else "", file=sys.stderr, flush=True)
    else:
        print(line, file=sys.stderr, flush=True)
