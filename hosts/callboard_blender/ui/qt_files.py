"""Finds Qt without blocking the main thread, and tests whether Qt can open a window on this
machine.

Blender installs an extension's wheels. The add-on for older versions contains the wheels as files,
and the wheel for this machine is unpacked into the cache when it is first needed.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from callboard.errors import HostError
from callboard.host import cache_folder

#: Qt aborts the process in which it fails, so it is tested in a separate process first.
_PROBE = (
    "import sys; sys.path[:] = {path!r}; from PySide6.QtWidgets import QApplication as A; A([])"
)
_PROBE_SECONDS = 60.0
_WHEELS = {"linux": "manylinux", "win32": "win_amd64", "darwin": "macosx"}
#: Maximum number of lines of Qt's own message that are passed on.
_LINES = 4


class QtSearch:
    """Looks for PySide6 in a separate thread. Make, poll and end it on the main thread."""

    def __init__(self, bundled: Path) -> None:
        """Start the search. ``bundled`` is the folder with the add-on's wheels, if there is one.
        Raises HostError when there is no Qt at all."""
        #: The folder to add to Python's path, or None, and the reason why Qt can't be used, or
        #: None. Both are valid once ``done`` is True.
        self.folder: str | None = None
        self.problem: str | None = None
        self._wheels = [path for path in sorted(bundled.glob("*.whl")) if _fits(path.name)]
        self._probe: subprocess.Popen[str] | None = None
        self._ended = False
        self._installed = find_spec("PySide6") is not None
        if (loaded := sys.modules.get("PySide6")) is not None:
            # Qt is still loaded from the last time that the add-on was enabled, but its folder may
            # no longer be on the path.
            folder = str(Path(loaded.__file__ or "").parents[1])
            self.folder = folder if folder not in sys.path else None
        if not self._installed and not self._wheels:
            raise HostError(
                "This is the light bundle, without Qt. For the window, install the full bundle, "
                "or PySide6-Essentials where Blender's Python finds it. The sidebar can do most of "
                "what the window can."
            )
        self._path = list(sys.path)
        self._thread = threading.Thread(target=self._run, name="callboard-qt", daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def end(self) -> None:
        """Give up, and wait until the thread has ended. Idempotent."""
        self._ended = True
        probe = self._probe
        if probe is not None:
            with suppress(OSError):
                probe.kill()
        self._thread.join()

    def _run(self) -> None:
        try:
            if not self._installed:
                self.folder = str(_unpacked(self._wheels))
            self._try()
        except HostError as error:
            self.problem = str(error)
        except (OSError, zipfile.BadZipFile) as error:
            self.problem = f"Qt could not be unpacked: {error}"

    def _try(self) -> None:
        path = [*self._path, *([self.folder] if self.folder else [])]
        command = [sys.executable, "-I", "-c", _PROBE.format(path=path)]
        try:
            self._probe = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
            if self._ended:
                self._probe.kill()
            _, complaint = self._probe.communicate(timeout=_PROBE_SECONDS)
        except subprocess.TimeoutExpired:
            assert self._probe is not None
            self._probe.kill()
            self._probe.communicate()
            raise HostError("couldn't check whether Qt works: the check timed out") from None
        except OSError as error:
            raise HostError(f"couldn't check whether Qt works: {error}") from None
        if self._probe.returncode != 0:
            raise HostError(what_to_do(complaint, path))


def what_to_do(complaint: str, path: Sequence[str]) -> str:
    """Return what the artist can do about Qt's failure, which Qt described in ``complaint``.
    ``path`` is the Python path on which PySide6 was found. Takes up to a second."""
    from callboard_ui.qt_libraries import advice, what_to_install

    if "xcb" in complaint and (missing := advice(path)) is not None:
        return missing
    if "xcb-cursor" in complaint or "xcb_cursor" in complaint:
        return what_to_install(["libxcb-cursor.so.0"])
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    return "Qt can't open a window here: " + (" ".join(lines[-_LINES:]) or "it gives no reason")


def _unpacked(wheels: Sequence[Path]) -> Path:
    """Return the folder to import PySide6 from."""
    folder = cache_folder() / "qt" / wheels[0].name.removesuffix(".whl")
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = tempfile.mkdtemp(dir=folder.parent)
    try:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(partial)
        with suppress(FileExistsError):
            Path(partial).rename(folder)
    finally:
        # The temporary folder still exists only if another Blender process was faster, or the disk
        # is full.
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _fits(name: str) -> bool:
    if _WHEELS.get(sys.platform, "none") not in name:
        return False
    return sys.platform != "linux" or platform.machine() in name
