"""Finds the archive that is installed into a host. This is the archive that the user chose, the one
that came with callboard, or one that is built from this checkout."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

from callboard.errors import HostError
from callboard.ground.version import __version__
from callboard.ground.zip_readings import check_readings

#: Maximum number of bytes that an archive may unpack to. Our largest archive, with Qt for every
#: system, needs a third of this.
_LARGEST = 1_000_000_000


def contents(archive: Path) -> dict[str, bytes]:
    """Return the contents of the archive's files, by their paths with forward slashes. Raises
    HostError if the archive can't be read or contains an unsafe path."""
    try:
        with zipfile.ZipFile(archive) as opened:
            check_readings(opened)
            files = [each for each in opened.infolist() if not each.is_dir()]
            if sum(each.file_size for each in files) > _LARGEST:
                raise HostError(
                    f"{archive.name} is larger when unpacked than any callboard archive"
                )
            for each in files:
                parts = each.filename.split("/")
                if re.search(r"[\\:\0]", each.filename) or not {"", ".", ".."}.isdisjoint(parts):
                    raise HostError(
                        f"{archive.name} contains a file with an unsafe path: {each.filename!r}"
                    )
            return {each.filename: opened.read(each) for each in files}
    except OSError as error:
        raise HostError(f"can't read {archive}: {error.strerror or error}") from None
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        EOFError,
        UnicodeDecodeError,
    ) as error:
        raise HostError(f"can't read {archive}: {error}") from None


def built(host: str, suffix: str = "") -> Path:
    """Return the archive for that host: the one that came with callboard, or one that is built now
    from this checkout. Raises HostError."""
    name = f"callboard-{host}-{__version__}{suffix}.zip"
    brought = Path(__file__).resolve().parent / "archives" / name
    if brought.is_file():
        return brought
    project = Path(__file__).resolve().parents[3]
    builder = project / "packaging" / "build.py"
    if not builder.is_file():
        raise HostError(
            "this copy of callboard came without archives for hosts; name one with --archive, or "
            "install the wheel of a release"
        )
    command = [sys.executable, str(builder), host]
    done = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise HostError(f"could not build the archive:\n{done.stderr.strip()[-2000:]}")
    return project / "dist" / name
