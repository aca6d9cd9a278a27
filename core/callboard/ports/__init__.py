"""The host contract, with one port in each module. Together, the ports are everything that an
application can do.

A host must implement only :meth:`callboard.host.Host.post`. Everything else is offered through
*ports*: small objects, one per capability, that the bundled skills call. A host's ports alone
decide what the host can do.

Threads: every method of a port runs on the host's main thread.

Conventions for all ports. Lengths are in scene units, angles in degrees, times in frames, and the
sizes of images in pixels. Colors are linear ``[r, g, b]``. Axes are the host's own;
``SceneReader.info`` gives the up axis. Transforms are local, relative to the parent; ``rotate`` is
Euler XYZ. An object is named by its bare name if that is unique, or by the host's full path;
results contain both. Errors that can be foreseen are raised before anything changes. After any
other error, the caller's undo step is rolled back.
"""
