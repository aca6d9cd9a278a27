"""The files that a bundle may request from callboard, one store per set of roots.

A workspace is the roots that a call sees, plus its own uploads folder. In calls with the same
roots, bundles see the same files under the same ids.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from callboard.bundles.files.file_store import FileStore
from callboard.bundles.files.host_resources import (
    CAPABILITY,
    HostResourcesPlatform,
    advertisement,
)
from callboard.calls.capabilities import Capabilities
from callboard.errors import RefusedByArtist
from callboard.ports.capability_names import FILESYSTEM_READ
from callboard.workspace.containment import WorkspaceRoots

#: Maximum number of workspaces whose ids are remembered. The oldest is forgotten first.
MAX_WORKSPACES = 256


class Workspaces:
    """The file stores, each made on first use. ``folder`` contains the uploads."""

    def __init__(self, folder: Path, capabilities: Capabilities) -> None:
        self._folder = folder
        self._capabilities = capabilities
        self._lock = threading.Lock()
        self._paths: dict[str, tuple[str, ...]] = {}
        self._stores: dict[str, FileStore] = {}
        self.platform = HostResourcesPlatform(self._store)

    @property
    def offered(self) -> bool:
        """True if bundles may get files, that is, unless the artist has withdrawn
        ``filesystem.read``."""
        return FILESYSTEM_READ not in self._capabilities.withdrawn

    @property
    def provided(self) -> tuple[str, ...]:
        """The host capabilities that bundles get now."""
        return (CAPABILITY,) if self.offered else ()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` when :attr:`provided` may have changed. Return a function that removes
        the listener."""
        return self._capabilities.watch(listener)

    def extensions(self) -> dict[str, Any]:
        """Return what is advertised to bundles under ``extensions``, a fresh dict each time."""
        return {CAPABILITY: advertisement()} if self.offered else {}

    def name(self, roots: WorkspaceRoots | None) -> str:
        """Return the name of the workspace with these roots. Doesn't touch the disk."""
        paths = tuple(root.path for root in roots.roots if root.path) if roots is not None else ()
        text = os.pathsep.join(paths).encode("utf-8", "surrogateescape")
        name = hashlib.sha256(text).hexdigest()[:16]
        with self._lock:
            self._paths.setdefault(name, paths)
            while len(self._paths) > MAX_WORKSPACES:
                oldest = next(iter(self._paths))
                del self._paths[oldest]
                self._stores.pop(oldest, None)
        return name

    def stores(self) -> list[FileStore]:
        """Return the stores made so far."""
        with self._lock:
            return list(self._stores.values())

    async def answer(
        self, method: str, params: Mapping[str, Any], roots: WorkspaceRoots | None, bundle: str
    ) -> dict[str, Any]:
        """Return the answer to one request from a bundle. Files are read off the loop. Raises
        CallboardError with the contract's codes."""
        return await asyncio.to_thread(self.answer_now, method, params, roots, bundle)

    def answer_now(
        self, method: str, params: Mapping[str, Any], roots: WorkspaceRoots | None, bundle: str
    ) -> dict[str, Any]:
        """Like :meth:`answer`, on a thread that may wait for the disk."""
        if not self.offered:
            raise RefusedByArtist(
                "the artist withdrew filesystem.read, so bundles get no files; pass the content "
                "inline"
            )
        return self.platform.handle(method, params, workspace=self.name(roots), bundle=bundle)

    def store(self, roots: WorkspaceRoots | None) -> FileStore:
        """Return the file store of the workspace with these roots."""
        store = self._store(self.name(roots))
        assert store is not None
        return store

    def _store(self, name: str) -> FileStore | None:
        with self._lock:
            store = self._stores.get(name)
            paths = self._paths.get(name)
        if store is not None or paths is None:
            return store
        store = FileStore(map(Path, paths), self._folder / name)
        with self._lock:
            return self._stores.setdefault(name, store)
