"""The prompts and resources of all running instances, and how each instance answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from callboard.calls.invisible import hides, shown
from callboard.content import Json
from callboard.errors import HostError, InvalidParams
from callboard.transport.instances import ListedInstance
from callboard_programs.client.http_client import RemoteError
from callboard_programs.gateway.directory import LIST_PATIENCE, Directory
from callboard_programs.relay.last_known import LISTS
from callboard_programs.relay.pages import object_in, objects_in, pages

_SCHEME = "instance://"


def prompt_name(instance: str, own: str) -> str:
    return f"{instance}__{own}"


def resource_uri(instance: str, own: str) -> str:
    return f"{_SCHEME}{instance}/{own}"


@dataclass(frozen=True)
class Listing:
    """One of :data:`LISTS`, across all instances. ``field`` is the key whose value identifies an
    entry, and ``named`` adds the instance to that value."""

    key: str
    field: str
    named: Callable[[str, str], str]
    #: The noun for one entry. It is part of the keys of the diagnostics.
    one: str

    async def all(self, directory: Directory) -> Json:
        """Return the result for a request for this list. If one instance fails, the entries of the
        others are still listed."""
        running = await directory.running()
        answers = await asyncio.gather(
            *(self._of_one(directory, name, entry) for name, entry in running.items())
        )
        entries = [entry for listed, _ in answers for entry in listed]
        count, backends = f"{self.one}_count", [backend for _, backend in answers]
        diagnostics = {"enabled": True, count: len(entries), "backends": backends}
        return {
            self.key: sorted(entries, key=lambda entry: str(entry[self.field])),
            "_meta": {self._diagnostics: diagnostics},
        }

    @property
    def _diagnostics(self) -> str:
        return f"dcc.{self.one}_diagnostics"

    async def _of_one(
        self, directory: Directory, name: str, entry: ListedInstance
    ) -> tuple[list[Json], Json]:
        instance = entry.instance
        backend: Json = {
            "instance_id": instance.id,
            "instance_short": instance.id[:8],
            "dcc_type": instance.kind,
        }
        if entry.state != "serving":
            return [], {**backend, "status": "unreachable", "error": f"{name} isn't answering"}
        listing = self._listed(directory, name)
        try:
            entries, diagnostics = await asyncio.wait_for(listing, LIST_PATIENCE)
        except RemoteError as error:
            return [], {**backend, "status": "error", "error": error.message}
        except HostError as error:
            return [], {**backend, "status": "unreachable", "error": error.message}
        except asyncio.TimeoutError:
            late = f"{name} did not list its {self.key} within {LIST_PATIENCE:g} s"
            return [], {**backend, "status": "unreachable", "error": late}
        of_instance = {
            "_instance_id": instance.id,
            "_instance_short": instance.id[:8],
            "_dcc_type": instance.kind,
        }
        listed = [
            shown(
                {
                    **each,
                    self.field: self.named(name, each[self.field]),
                    **of_instance,
                    # Two of three official clients drop fields that aren't in the specification.
                    "_meta": {**object_in(each, "_meta"), **of_instance},
                }
            )
            for each in entries
            if not hides(
                each[self.field]
            )  # A client couldn't request a hidden entry by the text that it sees.
        ]
        return listed, {**backend, "status": "ok", f"{self.one}_count": len(listed), **diagnostics}

    async def _listed(self, directory: Directory, name: str) -> tuple[list[Json], Json]:
        """Return an instance's entries and its diagnostics. Raises RemoteError or HostError."""
        keeper = directory.keeper(name)
        link = await keeper.current()
        if link is None:
            keeper.offline.check()
            raise HostError(keeper.offline.reason or f"{name} does not answer")
        entries: list[Json] = []
        diagnostics: Json = {}
        async for page in pages(lambda params: link.ask(LISTS[self.key], params)):
            listed = objects_in(page, self.key)
            entries += [each for each in listed if isinstance(each.get(self.field), str)]
            if self._diagnostics in (meta := object_in(page, "_meta")):
                diagnostics = {"diagnostics": meta[self._diagnostics]}
        return entries, diagnostics


LISTINGS = {
    LISTS[listing.key]: listing
    for listing in (
        Listing("prompts", "name", prompt_name, "prompt"),
        Listing("resources", "uri", resource_uri, "resource"),
        Listing("resourceTemplates", "uriTemplate", resource_uri, "resource_template"),
    )
}


async def prompt_of(directory: Directory, name: object) -> tuple[str, str]:
    """Return the instance that has a prompt, and the prompt's name in that instance. Raises
    InvalidParams."""
    instance, _, own = str(name).partition("__")
    if not own:
        raise InvalidParams(f"no instance has a prompt {str(name)[:200]!r}; see prompts/list")
    return await directory.resolve(instance), own


async def resource_of(directory: Directory, uri: object) -> tuple[str, str]:
    """Return the instance that has a resource, and the resource's URI in that instance. Raises
    InvalidParams."""
    scheme, mark, rest = str(uri).partition(_SCHEME)
    instance, _, own = rest.partition("/")
    if scheme or not mark or not own:
        raise InvalidParams(f"no instance has a resource {str(uri)[:200]!r}; see resources/list")
    return await directory.resolve(instance), own


async def completed_of(directory: Directory, params: Json) -> tuple[str, Json]:
    """Return the instance that a ``completion/complete`` request refers to, and the params to send
    to it. Raises InvalidParams."""
    ref = object_in(params, "ref")
    if ref.get("type") == "ref/prompt":
        name, own = await prompt_of(directory, ref.get("name"))
        return name, {**params, "ref": {**ref, "name": own}}
    name, own = await resource_of(directory, ref.get("uri"))
    return name, {**params, "ref": {**ref, "uri": own}}
