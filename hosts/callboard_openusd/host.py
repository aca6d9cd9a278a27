"""The OpenUSD host, with its ports, its undo, and its main thread."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from pxr import Sdf, Usd

from callboard import host
from callboard.host import (
    ATTRIBUTES,
    CHECK,
    DOCS,
    EXCHANGE,
    FILE,
    GEOMETRY,
    LOOK,
    NETWORK,
    STRUCTURE,
    Network,
    from_elsewhere,
    misread_by_usd,
)
from callboard_openusd.application.document import Document
from callboard_openusd.application.undo import UsdUndo
from callboard_openusd.ports.attributes import UsdAttributes
from callboard_openusd.ports.cameras import UsdCameras
from callboard_openusd.ports.check import UsdChecks
from callboard_openusd.ports.docs import UsdDocs
from callboard_openusd.ports.edit import UsdSceneEditor
from callboard_openusd.ports.exchange import UsdExchange
from callboard_openusd.ports.file import UsdFile
from callboard_openusd.ports.files import UsdFiles
from callboard_openusd.ports.geometry import UsdGeometry
from callboard_openusd.ports.lights import UsdLights
from callboard_openusd.ports.materials import UsdMaterials
from callboard_openusd.ports.scene import UsdSceneReader
from callboard_openusd.ports.structure import UsdStructure
from callboard_openusd.ports.usd import UsdStages


def hold_no_files(needed: bool) -> None:
    """If ``needed``, make this process read whole files of layers instead of mapping them. On
    Windows, for example, a mapped file can't be overwritten. Call it on the main thread, before
    anything is opened."""
    if needed:
        Sdf.Layer.SetDetachedLayerRules(Sdf.Layer.DetachedLayerRules().IncludeAll())


#: The renderer, which isn't part of usd-core.
_RENDERER = host.PlugIn(
    "a Hydra renderer (UsdImagingGL)",
    "OpenUSD's package for Python has none; read bounds with scene__get_object and check with"
    " check__run, or export and look in Blender",
)


class OpenUsdHost(host.Host):
    """The host whose scene is an OpenUSD stage. Until a file is opened, the stage is empty, with Y
    up, in centimeters. ``post`` runs functions on the thread that made this object, which is the
    main thread from then on."""

    guide = (
        "A stage is composed of layers; the strongest opinion wins, and edits go to the root "
        "layer alone. An object is a prim, named by its path. What comes by a reference, payload "
        "or instance is edited by an override here, never in its own file; an instance's inside "
        "can't be edited. Units and up axis are the file's own (file__overview). Materials are "
        "bound, and a binding on a parent reaches its children. purpose guide and proxy aren't "
        "rendered. Variants switch whole subtrees. There is no renderer: judge by bounds and "
        "check__run."
    )

    def __init__(self, post: Callable[[Callable[[], None]], None]) -> None:
        super().__init__()
        hold_no_files(sys.platform == "win32")
        self._post = post
        version = ".".join(str(part) for part in Usd.GetVersion()[1:])
        self._identity = host.HostIdentity("openusd", "OpenUSD", version)
        self._document = document = Document()
        self.undo = UsdUndo(document, lambda: self.announce("scene"))
        files = UsdFiles(document, lambda: self.announce("project"), lambda: self.announce("saved"))
        self.plug_ins = {LOOK: _RENDERER}
        materials = UsdMaterials(document)
        checks, stages = UsdChecks(document, materials), UsdStages(document)
        self.set_ports(
            {
                host.SCENE_READ: UsdSceneReader(document),
                host.SCENE_MUTATE: UsdSceneEditor(document),
                STRUCTURE: UsdStructure(document, lambda: self.announce("project")),
                ATTRIBUTES: UsdAttributes(document),
                host.MATERIALS: materials,
                host.LIGHTS: UsdLights(document),
                GEOMETRY: UsdGeometry(document, checks),
                CHECK: checks,
                host.CAMERAS: UsdCameras(document),
                host.FILESYSTEM_READ: files,
                host.FILESYSTEM_WRITE: files,
                host.USD: stages,
                EXCHANGE: UsdExchange(document, stages, checks, materials),
                DOCS: UsdDocs(),
                FILE: UsdFile(document),
                NETWORK: Network(),
            }
        )

    @property
    def identity(self) -> host.HostIdentity:
        return self._identity

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)

    @property
    def stage(self) -> Usd.Stage:
        """The open stage, for scripts. It is replaced when a file is opened. Use it on the main
        thread."""
        return self._document.stage

    def misreads(self, path: str) -> str | None:
        return from_elsewhere(path) or misread_by_usd(path)

    def project_roots(self) -> list[str]:
        file = self._document.opened.file
        return [str(Path(file).parent)] if file else []

    def scene_file(self) -> str | None:
        return self._document.opened.file or None
