"""Reads this process's memory at addresses that might not be mapped."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def reader() -> Iterator[Callable[[int], int | None]]:
    """Yield a function that returns the eight bytes at an address, or None when that memory isn't
    readable."""
    if sys.platform == "win32":
        yield _of_windows
        return
    receiving, sending = os.pipe()
    write = ctypes.CDLL(None).write
    write.restype = ctypes.c_ssize_t
    write.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)

    def read(address: int) -> int | None:
        # The system checks the address and reports an error. Reading the address directly would
        # crash.
        if write(sending, address, 8) != 8:
            return None
        return int.from_bytes(os.read(receiving, 8), "little")

    try:
        yield read
    finally:
        os.close(receiving)
        os.close(sending)


def _of_windows(address: int) -> int | None:
    value = ctypes.c_uint64()
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined, unused-ignore]
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    done = kernel.ReadProcessMemory(
        ctypes.c_void_p(kernel.GetCurrentProcess()),
        ctypes.c_void_p(address),
        ctypes.byref(value),
        ctypes.c_size_t(8),
        None,
    )
    return value.value if done else None
