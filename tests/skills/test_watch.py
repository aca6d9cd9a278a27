import subprocess
import sys
import threading

import pytest

from callboard.skills.catalog import SkillCatalog
from callboard.skills.watch import SkillWatcher
from skills.skill_tree import TWO_TOOLS, write_files, write_skill

DEADLINE = 20


class Heard:
    """A callback that counts its calls, and lets a test wait for the next one."""

    def __init__(self):
        self.count = 0
        self._changed = threading.Condition()

    def __call__(self):
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait_for_more_than(self, count):
        with self._changed:
            return self._changed.wait_for(lambda: self.count > count, DEADLINE)


@pytest.fixture(params=[False, True], ids=["notified", "polling"])
def watch(request):
    started = []

    def start(path, changed):
        watcher = SkillWatcher([path], changed, poll=request.param, quiet_secs=0.05, poll_secs=0.05)
        started.append(watcher)
        watcher.start()
        return watcher

    yield start
    for watcher in started:
        watcher.stop()
    assert not [t for t in threading.enumerate() if t.name == "callboard-skills"]


def test_changes_are_told(tmp_path, watch):
    folder = write_skill(tmp_path, "a", files={"tools.yaml": TWO_TOOLS})
    heard = Heard()
    watch(tmp_path, heard)
    for change in (
        lambda: write_files(folder, {"tools.yaml": "tools: []"}),
        lambda: write_files(folder, {"scripts/new.py": ""}),
        lambda: (folder / "tools.yaml").unlink(),
        lambda: folder.rename(tmp_path / "b"),
    ):
        before = heard.count
        change()
        assert heard.wait_for_more_than(before)


def test_a_folder_that_is_moved_into_the_path(tmp_path, watch):
    folder = write_skill(tmp_path / "made", "a", files={"tools.yaml": TWO_TOOLS})
    (tmp_path / "search").mkdir()
    heard = Heard()
    watch(tmp_path / "search", heard)
    folder = folder.rename(tmp_path / "search" / "a")
    assert heard.wait_for_more_than(0)
    before = heard.count
    write_files(folder, {"tools.yaml": "tools: []"})
    assert heard.wait_for_more_than(before)


def test_a_path_that_appears_later(tmp_path, watch):
    heard = Heard()
    watch(tmp_path / "later", heard)
    write_skill(tmp_path / "later", "a")
    assert heard.wait_for_more_than(0)


def test_a_skill_that_is_linked_into_the_path(tmp_path, watch):
    folder = write_skill(tmp_path / "deployed", "a")
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "a").symlink_to(folder, target_is_directory=True)
    heard = Heard()
    watch(tmp_path / "search", heard)
    write_files(folder, {"tools.yaml": TWO_TOOLS})
    assert heard.wait_for_more_than(0)


def test_a_failing_listener_does_not_end_the_watch(tmp_path, watch):
    heard = Heard()

    def failing():
        heard()
        raise RuntimeError("the first time")

    watch(tmp_path, failing)
    write_skill(tmp_path, "a")
    assert heard.wait_for_more_than(0)
    before = heard.count
    write_skill(tmp_path, "b")
    assert heard.wait_for_more_than(before)


def test_stopping_twice_and_before_the_start(tmp_path, watch):
    watcher = watch(tmp_path, Heard())
    watcher.stop()
    watcher.stop()
    SkillWatcher([tmp_path], Heard()).stop()


def test_a_catalog_follows_the_disk(tmp_path, watch):
    folder = write_skill(tmp_path, "a", files={"tools.yaml": "tools: [one]"})
    catalog = SkillCatalog([(tmp_path, "user")])
    catalog.refresh()
    catalog.load("a")
    reloaded = threading.Event()

    def listen(change):
        if change.loaded and len(change.loaded[0].tools) == 2:
            reloaded.set()

    catalog.watch(listen)
    watch(tmp_path, catalog.refresh)
    write_files(folder, {"tools.yaml": "tools: ["})
    write_files(folder, {"tools.yaml": TWO_TOOLS})
    assert reloaded.wait(DEADLINE)
    assert [tool.name for tool in catalog.loaded[0].tools] == ["first", "second"]


def test_a_path_that_is_not_there_costs_the_others_no_notifications(tmp_path):
    """Only paths that send no notifications are polled. In this test, the polling interval never
    ends."""
    (tmp_path / "there").mkdir()
    heard = Heard()
    paths = [tmp_path / "missing", tmp_path / "there"]
    watcher = SkillWatcher(paths, heard, quiet_secs=0.05, poll_secs=10_000)
    watcher.start()
    try:
        write_skill(tmp_path / "there", "a")
        assert heard.wait_for_more_than(0)
    finally:
        watcher.stop()


def test_where_notifications_cost_a_descriptor_a_file_it_looks_instead(tmp_path, monkeypatch):
    import watchdog.observers

    class KqueueObserver:
        def __init__(self):
            pytest.fail("kqueue was used")

    monkeypatch.setattr(watchdog.observers, "Observer", KqueueObserver)
    heard = Heard()
    watcher = SkillWatcher([tmp_path], heard, quiet_secs=0.05, poll_secs=0.05)
    watcher.start()
    try:
        write_skill(tmp_path, "a")
        assert heard.wait_for_more_than(0)
    finally:
        watcher.stop()


FOLDERS_IN_FOLDERS = """
import shutil, sys, threading
from pathlib import Path
from callboard.skills.watch import SkillWatcher

source, watched = Path(sys.argv[1]), Path(sys.argv[2])
for number in range(60):
    (source / str(number % 6) / str(number) / "deep" / "deeper").mkdir(parents=True)
watched.mkdir()
came = threading.Event()
watcher = SkillWatcher([watched], came.set, quiet_secs=0.05)
watcher.start()
for number in range(8):
    shutil.copytree(source, watched / str(number))
assert came.wait(30)
watcher.stop()
"""


@pytest.mark.slow
def test_folders_that_come_with_folders_put_nothing_on_the_console(tmp_path):
    words = [sys.executable, "-c", FOLDERS_IN_FOLDERS, str(tmp_path / "a"), str(tmp_path / "b")]
    told = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
