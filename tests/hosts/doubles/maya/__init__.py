"""A strict double of Maya's Python, for tests: a small DAG scene in memory that behaves like
Maya's.

Flags come from a table made from the published stubs, so an unknown one raises TypeError. A call
from another thread, a command that needs windows in batch mode, anything that would open a modal
prompt, and a call by the plug-in after it was unloaded raise too. Whatever isn't modelled raises
NotImplementedError. Nothing is accepted silently.
"""
