"""Commands for time and keys."""

from __future__ import annotations

from ._dag_commands import flat, one
from ._registry import command
from ._scene import AXES, CHANNELS
from ._session import session


@command()
def play(state=False):
    session.tell("condition", "playingBack", bool(state))


@command(undoable=True)
def currentTime(*times, mode="create"):
    if mode == "query":
        return session.scene.time
    session.scene.go_to(times[0])
    return session.scene.time


_RANGE = ("animationStartTime", "minTime", "maxTime", "animationEndTime")


@command(undoable=True)
def playbackOptions(
    animationEndTime=None, animationStartTime=None, maxTime=None, minTime=None, mode="create"
):
    given = (animationStartTime, minTime, maxTime, animationEndTime)
    now = session.scene.range
    if mode == "query":
        return now[next(i for i, wanted in enumerate(given) if wanted)]
    session.scene.range = [
        old if new is None else float(new) for old, new in zip(now, given, strict=True)
    ]
    start, low, high, end = session.scene.range
    if not start <= low <= high <= end:
        raise RuntimeError("the playback range must lie inside the animation's")
    return None


def _channels(attribute) -> list[str]:
    wanted = [attribute] if isinstance(attribute, str) else list(attribute)
    for each in wanted:
        if each not in CHANNELS:
            raise NotImplementedError(f"the double doesn't model keys of '{each}'")
    return wanted


@command(undoable=True)
def setKeyframe(*names, attribute=(), time=None, value=None):
    scene = session.scene
    for name in flat(names):
        node = one(name)
        for channel in _channels(attribute):
            if channel[:-1] in node.locked:
                raise RuntimeError(f"'{name}.{channel}' is locked")
            now = node.attributes[channel[:-1]][AXES.index(channel[-1])]
            frame = scene.time if time is None else float(time)
            node.keys.setdefault(channel, {})[frame] = now if value is None else float(value)
    scene.go_to(scene.time)
    return len(flat(names))


@command()
def keyframe(*names, attribute=(), timeChange=False, mode="create"):
    if mode != "query" or not timeChange:
        raise NotImplementedError("the double doesn't model other uses of keyframe")
    frames = {
        frame
        for name in flat(names)
        for channel in _channels(attribute)
        for frame in one(name).keys.get(channel, {})
    }
    return sorted(frames) or None


@command(undoable=True)
def cutKey(*names, attribute=(), clear=False, time=None):
    if not clear or time is None:
        raise NotImplementedError("the double doesn't model keys on the clipboard")
    count = 0
    for name in flat(names):
        node = one(name)
        for channel in _channels(attribute):
            keys = node.keys.get(channel, {})
            for frame in [f for f in keys if time[0] <= f <= time[1]]:
                del keys[frame]
                count += 1
            if not keys:
                node.keys.pop(channel, None)
    return count


def _curve(names, attribute) -> tuple:
    """Return a curve's node and its only channel."""
    (name,) = flat(names)
    (channel,) = _channels(attribute)
    return one(name), channel


@command()
def copyKey(*names, attribute=(), clipboard="anim"):
    node, channel = _curve(names, attribute)
    keys = node.keys.get(channel, {})
    session.clipboards[clipboard] = dict(keys)
    return int(bool(keys))


@command(undoable=True)
def pasteKey(*names, attribute=(), clipboard="anim", option="insert"):
    if option != "replaceCompletely":
        raise NotImplementedError("the double doesn't model pasting keys among others")
    if not session.clipboards.get(clipboard):
        raise RuntimeError("Nothing to paste from")
    node, channel = _curve(names, attribute)
    if channel[:-1] in node.locked:
        raise RuntimeError(f"'{channel}' is locked")
    node.keys[channel] = dict(session.clipboards[clipboard])
    session.scene.go_to(session.scene.time)
    return 1


@command(undoable=True)
def bakeResults(
    *names,
    attribute=(),
    disableImplicitControl=True,
    preserveOutsideKeys=False,
    sampleBy=1,
    simulation=False,
    time=None,
):
    scene = session.scene
    first, last = time
    baked: list = []
    for name in flat(names):
        node = one(name)
        for channel in _channels(attribute):
            now = node.attributes[channel[:-1]][AXES.index(channel[-1])]
            keys = {}
            frame = first
            while frame <= last:
                known = channel in node.keys
                keys[float(frame)] = scene.evaluate(node, channel, frame) if known else now
                frame += sampleBy
            outside = {
                f: v
                for f, v in node.keys.get(channel, {}).items()
                if preserveOutsideKeys and not first <= f <= last
            }
            baked.append((node, channel, {**outside, **keys}))
    for node, channel, keys in baked:
        node.keys[channel] = keys
    return len(baked)
