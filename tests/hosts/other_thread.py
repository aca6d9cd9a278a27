"""Makes calls from a thread other than the application's. Each double has to refuse such calls."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def elsewhere(call: Callable[[], Any]) -> None:
    """Call the function on another thread. Raise its exception on this one."""
    with ThreadPoolExecutor(1) as other:
        other.submit(call).result(20)
