"""What each double has to notice: that another thread than the application's calls it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def elsewhere(call: Callable[[], Any]) -> None:
    """Calls on another thread; raises here what that raises."""
    with ThreadPoolExecutor(1) as other:
        other.submit(call).result(20)
