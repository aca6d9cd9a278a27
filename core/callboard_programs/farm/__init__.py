"""Runs one tool over many tasks, on hosts on this machine or behind a Dask scheduler. Orders go
out, and results come back. An order is a tool's name, its arguments and a scene. Code never
travels."""
