"""The tools of the ``render`` skill. Paths arrive resolved and checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from callboard.content import Image, Json, Result
from callboard.errors import HostError, WrongArgument

from ._pictures import shown, shown_turn

#: What a picture of a turntable says about all of them.
_FACTS = ("engine", "why_engine", "samples", "doubt")


def still(
    ctx: Any,
    path: str,
    width: int = 640,
    height: int = 360,
    frame: int | None = None,
    as_job: bool = False,
) -> Generator[object, None, Result]:
    """Render one picture. The server handles ``as_job``, both here and in ``turntable``."""
    ctx.port("filesystem.write")
    port = ctx.port("render")
    image = port.still(path, width, height, frame)
    if isinstance(image, Generator):
        image = yield from image
    _written(image["path"])
    return _seen({**image, "verified": True}, lambda: shown(port, path))


def turntable(
    ctx: Any,
    path: str,
    frames: int = 24,
    width: int = 640,
    height: int = 360,
    as_job: bool = False,
) -> Generator[None, None, Result]:
    ctx.port("filesystem.write")
    port = ctx.port("render")
    images = port.turntable(_numbered(path), width, height, frames)
    paths: list[str] = []
    left_out: set[str] = set()
    facts: Json = {}
    try:
        for image in images:
            _written(image["path"])
            paths.append(image["path"])
            left_out.update(image.get("left_out", ()))
            facts = {key: image[key] for key in _FACTS if key in image}
            ctx.progress(len(paths), frames, f"frame {len(paths)} of {frames}")
            yield
    finally:
        # Cancelling closes this generator, and closing the host's generator restores the camera.
        images.close()
    if len(paths) != frames:
        raise HostError(f"{len(paths)} of {frames} frames were rendered")
    answer: Json = {"paths": paths, "frames": frames, "verified": True, **facts}
    if left_out:
        answer["left_out"] = sorted(left_out)
    return _seen(answer, lambda: shown_turn(port, paths))


def _seen(answer: Json, pictures: Callable[[], list[Image]]) -> Result:
    """Return the answer with its pictures, or with the reason why there are none."""
    try:
        return Result(
            [json.dumps(answer, ensure_ascii=False, separators=(",", ":")), *pictures()], answer
        )
    except HostError as error:
        answer["not_shown"] = str(error)
        return Result(structured=answer)


def _numbered(path: str) -> str:
    """Return the path with a run of ``#`` in its name: ``turn_####.png`` for ``turn.png``."""
    file = Path(path)
    runs = re.findall("#+", file.name)
    if len(runs) > 1:
        raise WrongArgument("path may contain only one run of #, which becomes the frame's number")
    return path if runs else str(file.with_name(f"{file.stem}_####{file.suffix}"))


def _written(path: str) -> None:
    if not Path(path).is_file() or Path(path).stat().st_size == 0:
        raise HostError(f"'{Path(path).name}' was rendered, but the file is missing")
