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


def check_usd_nesting(path: str) -> None:
    """Raises HostError where ``path`` is USD text that nests deeper than MAX_DEPTH. Reads the
    whole file if it is text, the first bytes if it isn't."""
    file = Path(path)
    with file.open("rb") as stream:
        if not stream.read(4).startswith((b"#usd", b"#sdf")):
            return
        text = stream.read()
    depth = 0
    for match in _BRACKETS.finditer(_FLAT.sub(b"", text)):
        run = match.group()
        depth += len(run) if run[:1] in b"([{" else -len(run)
        if depth > MAX_DEPTH:
            raise HostError(
                f"'{file.name}' nests deeper than {MAX_DEPTH} levels; it was not opened"
            )
