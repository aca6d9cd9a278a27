"""The host contract: what an application can do, one module a port.

A host owes one thing, :meth:`callboard.host.Host.post`. Everything else is offered through *ports*:
small objects, one per capability, that the bundled skills call. A host can do what it has ports
for; nothing else decides that.

Threads: every method of a port runs on the host's main thread.

Conventions of every port. Lengths are scene units, angles degrees, time is in frames, images are
in pixels, colours are linear ``[r, g, b]``. Axes are the host's own; ``SceneReader.info`` says
which way is up. Transforms are local, relative to the parent; ``rotate`` is Euler XYZ. An object is
named by its bare name where that is unique, or by the host's full path; answers carry both.
Errors are raised before anything changes where that can be known, else the caller's undo step is
rolled back.
"""
