"""The root layer as it was at the last undo step."""

from __future__ import annotations

import contextlib
from pathlib import Path
from threading import Thread

from pxr import Sdf, Tf


class LastStepLayer:
    """A copy of a layer that costs opening a file nothing: it is read from the file, on a thread of
    its own, while the scene is looked at. Where there is no such file, or it changed meanwhile, it
    is copied when it is first needed. Main thread."""

    def __init__(self, original: Sdf.Layer, file: str | None, stamp: object) -> None:
        """``stamp`` is what :func:`stamp_of` the file was before ``original`` was read from it."""
        self._original = original
        self._file = file
        self._stamp = stamp
        self._copy: Sdf.Layer | None = None
        self._reading: Thread | None = None

    def read_ahead(self) -> None:
        """Starts the thread. It takes turns with whoever composes the stage, so not before that."""
        if self._file is not None and self._stamp is not None:
            # Not a daemon: a process that ends while OpenUSD reads would crash.
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
    """What changes when the file does; None where it can't be told."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
