"""One tool over many tasks, on hosts of this machine or behind a Dask scheduler: orders go out,
results come back. An order is a tool's name, its arguments and a scene. Code never travels.
"""
