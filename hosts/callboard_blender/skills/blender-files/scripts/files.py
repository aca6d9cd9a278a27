"""The tools of the ``blender-files`` skill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callboard.content import Json
from callboard.skill import expect
from callboard_blender.parts.local_data import linked
from callboard_blender.parts.unused_data import by_kind

#: Maximum number of names in an answer for each kind. The count is always complete.
_MOST = 200


def make_local(ctx: Any, libraries: Sequence[str] = ()) -> Json:
    ctx.port("scene.mutate")
    made, told = ctx.port("structure").local.make_local(libraries)
    left = linked()
    still = [each.name_full for each in made if each in left]
    expect(not still, "what is still linked", [], still)
    names = by_kind(set(made))
    answer: Json = {
        "changed": sorted(each.name_full for each in made)[:_MOST],
        "local": {kind: each[:_MOST] for kind, each in names.items()},
        "count": len(made),
        **{key: value for key, value in told.items() if value},
        "verified": True,
    }
    return {**answer, "still_linked": [_linked(each) for each in left[:_MOST]]} if left else answer


def pack(ctx: Any, names: Sequence[str] = ()) -> Json:
    ctx.port("scene.mutate")
    ctx.port("filesystem.read")
    return _files(True, *ctx.port("structure").packed.pack(names))


def unpack(ctx: Any, names: Sequence[str] = (), to: str = "beside") -> Json:
    ctx.port("scene.mutate")
    ctx.port("filesystem.write")
    return _files(False, *ctx.port("structure").packed.unpack(names, to == "original"))


def set_paths(ctx: Any, relative: bool) -> Json:
    ctx.port("scene.mutate")
    paths, left = ctx.port("structure").packed.set_paths(relative)
    for each in paths:
        expect(each["now"].startswith("//") is relative, each["name"], relative, each["now"])
    changed = [each["name"] for each in paths]
    answer: Json = {"changed": changed, "paths": paths, "verified": True}
    return {**answer, "left": left} if left else answer


def _files(packed: bool, blocks: Sequence[Any], refused: Sequence[Json]) -> Json:
    for each in blocks:
        expect((each.packed_file is not None) is packed, each.name_full, packed, not packed)
    files = [{"name": each.name_full, "path": each.filepath} for each in blocks]
    changed = [each["name"] for each in files]
    answer: Json = {"changed": changed, "files": files, "verified": True}
    return {**answer, "refused": refused} if refused else answer


def _linked(each: Any) -> Json:
    library = each.library or each.override_library.reference.library
    missing = {"missing": True} if getattr(each, "is_missing", False) else {}
    return {"name": each.name_full, "library": library.filepath, **missing}
