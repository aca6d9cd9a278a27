"""Malicious paths. A resolved path must stay inside its root, on the real disk and by Windows'
rules."""

from __future__ import annotations

import ntpath
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

from callboard.errors import WorkspaceResolveError
from callboard.workspace.containment import WorkspaceRoots
from hostile.making import text, value

PARTS = (
    *("..", ".", "a", "deep", "link", "down", "loop", "", " ", "..", "%2e%2e", "%2E.", "..%5c"),
    *("a..", "...", "..\\", "x\\..\\..\\out", "a:b", "con", "nul.txt", "~", "$HOME", "\u2025"),
    *("secret", "%00", "%252e%252e", "a%2fb", "\uff0e\uff0e", "a\\", "COM1", "x" * 260, "dir "),
)
STARTS = (
    *("", "", "", "/", "//", "///", "workspace://", "workspace:", "WORKSPACE://", "workspace:///"),
    *("file://", "file:///", "file://localhost/", "file:", "\\", "\\\\", "\\\\?\\", "C:", "C:\\"),
    *("c:/", "\\\\server\\share\\", "http://", "./", "../"),
)


def check(random: Random, folder: Path) -> Iterator[str]:
    root, out = folder / "root", folder / "out"
    for each in (root / "a" / "deep", root / "deep", out / "deep" / "er"):
        each.mkdir(parents=True, exist_ok=True)
    for name, target in (("link", out), ("down", out / "deep" / "er"), ("loop", root)):
        (root / name).symlink_to(target)
    (root / "a" / "link").symlink_to("../../out")
    strict = WorkspaceRoots([str(root)], policy="strict")
    advisory = WorkspaceRoots([str(root)])
    drive = "C:\\work\\show"
    windows = WorkspaceRoots([drive], policy="strict", flavour="windows", realpath=ntpath.normpath)
    inside = os.path.realpath(root)
    while True:
        path = _path(random, str(root), str(out))
        yield path
        if (resolved := _resolved(strict, path)) is not None:
            for way in (resolved, os.path.normpath(resolved)):
                real = os.path.realpath(way)
                assert real == inside or real.startswith(inside + "/"), resolved
            assert "\0" not in resolved, resolved
        resolved = _resolved(advisory, path)
        if resolved is not None and not resolved.startswith("/") and not _of_windows(resolved):
            raise AssertionError(f"{resolved} is relative, so it depends on the current folder")
        if (resolved := _resolved(windows, path)) is not None:
            real = ntpath.normcase(ntpath.normpath(resolved))
            start = ntpath.normcase(drive)
            assert real == start or real.startswith(start + "\\"), resolved
            assert ":" not in resolved[2:], resolved
        if random.random() < 0.1:
            entries = [{"uri": _path(random, str(root), str(out))}, value(random)]
            WorkspaceRoots.from_client_roots(entries)
            WorkspaceRoots.from_client_roots(value(random))


def _path(random: Random, root: str, out: str) -> str:
    if random.random() < 0.1:
        return text(random)
    start = random.choice((*STARTS, root + "/", f"file://{root}/", out + "/"))
    parts = [random.choice(PARTS) for _ in range(random.randrange(1, 7))]
    return start + random.choice(("/", "/", "/", "\\")).join(parts)


def _resolved(roots: WorkspaceRoots, path: str) -> str | None:
    try:
        return roots.resolve(path)
    except WorkspaceResolveError:
        return None


def _of_windows(path: str) -> bool:
    return path.startswith("\\\\") or path[1:2] == ":"
