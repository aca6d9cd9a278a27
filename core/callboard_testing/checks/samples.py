"""The names of samples, which are data that each host makes in its own way. The caller of the suite
passes functions that make the samples to ``Bench(host, folder, samples)`` or to ``run_all``. Checks
that need a missing sample are skipped."""

from __future__ import annotations

#: An object of a type that only this application has, such as a layer group. It can have other
#: objects below it. If the host has no primitives, all checks use such objects instead of cubes.
OBJECT = "sample.object"
#: A second document, which is empty and becomes the scene. The function that makes it returns the
#: document's name.
DOCUMENT = "sample.document"
#: An object whose translation can't be set: its channels are locked, or instances share it.
LOCKED = "sample.locked"
#: An object from another file, with at least one object below it: a reference, an XRef, a link.
REFERENCED = "sample.referenced"
#: An object with opinions in several of the scene's layers, with at least one object below it.
LAYERED = "sample.layered"
