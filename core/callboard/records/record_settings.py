"""Makes the store and the export target of a server, as its settings and the environment define
them."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from callboard.ground.login_name import login_name
from callboard.records.model import CallPlace
from callboard.records.retention import Retention
from callboard.records.store import Store

if TYPE_CHECKING:
    from callboard.config import ExportTarget, McpHttpConfig
    from callboard.ports.host import HostIdentity

log = logging.getLogger(__name__)


def export_target(configured: ExportTarget | None) -> ExportTarget | None:
    """Return the target of the export, or None. Most hosts never load the export's code."""
    if configured is not None or not os.environ.get("CALLBOARD_EXPORT_URL"):
        return configured
    from callboard.records.ingest import target_from

    try:
        return target_from(os.environ)
    except ValueError as error:
        log.warning("records are not sent: %s (see CALLBOARD_EXPORT_URL)", error)
        return None


def place_of(
    identity: HostIdentity, scene: str | None, folders: Sequence[str], machine: str
) -> CallPlace:
    """Return the context of calls in that application. ``folders`` are those of the host's project.
    The site's own name for the project takes precedence."""
    project = os.environ.get("CALLBOARD_PROJECT") or next(iter(folders), None)
    app = f"{identity.name} {identity.version}".strip()
    return CallPlace(login_name(), machine, app, scene, project)


def store(config: McpHttpConfig, export: ExportTarget | None) -> Store | None:
    """Return the store for calls, or None if no calls are recorded. Results are kept too if there
    is an export."""
    if not config.records:
        return None
    return Store(
        warn=log.warning,
        results=config.record_results or export is not None,
        retention=Retention(config.record_days, config.record_mb * 2**20),
    )
