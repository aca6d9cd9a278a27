"""The exceptions of callboard, named by whose fault it is. What one room alone raises is a kind of
these, and stands there.

Each carries what a JSON-RPC error needs: a ``code``, a message that says what to
do next, and optional ``data``. Codes -32xxx are JSON-RPC's and MCP's; codes -31xxx
are ours and lie outside JSON-RPC's reserved range, as the specification asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CAPABILITY_MISSING = -32001
RESOURCE_NOT_FOUND = -32002
HOST_BUSY = -31001
CALL_TIMEOUT = -31002
REFUSED_BY_ARTIST = -31003
PAUSED = -31004
HOST_OFFLINE = -31005


class CallboardError(Exception):
    """Root of the tree. ``code``, ``message`` and ``data`` are a JSON-RPC error's members."""

    code: int = INTERNAL_ERROR

    def __init__(
        self, message: str, *, data: dict[str, Any] | None = None, code: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.data = data
        if code is not None:
            self.code = code


class PeerError(CallboardError):
    """The MCP client sent something that can't be served as it stands."""

    code = INVALID_REQUEST


class ParseError(PeerError):
    """The bytes aren't JSON, or not JSON that we are willing to read (depth, encoding)."""

    code = PARSE_ERROR


class MethodNotFound(PeerError):
    """The method doesn't exist, or not in the revision the client speaks."""

    code = METHOD_NOT_FOUND


class InvalidParams(PeerError):
    """The method exists; its params are wrong. The message names the field and the rule."""

    code = INVALID_PARAMS


class CapabilityMissing(PeerError):
    """The tool needs capabilities that this host doesn't offer, or that the artist withdrew."""

    code = CAPABILITY_MISSING

    def __init__(
        self, tool: str, required: Sequence[str], missing: Sequence[str], declared: Sequence[str]
    ) -> None:
        super().__init__(
            f"capability_missing: tool '{tool}' requires {', '.join(missing)}",
            data={
                "tool": tool,
                "required": list(required),
                "missing": list(missing),
                "declared": list(declared),
            },
        )


class WorkspaceResolveError(InvalidParams, ValueError):
    """A path can't be resolved inside the workspace. Nothing was opened."""


class NoWorkspaceRoots(WorkspaceResolveError):
    """A ``workspace://`` path was used, and there is no root to resolve it against."""


class RefusedByArtist(PeerError):
    """The artist, or the policy the artist set, said no."""

    code = REFUSED_BY_ARTIST


class SkillError(CallboardError):
    """A skill package, or a tool's script, is wrong. Reaches the agent as ``isError``."""


class HostError(CallboardError):
    """The host can't do it now. Nothing was changed unless the message says so."""


class WrongArgument(CallboardError, ValueError):
    """A tool can't do what it was given, for a reason that its schema doesn't tell. Reaches the
    agent as ``isError``: a sentence, and no traceback."""

    code = INVALID_PARAMS


class HostBusy(HostError):
    """The host's main thread isn't answering and the queue is full."""

    code = HOST_BUSY


class HostOffline(HostError):
    """No host runs that could take the call, or it went away during the call."""

    code = HOST_OFFLINE


class CallTimeout(HostError):
    """The call passed its deadline (``timeout_hint_secs``); its late answer is dropped."""

    code = CALL_TIMEOUT


class Paused(HostError):
    """The artist paused callboard. Lists still work."""

    code = PAUSED


class CallCancelled(CallboardError):
    """The call was cancelled by its client, by the artist, or by the server stopping."""


class CallboardBug(CallboardError):
    """Our own mistake."""


#: How the message of a call to a tool that isn't there begins.
UNKNOWN_TOOL = "unknown tool '"


class ResourceNotFound(InvalidParams):
    """No resource of that URI. Which code that is depends on the era: -32002 in sessions, -32602
    after."""

    def __init__(self, uri: str) -> None:
        super().__init__(
            f"no resource '{uri[:200]}'; see resources/list and resources/templates/list",
            data={"uri": uri},
        )
