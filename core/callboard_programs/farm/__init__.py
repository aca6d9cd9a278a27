"""Runs one tool over many tasks, on hosts on this machine or behind a Dask scheduler. An order is a
tool's name, its arguments and a scene. Orders are sent to hosts, and results come back. Code is
never sent."""
