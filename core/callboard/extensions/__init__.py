"""The public interface for bundles: host resources and host capabilities.

A bundle imports the same names from here that it would import from ``nimblebrain_bundle_sdk``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from callboard.ground.lazy_names import lazy_names

# A server that runs no bundle shouldn't load the modules that bundles need.
_HOMES = {
    "callboard.bundles.files.bundle_host": (
        "HostCapabilityMissing HostResourceError HostResources host"
    ),
}

if TYPE_CHECKING:
    from callboard.bundles.files.bundle_host import *
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
