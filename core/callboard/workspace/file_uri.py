"""``file://`` URIs to local paths and back. Strings only; nothing here touches a disk.

The answer doesn't depend on the platform we run on: a drive or a server in the URI makes a
Windows path, everything else a POSIX path. Whether that means anything here, the caller knows.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from callboard.errors import WorkspaceResolveError
from callboard.workspace.path_text import decode_once, is_windows_absolute, shown

_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/]|$)")


def path_from_file_uri(uri: str) -> str:
    """The absolute path a ``file:`` URI names, or WorkspaceResolveError. ``?`` and ``#`` belong to
    the path: file names have them (``beauty.####.exr``), queries on files don't exist."""
    scheme, _, rest = uri.partition(":")
    if scheme.lower() != "file" or not rest.startswith("/"):
        raise WorkspaceResolveError(f"{shown(uri)} isn't a file URI; write file:///path")
    host, path = "", decode_once(rest)
    if path.startswith("//"):
        bare = path[2:]
        if not _DRIVE.match(bare):  # file://C:/p is wrong, common, and can mean only one thing
            host, slash, bare = bare.partition("/")
            bare = slash + bare
        path = bare
    if host and host.lower() != "localhost":
        share = path.strip("/")
        if not share:
            raise WorkspaceResolveError(
                f"{shown(uri)} names a machine but no share; write file:///path for a local folder"
            )
        return "\\\\" + host + "\\" + share.replace("/", "\\")
    if _DRIVE.match(path.lstrip("/")):
        drive = path.lstrip("/").replace("/", "\\")
        return drive if len(drive) > 2 else drive + "\\"
    if not path.startswith("/"):
        raise WorkspaceResolveError(f"{shown(uri)} names no path; write file:///path")
    return path


def file_uri(path: str) -> str:
    """The ``file://`` URI of an absolute path of either kind."""
    if not is_windows_absolute(path):
        return "file://" + quote(path)
    forward = path.replace("\\", "/")
    if forward.startswith("//"):
        return "file:" + quote(forward)
    return "file:///" + forward[:2] + quote(forward[2:])
