"""Writes and reads USD files with an instance's ``exchange`` tools, or with its ``usd`` tools if
the host has no ``exchange`` tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from callboard.content import Json
from callboard.errors import PeerError
from callboard_programs.gateway.transfer.instance_calls import CallRefused, InstanceCalls
from callboard_programs.gateway.transfer.scene_facts import strings

_OTHER = "choose another instance, or find another way with tools__search"


class Way(Protocol):
    """A way to write and read USD files. Both methods raise CallRefused."""

    async def write(self, path: str, objects: Sequence[str] | None) -> None: ...

    async def read(self, path: str) -> None:
        """Import a file in one call, so that it is one undo step."""


class ByExchange:
    def __init__(self, calls: InstanceCalls) -> None:
        self._calls = calls

    async def write(self, path: str, objects: Sequence[str] | None) -> None:
        # Don't refuse the transfer because of a texture on an object without UVs.
        asked: Json = {"path": path, "allow_missing_uvs": True}
        if objects is not None:
            asked["objects"] = list(objects)
        await self._calls.call("exchange__export", asked)

    async def read(self, path: str) -> None:
        await self._calls.call("exchange__import", {"path": path})


class ByUsd:
    """The ``usd`` tools. The selection is the only way to limit their export, so it is changed for
    the export, and the artist's selection is restored afterwards."""

    def __init__(self, calls: InstanceCalls) -> None:
        self._calls = calls

    async def write(self, path: str, objects: Sequence[str] | None) -> None:
        if objects is None:
            await self._calls.call("usd__export_usd", {"path": path})
            return
        selected = strings((await self._calls.call("scene__get_selection")).get("selection"))
        steps = (
            ("scene__select", {"names": list(objects)}),
            ("usd__export_usd", {"path": path, "selected_only": True}),
            ("scene__select", {"names": selected}),
        )
        asked = [{"tool": tool, "arguments": arguments} for tool, arguments in steps]
        await self._calls.call("batch__run", {"calls": asked, "brief": True})

    async def read(self, path: str) -> None:
        await self._calls.call("usd__import_usd", {"path": path})


async def way_of(calls: InstanceCalls, doing: str) -> Way:
    """Return the way in which the instance exports or imports USD. ``doing`` is "export" or
    "import". Raises PeerError, with advice, if the instance can't do that."""
    try:
        offered = strings((await calls.read("host://capabilities")).get("offered_by_host"))
        if "exchange" not in offered and "usd" in offered:
            return ByUsd(calls)
        formats = (await calls.call("exchange__formats")).get("formats")
    except CallRefused as refused:
        raise PeerError(
            f"{refused.message}; {calls.name} can't {doing} USD now: {_OTHER}", data=refused.data
        ) from None
    for each in formats if isinstance(formats, list) else ():
        if isinstance(each, dict) and each.get("format") == "usd":
            suffixes = each.get(doing)
            if isinstance(suffixes, list) and ".usdc" in suffixes:
                return ByExchange(calls)
            raise PeerError(f"{calls.name} can't {doing} USD: {each.get('missing') or _OTHER}")
    raise PeerError(f"{calls.name} doesn't support USD files; {_OTHER}")
