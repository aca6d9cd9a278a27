"""The tools of the ``animation`` skill. Each tool that changes something checks the result."""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard.skill import all_near, covered, done, expect

COMPONENTS = ("translate", "rotate", "scale")
INTERPOLATIONS = ("constant", "linear", "smooth")
#: Maximum number of keys that one bake may write.
BAKE_LIMIT = 100_000
#: Seconds that one slice of a list holds the main thread.
SLICE = 0.005


def get_timeline(ctx: Any) -> Json:
    timeline: Json = ctx.port("animation").timeline()
    return timeline


def set_timeline(
    ctx: Any,
    start: float | None = None,
    end: float | None = None,
    current: float | None = None,
    fps: float | None = None,
) -> Json:
    if start is None and end is None and current is None and fps is None:
        raise WrongArgument("give at least one of start, end, current, fps")
    port = ctx.port("animation")
    ctx.port("scene.mutate")
    set_fps = None if fps is None else _optional(port, "set_fps", "set the frames per second")
    before = port.timeline()
    first = before["start"] if start is None else start
    last = before["end"] if end is None else end
    if first > last:
        raise WrongArgument(f"start, {first:g}, must not be after end, {last:g}")
    if start is not None or end is not None:
        port.set_range(first, last)
    if set_fps is not None:
        set_fps(fps)
    if current is not None:
        port.set_current(current)
    after: Json = port.timeline()
    _expect((after["start"], after["end"]), (first, last), "the range")
    if current is not None:
        _expect((after["current"],), (current,), "the current frame")
    if fps is not None:
        _expect((after["fps"],), (fps,), "the frames per second")
    return after


def list_keys(
    ctx: Any,
    name: str | None = None,
    components: Sequence[str] = (),
    offset: int = 0,
    limit: int = 200,
) -> Generator[None, None, Json]:
    """List the keys of one object or, in slices, everything that has keys."""
    if name is not None:
        return _keys_of(ctx, name, components, offset, limit)
    if components:
        raise WrongArgument("components chooses among an object's keys; give name too")
    port, reader = ctx.port("animation"), ctx.port("scene.read")
    listed: list[Json] = []
    ends = perf_counter() + SLICE
    for each in port.animated() if hasattr(port, "animated") else _animated(port, reader.names()):
        if each is not None:
            listed.append(each)
        if perf_counter() >= ends:
            yield
            ends = perf_counter() + SLICE
    return covered(reader, _page("animated", listed, offset, limit))


def _animated(port: Any, names: Sequence[str]) -> Iterator[Json | None]:
    """Yield the objects whose transform has keys, as the optional method of the port does."""
    for name in names:
        try:
            frames = [key["frame"] for key in port.keys(name)]
        except HostError:  # The object may have been deleted.
            frames = []
        if frames:
            start, end = min(frames), max(frames)
            yield {"path": name, "keys": len(frames), "start": start, "end": end, "of": []}
        yield None


def _page(what: str, listed: Sequence[Json], offset: int, limit: int) -> Json:
    end = min(offset + limit, len(listed))
    answer: Json = {what: listed[offset:end], "total": len(listed)}
    return {**answer, "next_offset": end} if offset < end < len(listed) else answer


def _keys_of(ctx: Any, name: str, components: Sequence[str], offset: int, limit: int) -> Json:
    path = ctx.port("scene.read").get(name)["path"]
    port = ctx.port("animation")
    left_out = [each for each in COMPONENTS if components and each not in components]
    keys = [{part: key[part] for part in key if part not in left_out} for key in port.keys(path)]
    keys = [key for key in keys if len(key) > 1]
    if hasattr(port, "interpolations"):
        words = {each: port.interpolations(path, each) for each in COMPONENTS}
        keys = [{**key, **_interpolation(key, words)} for key in keys]
    answer = {"path": path, **_page("keys", keys, offset, limit)}
    more = port.others(path) if hasattr(port, "others") else {}
    if others := more.get("others"):
        more = {**more, "others": others[:limit], "others_total": len(others)}
    return {**answer, **more}


def _interpolation(key: Json, words: Mapping[str, Mapping[float, str]]) -> Json:
    """Return ``interpolation`` of a key, and ``interpolations`` if its components differ."""
    own = {each: words[each][key["frame"]] for each in COMPONENTS if each in key}
    several = {*own.values()}
    if len(several) == 1:
        return {"interpolation": several.pop()}
    return {"interpolation": "mixed", "interpolations": own}


def set_keys(ctx: Any, name: str, keys: Sequence[Mapping[str, Any]]) -> Json:
    for key in keys:
        if not any(key.get(component) is not None for component in COMPONENTS):
            raise WrongArgument(f"give the key at {key['frame']:g} one of {', '.join(COMPONENTS)}")
        if key.get("interpolation", "linear") not in INTERPOLATIONS:
            raise WrongArgument(f"interpolation must be one of {', '.join(INTERPOLATIONS)}")
    path = ctx.port("scene.read").get(name)["path"]
    port = ctx.port("animation")
    ctx.port("scene.mutate")
    wanted: dict[float, Json] = {}
    actions = _actions(port, [path])
    for key in keys:
        port.set_key(path, key["frame"], *(key.get(component) for component in COMPONENTS))
        wanted.setdefault(key["frame"], {}).update(key)
    keyed = {key["frame"]: key for key in port.keys(path)}
    for frame, key in wanted.items():
        there = _at(keyed, frame)
        for component in COMPONENTS:
            if key.get(component) is not None:
                _expect(there.get(component), key[component], f"{component} at {frame:g}")
    _interpolate(port, path, keys)
    asked = {
        component for key in keys for component in COMPONENTS if key.get(component) is not None
    }
    return {**_done(ctx, [path], len(wanted), asked), **_own(port, actions)}


def _interpolate(port: Any, path: str, keys: Sequence[Mapping[str, Any]]) -> None:
    """Set the interpolation of the components that the keys name. Other components keep theirs."""
    asked = {
        (component, key["frame"]): key["interpolation"]
        for key in keys
        for component in COMPONENTS
        if "interpolation" in key and key.get(component) is not None
    }
    if not asked:
        return
    change = _optional(port, "set_interpolation", "set how keys are interpolated")
    for (component, frame), word in asked.items():
        change(path, component, frame, word)
    words = {each: port.interpolations(path, each) for each in {each for each, _ in asked}}
    for (component, frame), word in asked.items():
        there = _at(words[component], frame)
        expect(there == word, f"the interpolation of {component} at {frame:g}", word, there)


def _optional(port: Any, method: str, what: str) -> Any:
    there = getattr(port, method, None)
    if there is None:
        raise HostError(f"callboard can't {what} in this application yet; ask the artist to do it")
    return there


def delete_keys(ctx: Any, name: str, start: float, end: float) -> Json:
    if start > end:
        raise WrongArgument(f"start, {start:g}, must not be after end, {end:g}")
    path = ctx.port("scene.read").get(name)["path"]
    port = ctx.port("animation")
    ctx.port("scene.mutate")
    actions = _actions(port, [path])
    count = port.delete_keys(path, start, end)
    left = [key["frame"] for key in port.keys(path) if start <= key["frame"] <= end]
    if left:
        raise HostError(f"{len(left)} keys are still there; the change was undone")
    if not count and (others := _others(port, path)):
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        doubt = (
            "the object's own transform has no keys there, and only those are deleted; keys of"
            f" {', '.join(others[:3])}{more} stay (animation__list_keys lists them)"
        )
        return {"changed": [], "keys": 0, "verified": False, "doubt": doubt}
    answer = {"changed": [path] if count else [], "keys": count, "verified": True}
    return {**answer, **_own(port, actions)}


def _others(port: Any, path: str) -> list[str]:
    """Return what else of the object than its transform has keys, where the host says so."""
    others = port.others(path) if hasattr(port, "others") else {}
    return [each["of"] for each in others.get("others", ())]


def bake(ctx: Any, names: Sequence[str], start: int, end: int, step: int = 1) -> Json:
    if start > end:
        raise WrongArgument(f"start, {start}, must not be after end, {end}")
    frames = range(start, end + 1, step)
    if len(frames) * len(names) > BAKE_LIMIT:
        raise WrongArgument(
            f"bake at most {BAKE_LIMIT} keys at once: name fewer objects, or use a larger step"
        )
    reader = ctx.port("scene.read")
    paths = [reader.get(name)["path"] for name in dict.fromkeys(names)]
    port = ctx.port("animation")
    ctx.port("scene.mutate")
    actions = _actions(port, paths)
    baked = port.bake(paths, start, end, step)
    for path in baked:
        there = {key["frame"]: key for key in port.keys(path)}
        for frame in frames:
            _at(there, frame)
    return {**_done(ctx, baked, len(frames) * len(baked), COMPONENTS), **_own(port, actions)}


def _actions(port: Any, paths: Sequence[str]) -> dict[str, str]:
    """Return the name of what holds the keys of each object, where the host names it."""
    others = ((path, port.others(path)) for path in paths if hasattr(port, "others"))
    return {path: each["action"] for path, each in others if "action" in each}


def _own(port: Any, before: Mapping[str, str]) -> Json:
    """Return the copies that objects got of actions that they shared, as ``{own_actions}``."""
    now = _actions(port, [*before])
    copies = [each for path, each in now.items() if each != before[path]]
    return {"own_actions": copies} if copies else {}


def _done(ctx: Any, changed: Sequence[str], keys: int, asked: Collection[str]) -> Json:
    """Return the answer for a change, with a ``doubt`` if the keys don't determine the values that
    were asked for."""
    read = ctx.port("scene.read").get
    answers = (done("object", read(path), asked=asked) for path in changed)
    doubt = next((each["doubt"] for each in answers if "doubt" in each), None)
    answer: Json = {"changed": list(changed), "keys": keys, "verified": doubt is None}
    return answer if doubt is None else {**answer, "doubt": doubt}


def _at(keys: Mapping[float, Any], frame: float) -> Any:
    if frame in keys:
        return keys[frame]
    for there, key in keys.items():
        if math.isclose(there, frame, abs_tol=1e-3):
            return key
    raise HostError(f"the host did not key frame {frame:g}; the change was undone")


def _expect(actual: Sequence[float] | None, wanted: Sequence[float], what: str) -> None:
    same = actual is not None and all_near(actual, wanted, 1e-4)
    expect(same, what, list(wanted), actual and list(actual))
