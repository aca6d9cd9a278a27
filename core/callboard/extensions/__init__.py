"""What callboard adds to MCP: host resources, bundles, and the voice for what is missing.

A bundle imports from here what it would import from ``nimblebrain_bundle_sdk``.
"""

from __future__ import annotations

from callboard.extensions.bundle_host import (
    HostCapabilityMissing,
    HostResourceError,
    HostResources,
    host,
)

__all__ = ["HostCapabilityMissing", "HostResourceError", "HostResources", "host"]
