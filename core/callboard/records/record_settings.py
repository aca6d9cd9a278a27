"""The store and the export target of a server, as its settings and the environment define them."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from callboard.records.store import Store

if TYPE_CHECKING:
    from callboard.config import ExportTarget

log = logging.getLogger(__name__)


def export_target(configured: ExportTarget | None) -> ExportTarget | None:
    """Return the target of the export, or None. Most hosts never load the export's code."""
    if configured is not None or not os.environ.get("CALLBOARD_EXPORT_URL"):
        return configured
    from callboard.records.exporter import target_from

    try:
        return target_from(os.environ)
    except ValueError as error:
        log.warning("records are not sent: %s (see CALLBOARD_EXPORT_URL)", error)
        return None


def store(export: ExportTarget | None, results: bool = False) -> Store:
    """Return the store for calls. Results are kept if there is an export, or if ``results`` is
    true."""
    return Store(warn=log.warning, results=results or export is not None)
