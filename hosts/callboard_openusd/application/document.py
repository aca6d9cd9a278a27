"""The open document, with a stage, its file, and the changes since the last undo step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pxr import Sdf, Tf, Usd, UsdGeom

from callboard.errors import HostError
from callboard_openusd.application.last_step_layer import LastStepLayer
from callboard_openusd.application.layout import WORLD
from callboard_openusd.application.names import NameIndex
from callboard_openusd.application.patch import ChangedPaths, difference


class OpenStage:
    """One stage. ``shadow`` is its root layer as of the last undo step, and ``touched`` has the
    paths that have changed since. The cost of a step therefore depends on its changes and not on
    the size of the scene. Edits by any script are included."""

    def __init__(self, layer: Sdf.Layer, file: str | None, stamp: object = None) -> None:
        self.layer = layer
        self.stage = Usd.Stage.Open(layer, Usd.Stage.LoadAll)
        for used in self.stage.GetUsedLayers():
            if used not in (layer, self.stage.GetSessionLayer()):
                used.SetPermissionToEdit(False)
        self.file = file
        #: The base of the layer's relative paths, no matter where the layer is saved later.
        self.folder = Path(file).parent if file else None
        self.selection: list[str] = []
        self.names = NameIndex(self.stage)
        self._shadow = LastStepLayer(layer, file, stamp)
        self.touched = ChangedPaths()
        self.modified = False
        #: The last suffix given to each name, so that naming the thousandth cube is as fast as
        #: naming the second.
        self._suffixes: dict[Sdf.Path, int] = {}
        self._listening = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._changed, self.stage)

    def read_ahead(self) -> None:
        """Start reading the copy that undo needs, while the client is looking at the stage."""
        self._shadow.read_ahead()

    @property
    def shadow(self) -> Sdf.Layer:
        """The root layer at the last undo step. Read it before anything changes."""
        return self._shadow.layer

    def _changed(self, notice: Usd.Notice.ObjectsChanged, sender: Usd.Stage) -> None:
        self.modified = True
        for path in notice.GetChangedInfoOnlyPaths():
            inner = any(name.endswith("Children") for name in notice.GetChangedFields(path))
            if path.IsAbsoluteRootOrPrimPath() and not inner:
                self.touched.fields.add(path)
            else:
                self.touched.whole.add(path)
            self.names.property_changed(path)
        for path in notice.GetResyncedPaths():
            self.touched.whole.add(path)
            if path.IsAbsoluteRootOrPrimPath():
                self.names.prims_changed(path)
            else:
                self.names.property_changed(path)

    def free_path(self, parent: Sdf.Path, name: str) -> Sdf.Path:
        """Return the path of ``name`` below ``parent``, with ``_1``, ``_2`` … if it is taken."""
        wanted = path = parent.AppendChild(name)
        count = self._suffixes.get(wanted, 0)
        while self.stage.GetPrimAtPath(path) or self.layer.GetPrimAtPath(path):
            count += 1
            path = parent.AppendChild(f"{name}_{count}")
        if count:
            self._suffixes[wanted] = count
        return path

    def settle(self) -> None:
        """Make the current state the start of the next step."""
        if not self.touched:
            return
        difference(self.touched, self.layer, self.shadow).apply(self.shadow)
        self.touched.clear()


class Document:
    """The open stage, replaced as a whole when another file is opened."""

    def __init__(self) -> None:
        self.open_new()

    def open_new(self) -> None:
        """Replace the stage with an empty scene."""
        self.opened = OpenStage(_new_layer(), None)

    @property
    def stage(self) -> Usd.Stage:
        return self.opened.stage

    @property
    def names(self) -> NameIndex:
        return self.opened.names


class UsdPort:
    """A port that works on the stage that is currently open."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @property
    def _stage(self) -> Usd.Stage:
        return self._document.stage


def _new_layer() -> Sdf.Layer:
    """Return an empty scene with OpenUSD's own defaults: Y is up, one unit is a centimeter."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    stage = Usd.Stage.Open(layer)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, UsdGeom.LinearUnits.centimeters)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, WORLD).GetPrim())
    return layer


def reason(error: Tf.ErrorException) -> str:
    """Return the first line of OpenUSD's message, without its source location and expression, and
    without the argument that marks callboard's own layers."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return "OpenUSD gave no reason"
    reported = lines[0].split(" : ", 1)[-1].strip("'")
    reported = re.sub(r"^Failed verification: '.*?' -- ", "", reported)
    return re.sub(r":SDF_FORMAT_ARGS:[\w=&]*", "", reported)


def refuse(error: Tf.ErrorException, doing: str) -> HostError:
    return HostError(f"OpenUSD could not {doing}: {reason(error)}")


@contextmanager
def telling(doing: str) -> Iterator[None]:
    """Turn OpenUSD's errors in a block or a function into a HostError."""
    try:
        yield
    except Tf.ErrorException as error:
        raise refuse(error, doing) from None
