"""Checks whether other users can read the folder that contains the tokens, and whether the user's
other programs can see the files in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

#: The security identifiers of Windows groups that contain other users.
_OTHERS = {
    "S-1-1-0": "everyone",
    "S-1-5-11": "everyone who is logged in",
    "S-1-5-32-545": "all users of this machine",
    "S-1-5-32-546": "guests",
}
#: Any of these access rights allows reading a file.
_READS = 0x0001 | 0x10000000 | 0x80000000


def findings(folder: Path) -> Iterator[tuple[bool, str]]:
    """Yield a sentence for each problem with the folder, including the fix."""
    try:
        there = folder.exists()
    except OSError as error:
        yield (
            False,
            (
                f"{folder} can't be read ({error.strerror}): have its owner or its permissions "
                "corrected, or set CALLBOARD_HOME to a folder of yours"
            ),
        )
        return
    if there and not folder.is_dir():
        yield False, f"{folder} isn't a folder, so running instances can't be found: remove it"
        return
    others = readers(folder) if there else []
    if others:
        mend = (
            f'icacls "{folder}" /inheritance:r /grant:r "%USERNAME%:(OI)(CI)F"'
            if sys.platform == "win32"
            else f"chmod 700 '{folder}'"
        )
        yield False, f"{folder} contains tokens and can be read by {', '.join(others)}: {mend}"
    if from_the_shop(sys.base_prefix):
        yield (
            False,
            (
                "this Python is from the Microsoft Store, so its files are hidden from other "
                "programs: hosts and clients can't find each other. Use one from python.org"
            ),
        )


def from_the_shop(prefix: str) -> bool:
    """Return whether the Python at ``prefix`` came from the Microsoft Store. Windows gives such a
    Python a private AppData folder."""
    return "windowsapps" in [part.lower() for part in PureWindowsPath(prefix).parts]


def readers(folder: Path) -> list[str]:
    """Return the names of the groups, apart from the user and the system, that may read ``folder``.
    Raises OSError."""
    if sys.platform == "win32":
        allowed = _allowed(str(folder))
        return [name for sid, name in _OTHERS.items() if allowed.get(sid, 0) & _READS]
    return ["others"] if folder.stat().st_mode & 0o077 else []


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _FILE_OBJECT, _DACL = 1, 4
    _ALLOWED = 0

    def _allowed(folder: str) -> dict[str, int]:
        """Return the rights that the folder's access list grants, by security identifier."""
        advapi, kernel = ctypes.WinDLL("advapi32"), ctypes.WinDLL("kernel32")
        acl, descriptor = ctypes.c_void_p(), ctypes.c_void_p()
        code = advapi.GetNamedSecurityInfoW(
            folder, _FILE_OBJECT, _DACL, None, None,
            ctypes.byref(acl), None, ctypes.byref(descriptor),
        )  # fmt: skip
        if code:
            raise ctypes.WinError(code)
        rights: dict[str, int] = {}
        try:
            if not acl:
                return dict.fromkeys(
                    _OTHERS, _READS
                )  # Without an access list, everyone has all rights.
            count = ctypes.cast(acl, ctypes.POINTER(wintypes.WORD))[2]
            for number in range(count):
                entry = ctypes.c_void_p()
                if not advapi.GetAce(acl, number, ctypes.byref(entry)):
                    continue
                head = ctypes.cast(entry, ctypes.POINTER(ctypes.c_ubyte))
                if head[0] != _ALLOWED or entry.value is None:
                    continue
                mask = ctypes.cast(entry, ctypes.POINTER(wintypes.DWORD))[1]
                sid = _sid(advapi, kernel, entry.value + 8)
                rights[sid] = rights.get(sid, 0) | mask
        finally:
            kernel.LocalFree(descriptor)
        return rights

    def _sid(advapi: ctypes.WinDLL, kernel: ctypes.WinDLL, address: int) -> str:
        text = ctypes.c_wchar_p()
        if not advapi.ConvertSidToStringSidW(ctypes.c_void_p(address), ctypes.byref(text)):
            return ""
        try:
            return text.value or ""
        finally:
            kernel.LocalFree(text)
