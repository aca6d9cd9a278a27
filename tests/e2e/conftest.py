"""One host with the skill `probe` for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.serving import Program, serve


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def host(home: Path) -> Iterator[Program]:
    with serve(home) as program:
        yield program
