"""Checks whether the artist is holding down Escape in a window of this process.

While the main thread is blocked, the application reads no keys. So a different thread queries
Windows, macOS or an X server, using documented functions. Wayland doesn't reveal which keys are
down.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_int32, c_uint8, c_uint16, c_uint32, c_void_p
from typing import Any
from weakref import finalize

_WINDOWS_ESCAPE, _MAC_ESCAPE, _X_ESCAPE = 0x1B, 53, 0xFF1B
#: X's constants for a focus that follows the pointer, and for the type of a number.
_POINTER_ROOT, _CARDINAL = 1, 6


def escape_key() -> Callable[[], bool] | None:
    """Return a function that returns whether Escape is down and a window of this process has the
    keyboard. Return None if the system can't be asked. Use the function on one thread, and drop it
    when the answer no longer matters, because it may hold a connection to an X server."""
    try:
        if sys.platform == "win32":
            return _of_windows()
        return _of_macos() if sys.platform == "darwin" else _XServer().is_held
    except (OSError, AttributeError):
        return None


def _of_windows() -> Callable[[], bool]:
    user: Any = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
    user.GetForegroundWindow.restype = c_void_p
    user.GetWindowThreadProcessId.argtypes = [c_void_p, POINTER(c_uint32)]
    user.GetAsyncKeyState.restype = ctypes.c_short

    def is_held() -> bool:
        pid = c_uint32()
        user.GetWindowThreadProcessId(user.GetForegroundWindow(), ctypes.byref(pid))
        return pid.value == os.getpid() and user.GetAsyncKeyState(_WINDOWS_ESCAPE) < 0

    return is_held


def _of_macos() -> Callable[[], bool]:
    frameworks = "/System/Library/Frameworks/{0}.framework/{0}"
    graphics: Any = ctypes.CDLL(frameworks.format("CoreGraphics"))
    core: Any = ctypes.CDLL(frameworks.format("CoreFoundation"))
    graphics.CGEventSourceKeyState.argtypes = [c_int32, c_uint16]
    graphics.CGEventSourceKeyState.restype = ctypes.c_bool
    graphics.CGWindowListCopyWindowInfo.argtypes = [c_uint32, c_uint32]
    graphics.CGWindowListCopyWindowInfo.restype = c_void_p
    core.CFArrayGetCount.argtypes = [c_void_p]
    core.CFArrayGetCount.restype = ctypes.c_long
    core.CFArrayGetValueAtIndex.argtypes = [c_void_p, ctypes.c_long]
    core.CFDictionaryGetValue.argtypes = [c_void_p, c_void_p]
    core.CFArrayGetValueAtIndex.restype = core.CFDictionaryGetValue.restype = c_void_p
    core.CFNumberGetValue.argtypes = [c_void_p, ctypes.c_long, c_void_p]
    core.CFRelease.argtypes = [c_void_p]
    owner, layer = (
        c_void_p.in_dll(graphics, name) for name in ("kCGWindowOwnerPID", "kCGWindowLayer")
    )

    def number(window: int, key: c_void_p) -> int:
        value = c_int32(-1)
        if known := core.CFDictionaryGetValue(window, key):
            core.CFNumberGetValue(known, 3, ctypes.byref(value))  # kCFNumberSInt32Type
        return value.value

    def is_in_front() -> bool:
        # kCGWindowListOptionOnScreenOnly without the desktop, front to back.
        windows = graphics.CGWindowListCopyWindowInfo(1 | 16, 0)
        if not windows:
            return False
        try:
            for at in range(core.CFArrayGetCount(windows)):
                window = core.CFArrayGetValueAtIndex(windows, at)
                if number(window, layer) == 0:  # This leaves out the menu bar and the dock.
                    return number(window, owner) == os.getpid()
        finally:
            core.CFRelease(windows)
        return False

    def is_held() -> bool:
        # kCGEventSourceStateCombinedSessionState
        return bool(graphics.CGEventSourceKeyState(0, _MAC_ESCAPE)) and is_in_front()

    return is_held


class _Cookie(ctypes.Structure):
    _fields_ = [("sequence", c_uint32)]


class _Screens(ctypes.Structure):
    _fields_ = [("data", POINTER(c_uint32)), ("rem", c_int), ("index", c_int)]


#: The requests that are sent, with the types of their arguments after the connection.
_REQUESTS: dict[str, list[Any]] = {
    "get_input_focus": [],
    "get_keyboard_mapping": [c_uint8, c_uint8],
    "get_property": [c_uint8, c_uint32, c_uint32, c_uint32, c_uint32, c_uint32],
    "intern_atom": [c_uint8, c_uint16, c_char_p],
    "query_keymap": [],
    "query_pointer": [c_uint32],
    "query_tree": [c_uint32],
}


class _XServer:
    """A separate connection to the X server, through XCB, which any thread may use. Raises OSError
    when there is no server. The offsets below are those of the X protocol."""

    def __init__(self) -> None:
        self._xcb: Any = ctypes.CDLL("libxcb.so.1")
        self._free: Any = ctypes.CDLL(None).free
        self._free.argtypes = [c_void_p]
        for name, types in _REQUESTS.items():
            getattr(self._xcb, f"xcb_{name}").argtypes = [c_void_p, *types]
            getattr(self._xcb, f"xcb_{name}").restype = _Cookie
            getattr(self._xcb, f"xcb_{name}_reply").argtypes = [c_void_p, _Cookie, c_void_p]
            getattr(self._xcb, f"xcb_{name}_reply").restype = c_void_p
        self._xcb.xcb_connect.restype = self._xcb.xcb_get_setup.restype = c_void_p
        for name in ("connection_has_error", "disconnect", "get_setup", "setup_roots_iterator"):
            getattr(self._xcb, f"xcb_{name}").argtypes = [c_void_p]
        self._xcb.xcb_setup_roots_iterator.restype = _Screens
        self._server = c_void_p(self._xcb.xcb_connect(None, None))
        if self._xcb.xcb_connection_has_error(self._server):
            self._xcb.xcb_disconnect(self._server)
            raise OSError("there is no X server")
        finalize(self, self._xcb.xcb_disconnect, self._server)
        setup = self._xcb.xcb_get_setup(self._server)
        self._root = self._xcb.xcb_setup_roots_iterator(setup).data[0]
        self._keycodes = self._find_keycodes(*ctypes.string_at(setup + 34, 2))
        with self._ask("intern_atom", 0, 11, b"_NET_WM_PID") as reply:
            self._pid_atom = _card32(reply, 8)

    def is_held(self) -> bool:
        if self._xcb.xcb_connection_has_error(self._server):
            return False
        with self._ask("query_keymap") as reply:
            down = ctypes.string_at(reply + 8, 32) if reply else bytes(32)
        held = any(down[code // 8] >> code % 8 & 1 for code in self._keycodes)
        return held and self._pid_of(self._focused()) == os.getpid()

    @contextmanager
    def _ask(self, request: str, *given: Any) -> Iterator[int]:
        """Yield the address of the reply, or 0."""
        cookie = getattr(self._xcb, f"xcb_{request}")(self._server, *given)
        reply = getattr(self._xcb, f"xcb_{request}_reply")(self._server, cookie, None) or 0
        try:
            yield reply
        finally:
            self._free(reply)

    def _find_keycodes(self, first: int, last: int) -> list[int]:
        with self._ask("get_keyboard_mapping", first, last - first + 1) as reply:
            if not reply:
                return []
            each = ctypes.string_at(reply + 1, 1)[0]
            return [
                code
                for code in range(first, last + 1)
                for at in range(each)
                if _card32(reply, 32 + 4 * ((code - first) * each + at)) == _X_ESCAPE
            ]

    def _focused(self) -> int:
        with self._ask("get_input_focus") as reply:
            focused = _card32(reply, 8)
        if focused != _POINTER_ROOT:
            return focused
        with self._ask("query_pointer", self._root) as reply:
            return _card32(reply, 12)

    def _pid_of(self, window: int) -> int | None:
        """Return the id of the process that owns a window. The process may be named by an ancestor
        of the window instead."""
        while window > _POINTER_ROOT:
            with self._ask("get_property", 0, window, self._pid_atom, _CARDINAL, 0, 1) as reply:
                if _card32(reply, 16):
                    return _card32(reply, 32)
            with self._ask("query_tree", window) as reply:
                window = _card32(reply, 12)
        return None


def _card32(reply: int, offset: int) -> int:
    """Return a number in a reply, or 0 when there is no reply."""
    return c_uint32.from_address(reply + offset).value if reply else 0
