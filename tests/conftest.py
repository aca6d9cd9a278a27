"""What holds for every test: which are slow, and which Qt there is.

pytest-qt comes along only where a Qt loads: without one its tests skip and all others run.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from callboard_testing.fake_client import FakeClient
from needed import missing
from progress import Progress
from serving import Served, served
from touched import SLOW_ROOMS, TESTS

if missing("qt") is None:
    pytest_plugins = ["pytestqt.plugin"]

# A slow machine is no failure; in CI the same change always meets the same examples.
settings.register_profile("callboard", deadline=None, derandomize="CI" in os.environ)
# The quick tier looks at fewer: whoever changes what they test runs all.
settings.register_profile("fast", settings.get_profile("callboard"), max_examples=15)
settings.load_profile("callboard")


# What a shell starts in the background ignores Ctrl+C, and so would each program of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and reporter.verbosity <= 0 and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(reporter))


@pytest.fixture(autouse=True, scope="session")
def _links_that_are_links() -> Iterator[None]:
    """Windows lets few users make links, and Wine says that it made one where it made none: tests
    that need one skip there."""
    if sys.platform != "win32":
        yield
        return
    made = Path.symlink_to

    def symlink_to(link: Path, target: str | Path, target_is_directory: bool = False) -> None:
        try:
            made(link, target, target_is_directory)
        except OSError as error:
            if link.name.endswith("current"):
                raise
            pytest.skip(f"this user may make no links: {error}")
        # pytest makes one for itself, and can do without.
        if not link.is_symlink() and not link.name.endswith("current"):
            pytest.skip("this system says that it made a link, and made none")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "symlink_to", symlink_to)
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's callboard keeps its files."""
    folder = tmp_path / "home"
    monkeypatch.setenv("CALLBOARD_HOME", str(folder))
    return folder


@pytest.fixture
def server() -> Iterator[Served]:
    """Serves what the test registers."""
    with served() as running:
        yield running


@pytest.fixture
def client(server: Served) -> Iterator[FakeClient]:
    with server.client() as session:
        yield session


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """What is imported and collected stays to the end: Python's collector needn't go through it
    again and again, while it is made nor afterwards."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(TESTS) and item.path.relative_to(TESTS).parts[0] in SLOW_ROOMS:
            item.add_marker("slow")
        # They start programs, and the first to need one installs it, on a slow network.
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(600))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The quick tier doesn't even import what it leaves out: MCP's SDK alone takes two seconds."""
    inside = collection_path.is_relative_to(TESTS) and collection_path != TESTS
    room = collection_path.relative_to(TESTS).parts[0] if inside else None
    return (room in SLOW_ROOMS and config.option.markexpr.startswith("not slow")) or None
