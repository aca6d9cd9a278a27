"""The bundle's side of ``ai.nimblebrain/host-resources``: ``host(ctx)`` inside any tool."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from callboard.bundles.files.host_resources import CAPABILITY, LIST_METHOD, READ_METHOD
from callboard.errors import INTERNAL_ERROR, INVALID_PARAMS, CallboardError, SkillError


class AsksHost(Protocol):
    """The part of a tool's context that :func:`host` needs. If the host answers with an error,
    ``ask`` raises CallboardError with the error's code and data."""

    @property
    def client_capabilities(self) -> Mapping[str, Any]: ...

    def ask(self, method: str, params: Mapping[str, Any]) -> Awaitable[Any]: ...


class HostCapabilityMissing(SkillError):
    """The host didn't advertise ``capability_key``, so nothing was sent."""

    def __init__(self, capability_key: str) -> None:
        super().__init__(
            f"This host does not offer {capability_key}. Call the tool again and pass the content "
            "inline, in one of its arguments.",
            data={"capability": capability_key},
        )
        self.capability_key = capability_key


class HostResourceError(SkillError):
    """The host answered with an error. ``code`` and ``data`` are copied from its error."""


@dataclass(frozen=True)
class ResourceContents:
    """One resource's content: ``text``, or ``blob`` in base64."""

    uri: str
    mime_type: str | None
    text: str | None = None
    blob: str | None = None

    @property
    def mimeType(self) -> str | None:
        return self.mime_type

    @property
    def data(self) -> bytes:
        """The content as bytes, from text or blob. Raises HostResourceError on bad base64."""
        if self.text is not None:
            return self.text.encode("utf-8")
        try:
            return base64.b64decode(self.blob or "", validate=True)
        except (binascii.Error, ValueError):
            raise _nonsense("a blob that isn't base64") from None


@dataclass(frozen=True)
class ReadResult:
    contents: tuple[ResourceContents, ...]


@dataclass(frozen=True)
class HostResource:
    """A resource that can be read by its ``uri``."""

    uri: str
    name: str | None
    mime_type: str | None

    @property
    def mimeType(self) -> str | None:
        return self.mime_type


@dataclass(frozen=True)
class ListResult:
    resources: tuple[HostResource, ...]


class HostResources:
    """The files that the host offers this bundle. :func:`host` makes it for one tool call."""

    def __init__(self, ctx: AsksHost) -> None:
        self._ctx = ctx

    @property
    def available(self) -> bool:
        """True when files can be read."""
        return self._enabled("read")

    @property
    def list_available(self) -> bool:
        """True when files can be listed."""
        return self._enabled("list")

    def supports_scheme(self, scheme: str) -> bool:
        """Return whether URIs of this scheme can be read."""
        schemes = self._offer().get("schemes")
        return isinstance(schemes, list) and scheme in schemes

    async def read(self, uri: str) -> ReadResult:
        """Return a whole resource. Raises HostCapabilityMissing, and HostResourceError with one of
        the codes -32002, -32004, -32005, -32602."""
        if not self.available:
            raise HostCapabilityMissing(CAPABILITY)
        answer = await self._ask(READ_METHOD, {"uri": uri})
        return ReadResult(tuple(map(_contents, _items(answer, "contents"))))

    async def list(
        self,
        *,
        scheme: str | None = None,
        mime_type: str | None = None,
        tags: Sequence[str] | None = None,
    ) -> ListResult:
        """Return every resource that has exactly this MIME type, if one is given, and all of these
        tags. Raises the same errors as :meth:`read`."""
        if not self.list_available:
            raise HostCapabilityMissing(CAPABILITY)
        if isinstance(tags, (str, bytes)) or not all(isinstance(tag, str) for tag in tags or ()):
            raise HostResourceError(
                f"tags must be a list of strings, such as tags=['approved'], not {tags!r:.80}",
                code=INVALID_PARAMS,
            )
        wanted = {
            "scheme": scheme,
            "mimeType": mime_type,
            "tags": None if tags is None else [*tags],
        }
        wanted = {key: value for key, value in wanted.items() if value is not None}
        answer = await self._ask(LIST_METHOD, {"_meta": {"filter": wanted}} if wanted else {})
        return ListResult(tuple(map(_resource, _items(answer, "resources"))))

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        try:
            answer = await self._ctx.ask(method, params)
        except CallboardError as error:
            raise HostResourceError(error.message, code=error.code, data=error.data) from error
        problem = answer.get("error") if isinstance(answer, Mapping) else None
        if isinstance(problem, Mapping) and isinstance(problem.get("code"), int):
            # The form of an error from a client that answers questions with its next request.
            data = problem.get("data")
            raise HostResourceError(
                str(problem.get("message", ""))[:2000],
                code=problem["code"],
                data=dict(data) if isinstance(data, Mapping) else None,
            )
        return answer

    def _enabled(self, method: str) -> bool:
        part = self._offer().get(method)
        return isinstance(part, Mapping) and part.get("enabled") is True

    def _offer(self) -> Mapping[str, Any]:
        return offered_by(self._ctx.client_capabilities)


def offered_by(capabilities: Any) -> Mapping[str, Any]:
    """Return the entry for host resources in these capabilities, or an empty mapping if there is no
    valid entry. Older hosts put the entry under ``experimental``."""
    for slot in ("extensions", "experimental"):
        extensions = capabilities.get(slot) if isinstance(capabilities, Mapping) else None
        offer = extensions.get(CAPABILITY) if isinstance(extensions, Mapping) else None
        if isinstance(offer, Mapping):
            return offer
    return {}


def host(ctx: AsksHost | Any) -> HostResources:
    """Return the host behind a tool's ``ctx``. For example: ``if host(ctx).available: await
    host(ctx).read(uri)``. ``ctx`` is the object that callboard, FastMCP or the ``mcp`` package
    passes to a tool.

    The host is the client if the client offers files, because the URIs that its agent passes are
    the client's. Otherwise it is the application that the bundle is installed in.
    """
    if not hasattr(ctx, "client_capabilities") and hasattr(ctx, "session"):
        from callboard.bundles.files.fastmcp_context import FastMcpContext

        return HostResources(FastMcpContext(ctx))
    client = HostResources(ctx)
    if client.available or client.list_available:
        return client
    own: HostResources | None = getattr(ctx, "platform", None)
    return client if own is None else own


def _items(answer: Any, key: str) -> list[Mapping[str, Any]]:
    items = answer.get(key) if isinstance(answer, Mapping) else None
    if not isinstance(items, list) or not all(
        isinstance(item, Mapping) and isinstance(item.get("uri"), str) for item in items
    ):
        raise _nonsense(f"an answer without a list of {key}")
    return items


def _contents(item: Mapping[str, Any]) -> ResourceContents:
    text, blob = _string(item, "text"), _string(item, "blob")
    if text is None and blob is None:
        raise _nonsense("content with neither text nor blob")
    return ResourceContents(item["uri"], _string(item, "mimeType"), text, blob)


def _resource(item: Mapping[str, Any]) -> HostResource:
    return HostResource(item["uri"], _string(item, "name"), _string(item, "mimeType"))


def _string(item: Mapping[str, Any], key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) else None


def _nonsense(what: str) -> HostResourceError:
    return HostResourceError(f"the host sent {what}", code=INTERNAL_ERROR)
