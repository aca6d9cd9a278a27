"""The ``ctx`` that a tool receives."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from callboard.calls import client_questions
from callboard.calls.client_questions import (
    READ_RESOURCE,
    ROOTS_KEY,
    AskedTooLate,
    Elicited,
    InputNeeded,
    read_answer,
)
from callboard.calls.invisible import shown
from callboard.content import Json
from callboard.errors import SkillError
from callboard.ports.capability_names import SCENE_MUTATE, SCENE_READ
from callboard.ports.host import HostIdentity
from callboard.protocol.jsonrpc import encode
from callboard.protocol.peer import Ask, lacks
from callboard.workspace.containment import WorkspaceRoots

if TYPE_CHECKING:
    from callboard.calls.call import Call

T = TypeVar("T")
P = ParamSpec("P")


class BaseContext:
    """A tool's access to the host and to the client that called it.

    Every method may be called from the thread that the tool runs on.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._asked = 0

    @property
    def host_identity(self) -> HostIdentity:
        """The host's identity."""
        return self._call.host.identity

    @property
    def cancelled(self) -> bool:
        """True once the client or the artist no longer needs the answer. A plain function that runs
        for a long time should check this from time to time, and return or raise."""
        return self._call.cancelled

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """The client's capabilities: ``roots``, ``sampling``, ``elicitation``, ``extensions``."""
        return self._call.request.peer.capabilities

    @property
    def platform(self) -> Any:
        """The object that this host offers an installed bundle, for
        :func:`callboard.extensions.host`, or None for tools that didn't come with a bundle."""
        return self._call.find_platform(self._call)

    @property
    def trace(self) -> dict[str, str]:
        """The client's trace context: ``traceparent``, ``tracestate``, ``baggage``."""
        return self._call.trace

    def port(self, capability: str) -> Any:
        """Return the host's port for a capability that the tool declares. Raises SkillError for an
        undeclared capability, and CapabilityMissing if the artist has withdrawn it since."""
        call, tool = self._call, self._call.tool
        if capability not in tool.required_capabilities:
            raise SkillError(
                f"tool '{tool.name}' uses '{capability}' without declaring it; add it to "
                "required_capabilities in tools.yaml"
            )
        if (
            call.offer is not call.capabilities.offer
        ):  # The offer has changed since the call was admitted.
            call.offer = call.capabilities.offer
            call.capabilities.check(tool.name, tool.required_capabilities, tool.ships)
        port: Any = call.offer.ports.get(capability)
        if port is None:
            raise SkillError(f"this host declares '{capability}' but has no port for it")
        return _Noting(port, call) if capability == SCENE_MUTATE else port

    @property
    def stage(self) -> Any:
        """The open ``pxr.Usd.Stage``, for a tool that declares ``scene.read``, or ``scene.mutate``
        to change it.

        Edits belong to the call's undo step. Use it on the main thread, and don't keep it: opening
        a file replaces it. Raises SkillError when the scene isn't a stage, or neither capability is
        declared.
        """
        declared = self._call.tool.required_capabilities
        self.port(SCENE_MUTATE if SCENE_MUTATE in declared else SCENE_READ)
        stage = self._call.host.stage
        if stage is None:
            raise SkillError(
                f"the scene of {self.host_identity.name} isn't a USD stage; import the "
                "application's own API, or use ctx.port"
            )
        return stage

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report the call's progress to the client. Values that don't grow are not sent
        (2025-11-25, Progress: the value must increase). Raises SkillError unless the arguments are
        finite numbers and a string."""
        plain = self._plain("progress", [done, total, message])
        kinds: tuple[tuple[type, ...], ...] = (
            (int, float),
            (int, float, NoneType),
            (str, NoneType),
        )
        if not all(isinstance(value, kind) for value, kind in zip(plain, kinds, strict=True)):
            raise SkillError(
                f"tool '{self._call.tool.name}' must pass ctx.progress finite numbers and a string"
            )
        self._call.on_loop(self._call.send_progress, *plain)

    def resource_updated(self, uri: str) -> None:
        """Notify the clients subscribed to this resource that its content changed."""
        self._call.on_loop(self._call.resource_updated.tell, uri)

    def printed(self, stream: Literal["stdout", "stderr"] = "stdout") -> str:
        """Return the call's output so far, shortened in the middle if it is long."""
        return self._call.output.excerpt(stream)

    def log(self, level: str, message: str, **data: Any) -> None:
        """Send a log message to the client. ``level`` is debug, info, notice, warning, error,
        critical, alert or emergency. Raises SkillError for data that isn't JSON."""
        self._call.on_loop(self._call.send_log, *self._plain("log", [level, message, data]))

    def _plain(self, what: str, values: list[Any]) -> list[Any]:
        """Make a tool's values plain data. This happens on the tool's own thread, because reading
        them may run the tool's code."""
        try:
            plain: list[Any] = shown(json.loads(encode(values)))
        except ValueError as error:
            raise SkillError(
                f"the value that '{self._call.tool.name}' passes to ctx.{what} is {error}"
            ) from None
        return plain

    # -- asking the client ------------------------------------------------------------------

    @property
    def roots(self) -> WorkspaceRoots | None:
        """The workspace roots of this call, or None when there are none. Asks a client that
        supports roots and hasn't been asked yet."""
        call = self._call
        if call.roots is None and lacks(self.client_capabilities, {"roots": {}}):
            return None
        if call.roots is None:
            call.roots = self._ask_one(ROOTS_KEY, client_questions.roots())
        return call.roots

    def _ask_one(self, key: str, ask: Ask) -> Any:
        self._asked += 1
        key = key or f"question_{self._asked}"
        return self._ask({key: ask})[key]

    def _ask(self, questions: Mapping[str, Ask]) -> dict[str, Any]:
        call = self._call
        open_questions = {key: ask for key, ask in questions.items() if key not in call.answers}
        if not open_questions:
            return {key: read_answer(ask, call.answers[key]) for key, ask in questions.items()}
        if call.changes_begun:
            raise AskedTooLate(
                f"tool '{call.tool.name}' asks its client after it began to change the scene; ask "
                "everything first, because the tool is run again with the answer"
            )
        try:
            written = encode({key: [ask.method, ask.params] for key, ask in open_questions.items()})
        except ValueError as error:
            raise SkillError(
                f"tool '{call.tool.name}' asks for something that isn't JSON: {error}"
            ) from None
        raise InputNeeded(
            {
                key: Ask(method, _seen(method, params))
                for key, (method, params) in json.loads(written).items()
            }
        )


def call_of(ctx: BaseContext) -> Call:
    """Return the call that one of callboard's own tools runs in. Other tools see only their
    ``ctx``."""
    return ctx._call


def _seen(method: str, params: Any) -> Any:
    """Make invisible characters visible in a question that a person or a model reads. Other
    questions contain only identifiers, and stay unchanged."""
    return shown(params) if method in (client_questions.ELICIT, client_questions.SAMPLE) else params


class _Noting:
    """Wraps a scene-changing port, and notes that a change has begun when one of its methods is
    called."""

    def __init__(self, port: Any, call: Call) -> None:
        self._port = port
        self._call = call

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if not callable(method):
            return method

        def call_and_note(*args: Any, **kwargs: Any) -> Any:
            stay = self._call.main_coroutine
            if stay is not None and not stay.is_here:
                by = sys._getframe(1)
                file = "/".join(Path(by.f_code.co_filename).parts[-2:])
                raise SkillError(
                    f"{file}, line {by.f_lineno}: a coroutine must change the scene with `await "
                    "ctx.on_main_thread(function, …)`: put the change into a function, so that "
                    "it belongs to the call's undo step"
                )
            self._call.changes_begun = True
            return method(*args, **kwargs)

        return call_and_note


class ToolContext(BaseContext):
    """The ``ctx`` of a plain function or a generator."""

    def elicit(self, message: str, schema: Mapping[str, Any], *, key: str = "") -> Elicited:
        """Ask the person to fill in a form. See :func:`client_questions.elicitation`. ``key`` names
        the question when a tool asks several. By default questions are numbered. Raises AskFailed
        when the client can't or won't answer."""
        answer: Elicited = self._ask_one(key, client_questions.elicitation(message, schema))
        return answer

    def elicit_url(self, message: str, url: str, *, key: str = "") -> Elicited:
        """Ask the person to visit a page. Accepting means that the person agreed to visit the page,
        not that they finished there."""
        ask = client_questions.url_elicitation(message, url, self._call.id)
        answer: Elicited = self._ask_one(key, ask)
        return answer

    def sample(
        self,
        /,
        messages: str | list[Json],
        max_tokens: int = 1000,
        *,
        key: str = "",
        **options: Any,
    ) -> Json:
        """Ask the client's model. Return ``{role, content, model, stopReason}``. ``options`` are
        sampling/createMessage's other params, such as ``systemPrompt``."""
        ask = client_questions.sampling(messages, max_tokens, **options)
        answer: Json = self._ask_one(key, ask)
        return answer

    def ask_all(self, /, **questions: Ask) -> dict[str, Any]:
        """Ask several things in one round: ``ctx.ask_all(name=elicitation(…), idea=sampling(…))``.
        :mod:`callboard.calls.client_questions` makes the questions. The answers have the same names
        as the questions."""
        return self._ask(questions)

    def read_resource(self, uri: str) -> str | bytes:
        """Return a resource that this server offers. Raises ResourceNotFound."""
        content: str | bytes = self._ask_one(f"resource {uri}", Ask(READ_RESOURCE, {"uri": uri}))
        return content


def _awaited(
    method: Callable[Concatenate[Any, P], T],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    @wraps(method)
    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return method(self, *args, **kwargs)

    return call


class AsyncToolContext(BaseContext):
    """The ``ctx`` of a coroutine tool, which runs on the server's loop. Questions are awaited."""

    elicit = _awaited(ToolContext.elicit)
    elicit_url = _awaited(ToolContext.elicit_url)
    sample = _awaited(ToolContext.sample)
    ask_all = _awaited(ToolContext.ask_all)
    read_resource = _awaited(ToolContext.read_resource)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Json:
        """Ask the client with a method of an extension that it declared, as
        :func:`callboard.extensions.host` does. Raises AskFailed with the client's code and data."""
        answer: Json = self._ask_one("", Ask(method, dict(params)))
        return answer

    async def on_main_thread(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Run ``function`` on the host's main thread, inside this call's single undo step."""
        main = self._call.main_coroutine
        if main is None:
            raise SkillError("this call has no main thread to run on")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        main.submit(lambda: function(*args, **kwargs), future)
        return await future
