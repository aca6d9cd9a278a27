"""A client as the rest of core sees it, without revision strings, sessions or streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from callboard.clients.holder import TokenHolder
from callboard.clients.owner import Owner
from callboard.content import Json
from callboard.errors import InvalidParams, PeerError
from callboard.protocol.jsonrpc import Id
from callboard.protocol.revisions import Revision

#: The levels of RFC 5424, as used by MCP logging.
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

#: Keys in ``_meta`` for two facts that have fields of their own in 2026-07-28 but not in a session:
#: a question's name, and the capabilities that a failed request would have needed
#: (docs/decisions/0320).
NAME_KEY = "callboard/name"
NEEDS_KEY = "callboard/requiredCapabilities"


class ClientInfo(NamedTuple):
    """The name that a client gives itself. It is shown, and never trusted for anything else."""

    name: str = "unknown"
    version: str = ""
    title: str | None = None

    @staticmethod
    def read(value: Any) -> ClientInfo:
        if not isinstance(value, dict):
            return ClientInfo()

        def text(key: str, default: str) -> str:
            given = value.get(key)
            return given[:200] if isinstance(given, str) and given else default

        return ClientInfo(text("name", "unknown"), text("version", ""), text("title", "") or None)


class AskFailed(PeerError):
    """Raised when the client answers with an error, gives an invalid answer, answers too late, or
    disconnects."""


class Ask(NamedTuple):
    """One request from the server to its client: ``roots/list``, ``elicitation/create`` …"""

    method: str
    params: Json = {}  # noqa: RUF012 - never written to

    @property
    def needs(self) -> Json:
        """The capabilities that the client must have declared before it can be asked this, in the
        shape of ClientCapabilities."""
        kind = self.method.partition("/")[0]
        if kind == "elicitation":
            return {"elicitation": {self.params.get("mode", "form"): {}}}
        if kind == "sampling":
            return {"sampling": {"tools": {}} if "tools" in self.params else {}}
        # Code that uses an extension checks for the extension before it asks.
        return {} if "." in kind else {kind: {}}

    def named(self, name: str) -> Ask:
        """Return the request with its name in ``_meta``, because a session has no other place for a
        name. An extension's requests stay unchanged."""
        if "." in self.method.partition("/")[0]:
            return self
        meta = self.params.get("_meta")
        named = {**(meta if isinstance(meta, dict) else {}), NAME_KEY: name}
        return Ask(self.method, {**self.params, "_meta": named})


class NotDeclared(AskFailed):
    """Raised when the client hasn't declared the capability that a question needs."""

    def __init__(self, ask: Ask) -> None:
        named = ", ".join(ask.needs)
        super().__init__(
            f"the client did not declare {named}, so it can't be asked; declare it in initialize",
            data={NEEDS_KEY: ask.needs},
        )


class InputRequired(Exception):
    """Raised to end the request and answer it with questions to the client (2026-07-28, Multi
    Round-Trip Requests). Only the stateless era catches it."""

    def __init__(self, asks: Mapping[str, Ask]) -> None:
        super().__init__("the client has to be asked")
        self.asks = dict(asks)


def lacks(capabilities: Mapping[str, Any], needed: Mapping[str, Any]) -> bool:
    """Return whether a client with these capabilities lacks any of the ``needed`` ones."""
    for name, parts in needed.items():
        offered = capabilities.get(name)
        if not isinstance(offered, dict):
            return True
        if name == "elicitation" and set(offered) <= {"form"}:
            offered = {"form": {}}  # An empty object means forms (2025-11-25, Elicitation).
        if not all(isinstance(offered.get(part), dict) for part in parts):
            return True
    return False


def undeclared(capabilities: Mapping[str, Any], asks: Iterable[Ask]) -> Json:
    """Return the capabilities, besides the given ones, that a client would have to declare before
    it could be asked ``asks``."""
    needed: Json = {}
    for ask in asks:
        if lacks(capabilities, ask.needs):
            for name, parts in ask.needs.items():
                needed.setdefault(name, {}).update(parts)
    return needed


class Peer:
    """One client. It lives as long as its session, or, if it has none, as long as the request."""

    def __init__(
        self,
        label: str,
        features: Revision,
        client: ClientInfo,
        capabilities: Mapping[str, Any],
        holder: TokenHolder,
    ) -> None:
        """``holder`` is the client as its token identifies it; ``client`` is the name that the
        client gives itself."""
        self.holder = holder
        self.label = label
        #: The owner of everything that the peer makes here.
        self.owner = Owner(holder, self.session)
        self.features = features
        self.client = client
        self.capabilities = capabilities
        #: The least severe log messages that the client asked for, one of ``LOG_LEVELS``, or None
        #: when it never set a level.
        self.log_level: str | None = None
        #: For each tool, by name, the part of a record that is the same for all calls by this peer.
        self.recorded: dict[str, str] = {}

    @property
    def session(self) -> str:
        """The id of the client's session, or an empty string for a client without one."""
        return ""

    def offers(self, capability: str) -> bool:
        """Return whether the client declared ``roots``, ``sampling``, ``elicitation`` …"""
        return isinstance(self.capabilities.get(capability), dict)

    def notify(self, method: str, params: Json | None = None) -> None:
        """Send a notification that belongs to no request, if the peer listens for such
        notifications. Call it on the server's loop."""

    async def ask(self, ask: Ask, patience: float | None = None) -> Json:
        """Ask the client something outside any request, which is possible only in a session. Raises
        AskFailed."""
        raise AskFailed("this client can only be asked during a call")


class PeerRequest(ABC):
    """One request from one peer. Everything here is called on the server's loop."""

    def __init__(self, peer: Peer, id: Id, method: str, params: Json) -> None:
        self.peer = peer
        self.id = id
        self.method = method
        self.params = params
        meta = params.get("_meta")
        self.meta: Json = meta if isinstance(meta, dict) else {}

    def text(self, key: str) -> str:
        """Return a string from the params. Raises InvalidParams when there is none."""
        value = self.params.get(key)
        if not isinstance(value, str):
            raise InvalidParams(f"params.{key} must be a string")
        return value

    def arguments(self) -> Json:
        """Return the request's ``arguments``, or an empty object if there are none. Raises
        InvalidParams."""
        arguments: Any = self.params.get("arguments")
        if arguments is None:
            return {}
        if not isinstance(arguments, dict):
            raise InvalidParams("params.arguments must be an object")
        return arguments

    @abstractmethod
    def notify(self, method: str, params: Json) -> None:
        """Send a notification that belongs to this request, if the client still listens."""

    @abstractmethod
    async def ask_all(self, asks: Mapping[str, Ask]) -> dict[str, Json | AskFailed]:
        """Ask the client several questions at once. The answers have the same keys, with an
        AskFailed for each question that the client refused. A question that the client didn't
        declare support for is never sent. In a session, its answer is a NotDeclared at once;
        otherwise, MissingClientCapability is raised. Raises InputRequired when the answers must
        come with the client's next request."""

    def flush_waiting(self) -> None:  # noqa: B027 - nothing waits without a session
        """Send waiting messages on this request's stream if the client has no other stream for
        them."""

    async def ask(self, ask: Ask) -> Json:
        """Ask one question. Raises AskFailed, and the errors of ``ask_all``."""
        answer = (await self.ask_all({ask.method: ask}))[ask.method]
        if isinstance(answer, AskFailed):
            raise answer
        return answer


class UnaskableRequest(PeerRequest):
    """A request from a client that receives nothing before the answer and can't be asked anything.
    ``why`` is the error message with which every question fails."""

    def __init__(self, peer: Peer, id: Id, method: str, params: Json, why: str) -> None:
        super().__init__(peer, id, method, params)
        self._why = why

    def notify(self, method: str, params: Json) -> None:
        """Do nothing, because the client isn't listening."""

    async def ask_all(self, asks: Mapping[str, Ask]) -> dict[str, Json | AskFailed]:
        return dict.fromkeys(asks, AskFailed(self._why))
