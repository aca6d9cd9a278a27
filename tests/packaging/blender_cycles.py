"""Runs inside Blender: installs the extension, then enables, serves and disables it many times.

    python blender_cycles.py ARCHIVE ROUNDS

Prints its findings as JSON. BLENDER_USER_RESOURCES is the folder that holds Blender's user folders.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import bpy

MODULE = "bl_ext.user_default.callboard"
#: Modules of the packages in our wheels.
CARRIED = ("callboard", "tornado", "yaml", "fastjsonschema", "platformdirs", "watchdog")
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "scene__list_objects",
}
CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "scene__list_objects",
        "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}


def once() -> None:
    assert bpy.ops.preferences.addon_enable(module=MODULE) == {"FINISHED"}
    from callboard_blender import addon

    residence, bodies = addon.residence, []
    # The main thread is serving, so the client needs another thread. The server is there at once.
    assert bpy.ops.callboard.start() == {"FINISHED"}
    assert residence.app is not None
    url, token = residence.app.url, residence.app.token

    def client() -> None:
        request = urllib.request.Request(
            url, json.dumps(CALL).encode(), {**HEADERS, "Authorization": f"Bearer {token}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                bodies.append(answer.read())
        finally:
            residence.interrupt()

    thread = threading.Thread(target=client)
    thread.start()
    assert bpy.ops.callboard.serve() == {"FINISHED"}
    thread.join()
    assert b'"Cube"' in bodies[0], bodies
    assert bpy.ops.preferences.addon_disable(module=MODULE) == {"FINISHED"}


def state() -> dict[str, Any]:
    handlers = bpy.app.handlers
    lists = {name: getattr(handlers, name) for name in dir(handlers)}
    open_files = Path("/proc/self/fd")
    return {
        "modules": sorted(m for m in sys.modules if m.partition(".")[0].startswith(CARRIED)),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "handlers": sum(len(handlers) for handlers in lists.values() if isinstance(handlers, list)),
        "classes": sorted(name for name in dir(bpy.types) if name.startswith("CALLBOARD")),
        "sockets": sorted(str(each.readlink()) for each in open_files.iterdir() if each.exists()),
    }


def megabytes() -> float:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main(archive: str, rounds: int) -> None:
    bpy.ops.extensions.package_install_files(
        filepath=archive, repo="user_default", enable_on_install=False
    )
    before = state()
    memory, blocks = [], []
    for _ in range(rounds):
        once()
        gc.collect()
        memory.append(megabytes())
        blocks.append(sys.getallocatedblocks())
    after = state()
    repos = [repo.module for repo in bpy.context.preferences.extensions.repos]
    bpy.ops.extensions.package_uninstall(repo_index=repos.index("user_default"), pkg_id="callboard")
    print(json.dumps({"before": before, "after": after, "memory": memory, "blocks": blocks}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
