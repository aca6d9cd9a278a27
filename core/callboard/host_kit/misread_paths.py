"""Checks for paths that an application would misread, shared by the ``Host.misreads`` methods of
several hosts. The checks use only the text of the path. Call them from any thread."""

from __future__ import annotations

import os
import re

_WINDOWS_ABSOLUTE = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def from_elsewhere(path: str, *, posix: bool = os.name != "nt") -> str | None:
    """Return the problem with a Windows path on any other system, where it would be a relative
    path."""
    if posix and ("\\" in path or _WINDOWS_ABSOLUTE.match(path)):
        return "is a Windows path, and this is another system; give a path on this machine"
    return None


def misread_by_usd(path: str) -> str | None:
    """Return the problem with a path that OpenUSD treats as more than a file name."""
    for text in (":SDF_FORMAT_ARGS:", ".usdz["):
        if text in path:
            return f"contains '{text}', where OpenUSD ends a file's name; use another name"
    if path.startswith("anon:"):
        return "begins with 'anon:', which OpenUSD doesn't treat as a file's name; use another name"
    return None


def holds_variable(path: str, application: str, variables: str = r"[$]|^~") -> str | None:
    """Return the problem with a path that contains text that the application replaces.
    ``variables`` is a pattern for that text."""
    match = re.search(variables, path)
    if match is None:
        return None
    return f"contains '{match.group()}', which {application} would replace; use a name without it"
