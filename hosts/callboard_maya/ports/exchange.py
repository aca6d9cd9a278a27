"""The ``exchange`` port: exchanging files with other programs, with the translators of Maya's
plug-ins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from maya import cmds, mel

from callboard.errors import HostError
from callboard.host import (
    Axes,
    FileFormat,
    Rows,
    UpAxis,
    decompose,
    rows_of_sixteen,
    sixteen_of,
    times,
)
from callboard_maya.application.names import find, full_path, parent_of, paths, telling
from callboard_maya.application.plug_ins import is_loaded
from callboard_maya.application.undo import unnoticed
from callboard_maya.parts import transforms
from callboard_maya.parts.obj_files import changes_nothing, convert_obj
from callboard_maya.ports import usd
from callboard_qt import ApplicationExchange, turned_between

#: Maya's names for the translators, and the plug-ins that provide them.
_READERS = {"fbx": "FBX", "obj": "OBJ", "alembic": "Alembic"}
_WRITERS = {"fbx": "FBX export", "obj": "OBJexport"}
_PLUG_INS = {"fbx": "fbxmaya", "obj": "objExport", "alembic": "AbcImport, AbcExport"}
#: The plug-in, and its command, which is in none of the published stubs.
_ALEMBIC = "AbcExport"
_OPTIONS = {"fbx": "v=0;", "obj": "groups=1;ptgroups=1;materials=1;smoothing=1;normals=1"}
#: Settings for the FBX plug-in. The artist's own settings are restored afterwards.
_FBX_READ = (
    "FBXResetImport;",
    "FBXImportMode -v add;",
    "FBXImportAxisConversionEnable -v true;",
    "FBXImportSetMayaFrameRate -v false;",
    "FBXImportFillTimeline -v false;",
)
_FBX_WRITE = (
    "FBXResetExport;",
    "FBXExportIncludeChildren -v true;",
    "FBXExportInputConnections -v false;",
    "FBXExportEmbeddedTextures -v true;",
)
#: Maya's internal unit, whatever the artist's unit is. OBJ files are read and written in it.
_CENTIMETRE = 0.01


class MayaExchange(ApplicationExchange):
    application = "Maya"
    no_usd = f"the plug-in {usd.PLUGIN} isn't loaded; the artist can load it in the Plug-in Manager"

    def _format(self, name: str, suffixes: tuple[str, ...]) -> FileFormat:
        if name not in _READERS:
            return FileFormat(name, (), (), missing=f"Maya can't read or write {name}; use FBX")
        known = set(_translators())
        reads = suffixes if _READERS[name] in known else ()
        writes = suffixes if _WRITERS.get(name) in known else ()
        if name == "alembic":
            writes = suffixes if is_loaded(_ALEMBIC) else ()
        missing = f"{_PLUG_INS[name]} must be loaded; the artist can load it in the Plug-in Manager"
        counts = 1.0 if name == "obj" else _CENTIMETRE
        up: UpAxis = "Y" if name == "obj" else _up_axis()
        missing = "" if reads and writes else missing
        return FileFormat(name, reads, writes, counts, up, missing, fixed=name == "alembic")

    def _read(self, path: str, kind: str, axes: Axes | None, parent: str | None) -> None:
        before = set(paths())
        with _in_centimetres(), _fbx(_FBX_READ if kind == "fbx" else ()):
            with telling(f"import '{Path(path).name}'"):
                # Importing the file's own frame rate would move every key of the scene.
                cmds.file(
                    path,
                    i=True,
                    type=_READERS[kind],
                    options=_OPTIONS.get(kind, ""),
                    importFrameRate=False,
                    prompt=False,
                )
            new = [each for each in paths() if each not in before]
            tops = [each for each in new if parent_of(each) not in new]
            if axes is not None:
                counted = turned_between(axes, Axes(_CENTIMETRE, _up_axis()))
                if not changes_nothing(counted):
                    tops = _converted(tops, counted, kind)
        if parent is not None and tops:
            with telling(f"put it below '{parent}'"):
                cmds.parent(tops, find(parent), relative=True)

    def _write(
        self, file: Path, kind: str, objects: Sequence[str] | None, axes: Axes | None
    ) -> None:
        with telling(f"export '{file.name}'"):
            if kind == "alembic":
                return _write_alembic(file, paths() if objects is None else objects)
            which: dict[str, bool] = {"exportAll" if objects is None else "exportSelected": True}
            command: Any = cmds.file
            with _in_centimetres() if kind == "obj" else _fbx(_FBX_WRITE):
                command(
                    file.as_posix(),
                    force=True,
                    type=_WRITERS[kind],
                    options=_OPTIONS[kind],
                    prompt=False,
                    **which,
                )
        if axes is not None:
            convert_obj(file, turned_between(Axes(_CENTIMETRE, _up_axis()), axes))
        return None

    def _only(self, objects: Sequence[str] | None) -> AbstractContextManager[None]:
        return _selected(objects)


def _translators() -> list[str]:
    # The published stubs declare the answer as a flag.
    listed: Any = cmds.translator(query=True, list=True)
    return [str(each) for each in listed or []]


def _up_axis() -> UpAxis:
    return "Z" if str(cmds.upAxis(query=True, axis=True)).lower() == "z" else "Y"


@contextmanager
def _selected(objects: Sequence[str] | None) -> Iterator[None]:
    with unnoticed():
        before = cmds.ls(selection=True, long=True) or []
        try:
            if objects is not None:
                cmds.select([find(each) for each in objects], replace=True)
            yield
        finally:
            if before:
                cmds.select(before, replace=True)
            else:
                cmds.select(clear=True)


@contextmanager
def _in_centimetres() -> Iterator[None]:
    """Use centimeters inside the block. Some translators use Maya's internal unit, and others use
    the artist's unit. Inside the block, the two units are the same."""
    before: Any = cmds.currentUnit(query=True, linear=True)
    if before == "cm":
        yield
        return
    cmds.currentUnit(linear="cm")
    try:
        yield
    finally:
        cmds.currentUnit(linear=before)


@contextmanager
def _fbx(settings: Sequence[str]) -> Iterator[None]:
    if not settings:
        yield
        return
    mel.eval("FBXPushSettings;")
    try:
        for each in settings:
            mel.eval(each)
        yield
    finally:
        mel.eval("FBXPopSettings;")


def _converted(tops: Sequence[str], counted: Rows, kind: str) -> list[str]:
    """Return the imported top objects, converted to the scene's units and up axis."""
    with telling("bring it into the scene's units"):
        if kind == "alembic":
            # A node from the plug-in drives animated objects, so their own transforms can't be
            # changed. Another node above them converts them.
            above = full_path(cmds.createNode("transform", name="alembic", skipSelect=True))
            transforms.write(above, *decompose(counted))
            cmds.parent(tops, above, relative=True)
            return [above]
        for top in tops:
            rows = rows_of_sixteen(cmds.getAttr(f"{top}.matrix"))
            matrix: Any = sixteen_of(times(rows, counted))
            cmds.xform(top, objectSpace=True, matrix=matrix)
            cmds.makeIdentity(top, apply=True, translate=True, rotate=True, scale=True)
        return list(tops)


def _write_alembic(file: Path, objects: Sequence[str]) -> None:
    written = file.with_name("scene.abc")
    if " " in str(written):
        raise HostError(
            "Maya's Alembic plug-in can't write to a path with a space, and the temporary folder's"
            " path has one; set TMPDIR to another folder before Maya starts, or export USD"
        )
    # A root must not be below another root.
    wanted = dict.fromkeys(objects)
    tops = [each for each in wanted if not any(each.startswith(f"{up}|") for up in wanted)]
    first, last = (
        cmds.playbackOptions(query=True, minTime=True),
        cmds.playbackOptions(query=True, maxTime=True),
    )
    # Some versions support only the short flags.
    roots = " ".join(f"-rt {each}" for each in tops)
    job = f"-fr {first:g} {last:g} -uv -ws -wv -df ogawa {roots} -f {written.as_posix()}"
    getattr(cmds, _ALEMBIC)(jobArg=job)
    if written.is_file():
        written.replace(file)
