"""Checks the text of a path before the path is looked up, and converts between ``file://`` URIs and
paths. It only handles strings.

The meaning of a URI doesn't depend on the platform we run on. With a drive or a server it is a
Windows path, and otherwise a POSIX path. The caller decides whether that means anything here.
"""

from __future__ import annotations

import re
import socket
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

from callboard.errors import WorkspaceResolveError

Flavour = Literal["posix", "windows"]

#: Maximum number of characters in a path. No system opens longer paths by name, so checking them
#: would only waste time.
_LONGEST = {"posix": 4096, "windows": 32767}
#: Maximum number of bytes in one name in a path.
_LONGEST_NAME = 255
_SHOWN = 200
_WINDOWS_ABSOLUTE = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_WINDOWS_DEVICE = r"(?is)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?"
#: ``\\?\C:\x``, ``\\.\C:\x`` and ``\??\C:\x``: names that Windows passes on unchanged.
_DEVICE_PATH = r"[\\/]{2}[?.]([\\/]|$)|[\\/]\?\?[\\/]"
#: ``\\server\C$``, ``\\localhost\x`` and ``\\127.0.0.1\x``: a machine's drive over the network.
_WAY_ROUND = (
    r"(?i)[\\/]{2}([^\\/]+[\\/]+([a-z]|admin)\$|(localhost|127\.[0-9.]+|[0-9-]*--1\.ipv6-literal\.net)"
    r"([\\/]|$))"
)
_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/]|$)")
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def shown(text: str) -> str:
    """Return ``text`` for use in a message: quoted, control characters escaped, cut when long."""
    start = text[:_SHOWN]
    quoted = f"'{start}'" if start.isprintable() else repr(start)
    return quoted if len(text) <= _SHOWN else f"{quoted}… ({len(text)} characters)"


def decode_once(text: str) -> str:
    """Percent-decode ``text`` once. Raises WorkspaceResolveError for a bad percent escape, invalid
    UTF-8 or a control character."""
    if _BAD_PERCENT.search(text):
        raise WorkspaceResolveError(
            f"{shown(text)} has a '%' without two hex digits after it; "
            "write a plain percent sign as %25"
        )
    try:
        decoded = unquote_to_bytes(text).decode("utf-8")
    except UnicodeError:
        raise WorkspaceResolveError(
            f"{shown(text)} isn't UTF-8 once decoded; percent-encode the path's UTF-8 bytes"
        ) from None
    if _CONTROL.search(decoded):
        raise WorkspaceResolveError(
            f"{shown(text)} holds a control character once decoded; "
            "leave it out, and write a plain percent sign as %25"
        )
    return decoded


def is_windows_absolute(path: str) -> bool:
    r"""Return whether the path is ``C:\x``, ``C:/x`` or ``\\server\share``, on any platform."""
    return bool(_WINDOWS_ABSOLUTE.match(path))


def require_text(path: object, flavour: Flavour) -> None:
    """Raise WorkspaceResolveError unless ``path`` is text that a file system call could accept."""
    if not isinstance(path, str):
        raise WorkspaceResolveError(f"a path must be a string, not {type(path).__name__}")
    if len(path) > _LONGEST[flavour]:
        raise WorkspaceResolveError(
            f"the path is {len(path)} characters long, too long for any file; shorten it"
        )
    if "\0" in path:
        raise WorkspaceResolveError(f"{shown(path)} holds a NUL character; leave it out")
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise WorkspaceResolveError(f"{shown(path)} isn't valid Unicode text; send it as UTF-8")
    if "://" in path:  # Its names are checked after decoding.
        return
    if flavour == "posix" and any(len(part.encode()) > _LONGEST_NAME for part in path.split("/")):
        raise WorkspaceResolveError(
            f"{shown(path)} holds a name of more than {_LONGEST_NAME} bytes, which no file can "
            "have; give a shorter one"
        )


def require_one_meaning(path: str, flavour: Flavour) -> None:
    """Raise WorkspaceResolveError when applications on POSIX disagree about the file that ``path``
    names, or when it names a local file on Windows in a form that can't be compared with roots."""
    if flavour == "windows":
        if re.match(_DEVICE_PATH, path):
            raise WorkspaceResolveError(
                f"{shown(path)} is a device path; write a drive's path, such as C:\\folder\\file"
            )
        if re.match(_WAY_ROUND, path) or _server(path) in _this_machine():
            raise WorkspaceResolveError(
                f"{shown(path)} names a machine's drive over the network; write the drive's own "
                "path, such as C:\\folder\\file"
            )
        return
    if is_windows_absolute(path):
        return
    if "\\" in path:
        raise WorkspaceResolveError(
            f"{shown(path)} has a backslash, which some applications treat as a separator; write /"
        )
    if path.startswith("//"):
        raise WorkspaceResolveError(
            f"{shown(path)} begins with two slashes; write one for an absolute path"
        )


def _server(path: str) -> str | None:
    """Return the server of a network path, in lower case."""
    match = re.match(r"[\\/]{2}([^\\/]+)", path)
    return match[1].lower() if match else None


def _this_machine() -> frozenset[str]:
    """Return the network names of this machine, as far as it knows them."""
    return frozenset({socket.gethostname().lower()} - {""})


def require_windows_name(part: str, path: str) -> None:
    """Raise WorkspaceResolveError unless ``part``, one name in ``path``, means a file of exactly
    that name on Windows."""
    if ":" in part:
        raise WorkspaceResolveError(
            f"{shown(path)} has a ':', which means a drive or a stream on Windows; leave it out"
        )
    if part[-1] in ". ":
        raise WorkspaceResolveError(
            f"{shown(path)}: Windows drops the dot or space that ends {shown(part)}; leave it out"
        )
    if re.fullmatch(_WINDOWS_DEVICE, part):
        raise WorkspaceResolveError(
            f"{shown(path)}: {shown(part)} is a device on Windows, not a file; use another name"
        )


def path_from_file_uri(uri: str) -> str:
    """Return the absolute path that a ``file:`` URI names. Raises WorkspaceResolveError. ``?`` and
    ``#`` belong to the path (``beauty.####.exr``), because files have no queries."""
    scheme, _, rest = uri.partition(":")
    if scheme.lower() != "file" or not rest.startswith("/"):
        raise WorkspaceResolveError(f"{shown(uri)} isn't a file URI; write file:///path")
    host, path = "", decode_once(rest)
    if path.startswith("//"):
        bare = path[2:]
        if not _DRIVE.match(bare):  # file://C:/p is wrong but common, and can mean only one thing.
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
        raise WorkspaceResolveError(f"{shown(uri)} doesn't name a path; write file:///path")
    return path


def file_uri(path: str) -> str:
    """Return the ``file://`` URI of an absolute path of either kind."""
    if not is_windows_absolute(path):
        return "file://" + quote(path)
    forward = path.replace("\\", "/")
    if forward.startswith("//"):
        return "file:" + quote(forward)
    return "file:///" + forward[:2] + quote(forward[2:])
