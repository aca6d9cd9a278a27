"""A strict double of Maya's Python, for tests: a small DAG scene in memory with Maya's manners.

Flags come from a table made from the published stubs, so an unknown one raises TypeError. A call
from another thread, a command that needs windows in batch mode, anything that would open a modal
prompt, and a call of the plug-in's after its unload raise too. What isn't modelled raises
NotImplementedError; nothing is accepted silently.
"""
