"""Reports changes below the search paths.

It uses the system's notifications where they exist, and otherwise checks every two seconds. A burst
of changes is reported once, after a quiet moment, because saving in an editor causes several
changes, and copying a skill causes hundreds.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from callboard.guest.thread_pause import PausableEvent, PythonPermit, go_on
from callboard.skills.file_stamps import Stamp, tree_stamps

log = logging.getLogger(__name__)

QUIET_SECS = 0.3
POLL_SECS = 2.0
#: Number of quiet periods after which changes are reported even if they never stop.
_PATIENCE = 10


class SkillWatcher:
    """Calls ``changed`` on its own thread between :meth:`start` and :meth:`stop`.

    With ``poll``, no notifications are used, for network drives that don't send any. A path that
    doesn't exist yet is polled.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        changed: Callable[[], object],
        *,
        poll: bool = False,
        quiet_secs: float = QUIET_SECS,
        poll_secs: float = POLL_SECS,
    ) -> None:
        self._paths = [*paths, *_linked(paths)]
        self._changed = changed
        self._notify = not poll
        self._quiet_secs = quiet_secs
        self._poll_secs = poll_secs
        self._dirty = PausableEvent()
        self._permit = PythonPermit()
        #: Set when a folder was added. watchdog 6, for Python 3.10, doesn't watch a folder that is
        #: moved into a watched one.
        self._folder_came = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._observer: Any = None

    def start(self) -> None:
        """Start the thread. Changes made after this returns are noticed."""
        if self._thread is not None:
            return
        polled = self._observe() if self._notify else self._paths
        seen = _stamps(polled)
        self._thread = threading.Thread(
            target=self._permit.run,
            args=(self._run, polled, seen),
            name="callboard-skills",
            daemon=True,
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread. May be called again. No call to ``changed`` begins after this
        returns."""
        self._stopping = True
        go_on()
        self._dirty.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._end_observer()

    def _end_observer(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None

    def _observe(self) -> list[Path]:
        """Ask the system to report changes. Return the paths that must be polled instead."""
        from watchdog.events import FileSystemEvent, FileSystemEventHandler
        from watchdog.observers import Observer

        _keep_from_the_console()
        dirty, folder_came = self._dirty, self._folder_came

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                # Opening a file is an event too, and importing a script writes byte code.
                quiet = event.event_type in ("opened", "closed_no_write")
                if not quiet and "__pycache__" not in str(event.src_path):
                    if event.is_directory and event.event_type == "created":
                        folder_came.set()
                    dirty.set()

        if getattr(Observer, "__name__", "") == "KqueueObserver":
            return self._paths  # Notifications would hold a descriptor for each file.
        observer = Observer()
        handler = Handler()
        polled: list[Path] = []
        for path in self._paths:
            if not path.is_dir():
                polled.append(path)
                continue
            try:
                observer.schedule(handler, str(path), recursive=True)
            except OSError:
                polled.append(path)
        try:
            observer.start()
        except (OSError, RuntimeError) as error:
            log.info("no notifications of changed files, so checking every 2 s: %s", error)
            return self._paths
        self._end_observer()
        self._observer = observer
        return polled

    def _run(self, polled: list[Path], seen: dict[str, Stamp]) -> None:
        while not self._stopping:
            self._permit.wait(self._dirty, self._poll_secs if polled else None)
            if self._stopping:
                return
            now = _stamps(polled)
            if not self._dirty.is_set() and now == seen:
                continue
            now = self._settle(polled, now)
            seen = now
            if self._stopping:
                return
            if self._folder_came.is_set():
                self._folder_came.clear()
                polled = self._observe()
                seen = _stamps(polled)
            try:
                self._changed()
            except Exception:
                log.exception("skills couldn't be reloaded")

    def _settle(self, polled: list[Path], seen: dict[str, Stamp]) -> dict[str, Stamp]:
        """Wait until nothing has changed for a moment. Return the stamps seen last."""
        for _ in range(_PATIENCE):
            self._dirty.clear()
            notified = self._permit.wait(self._dirty, self._quiet_secs)
            now = _stamps(polled)
            if self._stopping or (not notified and now == seen):
                break
            seen = now
        return seen


def _keep_from_the_console() -> None:
    """Silence two harmless messages of watchdog 7: a warning when it watches a folder twice, which
    happens for new folders with subfolders, and an error when an event arrives while watchdog is
    shutting down."""
    warnings.filterwarnings("ignore", "Callback with id ", RuntimeWarning, r"watchdog\.")
    logging.getLogger("watchdog.observers.inotify").addFilter(_is_no_late_event)


def _is_no_late_event(record: logging.LogRecord) -> bool:
    return "called when the thread is inactive" not in record.getMessage()


def _linked(paths: Sequence[Path]) -> list[Path]:
    """Return the real folders of skills that are linked into a search path. Neither the
    notifications nor a walk through the folders would follow the links."""
    targets: list[Path] = []
    for path in paths:
        try:
            targets += [Path(os.path.realpath(one)) for one in path.iterdir() if one.is_symlink()]
        except OSError:
            continue
    return [one for one in dict.fromkeys(targets) if one.is_dir()]


def _stamps(paths: list[Path]) -> dict[str, Stamp]:
    return {f"{path}/{name}": one for path in paths for name, one in tree_stamps(path).items()}
