"""The root layer as it was at the last undo step."""

from __future__ import annotations

import contextlib
from pathlib import Path
from threading import Thread

from pxr import Sdf, Tf


class LastStepLayer:
    """A copy of a layer, made without slowing down the opening of its file. A thread reads the copy
    from the file while the client is already looking at the scene. If there is no file, or the file
    has changed since it was opened, the layer itself is copied when the copy is first needed. Use
    it on the main thread."""

    def __init__(self, original: Sdf.Layer, file: str | None, stamp: object) -> None:
        """Prepare the copy. ``stamp`` is the file's :func:`stamp_of` before ``original`` was read
        from it."""
        self._original = original
        self._file = file
        self._stamp = stamp
        self._copy: Sdf.Layer | None = None
        self._reading: Thread | None = None

    def read_ahead(self) -> None:
        """Start the thread. Call this after the stage has been composed, because the thread would
        slow that down."""
        if self._file is not None and self._stamp is not None:
            # The thread isn't a daemon, because a process that ends while OpenUSD is reading would
            # crash.
            self._reading = Thread(target=self._read, name="callboard-shadow")
            self._reading.start()

    @property
    def layer(self) -> Sdf.Layer:
        if self._reading is not None:
            self._reading.join()
            self._reading = None
        if self._copy is None:
            self._copy = Sdf.Layer.CreateAnonymous(".usda")
            self._copy.TransferContent(self._original)
        return self._copy

    def _read(self) -> None:
        assert self._file is not None
        with contextlib.suppress(Tf.ErrorException):
            copy = Sdf.Layer.OpenAsAnonymous(self._file)
            if stamp_of(self._file) == self._stamp:
                self._copy = copy


def stamp_of(file: str) -> object:
    """Return a value that changes when the file does, or None when the file can't be read."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
