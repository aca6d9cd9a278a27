"""Houdini without windows, under ``hython``: the main thread is an inbox."""

from __future__ import annotations

from collections.abc import Callable

from callboard_houdini.host import HoudiniHost


def make_host(post: Callable[[Callable[[], None]], None]) -> HoudiniHost:
    """The host of the Houdini that runs in this process."""
    return HoudiniHost(post)
