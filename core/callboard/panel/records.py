"""Reads the calls that ended, for a panel. Use it on a separate thread."""

from __future__ import annotations

from typing import Any

from callboard.records.model import CallRecord, Outcome
from callboard.records.reader import Filter, Page, Reader

__all__ = ["CallRecord", "Filter", "Outcome", "Page", "Reader", "missing_capabilities"]


def missing_capabilities(reader: Reader, since: float) -> list[dict[str, Any]]:
    """Return the capabilities that agents have requested but not received since the Unix time
    ``since``, the most requested first: ``{capability, count, sessions, source, confidence,
    examples}``. Raises sqlite3.Error."""
    from callboard.demand.report import build  # Only reports need these modules.

    missing: list[dict[str, Any]] = build(reader, since=since)["topMissingCapabilities"]
    return missing
