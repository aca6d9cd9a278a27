"""Checks files before OpenUSD's text parser reads them. The parser is recursive, so a file with a
hundred thousand levels overflows the stack and ends the whole host."""

from __future__ import annotations

import re
from pathlib import Path

from callboard.errors import HostError

#: The maximum depth. It is deeper than any real scene, and a hundredth of the depth that overflows
#: the stack.
MAX_DEPTH = 1000
#: The bytes with which a package entry and USD text begin.
_ENTRY, _TEXT = b"PK\3\4", re.compile(rb"#(?:usda|sdf)")

#: This pattern is written so that an unterminated string is scanned once, and not from every
#: position where it might begin.
_FLAT = re.compile(
    rb'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"""|\Z)'
    rb"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'''|\Z)"
    rb'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    rb"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"
    rb"|@@@[^@\\]*(?:(?:\\(?:@@@)?|@{1,2}(?!@))[^@\\]*)*(?:@{3,5}|\Z)"
    rb"|@[^@\n]*@?"
    rb"|#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z)"
    rb"|\([^()\[\]{}\"'#@/]*\)",
    re.DOTALL,
)
_BRACKETS = re.compile(rb"[(\[{]+|[)\]}]+")


_KEPT = b"()[]{}\"'@#\n"
_DROPPED = bytes(set(range(256)) - set(_KEPT))
_PAIRS = (b"()", b"[]", b"{}", b'""', b"''", b"@@")
#: If one of these occurs, pairs of quotes alone don't show which parts are quoted.
_QUOTES = (b'"""', b"'''", b"@@@")
_OTHERS = (b"\\", b"/*", b"//")
#: Maximum number of rounds in which pairs are removed. Files written by programs don't need that
#: many.
_ROUNDS = 64


def check_usd_nesting(path: str) -> None:
    """Raise HostError when ``path`` is USD text that nests deeper than MAX_DEPTH, or a package that
    contains such text. Reads the whole file if it is text or a package, and otherwise only its
    first bytes."""
    file = Path(path)
    with file.open("rb") as stream:
        start = stream.read(4)
        if start.startswith((b"#usd", b"#sdf")):
            texts = [start + stream.read()]
        elif start == _ENTRY:
            # Packages contain their files uncompressed. Any text counts, whatever the headers say.
            entries = (start + stream.read()).split(_ENTRY)
            texts = [entry[text.start() :] for entry in entries if (text := _TEXT.search(entry))]
        else:
            return
    if any(_bound(text) > MAX_DEPTH and _depth(text) > MAX_DEPTH for text in texts):
        raise HostError(f"'{file.name}' nests deeper than {MAX_DEPTH} levels; it was not opened")


def _bound(text: bytes) -> int:
    """Return an upper bound on the depth of the text. This is faster than finding the exact depth.
    Removing an empty pair changes neither what is quoted nor the depth of the rest, so pairs are
    removed until none is left."""
    kept = text.translate(None, _DROPPED)
    if any(mark in text for mark in _OTHERS) or any(q in kept and q in text for q in _QUOTES):
        return len(text)
    kept = kept.replace(b"#\n", b"\n")
    before, rounds = len(kept) + 1, 0
    while len(kept) < before and rounds < _ROUNDS:
        before, rounds = len(kept), rounds + 1
        for pair in _PAIRS:
            kept = kept.replace(pair, b"")
        if not any(mark in kept for mark in b"\"'@#"):
            # A line's end only matters for closing a quote or a comment, and neither is left.
            kept = kept.replace(b"\n", b"")
    return len(_PAIRS) * rounds + len(kept)


def _depth(text: bytes) -> int:
    """Return the text's exact depth."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(_FLAT.sub(b"", text)):
        run = match.group()
        depth += len(run) if run[:1] in b"([{" else -len(run)
        deepest = max(deepest, depth)
    return deepest
