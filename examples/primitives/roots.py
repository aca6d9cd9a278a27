"""Workspace roots: a tool can open files in the client's project, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from callboard.app import Callboard
from callboard.workspace.containment import WorkspaceRoots
from serving import serve


def measure(path: str, _workspace_roots: WorkspaceRoots | None) -> dict[str, object]:
    """Return facts about a file. ``path`` has been resolved and checked, because its schema
    declares it as a path."""
    roots = [] if _workspace_roots is None else [root.name for root in _workspace_roots.roots]
    return {"file": Path(path).name, "bytes": Path(path).stat().st_size, "roots": roots}


def add(server: Callboard) -> None:
    server.tools.register(
        "measure",
        measure,
        "Says how large a file of the workspace is.",
        {
            "type": "object",
            "properties": {"path": {"type": "string", "format": "workspace-path"}},
            "required": ["path"],
        },
        required_capabilities=("filesystem.read",),
        affinity="any",
    )


if __name__ == "__main__":
    serve(add)
