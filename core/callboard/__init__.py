"""callboard: an MCP server that lives inside a 3D application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callboard.ground.lazy_names import lazy_names

#: Modules, and the names that are public in each.
_HOMES = {
    "callboard.calls.tools": "ToolRegistry",
    "callboard.config": "McpHttpConfig",
    "callboard.errors": "WorkspaceResolveError",
    "callboard.ground.version": "__version__",
    "callboard.skill_server": "McpHttpServer create_skill_server",
    "callboard.skills.discovery": "scan_and_load",
    "callboard.skills.model": "SkillMetadata",
    "callboard.skills.results": "error_result success_result",
    "callboard.workspace.containment": "WorkspaceRoots",
}

if TYPE_CHECKING:
    from callboard.calls.tools import ToolRegistry as ToolRegistry
    from callboard.config import McpHttpConfig as McpHttpConfig
    from callboard.errors import WorkspaceResolveError as WorkspaceResolveError
    from callboard.ground.version import __version__ as __version__
    from callboard.skill_server import McpHttpServer as McpHttpServer
    from callboard.skill_server import create_skill_server as create_skill_server
    from callboard.skills.discovery import scan_and_load as scan_and_load
    from callboard.skills.model import SkillMetadata as SkillMetadata
    from callboard.skills.results import error_result as error_result
    from callboard.skills.results import success_result as success_result
    from callboard.workspace.containment import WorkspaceRoots as WorkspaceRoots
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
