"""Settings for every test: the marks for slow tests, and the installed Qt.

pytest-qt is loaded only if a Qt loads. Without one, the tests that need it are skipped and all
others run.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from callboard_testing.fake_client import FakeClient
from needed import missing
from progress import Progress
from serving import Served, served
from touched import SLOW_ROOMS, TESTS, is_slow

if missing("qt") is None:
    pytest_plugins = ["pytestqt.plugin"]

# A slow machine isn't a failure. In CI the same change always gets the same examples.
settings.register_profile(
    "callboard",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
# The quick tier runs fewer examples. After a change to the tested code itself, run all of them.
settings.register_profile("fast", settings.get_profile("callboard"), max_examples=15)
settings.load_profile("callboard")


# A program that a shell starts in the background ignores Ctrl+C, and so would every program that a
# test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and reporter.verbosity <= 0 and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(reporter))


@pytest.fixture(autouse=True, scope="session")
def _links_that_are_links() -> Iterator[None]:
    """Skip tests that need a link where none can be made: Windows lets few users make links, and
    Wine claims to have made one when it hasn't."""
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
            pytest.skip(f"this user may not make links: {error}")
        # pytest itself makes a link, but works without it.
        if not link.is_symlink() and not link.name.endswith("current"):
            pytest.skip("this system claims to have made a link, but hasn't")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "symlink_to", symlink_to)
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which this test's callboard keeps its files."""
    folder = tmp_path / "home"
    monkeypatch.setenv("CALLBOARD_HOME", str(folder))
    return folder


@pytest.fixture
def server() -> Iterator[Served]:
    """Yield a server for the tools that the test registers."""
    with served() as running:
        yield running


@pytest.fixture
def client(server: Served) -> Iterator[FakeClient]:
    with server.client() as session:
        yield session


_LONG = """
    docs/test_pages e2e/test_setup_blender docs/test_site conformance/test_official_suite
    packaging/test_release hosts/test_blender_gui_artist hosts/test_blender_panel
    hosts/test_blender_sidebar hosts/test_first_run hosts/test_blender_gui_fuzz
    hosts/test_blender_gui packaging/test_bootstrap packaging/test_supply packaging/test_bundles
    hosts/test_blender_scenes hosts/test_blender_gui_calls hosts/test_freecad
    hosts/test_blender_gui_install hosts/test_corpus seeds/test_statements docs/test_walkthrough
    rest/test_rest_schemathesis
"""
#: Test files that take a minute or more, the longest first. They start first, because a late start
#: would leave the other processors idle at the end.
LONG = tuple(TESTS / f"{name}.py" for name in _LONG.split())


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Turn the garbage collector off while modules are imported and tests are collected. Everything
    made during that time stays until the end, so collecting would find nothing."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {path: place for place, path in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(LONG)))
    slow = {path: _in_slow_room(path) for path in {item.path for item in items}}
    for item in items:
        if slow[item.path]:
            item.add_marker("slow")
        # Slow tests start programs, and the first test that needs a program installs it, perhaps
        # over a slow network.
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(600))


def _in_slow_room(path: Path) -> bool:
    return path.is_relative_to(TESTS) and path.relative_to(TESTS).parts[0] in SLOW_ROOMS


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Keep the quick tier from importing the tests that it leaves out: MCP's SDK alone takes two
    seconds."""
    if not config.option.markexpr.startswith("not slow") or TESTS not in collection_path.parents:
        return None
    if collection_path.name.startswith("test_") and collection_path.suffix == ".py":
        return is_slow(collection_path) or None
    return collection_path.relative_to(TESTS).parts[0] in SLOW_ROOMS or None
