"""One tool over many tasks, by hosts of this machine or behind a Dask scheduler: orders go out,
results come back.

What goes over the wire is an order: a tool's name, its arguments, a scene. Code never does.
"""
