"""The scenes that the gateway's names stand for, kept across restarts in one file in the user's
data folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.ground.file_lock import lock
from callboard.ground.folders import data_folder
from callboard.ground.full_disk import in_words
from callboard.ground.private_file import read_private, write_private
from callboard.transport.instances import Instance, announced
from callboard.transport.instances import folder as instances_folder

#: Stands for the names of all unsaved scenes that no longer exist.
UNSAVED = "unsaved"
_MOST_BYTES = 16 * 2**20
#: Seconds to wait while another gateway or a command is changing the file.
_PATIENCE = 5.0


@dataclass(frozen=True)
class SceneIdentity:
    """An application and its scene. The scene is identified by its file or, if it is unsaved, by
    its instance. ``instance`` and ``opened`` say where and when the scene was last opened."""

    kind: str
    title: str
    machine: str
    scene: str | None
    instance: str
    opened: int

    @staticmethod
    def of(instance: Instance) -> SceneIdentity:
        at = (instance.machine, instance.scene, instance.id, instance.opened)
        return SceneIdentity(instance.kind, instance.name, *at)

    @property
    def words(self) -> str:
        """The application and the scene, as words in a sentence."""
        file = self.scene or f"the unsaved scene of instance {self.instance}"
        return f"{file} in {self.title} on {self.machine}"

    def as_json(self) -> Json:
        """Return the application and the scene as JSON for the data of an error."""
        about = {"application": self.kind, "scene": self.scene, "instance": self.instance}
        return {**about, "machine": self.machine}

    def is_open_in(self, instance: Instance) -> bool:
        """Return whether the instance still has this very scene open, even if the scene has been
        saved under another name."""
        here = self.instance == instance.id
        same = self.scene is not None and _key(self.scene) == _key(instance.scene)
        return here and (same or self.opened == instance.opened >= 0)

    def is_file_in(self, instance: Instance) -> bool:
        """Return whether the same application has the same file open."""
        at, where = (self.kind, self.machine), (instance.kind, instance.machine)
        return self.scene is not None and at == where and _key(self.scene) == _key(instance.scene)

    def is_unsaved_in(self, instance: Instance) -> bool:
        """Return whether the scene was last seen in this instance and was unsaved then."""
        return self.scene is None and self.instance == instance.id

    def leads_to(self, instance: Instance) -> bool:
        """Return whether any of the three checks above shows that the instance has this scene."""
        same = self.is_open_in(instance) or self.is_file_in(instance)
        return same or self.is_unsaved_in(instance)


def _key(scene: str | None) -> str | None:
    return None if scene is None else os.path.normcase(os.path.normpath(scene))


def file() -> Path:
    """Return the path of the file that contains the names."""
    return data_folder() / "gateway-names.json"


def stamp() -> object:
    """Return a value that changes whenever the file is replaced."""
    try:
        status = file().stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


def kept_names() -> dict[str, SceneIdentity]:
    """Return the kept names, the oldest first. Raises HostError when the file can't be read,
    because a gateway that started without names would assign the same names to other scenes."""
    try:
        value = json.loads(read_private(file(), _MOST_BYTES))
        return {name: _read(each) for name, each in value["names"].items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HostError(
            f"the gateway's names can't be read ({file()}: {error}); fix the file, or "
            "remove it so that all names are assigned again"
        ) from None


@contextmanager
def changing() -> Iterator[dict[str, SceneIdentity]]:
    """Yield the names for the block to change, and save them after the block. No other process can
    change them during the block. Raises HostError or OSError."""
    path = file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("ab") as locked:
        lock(locked.fileno(), _PATIENCE)
        names = kept_names()
        before = dict(names)
        yield names
        if names != before:
            values = {name: asdict(each) for name, each in names.items()}
            write_private(path, json.dumps({"names": values}))


def forget(wanted: Sequence[str]) -> list[str]:
    """Free names for other scenes, and return the freed names. ``UNSAVED`` in ``wanted`` stands for
    the names of all unsaved scenes that no longer exist. Raises HostError, and PeerError when a
    name isn't kept."""
    running = {instance.id for instance in announced(instances_folder())}

    def is_gone(standing: SceneIdentity) -> bool:
        return standing.scene is None and standing.instance not in running

    try:
        with changing() as names:
            unknown = [name for name in wanted if name not in names and name != UNSAVED]
            if unknown:
                name = unknown[0][:80]
                raise PeerError(f"the name {name!r} isn't kept; see `callboard gateway --names`")
            gone = [name for name, each in names.items() if UNSAVED in wanted and is_gone(each)]
            forgotten = [*dict.fromkeys([*(n for n in wanted if n != UNSAVED), *gone])]
            for name in forgotten:
                del names[name]
    except OSError as error:
        raise HostError(f"the gateway's names can't be changed: {in_words(error)}") from None
    return forgotten


def _read(value: Json) -> SceneIdentity:
    known = {each.name: value[each.name] for each in fields(SceneIdentity)}
    standing = SceneIdentity(**known)
    texts = [getattr(standing, name) for name in ("kind", "title", "machine", "instance")]
    scene = standing.scene
    if not all(isinstance(text, str) for text in (*texts, "" if scene is None else scene)):
        raise TypeError("a field that must be a string isn't one")
    return replace(standing, opened=int(standing.opened))
