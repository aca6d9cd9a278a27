"""The policy of this machine, which is one file at a fixed location that only the administrator may
write.

No variable, option or user's file can change the location, and this module doesn't read the
environment. On POSIX, each folder of the path is opened separately, without following links, and
the policy is read from the same open file whose owner and mode were checked. On Windows, the policy
is a value in the registry's key for policies, which only administrators may write.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from callboard.errors import PeerError

FILE = "policy.yaml"
_MAC = ("Library", "Application Support", "callboard")
#: The folder of the policy, below ``_BASE``. Only tests change these, inside their own process.
_BASE = "/"
_PARTS = _MAC if sys.platform == "darwin" else ("etc", "callboard")
_ADMINISTRATOR = 0
_KEY, _VALUE = r"SOFTWARE\Policies\callboard", "policy"
_MOST_BYTES = 2**20
_FOLDER_FLAGS = os.O_RDONLY
for _name in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC"):
    _FOLDER_FLAGS |= getattr(os, _name, 0)
#: If the file is a pipe, opening it must not block.
_FILE_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
    _FILE_FLAGS |= getattr(os, _name, 0)


class SettingsError(PeerError):
    """Raised for an invalid setting. The server doesn't start then, because the setting might
    forbid something."""


class PolicyError(SettingsError):
    """Raised when the policy can't be trusted or read, or forbids serving at all. Nothing starts
    then, because the policy might forbid it."""


class WrittenPolicy(NamedTuple):
    """The policy as it is written in its file. ``place`` is the file, or the value in the
    registry."""

    place: str
    values: Mapping[str, Any]
    #: The line of each setting.
    lines: Mapping[str, int]
    #: The file's text. Without it, policies with different values, such as 1 and true, might
    #: compare as equal.
    text: str


def switched_off(policy: str) -> str:
    """Return the message that people and clients get while this policy has ``enabled: false``."""
    return (
        f"callboard is switched off on this machine by its {policy}; only a change to that policy "
        "can switch it on again, so ask the person who maintains it"
    )


def place() -> str:
    """Return the location of this machine's policy, even if it doesn't exist."""
    if sys.platform == "win32":
        return rf"HKEY_LOCAL_MACHINE\{_KEY}\{_VALUE}"
    return str(Path(_BASE, *_PARTS, FILE))


def written_policy() -> WrittenPolicy | None:
    """Return the policy, or None if this machine has none. Call it from any thread. Raises
    PolicyError."""
    text = _text()
    return None if text is None else _parsed(place(), text)


def policy_site() -> Path | None:
    """Return the site's folder that the policy names, if it names one. Raises PolicyError."""
    policy = written_policy()
    site = None if policy is None else policy.values.get("site")
    if policy is None or site is None:
        return None
    if not isinstance(site, str) or not Path(site).is_absolute():
        raise PolicyError(
            f"{policy.place}:{policy.lines['site']}: site must be the full path of a folder"
        )
    return Path(site)


@lru_cache(maxsize=1)
def _parsed(where: str, text: str) -> WrittenPolicy:
    from callboard.ground import safe_yaml  # Most machines have no policy.

    try:
        document = safe_yaml.load(text)
    except safe_yaml.YamlError as error:
        raise PolicyError(f"{where}:{error.line}: {error.message}") from None
    if not isinstance(document.value, dict) or not document.value:
        # An empty file is more likely to be half written than intended.
        raise PolicyError(
            f"{where} must contain settings with their values, such as `enabled: true`"
        )
    for _, key, line in document.duplicates:
        raise PolicyError(f"{where}:{line}: '{key}' is written twice; remove one")
    lines = {name: document.line(name) for name in document.value}
    return WrittenPolicy(where, document.value, lines, text)


def _from_file() -> str | None:
    """Return the file's text, or None if there is no such file. Raises PolicyError."""
    path, handle = _BASE, os.open(_BASE, _FOLDER_FLAGS)
    suspect: str | None = None
    try:
        for part in _PARTS:
            path = str(Path(path, part))
            try:
                above, handle = handle, os.open(part, _FOLDER_FLAGS, dir_fd=handle)
            except FileNotFoundError:
                return None
            os.close(above)
            suspect = suspect or _suspect(path, os.fstat(handle))
        # Folders above a policy's folder don't matter on a machine that has no such folder.
        if suspect is not None:
            raise PolicyError(suspect)
        path = str(Path(path, FILE))
        try:
            file = os.open(FILE, _FILE_FLAGS, dir_fd=handle)
        except FileNotFoundError:
            return None
    except OSError as error:
        raise PolicyError(
            f"{path} can't be opened as this machine's policy ({error.strerror or error}); it must "
            "be a file, not a link, in folders that aren't links, and everybody must be able to "
            "read it"
        ) from None
    finally:
        with suppress(OSError):
            os.close(handle)
    return _text_of(path, file)


def _text_of(path: str, file: int) -> str:
    status = os.fstat(file)
    if stat.S_ISDIR(status.st_mode):
        os.close(file)
        raise PolicyError(f"{path} isn't a file; make this machine's policy a file")
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(status.st_mode):
            raise PolicyError(f"{path} isn't a file; make this machine's policy a file")
        if (suspect := _suspect(path, status)) is not None:
            raise PolicyError(suspect)
        try:
            data = opened.read(_MOST_BYTES + 1)
            text = data.decode("utf-8-sig")
        except OSError as error:
            raise PolicyError(f"{path} can't be read: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise PolicyError(f"{path} isn't UTF-8; save it as UTF-8") from None
    if len(data) > _MOST_BYTES:
        raise PolicyError(f"{path} is over {_MOST_BYTES} bytes; shorten it")
    return text


def _suspect(path: str, status: os.stat_result) -> str | None:
    """Return why someone other than the administrator could have written this file or folder, or
    None."""
    if status.st_uid != _ADMINISTRATOR:
        return (
            f"{path} belongs to the user {status.st_uid}, not to the administrator, so it can't be "
            f"this machine's policy; as root, type: chown root '{path}'"
        )
    # An access list that lets others write shows in the group's bits.
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return (
            f"others than the administrator may write to {path}, so it can't be this machine's "
            f"policy; as root, type: chmod go-w '{path}'"
        )
    return None


def _from_registry() -> str | None:
    """Return the text of the value in the registry, or None if there is none. Raises
    PolicyError."""
    if sys.platform != "win32":
        return None
    import winreg

    access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _KEY, 0, access) as key:
            value, _ = winreg.QueryValueEx(key, _VALUE)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PolicyError(f"{place()} can't be read: {error.strerror or error}") from None
    text = "\n".join(value) if isinstance(value, list) else value
    if not isinstance(text, str):
        raise PolicyError(f"{place()} must be a string (REG_SZ or REG_MULTI_SZ)")
    return text


_text = _from_registry if sys.platform == "win32" else _from_file
