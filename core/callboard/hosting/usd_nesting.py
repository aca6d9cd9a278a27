"""A guard in front of OpenUSD's text parser, which recurses: a file that nests a hundred thousand
deep overflows the stack and takes the whole host with it."""

from __future__ import annotations

import re
from pathlib import Path

from callboard.errors import HostError

#: Deeper than any scene made by people or programs; a hundredth of what overflows.
MAX_DEPTH = 1000

#: What has no end is looked through once, and not from each place where it might begin.
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
#: Where one of these is, pairs of quotes don't tell by themselves what is text.
_QUOTES = (b'"""', b"'''", b"@@@")
_OTHERS = (b"\\", b"/*", b"//")
#: How often pairs are taken out. Programs nest less deep than that.
_ROUNDS = 64


def check_usd_nesting(path: str) -> None:
    """Raises HostError where ``path`` is USD text that nests deeper than MAX_DEPTH. Reads the
    whole file if it is text, the first bytes if it isn't."""
    file = Path(path)
    with file.open("rb") as stream:
        if not (start := stream.read(4)).startswith((b"#usd", b"#sdf")):
            return
        text = start + stream.read()
    if _bound(text) > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise HostError(f"'{file.name}' nests deeper than {MAX_DEPTH} levels; it was not opened")


def _bound(text: bytes) -> int:
    """No less than how deep the text nests, found fast: a pair without anything between changes
    neither what is quoted nor how deep the rest is, so pairs are taken out until none is left."""
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
            # A line ends what is quoted, and nothing is.
            kept = kept.replace(b"\n", b"")
    return len(_PAIRS) * rounds + len(kept)


def _depth(text: bytes) -> int:
    """How deep the text nests, exactly."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(_FLAT.sub(b"", text)):
        run = match.group()
        depth += len(run) if run[:1] in b"([{" else -len(run)
        deepest = max(deepest, depth)
    return deepest
