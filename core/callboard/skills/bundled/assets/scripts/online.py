"""Tools that download assets into a folder, where the other tools find them. They run off the main
thread, and only once the artist has allowed network access."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from callboard.content import Block, Json, Result
from callboard.errors import CallCancelled, HostError
from callboard.skill import held, replacing_bytes, require_folder

from ._asset import MANIFEST, Asset, read_manifest
from ._poly_haven import CREDIT, MOST_PREVIEW, Remote, files_of, info, offered
from ._preview import picture

_MEGABYTE = 1_000_000


def search_online(
    ctx: Any,
    words: str = "",
    kind: str | None = None,
    offset: int = 0,
    limit: int = 20,
    previews: int = 0,
) -> Json | Result:
    port = ctx.port("network")
    matches = [one for one in offered(port, kind) if one.matches(words)]
    end = offset + limit
    page = matches[offset:end]
    answer: Json = {
        "assets": [one.as_json() for one in page],
        "total": len(matches),
        "credit": CREDIT,
    }
    if offset < end < len(matches):
        answer["next_offset"] = end
    blocks: list[Block | str] = [json.dumps(answer, ensure_ascii=False)]
    for one in page[:previews]:
        with suppress(HostError):  # The other assets can still be shown.
            image = picture(_preview(port, info(port, one.id)[1]))
            blocks += [f"{one.id}:", image] if image is not None else []
    return Result(blocks, answer) if previews else answer


def download(
    ctx: Any,
    id: str,
    folder: str,
    resolution: str = "1k",
    format: str = "gltf",
    max_megabytes: int = 250,
) -> Json:
    ctx.port("filesystem.write")
    port = ctx.port("network")
    asset, preview = info(port, id)
    files, remotes = files_of(port, asset, resolution, format)
    total = sum(one.size for one in remotes)
    if total > max_megabytes * _MEGABYTE:
        raise HostError(
            f"'{id}' in {resolution} is {total / _MEGABYTE:.0f} MB, more than max_megabytes:"
            f" {max_megabytes}; use a lower resolution, or allow more"
        )
    if len({one.name.lower() for one in remotes}) < len(remotes):
        raise HostError(f"Poly Haven gives two files of '{id}' the same name; nothing was written")
    name = f"{id}_{resolution}"
    target = Path(folder, name)
    if target.resolve() != Path(folder).resolve() / name:
        raise HostError(
            f"'{name}' in that folder is a link to a different place; give another folder"
        )
    downloaded = not target.exists()
    if downloaded:
        data = _preview(port, preview)
        manifest = _manifest(asset, files, _preview_name(data))
        _place(ctx, port, target, remotes, manifest, data)
    there = read_manifest(target / MANIFEST, name)
    if there.source != asset.source:
        raise HostError(f"that folder already has a different '{name}'; give another folder")
    return {
        "asset": there.as_json(),
        "folder": str(target),
        "files": {what: str(there.path(what)) for what in there.files},
        "bytes": total,
        "downloaded": downloaded,
        "credit": CREDIT,
    }


def _place(
    ctx: Any, port: Any, target: Path, remotes: Sequence[Remote], manifest: Json, preview: bytes
) -> None:
    """Write the asset under a temporary name, and rename it once it is complete."""
    staging = target.with_name(f".{target.name}.{token_hex(4)}")
    total, done = sum(one.size for one in remotes), 0
    require_folder(target)
    try:
        for one in remotes:
            _fetch(ctx, port, one, staging / one.name, done, total)
            done += one.size
        if manifest["preview"]:
            _write(staging / manifest["preview"], preview)
        _write(staging / MANIFEST, json.dumps(manifest, indent=1).encode())
        with held(target.parent, target.parent) as folder:
            if folder.stat(target.name) is not None:
                raise HostError(f"'{target.name}' was created in the meantime; call again")
            folder.rename(staging.name, target.name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _fetch(ctx: Any, port: Any, one: Remote, file: Path, done: int, total: int) -> None:
    digest, count = hashlib.md5(usedforsecurity=False), 0
    require_folder(file)
    with replacing_bytes(str(file)) as stream:
        for chunk in port.fetch(one.url, one.size):
            if ctx.cancelled:
                raise CallCancelled("cancelled during the download; nothing was written")
            stream.write(chunk)
            digest.update(chunk)
            count += len(chunk)
            ctx.progress(done + count, total, one.name)
        if (count, digest.hexdigest()) != (one.size, one.md5):
            raise HostError(
                f"'{one.name}' arrived with the wrong size or MD5; nothing was written."
                " Try again later."
            )


def _write(file: Path, data: bytes) -> None:
    require_folder(file)
    with replacing_bytes(str(file)) as stream:
        stream.write(data)


def _manifest(asset: Asset, files: Json, preview: str | None) -> Json:
    reported = asset.as_json()
    kept = ("name", "kind", "provider", "licence", "author", "source", "tags", "size")
    named = {"maps": files} if asset.kind == "textures" else files
    return {**{key: reported[key] for key in kept}, **named, "preview": preview}


def _preview(port: Any, url: str | None) -> bytes:
    """Return the preview file's bytes, or no bytes if there is no preview, because an asset is
    usable without one."""
    if url is None:
        return b""
    try:
        return b"".join(port.fetch(url, MOST_PREVIEW))
    except HostError:
        return b""


def _preview_name(data: bytes) -> str | None:
    image = picture(data)
    if image is None:
        return None
    return f"preview.{image.mime_type.removeprefix('image/').replace('jpeg', 'jpg')}"
