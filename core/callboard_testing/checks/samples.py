"""The names of samples, which are data that each host makes in its own way. The suite's caller
passes functions that make them to ``Bench(host, folder, samples)`` or to ``run_all``. If a sample
is missing, its checks are skipped."""

from __future__ import annotations

#: An object of the application's own that can have others below it, such as a layer group. If the
#: host has no primitives, all checks use such objects instead of cubes.
OBJECT = "sample.object"
#: Another document, which is empty and becomes the scene. Its function returns the document's name.
DOCUMENT = "sample.document"
#: An object whose translation can't be set: its channels are locked, or instances share it.
LOCKED = "sample.locked"
#: An object from another file, with at least one object below it: a reference, an XRef, a link.
REFERENCED = "sample.referenced"
#: An object with opinions in several of the scene's layers, with at least one object below it.
LAYERED = "sample.layered"
