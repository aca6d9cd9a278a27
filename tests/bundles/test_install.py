"""An installation succeeds completely or not at all. Whatever interrupts it, the previous version
still works."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import bundle_files
import pytest

from callboard.bundles.installed.install import Bundles, InstalledBundle, InstallError
from callboard.bundles.installed.manifest import HOST_KEY, CapabilityUnavailable, ManifestError
from callboard.bundles.installed.unpack import UnpackError

pytestmark = pytest.mark.slow

CORE = Path(__file__).parents[2] / "core"
PROVIDED = ["ai.nimblebrain/host-resources"]


@pytest.fixture
def bundles(tmp_path: Path) -> Bundles:
    return Bundles(tmp_path / "bundles")


def works(bundle: InstalledBundle, version: str) -> None:
    """Check that the bundle has the given version, with that version's content in every file."""
    assert bundle.manifest.version == version
    for name, text in bundle_files.files(version).items():
        assert (bundle.folder / name).read_text() == text


def leftovers(bundles: Bundles) -> list[str]:
    """Return the names of files that belong to no version in use."""
    kept = {".lock", "current.json"}
    for bundle in bundles.installed():
        kept |= {bundle.name, bundle.folder.parent.name}
        if bundle.previous:
            kept |= {p.name for p in bundle.folder.parent.parent.glob(f"{bundle.previous}-*")}
    paths = [*bundles.folder.iterdir(), *bundles.folder.glob("rigging/*")]
    return sorted(path.name for path in paths if path.name not in kept)


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_a_bundle_is_installed_confirmed_upgraded_and_removed(
    bundles: Bundles, tmp_path: Path, kind: str
) -> None:
    make = getattr(bundle_files, kind)
    first = bundles.install(make(tmp_path / "one"), PROVIDED)
    works(first, "1.0.0")
    assert (first.pending, first.previous, first.has_skill) == (True, None, True)
    assert first.folder.name == "rigging"
    assert bundles.confirm("rigging").pending is False
    second = bundles.install(make(tmp_path / "two", "2.0.0"), PROVIDED)
    works(second, "2.0.0")
    assert (second.pending, second.previous) == (True, "1.0.0")
    works(first, "1.0.0")  # the old version stays until the new one has loaded
    assert bundles.installed() == [second]
    bundles.confirm("rigging")
    assert not first.folder.exists()
    assert leftovers(bundles) == []
    bundles.uninstall("rigging")
    assert bundles.installed() == []
    assert [path.name for path in bundles.folder.iterdir()] == [".lock"]


def test_a_version_that_does_not_load_gives_way_to_the_one_before(
    bundles: Bundles, tmp_path: Path
) -> None:
    bundles.install(bundle_files.folder(tmp_path / "one"), PROVIDED)
    bundles.confirm("rigging")
    bundles.install(bundle_files.folder(tmp_path / "two", "2.0.0"), PROVIDED)
    # The third version is installed before the second has loaded, so the first is the last one
    # known to work.
    third = bundles.install(bundle_files.folder(tmp_path / "three", "3.0.0"), PROVIDED)
    assert third.previous == "1.0.0"
    back = bundles.revert("rigging")
    assert back is not None
    works(back, "1.0.0")
    assert (back.pending, back.previous) == (False, None)
    assert leftovers(bundles) == []
    with pytest.raises(InstallError, match="no pending version to revert"):
        bundles.revert("rigging")


def test_an_upgrade_that_does_not_load_gives_way_to_one_that_nobody_has_loaded_yet(
    bundles: Bundles, tmp_path: Path
) -> None:
    bundles.install(bundle_files.folder(tmp_path / "one"), PROVIDED)
    second = bundles.install(bundle_files.folder(tmp_path / "two", "2.0.0"), PROVIDED)
    assert second.previous == "1.0.0"
    back = bundles.revert("rigging")
    assert back is not None
    works(back, "1.0.0")
    assert (back.pending, back.previous) == (True, None)
    assert leftovers(bundles) == []
    assert bundles.confirm("rigging").pending is False


@pytest.mark.parametrize("confirmed", [True, False])
def test_what_is_refused_before_it_counts_leaves_everything_as_it_was(
    bundles: Bundles, tmp_path: Path, confirmed: bool
) -> None:
    bundles.install(bundle_files.folder(tmp_path / "one"), PROVIDED)
    if confirmed:
        bundles.confirm("rigging")
    bundles.install(bundle_files.folder(tmp_path / "two", "2.0.0"), PROVIDED)
    before = bundles.installed()

    def refuse(bundle: InstalledBundle) -> None:
        works(bundle, "3.0.0")
        raise InstallError("no")

    with pytest.raises(InstallError, match="no"):
        bundles.install(bundle_files.folder(tmp_path / "three", "3.0.0"), PROVIDED, refuse)
    assert bundles.installed() == before
    works(before[0], "2.0.0")
    assert leftovers(bundles) == []


def test_a_first_version_that_does_not_load_is_removed(bundles: Bundles, tmp_path: Path) -> None:
    bundles.install(bundle_files.folder(tmp_path / "one"), PROVIDED)
    assert bundles.revert("rigging") is None
    assert bundles.installed() == []
    assert leftovers(bundles) == []


def test_the_same_version_again_is_an_upgrade(bundles: Bundles, tmp_path: Path) -> None:
    source = bundle_files.folder(tmp_path / "one")
    bundles.install(source, PROVIDED)
    bundles.confirm("rigging")
    again = bundles.install(source, PROVIDED)
    works(again, "1.0.0")
    assert again.previous == "1.0.0"


def test_a_bundle_that_is_refused_leaves_nothing(bundles: Bundles, tmp_path: Path) -> None:
    bundles.install(bundle_files.folder(tmp_path / "one"), PROVIDED)
    before = bundles.confirm("rigging")
    needs = {"host_version": "1.1", "host_capabilities": {"com.a/x": {"required": True}}}
    refused = bundle_files.folder(tmp_path / "two", "2.0.0", _meta={HOST_KEY: needs})
    with pytest.raises(CapabilityUnavailable, match=r"com\.a/x"):
        bundles.install(refused, PROVIDED)
    typo = {"host_version": "1.1", "host_capabilities": {"com.a/x": {"requierd": True}}}
    with pytest.raises(ManifestError, match="requierd"):
        bundles.install(
            bundle_files.folder(tmp_path / "three", "2.0.0", _meta={HOST_KEY: typo}), PROVIDED
        )
    bare = bundle_files.folder(tmp_path / "four", "2.0.0")
    (bare / "SKILL.md").unlink()
    with pytest.raises(ManifestError, match=r"neither a SKILL\.md nor a server"):
        bundles.install(bare, PROVIDED)
    (bare / "manifest.json").unlink()
    with pytest.raises(ManifestError, match="top of the bundle"):
        bundles.install(bare, PROVIDED)
    with pytest.raises(UnpackError):
        bundles.install(tmp_path / "nowhere", PROVIDED)
    assert bundles.installed() == [before]
    works(before, "1.0.0")
    assert leftovers(bundles) == []


def test_a_preferred_capability_that_is_missing_stays_visible(
    bundles: Bundles, tmp_path: Path
) -> None:
    likes = {"host_version": "1.1", "host_capabilities": {"com.a/x": {}, PROVIDED[0]: {}}}
    bundles.install(bundle_files.folder(tmp_path / "one", _meta={HOST_KEY: likes}), PROVIDED)
    (bundle,) = bundles.installed()
    assert bundle.missing == ("com.a/x",)
    assert bundles.confirm("rigging").missing == ("com.a/x",)


def test_a_server_needs_no_skill(bundles: Bundles, tmp_path: Path) -> None:
    server = {"type": "python", "mcp_config": {"command": "python"}}
    source = bundle_files.folder(tmp_path / "one", server=server)
    (source / "SKILL.md").unlink()
    bundle = bundles.install(source, PROVIDED)
    assert bundle.manifest.server is not None
    assert not bundle.has_skill


def test_a_folder_of_someone_elses_is_left_alone(bundles: Bundles, tmp_path: Path) -> None:
    mine = bundles.folder / "rigging"
    mine.mkdir(parents=True)
    (mine / "notes.txt").write_text("mine")
    with pytest.raises(InstallError, match="isn't a bundle"):
        bundles.install(bundle_files.folder(tmp_path / "one"), PROVIDED)
    bundles.install(bundle_files.folder(tmp_path / "two", name="other"), PROVIDED)
    assert (mine / "notes.txt").read_text() == "mine"
    with pytest.raises(InstallError, match="no bundle 'rigging' is installed; installed: other"):
        bundles.uninstall("rigging")
    with pytest.raises(ManifestError):
        bundles.uninstall("../bundles")


def test_two_names_that_make_one_folder_do_not_replace_each_other(
    bundles: Bundles, tmp_path: Path
) -> None:
    bundles.install(bundle_files.folder(tmp_path / "one", name="@a/b"), PROVIDED)
    with pytest.raises(InstallError, match="can't be told apart"):
        bundles.install(bundle_files.folder(tmp_path / "two", name="a__b"), PROVIDED)
    with pytest.raises(InstallError, match="no bundle 'a__b'"):
        bundles.uninstall("a__b")
    assert [bundle.name for bundle in bundles.installed()] == ["@a/b"]


def test_a_damaged_bundle_is_not_listed_and_can_be_replaced_or_removed(
    bundles: Bundles, tmp_path: Path
) -> None:
    source = bundle_files.folder(tmp_path / "one")
    bundle = bundles.install(source, PROVIDED)
    (bundle.folder / "manifest.json").write_text("{")
    assert bundles.installed() == []
    works(bundles.install(source, PROVIDED), "1.0.0")
    (bundles.installed()[0].folder / "manifest.json").unlink()
    bundles.uninstall("rigging")
    assert leftovers(bundles) == []


def test_installers_take_turns(bundles: Bundles, tmp_path: Path) -> None:
    sources = [bundle_files.archive(tmp_path / str(n), f"{n}.0.0") for n in range(6)]
    failures: list[Exception] = []

    def install(source: Path) -> None:
        try:
            bundles.install(source, PROVIDED)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=install, args=(source,)) for source in sources]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    (bundle,) = bundles.installed()
    works(bundle, bundle.manifest.version)
    assert leftovers(bundles) == []


# A process that dies before it makes its n-th change to files in the bundles' folder. The
# interpreter reports every change to an audit hook, so the installer itself needs no hook for this.
DIES_AT = """
import os, sys
from pathlib import Path
folder, source, action, limit = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
from callboard.bundles.installed.install import Bundles
bundles = Bundles(folder)
CHANGES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate"}
count = 0
def watch(event, arguments):
    global count
    if event not in CHANGES or not any(str(folder) in str(a) for a in arguments):
        # Deleting a tree names its files relative to an open folder.
        if event not in ("os.remove", "os.rmdir"):
            return
    count += 1
    if count == limit:
        os._exit(9)
sys.addaudithook(watch)
if action == "install":
    bundles.install(source, ["ai.nimblebrain/host-resources"])
else:
    getattr(bundles, action)("rigging")
os._exit(0)
"""


def dies_at(bundles: Bundles, source: Path, action: str, step: int) -> bool:
    """Run the action in a process that dies before the given step. Return whether it died."""
    run = subprocess.run(
        [sys.executable, "-S", "-c", DIES_AT, str(bundles.folder), str(source), action, str(step)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(CORE), sysconfig.get_path("purelib"))),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode in (0, 9), run.stderr
    return run.returncode == 9


STEPS = range(1, 400)


def test_an_upgrade_killed_at_any_step_leaves_the_old_version_or_the_new(tmp_path: Path) -> None:
    old, new = (bundle_files.archive(tmp_path / v, v) for v in ("1.0.0", "2.0.0"))
    seen: list[str] = []
    for step in STEPS:
        bundles = Bundles(tmp_path / f"bundles{step}")
        bundles.install(old, PROVIDED)
        first = bundles.confirm("rigging")
        died = dies_at(bundles, new, "install", step)
        (bundle,) = bundles.installed()
        works(bundle, bundle.manifest.version)
        works(first, "1.0.0")  # the old version is kept either way
        seen.append(bundle.manifest.version)
        # The next installation works, and removes the leftovers.
        works(bundles.install(new, PROVIDED), "2.0.0")
        works(bundles.confirm("rigging"), "2.0.0")
        assert leftovers(bundles) == []
        if not died:
            break
    assert seen == sorted(seen)
    assert set(seen) == {"1.0.0", "2.0.0"}
    assert len(seen) > 15


def test_a_first_installation_killed_at_any_step_is_there_or_not(tmp_path: Path) -> None:
    source = bundle_files.archive(tmp_path / "source")
    seen: list[bool] = []
    for step in STEPS:
        bundles = Bundles(tmp_path / f"bundles{step}")
        died = dies_at(bundles, source, "install", step)
        for bundle in bundles.installed():
            works(bundle, "1.0.0")
        seen.append(bool(bundles.installed()))
        works(bundles.install(source, PROVIDED), "1.0.0")
        bundles.confirm("rigging")
        assert leftovers(bundles) == []
        if not died:
            break
    assert seen == sorted(seen)
    assert set(seen) == {False, True}


@pytest.mark.parametrize("action", ["confirm", "revert", "uninstall"])
def test_what_follows_killed_at_any_step_has_happened_or_not(tmp_path: Path, action: str) -> None:
    old, new = (bundle_files.archive(tmp_path / v, v) for v in ("1.0.0", "2.0.0"))
    after = {"confirm": "2.0.0", "revert": "1.0.0", "uninstall": None}[action]
    seen: list[bool] = []
    for step in STEPS:
        bundles = Bundles(tmp_path / f"bundles{step}")
        bundles.install(old, PROVIDED)
        bundles.confirm("rigging")
        pending = bundles.install(new, PROVIDED)
        died = dies_at(bundles, new, action, step)
        installed = bundles.installed()
        for bundle in installed:
            works(bundle, bundle.manifest.version)
        happened = installed != [pending]
        if happened:
            assert [bundle.manifest.version for bundle in installed] == ([after] if after else [])
        seen.append(happened)
        works(bundles.install(new, PROVIDED), "2.0.0")
        bundles.confirm("rigging")
        assert leftovers(bundles) == []
        if not died:
            break
    assert seen == sorted(seen)
    assert set(seen) == {False, True}
