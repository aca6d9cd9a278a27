"""The bridge's own answers while no host is running."""

from __future__ import annotations

import copy

from callboard.content import Json
from callboard.errors import CallboardError, HostOffline, MethodNotFound
from callboard.protocol.logging_levels import set_level
from callboard.protocol.peer import Peer, PeerRequest
from callboard.protocol.session import PeerEvent
from callboard_programs.client.http import NotLetIn
from callboard_programs.relay.choose_tool import TOOL, HostChoice
from callboard_programs.relay.last_known import LISTS, KnownHost

#: The beginning of every answer that is sent in a host's place.
HOST_OFFLINE_TEXT = "host offline: start Maya/Blender… or run callboard serve"
#: The beginning of every answer that is sent in a gateway's place.
GATEWAY_OFFLINE_TEXT = (
    "gateway offline: run `callboard gateway` on its machine, and check its address"
)
HOST_LOST_TEXT = (
    "the host went away during this call, and how far the call got is not known; look at the scene "
    "before you repeat it"
)
HOST_LOST_READING_TEXT = (
    "the host went away during this call, which only reads: nothing was changed, so repeat it once "
    "the host is back"
)

#: The reason for an empty list of prompts, in the form that a host uses.
_NO_PROMPTS: Json = {
    "enabled": True,
    "loaded_skill_count": 0,
    "prompt_count": 0,
    "prompt_capable_skill_count": 0,
    "notes": [HOST_OFFLINE_TEXT],
}
_LIST_KEYS = {method: key for key, method in LISTS.items()}
#: Requests that are remembered and repeated to the next host.
_REMEMBERED = ("resources/subscribe", "resources/unsubscribe", "logging/setLevel")
CALLS = (
    "tools/call",
    "prompts/get",
    "resources/read",
    "completion/complete",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
)
_READING = ("prompts/get", "resources/read", "completion/complete", "tasks/get", *_LIST_KEYS)


class OfflineServer:
    """The stand-in for a host's server. It introduces itself as the last host did, returns that
    host's lists, and refuses all other requests with the reason."""

    def __init__(
        self, known: KnownHost, choice: HostChoice, offline: str = HOST_OFFLINE_TEXT
    ) -> None:
        """``offline`` is the beginning of the answers to calls while no host is chosen."""
        self.known = known
        self._offline = offline
        self._choice = choice
        #: The reason why no host answers, for a call's result.
        self.reason = ""
        #: The error for calls when none of the running hosts is the intended one, or when that one
        #: refuses this client.
        self.refusal: CallboardError | None = None
        #: True when hosts are running that the agent may choose from.
        self.undecided = False

    def introduce(self, peer: Peer) -> Json:
        introduction = copy.deepcopy(self.known.introduction)
        if peer.features.sessions:
            introduction["capabilities"].pop("extensions", None)
        return introduction

    async def handle(self, request: PeerRequest) -> Json:
        method = request.method
        if isinstance(self.refusal, NotLetIn):
            self.check()  # A refused client must not get the saved lists.
        if method in _LIST_KEYS:
            key = _LIST_KEYS[method]
            result: Json = {key: copy.deepcopy(self.known.lists[key])}
            if key == "tools" and self._choice.offered:
                if self.undecided:
                    result[key] = await self._choice.common_tools()
                result[key].append(TOOL)
            if key == "prompts" and not result[key]:
                result["_meta"] = {"dcc.prompt_diagnostics": copy.deepcopy(_NO_PROMPTS)}
            return result
        if method in _REMEMBERED and request.peer.features.sessions:
            if method == "logging/setLevel":
                set_level(request.peer, request.params.get("level"))
            return {}
        if method not in CALLS:
            raise MethodNotFound(f"Method not found: '{method[:80]}'")
        if self._choice.offered and self._choice.takes(request):
            return await self._choice.call(request.params.get("arguments"))
        self.check()
        if self.undecided and (what := await self._choice.undirected(request.params.get("name"))):
            text = what
        elif self.undecided:
            text = f"no application is chosen: {self.reason}"
        else:
            text = f"{self._offline} ({self.reason})" if self.reason else self._offline
        return refuse(method, text)

    def check(self) -> None:
        """Raise the error for calls, if there is one."""
        if self.refusal is not None:
            raise type(self.refusal)(self.refusal.message, data=self.refusal.data)

    def peer_event(self, peer: Peer, event: PeerEvent) -> None:
        """Do nothing, because there is no host to notify."""


class LostServer:
    """Answers requests that a host accepted but never answered."""

    def __init__(self, offline: OfflineServer) -> None:
        self._offline = offline
        self.introduce = offline.introduce

    async def handle(self, request: PeerRequest) -> Json:
        reads = request.method in _READING or self._offline.known.only_reads(request)
        return refuse(request.method, HOST_LOST_READING_TEXT if reads else HOST_LOST_TEXT)

    def peer_event(self, peer: Peer, event: PeerEvent) -> None:
        """Do nothing, because there is no host to notify."""


def refuse(method: str, text: str) -> Json:
    """Return the result for a tool call that no host can perform. It isn't a JSON-RPC error,
    because agents read results, while such errors are shown to people. Raises HostOffline for any
    other request."""
    if method != "tools/call":
        raise HostOffline(text)
    return {"content": [{"type": "text", "text": text}], "isError": True}
