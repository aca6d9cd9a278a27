"""A guard in front of OpenUSD's text parser, which recurses: a file that nests a hundred thousand
deep overflows the stack and takes the whole host with it."""

from __future__ import annotations

import re
from pathlib import Path

from callboard.errors import HostError

#: Deeper than any scene made by people or programs; a hundredth of what overflows.
MAX_DEPTH = 1000

_FLAT = re.compile(
    rb'"""(?:[^\\]|\\.)*?"""'
    rb"|'''(?:[^\\]|\\.)*?'''"
    rb'|"(?:[^"\\\n]|\\.)*"'
    rb"|'(?:[^'\\\n]|\\.)*'"
    rb"|@@@.*?@@@|@[^@\n]*@"
    rb"|#[^\n]*|//[^\n]*|/\*.*?\*/"
    rb"|\([^()\[\]{}\"'#@/]*\)",
    re.DOTALL,
)
_BRACKETS = re.compile(rb"[(\[{]+|[)\]}]+")


#: Where one of these is, a line doesn't tell by itself which of its brackets are text.
_OVER_LINES = (b'"""', b"'''", b"@@@", b"/*", b"//", b"\\\n", b"\\\r")
_KEPT = b"()[]{}\"'@#\n"
_DROPPED = bytes(set(range(256)) - set(_KEPT))


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
    """No less than how deep the text nests, found line by line: a closing bracket that may be part
    of a quoted text doesn't count. Programs write few kinds of lines, so this is fast."""
    if any(mark in text for mark in _OVER_LINES):
        return len(text)
    known: dict[bytes, tuple[int, int]] = {}
    depth = deepest = 0
    for line in text.translate(None, _DROPPED).replace(b"()", b"").split():
        if line not in known:
            known[line] = _line(line)
        rise, peak = known[line]
        if depth + peak > deepest:
            deepest = depth + peak
        depth += rise
    # An empty pair was left out, and may have been the deepest.
    return deepest + 1


def _line(line: bytes) -> tuple[int, int]:
    """How much deeper it is after the line, and at most within it."""
    quotes = [mark for mark in b"\"'@#" if mark in line]
    if len(quotes) == 1 and quotes != [ord("#")] and line.count(bytes(quotes)) % 2 == 0:
        line = b"".join(line.split(bytes(quotes))[::2])
        quotes = []
    depth = deepest = 0
    for char in line:
        if char in b"([{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in b")]}" and not quotes:
            depth -= 1
    return depth, deepest


def _depth(text: bytes) -> int:
    """How deep the text nests, exactly."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(_FLAT.sub(b"", text)):
        run = match.group()
        depth += len(run) if run[:1] in b"([{" else -len(run)
        deepest = max(deepest, depth)
    return deepest
