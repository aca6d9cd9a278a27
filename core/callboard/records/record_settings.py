"""What a server keeps and sends of its calls, as its settings and the environment say."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from callboard.records.store import Store

if TYPE_CHECKING:
    from callboard.config import ExportTarget

log = logging.getLogger(__name__)


def export_target(configured: ExportTarget | None) -> ExportTarget | None:
    """Where records are sent, None for nowhere. Most hosts send none and load nothing for it."""
    if configured is not None or not os.environ.get("CALLBOARD_EXPORT_URL"):
        return configured
    from callboard.records.exporter import target_from

    try:
        return target_from(os.environ)
    except ValueError as error:
        log.warning("records are not sent: %s (see CALLBOARD_EXPORT_URL)", error)
        return None


def store(export: ExportTarget | None, results: bool = False) -> Store:
    """Where calls are written down; their results only for who exports or wants them."""
    return Store(warn=log.warning, results=results or export is not None)
