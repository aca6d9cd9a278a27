"""Bundles on disk, installed all or nothing. The old version is kept until the new one has loaded.

Each bundle has its own folder, with a folder per version and ``current.json``, which names the
version in use. A version is unpacked elsewhere and renamed into place, and ``current.json`` is
replaced as a whole. So at any moment the folder has either the old state or the new one. The next
change removes the leftovers of an interrupted change.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from callboard.bundles.installed.manifest import (
    BundleManifest,
    ManifestError,
    check_capabilities,
    folder_name,
    read_manifest,
)
from callboard.bundles.installed.unpack import check_name, remove_tree, unpack
from callboard.bundles.installed.user_config import (
    Answer,
    answered,
    how_to_answer,
    unanswered,
)
from callboard.errors import SkillError
from callboard.ground.atomic_write import replacing
from callboard.ground.file_lock import lock

CURRENT = "current.json"
SETTINGS = "settings.json"
SKILL = "SKILL.md"
_STAGING = ".staging-"
_TRASH = ".trash-"
_VERSION_FOLDER = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]*-[0-9a-f]{8}")


class InstallError(SkillError):
    """An installation, confirmation or removal failed. The previous state remains."""


@dataclass(frozen=True)
class InstalledBundle:
    """A bundle in use. ``folder`` contains its files. It is ``pending`` until
    :meth:`Bundles.confirm`. ``previous`` is the version to fall back to. ``missing`` lists the
    preferred host capabilities that the host lacked when the bundle was installed."""

    manifest: BundleManifest
    folder: Path
    missing: tuple[str, ...] = ()
    pending: bool = False
    previous: str | None = None
    #: The user's answers to its settings.
    answers: Mapping[str, Answer] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def has_skill(self) -> bool:
        return (self.folder / SKILL).is_file()

    def as_json(self) -> dict[str, Any]:
        """Return the bundle for programs and agents. ``missing_capabilities`` lists the preferred
        host capabilities that this host doesn't provide."""
        return {
            "name": self.name,
            "version": self.manifest.version,
            "description": self.manifest.description,
            "pending": self.pending,
            "previous": self.previous,
            "host_capabilities": dict(self.manifest.capabilities),
            "missing_capabilities": list(self.missing),
            "settings": {
                key: "(kept)" if setting.sensitive else self.answers.get(key, setting.default)
                for key, setting in self.manifest.settings.items()
                if key in self.answers or setting.default is not None
            },
        }


def require_content(manifest: BundleManifest, folder: Path) -> None:
    """Raise ManifestError when the bundle has neither a skill nor a server."""
    if manifest.server is None and not (folder / SKILL).is_file():
        raise ManifestError(
            f"server is missing: the bundle has neither a {SKILL} nor a server to run"
        )


class Bundles:
    """The bundles in one folder, the user's or a project's. Use it from any thread and any process:
    changes are made one at a time. Every method works on the disk and may take a second."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self,
        source: Path,
        provided: Collection[str],
        check: Callable[[InstalledBundle], None] = lambda bundle: None,
        settings: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> InstalledBundle:
        """Install, or upgrade, the bundle in ``source``, a folder or a zip archive, for a host that
        provides these capabilities. The bundle is in use at once, and pending.

        ``check`` is called with the bundle before it is in use. If ``check`` raises, nothing
        changes. ``settings`` are the user's answers to the bundle's ``user_config``. Answers to an
        earlier version are kept. Raises UnpackError, ManifestError, SettingError,
        CapabilityUnavailable, InstallError, and OSError for a failing disk.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            staging = self.folder / f"{_STAGING}{uuid.uuid4().hex[:12]}"
            staging.mkdir()
            try:
                home = self._install(source, provided, staging, check, settings)
            finally:
                remove_tree(staging)
            _clear(home)
        return _current(home)

    def _install(
        self,
        source: Path,
        provided: Collection[str],
        staging: Path,
        check: Callable[[InstalledBundle], None],
        settings: Mapping[str, Sequence[str]],
    ) -> Path:
        unpacked = staging / "unpacked"
        unpacked.mkdir()
        unpack(source, unpacked)
        manifest = read_manifest(unpacked)
        missing = check_capabilities(manifest, provided)
        require_content(manifest, unpacked)
        home = self.folder / folder_name(manifest.name)
        check_name(PurePosixPath(home.name))
        old = self._replaced(home, manifest)
        answers = answered(manifest.settings, settings, _read_answers(home))
        if missing_capabilities := unanswered(manifest.settings, answers):
            raise InstallError(
                f"'{manifest.name}' was not installed: {how_to_answer(missing_capabilities)}"
            )
        version = f"{manifest.version}-{uuid.uuid4().hex[:8]}"
        state: dict[str, Any] = {"active": version, "pending": True, "missing": list(missing)}
        # The innermost folder has the bundle's name, as its SKILL.md expects.
        new_home = staging / "home"
        (new_home / version).mkdir(parents=True)
        inner = unpacked.rename(new_home / version / home.name)
        check(InstalledBundle(manifest, inner, tuple(missing), pending=True, answers=answers))
        if answers:
            _write_json(new_home if old is None else home, SETTINGS, answers)
        if old is None:
            _write_state(new_home, state)
            new_home.rename(home)
        else:
            (new_home / version).rename(home / version)
            state["previous"] = _kept(old)
            _write_state(home, state)
        return home

    def _replaced(self, home: Path, manifest: BundleManifest) -> dict[str, Any] | None:
        """Return the installed bundle's state, {} if its files are damaged, or None if it isn't
        installed. Raises InstallError when the folder isn't this bundle's."""
        if not home.exists():
            return None
        state = _read_state(home)
        if state is None:
            raise InstallError(f"'{home.name}' already exists and isn't a bundle; remove it first")
        there = _bundle(home)
        if there is not None and there.name != manifest.name:
            raise InstallError(
                f"'{manifest.name}' and the installed '{there.name}' can't be told apart on every "
                "system; uninstall that one first"
            )
        return {} if there is None else state

    def confirm(self, name: str, version: Path | None = None) -> InstalledBundle:
        """Confirm the pending version once it has loaded, and remove the previous version.
        ``version`` is the folder of the version that loaded. Raises InstallError when a different
        version is in use by then, or when there is no such bundle."""
        with self._alone():
            home, state = self._known(name, version)
            _write_state(home, {**state, "pending": False, "previous": None})
            _clear(home)
        return _current(home)

    def revert(self, name: str, version: Path | None = None) -> InstalledBundle | None:
        """Go back from a pending version that did not load to the previous version, or remove the
        bundle if it has no previous version. Return the bundle in use now. Raises InstallError, as
        :meth:`confirm` does."""
        with self._alone():
            home, state = self._known(name, version)
            if not state.get("pending"):
                raise InstallError(f"bundle '{name}' has no pending version to revert")
            if not state.get("previous"):
                self._remove(home)
                return None
            _write_state(home, state["previous"])
            _clear(home)
            # Watchers of this folder then notice that a different version is in use.
            os.utime(self.folder)
        return _current(home)

    def uninstall(self, name: str) -> None:
        """Remove every version of a bundle. Raises InstallError when there is no such bundle, or
        when one of its files is in use."""
        with self._alone():
            home, _ = self._known(name)
            self._remove(home)

    def installed(self) -> list[InstalledBundle]:
        """Return the bundles in use, sorted by name, except those whose files are damaged."""
        if not self.folder.is_dir():
            return []
        homes = sorted(path for path in self.folder.iterdir() if not path.name.startswith("."))
        bundles = (_bundle(home) for home in homes)
        return sorted((bundle for bundle in bundles if bundle), key=lambda bundle: bundle.name)

    def _known(self, name: str, version: Path | None = None) -> tuple[Path, dict[str, Any]]:
        home = self.folder / folder_name(name)
        state = _read_state(home)
        bundle = _bundle(home)
        if state is None or (bundle is not None and bundle.name != name):
            names = ", ".join(bundle.name for bundle in self.installed()) or "(none)"
            raise InstallError(f"no bundle '{name[:80]}' is installed; installed: {names}")
        if version is not None and version.parent.name != state["active"]:
            raise InstallError(f"another version of '{name}' was installed in the meantime")
        return home, state

    def _remove(self, home: Path) -> None:
        trash = self.folder / f"{_TRASH}{uuid.uuid4().hex[:12]}"
        try:
            home.rename(trash)
        except OSError as error:
            raise InstallError(
                f"'{home.name}' is in use ({error.strerror}); close the program that uses it, "
                "and try again"
            ) from None
        remove_tree(trash)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other installers out, and remove the leftovers of an interrupted change."""
        if not self.folder.is_dir():
            yield
            return
        fd = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                lock(fd, patience=10.0)
            except OSError:
                raise InstallError("another installation is running; try again later") from None
            for path in self.folder.iterdir():
                if path.name.startswith((_STAGING, _TRASH)):
                    remove_tree(path)
                elif path.is_dir():
                    _clear(path)
            yield
        finally:
            os.close(fd)


def bundle_in(folder: Path) -> InstalledBundle | None:
    """Return the bundle whose files are in this folder, if it is the version in use, and None
    otherwise. Reads two small files."""
    bundle = _bundle(folder.parent.parent) if folder.parent.parent.name == folder.name else None
    return bundle if bundle is not None and bundle.folder == folder else None


def _current(home: Path) -> InstalledBundle:
    bundle = _bundle(home)
    if bundle is None:
        raise InstallError(f"the files of bundle '{home.name}' are damaged; install it again")
    return bundle


def _bundle(home: Path) -> InstalledBundle | None:
    state = _read_state(home)
    if state is None:
        return None
    folder = home / state["active"] / home.name
    try:
        manifest = read_manifest(folder)
    except ManifestError:
        return None
    previous = state.get("previous")
    return InstalledBundle(
        manifest=manifest,
        folder=folder,
        missing=tuple(state.get("missing", ())),
        pending=bool(state.get("pending")),
        previous=previous["active"].rpartition("-")[0] if previous else None,
        answers=_read_answers(home) if manifest.settings else {},
    )


def _read_answers(home: Path) -> dict[str, Answer]:
    try:
        answers = json.loads((home / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return answers if isinstance(answers, dict) else {}


def _read_state(home: Path) -> dict[str, Any] | None:
    try:
        state = json.loads((home / CURRENT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(state, dict) or not _VERSION_FOLDER.fullmatch(str(state.get("active"))):
        return None
    return state


def _versions(state: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Yield a state, then each state that it would fall back to."""
    while state:
        yield state
        state = state.get("previous")


def _kept(state: dict[str, Any]) -> dict[str, Any] | None:
    """Return the state that a new version falls back to: the newest version that has loaded, or
    else the version in use. Return None if there is neither."""
    loaded = next((one for one in _versions(state) if not one.get("pending")), None)
    return loaded or ({**state, "previous": None} if state else None)


def _write_state(home: Path, state: dict[str, Any]) -> None:
    # Every reader of a site's folder must be able to see which version is in use.
    _write_json(home, CURRENT, state, 0o666)


def _write_json(home: Path, name: str, value: dict[str, Any], mode: int = 0o600) -> None:
    """Write a file. By default it is private, because the user's answers may be secrets."""
    with replacing(str(home / name)) as path:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())


def _clear(home: Path) -> None:
    """Remove the versions that the state doesn't name. A folder without a state wasn't made by
    callboard, so it is left alone."""
    state = _read_state(home)
    if state is None:
        return
    in_use = {version["active"] for version in _versions(state)}
    for path in home.iterdir():
        if _VERSION_FOLDER.fullmatch(path.name) and path.name not in in_use:
            remove_tree(path)
        elif path.is_file() and path.name.startswith((".current.", ".settings.")):
            path.unlink(missing_ok=True)
