"""The errors of a bundle's server."""

from __future__ import annotations

from callboard.errors import SkillError


class BundleError(SkillError):
    """A bundle's server failed, or answered with an error. Reaches the agent as ``isError``."""


class Refused(BundleError):
    """The server answered with a JSON-RPC error."""
