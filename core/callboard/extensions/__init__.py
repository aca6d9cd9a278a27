"""What callboard adds to MCP: host resources, bundles, and the voice for what is missing.

A bundle imports from here what it would import from ``nimblebrain_bundle_sdk``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callboard.bundles.files.bundle_host import (
        HostCapabilityMissing,
        HostResourceError,
        HostResources,
        host,
    )

__all__ = ["HostCapabilityMissing", "HostResourceError", "HostResources", "host"]


def __getattr__(name: str) -> Any:
    # A server that runs no bundle shouldn't load what they need.
    if name not in __all__:
        raise AttributeError(f"module 'callboard.extensions' has no attribute '{name}'")
    from callboard.bundles.files import bundle_host

    value = globals()[name] = getattr(bundle_host, name)
    return value
