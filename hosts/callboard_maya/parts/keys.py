"""An object's keyed channels and their curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from maya import cmds

from callboard.errors import HostError
from callboard_maya.application.names import bare
from callboard_qt import COMPONENTS

AXES = ("X", "Y", "Z")
CHANNELS = [component + axis for component in COMPONENTS for axis in AXES]
#: The name of a clipboard for keys, separate from the artist's clipboard.
_CLIPBOARD = "api"


def frames(path: str, channels: Sequence[str]) -> list[float]:
    """Return the frames with a key on any of the channels, in order."""
    keyed: set[float] = set()
    for channel in channels:
        # The published stubs don't allow ``attribute`` together with ``query``.
        times = cmds.keyframe(path, attribute=channel, query=True, timeChange=True)  # type: ignore[call-overload]
        keyed.update(float(time) for time in times or [])
    return sorted(keyed)


def refuse_keyed(path: str, components: Iterable[str] = COMPONENTS) -> None:
    """Raise HostError when keys would reset the components at the next frame."""
    if frames(path, [component + axis for component in components for axis in AXES]):
        raise HostError(
            f"the transform of '{bare(path)}' is animated; set keys, or set it on a parent instead"
        )


def copy_keys(source: str, target: str) -> None:
    """Copy the keys of the transform, which Maya's own copy leaves out."""
    for channel in CHANNELS:
        if frames(source, [channel]):
            cmds.copyKey(source, attribute=channel, clipboard=_CLIPBOARD)
            cmds.pasteKey(
                target, attribute=channel, clipboard=_CLIPBOARD, option="replaceCompletely"
            )
