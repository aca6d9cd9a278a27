"""The ``exchange`` port: exchanging files with other programs. FBX is handled by Autodesk's
plug-in, and USD by Autodesk's component. The other translators use the units set in their dialogs,
which a script can't read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymxs
from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Axes, FileFormat
from callboard_max.application.names import family, find, handle, objects, parent_of, telling
from callboard_max.ports.usd import ADVICE
from callboard_qt import ApplicationExchange

#: The plug-in's names for 3ds Max's system units.
_UNITS = {
    "inches": "in",
    "feet": "ft",
    "millimeters": "mm",
    "centimeters": "cm",
    "meters": "m",
    "kilometers": "km",
}
#: The unit of the files that are written, in meters.
_WRITTEN = 0.01


class MaxExchange(ApplicationExchange):
    application = "3ds Max"
    no_usd = ADVICE

    def _format(self, name: str, suffixes: tuple[str, ...]) -> FileFormat:
        if name != "fbx":
            missing = (
                f"3ds Max reads and writes {name} with the settings of its dialogs, which a script"
                " can't read; use FBX or USD"
            )
            return FileFormat(name, (), (), missing=missing)
        if _unit() is None:
            missing = "FBX needs a system unit of 1 mm, cm, m, km, in or ft; the artist can set it"
            return FileFormat(name, (), (), missing=missing)
        reads = suffixes if _there("FBXIMP") else ()
        writes = suffixes if _there("FBXEXP") else ()
        missing = "" if reads and writes else "3ds Max's FBX plug-in is missing; repair 3ds Max"
        return FileFormat(name, reads, writes, _WRITTEN, "Y", missing)

    def _read(self, path: str, kind: str, axes: Axes | None, parent: str | None) -> None:
        above = None if parent is None else find(parent)
        before = {handle(node) for node in objects()}
        settings = {
            "Mode": rt.Name("create"),
            "AxisConversion": True,
            "ConvertUnit": _unit(),
            "FillTimeline": False,
        }
        quiet = rt.Name("noPrompt")
        with telling(f"import '{Path(path).name}'"):
            with _set(rt.FbxImporter, rt.FBXImporterGetParam, rt.FBXImporterSetParam, settings):
                done = rt.importFile(path, quiet, using=rt.FBXIMP)
            new = [node for node in objects() if handle(node) not in before]
            if not done:
                raise HostError(f"3ds Max could not import '{Path(path).name}'")
            for node in new:
                if above is not None and parent_of(node) is None:
                    node.parent = above

    def _write(
        self, file: Path, kind: str, objects: Sequence[str] | None, axes: Axes | None
    ) -> None:
        settings = {
            "UpAxis": "Y",
            "AxisConversionMethod": "Animation",
            "ConvertUnit": "cm",
            "EmbedTextures": True,
            "ShowWarnings": False,
        }
        quiet, some = rt.Name("noPrompt"), objects is not None
        with (
            telling(f"export '{file.name}'"),
            _set(rt.FbxExporter, rt.FBXExporterGetParam, rt.FBXExporterSetParam, settings),
        ):
            rt.exportFile(str(file), quiet, selectedOnly=some, using=rt.FBXEXP)

    @contextmanager
    def _only(self, objects: Sequence[str] | None) -> Iterator[None]:
        before, unsaved = list(rt.selection), bool(rt.getSaveRequired())
        try:
            if objects is not None:
                # 3ds Max exports the selection, without the nodes below it.
                wanted = {handle(n): n for name in objects for n in family(find(name))}
                _select(list(wanted.values()))
            yield
        finally:
            if objects is not None:
                _select(before)
            rt.setSaveRequired(unsaved)


def _unit() -> str | None:
    if float(rt.units.SystemScale) != 1.0:
        return None
    return _UNITS.get(str(rt.units.SystemType).strip("#").lower())


def _there(name: str) -> bool:
    return getattr(rt, name, None) is not None


def _plain(value: Any) -> str:
    """Return a setting as a string, because 3ds Max returns names either as its own type or as
    strings."""
    return str(value).strip("#").lower()


def _select(nodes: Sequence[Any]) -> None:
    with pymxs.undo(False):
        if nodes:
            rt.select(rt.Array(*nodes))
        else:
            rt.clearSelection()


@contextmanager
def _set(
    plug_in: Any,
    get: Callable[[str], Any],
    put: Callable[[str, Any], Any],
    wanted: Mapping[str, Any],
) -> Iterator[None]:
    """Change settings in the plug-in's dialogs, and restore the artist's settings afterwards. 3ds
    Max loads the plug-in when it is first used, and until then changes to the settings have no
    effect."""
    rt.pluginManager.loadClass(plug_in)
    before = {name: get(name) for name in wanted}
    try:
        for name, value in wanted.items():
            put(name, value)
            if _plain(get(name)) != _plain(value):
                raise HostError(
                    f"3ds Max's FBX plug-in keeps {name} at {_plain(get(name))} instead of"
                    f" {_plain(value)}; ask the artist to set it once in the FBX dialog"
                )
        yield
    finally:
        for name, value in before.items():
            put(name, value)
