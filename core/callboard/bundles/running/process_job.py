"""A Windows job object, which ends a process together with all processes that it starts.

Ending only ``npx.cmd`` or ``uvx`` would leave behind the server that it started. When the job's
last handle closes, even because the host crashed, Windows ends every process in the job.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import ctypes
    import subprocess
    from ctypes import wintypes

    _KILL_ON_JOB_CLOSE = 0x2000
    _EXTENDED_LIMITS = 9

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    class ProcessJob:
        """Controls ``process`` and all processes that it starts from now on. Use it from any
        thread. Raises OSError."""

        def __init__(self, process: subprocess.Popen[bytes]) -> None:
            self._kernel = kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            kernel.CreateJobObjectW.restype = wintypes.HANDLE
            handle = kernel.CreateJobObjectW(None, None)
            if not handle:
                raise ctypes.WinError(ctypes.get_last_error())
            self._handle: int | None = handle
            limits = _ExtendedLimits()
            limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
            job = wintypes.HANDLE(handle)
            started = wintypes.HANDLE(int(process._handle))  # type: ignore[attr-defined]
            held = kernel.SetInformationJobObject(
                job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
            ) and kernel.AssignProcessToJobObject(job, started)
            if not held:
                error = ctypes.WinError(ctypes.get_last_error())
                self.close()
                raise error

        def kill(self) -> None:
            """End all of the job's processes. May be called again."""
            if self._handle is not None:
                self._kernel.TerminateJobObject(wintypes.HANDLE(self._handle), 1)

        def close(self) -> None:
            """End all of the job's processes and close the job. May be called again."""
            handle, self._handle = self._handle, None
            if handle is not None:
                self._kernel.CloseHandle(wintypes.HANDLE(handle))
