"""Threads for what a panel asks of disks that may never answer."""

from __future__ import annotations

from callboard.guest.workers import Workers

__all__ = ["Workers"]
