"""A panel on a real server, without warnings from Qt."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

#: Messages of Qt's offscreen platform about itself.
_HARMLESS = ("This plugin does not support", "QStandardPaths: XDG_RUNTIME_DIR not set")


@pytest.fixture
def open_panel(qtbot: Any, home: Path) -> Iterator[Any]:
    """Return a function that opens servers with panels. All of them are closed when the test
    ends."""
    from panel_rig import Opened

    opened = Opened(qtbot)
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def no_word_from_qt(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test during which Qt prints anything, because Qt prints its internal errors."""
    if "qtbot" not in request.fixturenames:
        yield
        return
    log = request.getfixturevalue("qtlog")
    yield
    messages = [r.message for r in log.records if not r.message.startswith(_HARMLESS)]
    assert not messages
