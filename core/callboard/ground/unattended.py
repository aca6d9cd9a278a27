"""Work that an application does on its own, such as a render, whether or not its interface stays
usable in the meantime.

A port's method that begins such work may return a generator instead of the answer. It yields
``UNATTENDED`` until the work is over, and returns the answer. Closing the generator early ends the
work.
"""

from __future__ import annotations

from contextvars import ContextVar

#: Yielded while the application works on its own. The next slice runs after a moment, even while
#: the application is busy, because it is busy with this very work. The slice runs outside an undo
#: step, so it must not change the scene.
UNATTENDED = object()

#: True if the generator gets further slices and the application continues between them. False in a
#: batch.
comes_back: ContextVar[bool] = ContextVar("comes_back", default=False)

#: A port sets this to True before work that holds the window and can't be interrupted. Calls
#: from other clients are then refused instead of being kept waiting.
holds_window: ContextVar[bool] = ContextVar("holds_window", default=False)
