"""The entries of a USDZ package, if both ways of reading them agree."""

from __future__ import annotations

import zipfile

from callboard.ground.zip_readings import check_readings

#: The flag for UTF-8 names, the only flag that doesn't affect where an entry begins and ends.
_UTF8 = 0x800


def usdz_entries(path: str) -> list[str]:
    """Return the entries' names. Raises BadZipFile when the package isn't laid out as USDZ's
    specification requires, and OSError."""
    with zipfile.ZipFile(path) as package:
        check_readings(package)
        for entry in package.infolist():
            stored = (entry.compress_type, entry.compress_size) == (0, entry.file_size)
            if not stored or entry.flag_bits & ~_UTF8 or _leads_out(entry.orig_filename):
                raise zipfile.BadZipFile(
                    "an entry is compressed, or its name leads out of the package"
                )
        return [entry.orig_filename for entry in package.infolist()]


def _leads_out(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or "\0" in name or ".." in parts
