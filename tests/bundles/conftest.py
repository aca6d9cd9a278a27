from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from server_bundles import Kid, server_bundle

from serving import Served, served
from waiting import until


@pytest.fixture
def kid(home: Path, tmp_path: Path) -> Kid:
    """Return a function that starts a server with the bundle ``kid`` installed, and waits until the
    bundle's tools are available."""

    @contextmanager
    def start(
        *arguments: str, files: bool | Literal["preferred"] = False, **config: Any
    ) -> Iterator[Served]:
        server_bundle(tmp_path, *(arguments or ("session",)), files=files)
        with served(skills=True, **config) as running:
            until(lambda: "kid__echo" in running.app.tools, "the bundle's tools")
            yield running

    return start
