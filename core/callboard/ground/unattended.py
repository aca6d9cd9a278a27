"""What an application does by itself while its interface goes on: a render, for instance.

A port's method that begins such work may return a generator instead of the answer: it yields
``UNATTENDED`` until the work is over, and returns the answer. Closed before, it ends the work.
"""

from __future__ import annotations

from contextvars import ContextVar

#: What is yielded meanwhile. The next slice comes by and by, whatever the application is busy with,
#: which is this very work. It is in no undo step, so it changes nothing in the scene.
UNATTENDED = object()

#: Whether slices come by and by, and the application goes on between them. In a batch they don't.
comes_back: ContextVar[bool] = ContextVar("comes_back", default=False)
