"""The ``animation`` port: the timeline and keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from maya import cmds

from callboard.host import Json, Vector
from callboard_maya.application.names import bare, find, telling
from callboard_maya.parts import transforms
from callboard_maya.parts.frames import current_frame, frames_per_second
from callboard_maya.parts.keys import AXES, CHANNELS, frames
from callboard_qt import COMPONENTS, KeyedAnimation


class MayaAnimation(KeyedAnimation[str]):
    def node(self, name: str) -> str:
        return find(name)

    def path(self, node: str) -> str:
        return node

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
        """Set the playback range. The animation's own range grows with it if needed."""
        first = min(start, cmds.playbackOptions(query=True, animationStartTime=True))
        last = max(end, cmds.playbackOptions(query=True, animationEndTime=True))
        cmds.playbackOptions(
            minTime=start, maxTime=end, animationStartTime=first, animationEndTime=last
        )

    def read_keys(self, node: str) -> Iterator[tuple[str, float, Sequence[float]]]:
        for index, component in enumerate(COMPONENTS):
            for frame in frames(node, [component + axis for axis in AXES]):
                yield component, frame, transforms.channels(node, frame)[index]

    def write_key(self, node: str, frame: float, values: Mapping[str, Vector]) -> None:
        if "rotate" in values:
            transforms.require_plain(node)
        with telling(f"key '{bare(node)}'"):
            for component, value in values.items():
                if component == "rotate":
                    value = [transforms.to_host_angle(angle) for angle in value]
                for axis, number in zip(AXES, value, strict=True):
                    cmds.setKeyframe(node, attribute=component + axis, time=frame, value=number)

    def delete_keys(self, name: str, start: float, end: float) -> int:
        path = find(name)
        count = sum(1 for frame in frames(path, CHANNELS) if start <= frame <= end)
        if count:
            with telling(f"delete keys of '{bare(path)}'"):
                cmds.cutKey(path, attribute=CHANNELS, time=(start, end), clear=True)
        return count

    def bake(self, names: Sequence[str], start: int, end: int, step: int) -> list[str]:
        paths = list(dict.fromkeys(find(name) for name in names))
        with telling("bake"):
            cmds.bakeResults(
                paths,
                attribute=CHANNELS,
                time=(start, end),
                sampleBy=step,
                simulation=True,
                preserveOutsideKeys=False,
                disableImplicitControl=True,
            )
        return paths
