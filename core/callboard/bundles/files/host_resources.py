"""The platform's side of ``ai.nimblebrain/host-resources``, with its names and codes.

The platform answers a bundle that requests its workspace's files. The answer is the same for a file
in a different workspace, a missing file and an unreadable file, so that nothing leaks.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from callboard.bundles.files.file_store import FileStore, StoredFile, TooLarge
from callboard.bundles.files.mime_types import is_text
from callboard.bundles.files.token_bucket import TokenBuckets
from callboard.errors import (
    INVALID_PARAMS,
    CallboardError,
    HostBusy,
    InvalidParams,
    MethodNotFound,
)

CAPABILITY = "ai.nimblebrain/host-resources"
READ_METHOD = "ai.nimblebrain/resources/read"
LIST_METHOD = "ai.nimblebrain/resources/list"
#: Milliseconds after which a bundle with too many open requests should try again.
RETRY_MS = 50
METHODS = frozenset({READ_METHOD, LIST_METHOD})

RESOURCE_NOT_FOUND = -32002
RATE_LIMITED = -32004
RESPONSE_TOO_LARGE = -32005

MAX_SIZE = 10 * 2**20
SCHEME = "files"


def advertisement() -> dict[str, Any]:
    """Return the value of ``capabilities.extensions[CAPABILITY]``, a fresh dict each time."""
    return {
        "read": {"enabled": True, "range": False, "maxSize": MAX_SIZE},
        "list": {"enabled": True},
        "write": {"enabled": False},
        "schemes": [SCHEME],
    }


class HostResourceNotFound(CallboardError):
    """There is no such file in this workspace, or it can't be read."""

    code = RESOURCE_NOT_FOUND

    def __init__(self, uri: str) -> None:
        super().__init__(
            "no such resource in this workspace; list the existing ones with "
            "ai.nimblebrain/resources/list",
            data={"uri": uri},
        )


class RateLimited(CallboardError):
    """The bundle sends requests too often."""

    code = RATE_LIMITED

    def __init__(self, retry_after_ms: int) -> None:
        super().__init__(
            f"too many requests; try again in {retry_after_ms} ms",
            data={"retryAfterMs": retry_after_ms},
        )


def too_busy(method: str) -> CallboardError:
    """Return the answer to a request from a bundle that already has the maximum number of open
    requests."""
    if method in METHODS:
        return RateLimited(RETRY_MS)
    return HostBusy("too many requests are open; wait for an answer")


class ResponseTooLarge(CallboardError):
    """The file is larger than one response may be."""

    code = RESPONSE_TOO_LARGE

    def __init__(self, uri: str, size: int) -> None:
        super().__init__(
            f"the resource has {size} bytes and at most {MAX_SIZE} can be read; split it",
            data={"uri": uri, "size": size, "maxSize": MAX_SIZE},
        )


class HostResourcesPlatform:
    """Answers bundles' requests. ``store_of`` returns a workspace's files, or None when there is no
    such workspace. Use it from any thread except the main one, because it reads files."""

    def __init__(
        self,
        store_of: Callable[[str], FileStore | None],
        buckets: TokenBuckets | None = None,
    ) -> None:
        self._store_of = store_of
        self._buckets = buckets or TokenBuckets()

    def handle(
        self, method: str, params: Mapping[str, Any] | None, *, workspace: str, bundle: str
    ) -> dict[str, Any]:
        """Return the result of one request from ``bundle``, which may see ``workspace`` and nothing
        else. Raises CallboardError with the contract's code and data."""
        if method not in METHODS:
            raise MethodNotFound(f"method not found: {method}")
        # Requests count against the limit before they are checked, because invalid requests cost as
        # much as valid ones.
        if (wait := self._buckets.take((workspace, bundle))) is not None:
            raise RateLimited(wait)
        params = params or {}
        if not isinstance(params, Mapping):
            raise InvalidParams("params must be an object")
        store = self._store_of(workspace)
        if method == READ_METHOD:
            return _read(store, params)
        return _list(store, params)


def _read(store: FileStore | None, params: Mapping[str, Any]) -> dict[str, Any]:
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise InvalidParams("uri must be a string", data={"uri": None})
    scheme, separator, file_id = uri.partition("://")
    if not separator or scheme != SCHEME:
        raise InvalidParams(
            f"unsupported URI scheme; supported: {SCHEME}",
            data={"uri": uri[:2048], "supported": [SCHEME]},
        )
    try:
        if store is None:
            raise KeyError(file_id)
        file, data = store.read(file_id, MAX_SIZE)
    except TooLarge as error:
        raise ResponseTooLarge(uri, error.size) from None
    except (KeyError, OSError):
        raise HostResourceNotFound(uri[:2048]) from None
    return {"contents": [_content(file, data)]}


def _content(file: StoredFile, data: bytes) -> dict[str, Any]:
    content = {"uri": file.uri, "mimeType": file.mime_type}
    if is_text(file.mime_type):
        try:
            return {**content, "text": data.decode("utf-8")}
        except UnicodeDecodeError:
            pass  # Text that isn't UTF-8 is sent unchanged, as bytes.
    return {**content, "blob": base64.b64encode(data).decode("ascii")}


def _list(store: FileStore | None, params: Mapping[str, Any]) -> dict[str, Any]:
    if params.get("cursor"):
        raise InvalidParams("cursor must be empty, because the list has only one page")
    meta = params.get("_meta")
    wanted = meta.get("filter") if isinstance(meta, Mapping) else None
    if wanted is None:
        wanted = {}
    if not isinstance(wanted, Mapping):
        raise _malformed("filter must be an object", wanted)
    scheme, mime, tags = wanted.get("scheme"), wanted.get("mimeType"), wanted.get("tags")
    if scheme is not None and scheme != SCHEME:
        raise InvalidParams(
            f"unsupported URI scheme; supported: {SCHEME}",
            data={"scheme": str(scheme)[:256], "supported": [SCHEME]},
        )
    if mime is not None and not isinstance(mime, str):
        raise _malformed("filter.mimeType must be a string", mime)
    if tags is not None and not isinstance(tags, list):
        raise _malformed("filter.tags must be a list of strings", tags)
    for tag in tags or ():
        if not isinstance(tag, str):
            raise _malformed("filter.tags must be a list of strings", tag)
    files = store.list_files() if store is not None else []
    return {
        "resources": [
            {"uri": file.uri, "name": file.name, "mimeType": file.mime_type}
            for file in files
            if (mime is None or file.mime_type == mime) and file.tags.issuperset(tags or ())
        ]
    }


_JSON_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}


def _malformed(message: str, value: object) -> CallboardError:
    received = _JSON_TYPES.get(type(value), "number")
    return CallboardError(message, code=INVALID_PARAMS, data={"receivedType": received})
