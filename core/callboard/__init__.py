"""callboard: an MCP server that lives inside a 3D application."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from callboard.ground.version import __version__

if TYPE_CHECKING:
    from callboard.calls.tools import ToolRegistry
    from callboard.config import McpHttpConfig
    from callboard.errors import WorkspaceResolveError
    from callboard.skill_server import McpHttpServer, create_skill_server
    from callboard.skills.discovery import scan_and_load
    from callboard.skills.model import SkillMetadata
    from callboard.skills.results import error_result, success_result
    from callboard.workspace.containment import WorkspaceRoots

__all__ = [
    "McpHttpConfig",
    "McpHttpServer",
    "SkillMetadata",
    "ToolRegistry",
    "WorkspaceResolveError",
    "WorkspaceRoots",
    "__version__",
    "create_skill_server",
    "error_result",
    "scan_and_load",
    "success_result",
]

# Each name is loaded when it is asked for: a host that imports callboard pays for what it uses.
_HOMES = {
    "McpHttpConfig": "callboard.config",
    "McpHttpServer": "callboard.skill_server",
    "SkillMetadata": "callboard.skills.model",
    "ToolRegistry": "callboard.calls.tools",
    "WorkspaceResolveError": "callboard.errors",
    "WorkspaceRoots": "callboard.workspace.containment",
    "create_skill_server": "callboard.skill_server",
    "error_result": "callboard.skills.results",
    "scan_and_load": "callboard.skills.discovery",
    "success_result": "callboard.skills.results",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'callboard' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
