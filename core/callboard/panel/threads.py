"""Threads for a panel's access to disks that may never answer."""

from __future__ import annotations

from callboard.guest.workers import Workers

__all__ = ["Workers"]
