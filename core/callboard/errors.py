"""callboard's exceptions, named after whatever is at fault. Exceptions that only one package raises
derive from these and are defined in that package.

Each has the parts of a JSON-RPC error: a ``code``, a message that says what to do next, and
optional ``data``. Codes -32xxx are JSON-RPC's and MCP's. Codes -31xxx are ours and are outside
JSON-RPC's reserved range, as the specification requires.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: The constants for the codes aren't exported, because each class has its code as an attribute.
__all__ = [
    "CallCancelled",
    "CallTimeout",
    "CallboardBug",
    "CallboardError",
    "CapabilityMissing",
    "HostBusy",
    "HostError",
    "HostOffline",
    "InvalidParams",
    "MethodNotFound",
    "NoWorkspaceRoots",
    "ParseError",
    "Paused",
    "PeerError",
    "RefusedByArtist",
    "ResourceNotFound",
    "SkillError",
    "WorkspaceResolveError",
    "WrongArgument",
]

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
#: -31006 is the gateway's not_that_scene.
NOT_RECORDED = -31007


class CallboardError(Exception):
    """The base of all exceptions. Its attributes are a JSON-RPC error's members."""

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
    """Raised when the MCP client sent something that can't be served as it stands."""

    code = INVALID_REQUEST


class ParseError(PeerError):
    """Raised when the bytes aren't JSON, or exceed our limits on JSON (depth, encoding)."""

    code = PARSE_ERROR


class MethodNotFound(PeerError):
    """Raised when the method doesn't exist in the protocol revision that the client uses."""

    code = METHOD_NOT_FOUND


class InvalidParams(PeerError):
    """Raised when a method's params are wrong. The message names the field and the rule."""

    code = INVALID_PARAMS


class CapabilityMissing(PeerError):
    """Raised when this host doesn't offer a capability that the tool needs, or when the artist has
    withdrawn it."""

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
    """Raised when a path can't be resolved inside the workspace. Nothing was opened."""


class NoWorkspaceRoots(WorkspaceResolveError):
    """Raised when a ``workspace://`` path was used and there is no root to resolve it against."""


class RefusedByArtist(PeerError):
    """Raised when the artist, or a policy that the artist has set, refused the request."""

    code = REFUSED_BY_ARTIST


class SkillError(CallboardError):
    """Raised when a skill, or a tool's script, is wrong. Reaches the agent as ``isError``."""


class HostError(CallboardError):
    """Raised when the host can't currently do what was asked. Nothing was changed unless the
    message says so."""


class WrongArgument(CallboardError, ValueError):
    """Raised when a tool can't use an argument, for a reason that its schema doesn't express. The
    agent receives it as ``isError``, with a sentence and no traceback."""

    code = INVALID_PARAMS


class HostBusy(HostError):
    """Raised when the host's main thread is busy, or too much is already waiting or running."""

    code = HOST_BUSY


class HostOffline(HostError):
    """Raised when no running host can handle the call, or when the host went away during the
    call."""

    code = HOST_OFFLINE


class CallTimeout(HostError):
    """Raised when the call passed its deadline (``timeout_hint_secs``). A late answer is
    dropped."""

    code = CALL_TIMEOUT


class Paused(HostError):
    """Raised while the artist has paused callboard. Lists still work."""

    code = PAUSED


class NotRecorded(HostError):
    """Raised for a call that can't be recorded when the ``records`` setting is ``required``. The
    message says whether the call ran."""

    code = NOT_RECORDED


class CallCancelled(CallboardError):
    """Raised when the client or the artist cancelled the call, or the server stopped."""


class CallboardBug(CallboardError):
    """Raised for a bug in callboard itself."""


#: The beginning of the message about a call to a tool that doesn't exist.
UNKNOWN_TOOL = "unknown tool '"


class ResourceNotFound(InvalidParams):
    """Raised when there is no resource with that URI. The code is -32002 in sessions and -32602
    without them."""

    def __init__(self, uri: str) -> None:
        super().__init__(
            f"no resource '{uri[:200]}'; see resources/list and resources/templates/list",
            data={"uri": uri},
        )
