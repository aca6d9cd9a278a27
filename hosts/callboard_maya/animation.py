"""The timeline and keys: the port ``animation``."""

from __future__ import annotations

from collections.abc import Sequence

from maya import cmds

from callboard.host import Json, Vector
from callboard_maya import transforms
from callboard_maya.names import bare, find, telling
from callboard_maya.timing import current_frame, frames_per_second

_COMPONENTS = ("translate", "rotate", "scale")
_AXES = ("X", "Y", "Z")
_CHANNELS = [component + axis for component in _COMPONENTS for axis in _AXES]


class MayaAnimation:
    def timeline(self) -> Json:
        return {
            "start": cmds.playbackOptions(query=True, minTime=True),
            "end": cmds.playbackOptions(query=True, maxTime=True),
            "current": current_frame(),
            "fps": frames_per_second(),
        }

    def set_current(self, frame: float) -> None:
        cmds.currentTime(frame)

    def set_range(self, start: float, end: float) -> None:
        """The playback range; the animation's own range grows with it where it must."""
        first = min(start, cmds.playbackOptions(query=True, animationStartTime=True))
        last = max(end, cmds.playbackOptions(query=True, animationEndTime=True))
        cmds.playbackOptions(
            minTime=start, maxTime=end, animationStartTime=first, animationEndTime=last
        )

    def keys(self, name: str) -> list[Json]:
        path = find(name)
        found: dict[float, Json] = {}
        for index, component in enumerate(_COMPONENTS):
            for frame in _frames(path, [component + axis for axis in _AXES]):
                value = transforms.channels(path, frame)[index]
                found.setdefault(frame, {"frame": frame})[component] = value
        return [found[frame] for frame in sorted(found)]

    def set_key(
        self,
        name: str,
        frame: float,
        translate: Vector | None,
        rotate: Vector | None,
        scale: Vector | None,
    ) -> str:
        path = find(name)
        if rotate is not None:
            transforms.require_plain(path)
            rotate = [transforms.to_host_angle(angle) for angle in rotate]
        with telling(f"key '{bare(path)}'"):
            for component, value in zip(_COMPONENTS, (translate, rotate, scale), strict=True):
                for axis, number in zip(_AXES, value or (), strict=False):
                    cmds.setKeyframe(path, attribute=component + axis, time=frame, value=number)
        return path

    def delete_keys(self, name: str, start: float, end: float) -> int:
        path = find(name)
        count = sum(1 for frame in _frames(path, _CHANNELS) if start <= frame <= end)
        if count:
            with telling(f"delete keys of '{bare(path)}'"):
                cmds.cutKey(path, attribute=_CHANNELS, time=(start, end), clear=True)
        return count

    def bake(self, names: Sequence[str], start: int, end: int, step: int) -> list[str]:
        paths = list(dict.fromkeys(find(name) for name in names))
        with telling("bake"):
            cmds.bakeResults(
                paths,
                attribute=_CHANNELS,
                time=(start, end),
                sampleBy=step,
                simulation=True,
                preserveOutsideKeys=False,
                disableImplicitControl=True,
            )
        return paths


def _frames(path: str, channels: Sequence[str]) -> list[float]:
    """When any of the channels has a key, in order."""
    found: set[float] = set()
    for channel in channels:
        # The published stubs know no attribute in a query.
        times = cmds.keyframe(path, attribute=channel, query=True, timeChange=True)  # type: ignore[call-overload]
        found.update(float(time) for time in times or [])
    return sorted(found)
